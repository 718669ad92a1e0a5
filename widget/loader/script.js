// This script's own element. Its address names the checkout, so that the bytes are the same for all, as is `integrity`.

import { define, hasOwn, kindOf, nativeCall, nativeGet } from "./native.js";

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
export var checkout = readCheckout(ownScript);

function readCheckout(script) {
  var given = (/[?&]checkoutId=([^&#]*)/.exec(script.src) || ["", ""])[1];
  var parts = decodeText(given.replace(/\+/g, " ")).split("/");
  return { given: given, id: parts[0], purpose: parts[1] === "registration" ? parts[1] : "payment" };
}

// Returns an encoded text as it is if it cannot be decoded. The gateway knows no checkout with such an id.
function decodeText(text) {
  try { return decodeURIComponent(text); } catch (malformed) { return text; }
}

// True under `trunk serve`, where trunk brings the page module.
export var isServedByTrunk = ownScript.getAttribute("data-page-part") === "external";

// A property of each script of ours: the time at which a loader first saw it in the page. No document tells in which
// order its scripts were inserted. After unload() it is 0, since the page is done with that script.
var SEEN = "tillgateSeen";
var lastTime = 0;
// The time of this script, 0 if the page took it away before any loader saw it.
var ownTime = 0;

function listScripts(node) {
  return [].slice.call(nativeCall(node, "getElementsByTagName", "script")).concat(node).filter(isLoader);
}

function timeOf(script) { return hasOwn.call(script, SEEN) ? script[SEEN] : 0; }

// Notes the scripts of ours in these nodes. Returns those that were not known.
export function noteScripts(nodes) {
  var found = [].concat.apply([], nodes.map(listScripts));
  return found.filter(function (script) {
    if (hasOwn.call(script, SEEN)) return false;
    lastTime = Math.max(performance.now(), lastTime + 0.001);
    define(script, SEEN, lastTime);
    return true;
  });
}

// The changes of a page that may bring scripts. One may get its address after it was inserted. Of such a description
// browsers also read what it inherits, so it inherits nothing.
export var OBSERVED = Object.create(null);
OBSERVED.childList = OBSERVED.subtree = true;
OBSERVED.attributeFilter = ["src"];

// Returns the elements that changes of the page bring. A script whose address has changed counts as new.
export function listAdded(changes) {
  var nodes = changes.map(function (change) {
    if (change.type === "childList") return [].slice.call(change.addedNodes);
    delete change.target[SEEN];
    return change.target;
  });
  return [].concat.apply([], nodes).filter(function (node) { return node.nodeType === 1; });
}

// Returns true if a script for another checkout came after all scripts for this one. `others` have left the page, or
// may have left it.
export function isOutdated(others) {
  var latest = ownTime;
  var rivals = listScripts(document).concat(others).filter(function (script) {
    var isRival = readCheckout(script).id !== checkout.id;
    if (!isRival) latest = Math.max(latest, timeOf(script));
    return isRival;
  });
  return rivals.some(function (script) { return timeOf(script) > latest; });
}

// Returns true if the page has the script of another checkout as well.
export function hasRival() {
  return listScripts(document).some(function (script) { return readCheckout(script).id !== checkout.id; });
}

// Returns true if this script may take the forms of the page. `others` are scripts whose loaders still run.
export function beginTurn(others) {
  noteScripts([document]);
  ownTime = timeOf(ownScript);
  return !isOutdated(others);
}

// Marks the scripts of this checkout after unload().
export function retireScripts() {
  listScripts(document).forEach(function (script) {
    if (readCheckout(script).id === checkout.id) define(script, SEEN, 0);
  });
}
