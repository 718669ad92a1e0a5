// This script's own element, whose address names the gateway and the checkout. So its bytes are the same for every checkout,
// and one integrity value serves all.

import { kindOf, nativeCall, nativeGet } from "./native.js";

export var BUILD = "%BUILD%";

// Returns true for a script of ours, whatever stands under a name where one is expected.
function isLoader(element) {
  return kindOf(element) === "[object HTMLScriptElement]" && /\/v\d+\/paymentWidgets\.js(\?|$)/.test(element.src);
}

function findOwnScript() {
  var current = nativeGet(document, "currentScript");
  if (isLoader(current)) return current;
  // The last of our scripts is the one that runs now.
  var scripts = nativeCall(document, "getElementsByTagName", "script");
  for (var at = 0; at < scripts.length; at++) if (isLoader(scripts[at])) current = scripts[at];
  return current;
}

export var ownScript = findOwnScript();

// Returns an address in the form in which browsers give it back.
function normalizeAddress(address) {
  var link = nativeCall(document, "createElement", "a");
  link.href = address;
  return link.href;
}

// The addresses of the gateway and of the form's frames. They are the same unless the frames have a host of their own: then
// the gateway writes that host's address in the place of the second.
export var base = ownScript.src.replace(/\/+v\d+\/paymentWidgets\.js.*$/, "/");
export var framesBase = normalizeAddress("./fields/../".replace(/^\./, base.slice(0, -1)));

// Returns the id of the checkout, and "registration" for the tokenisation twin, which a suffix marks.
export function readCheckout() {
  var given = /[?&]checkoutId=([^&#]*)/.exec(ownScript.src) || ["", ""];
  var parts = decodeURIComponent(given[1].replace(/\+/g, " ")).split("/");
  return { id: parts[0], purpose: parts[1] || "payment" };
}

// Returns true under `trunk serve`, where trunk brings the page module.
export function isServedByTrunk() {
  return ownScript.getAttribute("data-page-part") === "external";
}
