// Files that the form needs: the page module, a style sheet, a language.

import { make } from "./dom.js";
import { copyBare, globalOf, nativeGet, nativeSet } from "./native.js";
import { base, BUILD } from "./script.js";

// Pauses after which a file is asked for again, in milliseconds; after the last it is lost.
var PAUSES = [500, 2000];

// Elements and rules that were put into the page.
var elements = [];
var adopted = null;
var styleName = "";
var styleLink = null;
var isEnded = false;

function addressOf(path) {
  return base + "v1/static/" + BUILD + "/" + path;
}

// Puts the element that `create` makes into the head; if its file does not come, another one, a little later.
function loadElement(create, put, attempt) {
  var pause = PAUSES[attempt || 0];
  return new Promise(function (done, failed) {
    var element = create();
    elements.push(element);
    element.onload = done;
    element.onerror = function () {
      element.remove();
      if (!pause) return failed(new Error((element.src || element.href) + " did not load"));
      setTimeout(function () {
        // After unload() nothing comes any more.
        if (isEnded) done();
        else loadElement(create, put, (attempt || 0) + 1).then(done, failed);
      }, pause);
    };
    put(element);
  });
}

// Returns an address that Trusted Types accept. A page that requires them must list the name of our policy, which passes
// only our addresses. All loaders share one policy, because a second of the same name may be refused.
function trustAddress(url) {
  var types = globalOf("trustedTypes");
  if (!types) return url;
  var key = Symbol.for("tillgate");
  var rule = function (wanted) {
    if (wanted.startsWith(base + "v1/static/")) return wanted;
    throw new TypeError(wanted);
  };
  try {
    types[key] = types[key] || types.createPolicy("tillgate", copyBare({ createScriptURL: rule }));
    return types[key].createScriptURL(url);
  } catch (refused) {
    return url;
  }
}

// Returns the hash of a file as an element's attributes: what does not match does not run.
function pinnedTo(hash) {
  return { integrity: "sha256-" + hash, crossorigin: "anonymous" };
}

export function loadScript(path, hash) {
  return loadElement(
    function () {
      var element = make("script", "", pinnedTo(hash));
      element.src = trustAddress(addressOf(path));
      // Browsers put off asynchronous scripts of other sites until they have painted.
      element.async = false;
      element.fetchPriority = "high";
      return element;
    },
    function (element) {
      nativeGet(document, "head").append(element);
    },
  );
}

// Returns true if the page's policy and its browser let wasm run. The eight bytes are an empty module; a policy that forbids
// it throws, and nothing is said on the console.
function runsWasm() {
  try {
    return !!new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  } catch (forbidden) {
    return false;
  }
}

// Loads the page module, or the same in plain JavaScript where wasm cannot run.
export function loadPageModule() {
  return runsWasm() ? loadScript("js/static.min.js", "%PAGE%") : loadScript("js/plain/static.min.js", "%TWIN%");
}

// Loads the style sheet that the merchant wants. It goes first in the head, so that a merchant's rules of equal weight win.
export function loadStyle(wanted, whenLoaded) {
  var name = wanted === "none" || wanted === "plain" ? wanted : "card";
  if (styleName === name) return;
  styleName = name;
  if (styleLink) styleLink.remove();
  // The merchant brings all of the style, except that hidden parts stay hidden.
  if (name === "none") return adoptRules(".wpwl-container [hidden]{display:none}");
  // Until the sheet arrives, its measures alone: nothing may jump.
  adoptRules(name === "card" ? "%SKELETON%" : "");
  loadElement(
    function () {
      var attributes = pinnedTo(name === "card" ? "%CARD%" : "%BARE%");
      return (styleLink = make("link", "", Object.assign({ rel: "stylesheet", href: addressOf("css/" + name + ".css") }, attributes)));
    },
    function (link) {
      nativeGet(document, "head").prepend(link);
    },
  ).then(
    function () {
      if (styleName === name) removeRules();
      whenLoaded();
    },
    // The measures stay: a bare form pays too.
    Boolean,
  );
}

function setSheets(sheets) {
  nativeSet(document, "adoptedStyleSheets", sheets);
}

// Adds a few rules without a file; browsers that cannot take them do without.
function adoptRules(rules) {
  removeRules();
  try {
    adopted = new CSSStyleSheet();
    adopted.replaceSync(rules);
    setSheets(Array.from(nativeGet(document, "adoptedStyleSheets")).concat(adopted));
  } catch (old) {
    adopted = null;
  }
}

function removeRules() {
  if (!adopted) return;
  var others = Array.from(nativeGet(document, "adoptedStyleSheets")).filter(function (sheet) {
    return sheet !== adopted;
  });
  adopted = null;
  setSheets(others);
}

// Removes everything that was put into the page. Nothing comes any more.
export function removeFiles() {
  isEnded = true;
  removeRules();
  elements.forEach(function (element) {
    element.remove();
  });
}
