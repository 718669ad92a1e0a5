// This script's own element. Its address names the checkout, so that the bytes are the same for all, as is `integrity`.

import { kindOf, nativeCall, nativeGet } from "./native.js";

export var BUILD = "%BUILD%";
export var ownScript = findOwnScript();

// Returns true for a script of ours, whatever stands under a name where one is expected.
function isLoader(element) {
  return kindOf(element) === "[object HTMLScriptElement]" && /\/v\d+\/paymentWidgets\.js(\?|$)/.test(element.src);
}

function findOwnScript() {
  var current = nativeGet(document, "currentScript");
  var scripts = [].slice.call(nativeCall(document, "getElementsByTagName", "script"));
  // The last of our scripts is the one that runs now.
  return isLoader(current) ? current : scripts.filter(isLoader).pop() || current;
}

// Returns an address in the form in which browsers give it back.
function normalizeAddress(address) {
  var link = nativeCall(document, "createElement", "a");
  link.href = address;
  return link.href;
}

// The addresses of the gateway and of the form's frames. They are the same unless the frames have a host of their own:
// then the gateway writes that host's address in the place of the second.
export var base = ownScript.src.replace(/\/+v\d+\/paymentWidgets\.js.*$/, "/");
export var framesBase = normalizeAddress("./fields/../".replace(/^\./, base.slice(0, -1)));
// The id of the checkout, still encoded in `given`, and "registration" for the tokenisation twin, which a suffix marks.
export var checkout = readCheckout();

function readCheckout() {
  var given = (/[?&]checkoutId=([^&#]*)/.exec(ownScript.src) || ["", ""])[1];
  var parts = decodeText(given.replace(/\+/g, " ")).split("/");
  return { given: given, id: parts[0], purpose: parts[1] === "registration" ? parts[1] : "payment" };
}

// Returns an encoded text as it is if it cannot be decoded. The gateway knows no checkout with such an id.
function decodeText(text) {
  try { return decodeURIComponent(text); } catch (malformed) { return text; }
}

// True under `trunk serve`, where trunk brings the page module.
export var isServedByTrunk = ownScript.getAttribute("data-page-part") === "external";
