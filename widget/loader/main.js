// The loader: finds the placeholders, puts forms with their frames in their place, and starts the page module, which does
// everything else. May run again at any time: for new forms, after unload(), or for another checkout.

import { make, setBusy, runSoon } from "./dom.js";
import { loadPageModule, loadStyle, removeFiles } from "./files.js";
import { ENGLISH, loadLanguage, readLanguage, readLocale, takeTexts } from "./language.js";
import { copyBare, globalOf, listen, nativeCall, nativeGet, unlisten } from "./native.js";
import { givenOptions, readOptions, reportError } from "./options.js";
import { findRelay, listForms, openRelay, placeAll, removeAll, settleForms } from "./place.js";
import { isModernBrowser, showPlainForms } from "./plain.js";
import { base, BUILD, framesBase, isServedByTrunk, readCheckout } from "./script.js";
import { framePermissions } from "./skeleton.js";
import { beginWatch, endWatch, noteHello, onRetry, reloadFrames, showFailure } from "./watch.js";

// The version of the messages between loader, page module and frames.
var VERSION = "%WIRE%";

function startLoader() {
  var checkout = readCheckout();
  var isExternal = isServedByTrunk();
  var framesOrigin = new URL(framesBase).origin;
  // The page module's functions, once it has started, and messages of frames that came before.
  var page = null;
  var inbox = [];
  var isSettled = false;
  var isRequested = false;
  var isEnded = false;
  var observer = null;

  // The parts of the loader that the page module uses, as widget/src/page/bridge.rs declares them.
  var loader = {
    version: VERSION,
    // Set by the page module.
    start: null,
    base: base,
    framesBase: framesBase,
    build: BUILD,
    checkoutId: checkout.id,
    purpose: checkout.purpose,
    framePermissions: framePermissions(),
    english: ENGLISH,
    readOptions: givenOptions,
    readLanguage: readLanguage,
    readLocale: readLocale,
    listForms: listForms,
    findRelay: findRelay,
    openRelay: function (isAnew) {
      return openRelay(checkout, isAnew);
    },
    releaseForm: function (form) {
      form.isDone = true;
    },
    completeForm: function (form) {
      setBusy(form.container, false);
    },
    connect: function (functions) {
      page = functions;
      inbox.splice(0).forEach(page.receive);
      beginWatch(isPageModuleHere);
    },
    // Called by the script of a language.
    words: takeTexts,
    fail: function (error) {
      isRequested = false;
      if (!isEnded) showFailure(String(error && error.message), "WidgetError");
    },
    go: startPage,
    look: lookForForms,
    unload: unload,
  };

  function isPageModuleHere() {
    return !!page || !listForms().length;
  }

  // Frames speak from their own origin. The page module reads what they say.
  function receive(event) {
    if (event.origin !== framesOrigin || !event.data || !event.data.tillgate) return;
    if (event.data.type === "ready") {
      noteHello(event.source);
      beginWatch(isPageModuleHere);
    }
    if (page) page.receive(event);
    else inbox.push({ data: event.data, source: event.source });
  }

  function requestPageModule() {
    if (isExternal || isRequested || page || loader.start) return;
    isRequested = true;
    loadPageModule().catch(loader.fail);
  }

  // Starts the page module once it has come, the page's own scripts have run, and the language is there.
  function startPage() {
    if (!isSettled || isEnded || page || !loader.start || !listForms().length) return;
    runSoon(function () {
      if (!isEnded && !page) loader.start(loader);
    });
  }

  function placeForms(isParsed) {
    if (!placeAll(checkout, isParsed)) return;
    // First what the form waits for. From far away the sheet is there before the frames: it is styled while the page has time.
    loadStyle(readOptions().style, restyle);
    requestPageModule();
    var hasOthers = listForms().some(function (form) {
      return !form.isCard;
    });
    if (hasOthers) openRelay(checkout, true);
    beginWatch(isPageModuleHere);
  }

  function restyle() {
    if (page) page.restyle();
  }

  // The page's scripts have run: forms and options count as they are now.
  function settle() {
    if (isEnded) return;
    placeForms(true);
    settleForms(checkout);
    var options = readOptions();
    loadStyle(options.style, restyle);
    if (!listForms().length && !isSettled) reportMissing();
    loadLanguage(options.locale).then(function () {
      isSettled = true;
      if (page) page.takeForms();
      else startPage();
    });
  }

  function reportMissing() {
    var text = "there is no form.paymentWidgets; inside of another form, browsers leave it out";
    console.warn("Tillgate: " + text);
    reportError("WidgetError", text);
  }

  function lookForForms() {
    placeForms(false);
    afterPageScripts(settle);
  }

  // Looks for forms that the page adds later.
  function observePage() {
    observer = new MutationObserver(function (changes) {
      var isAdded = changes.some(function (change) {
        return Array.from(change.addedNodes).some(function (node) {
          return node.nodeType === 1 && (isPlaceholder(node) || !!nativeCall(node, "querySelector", "form.paymentWidgets"));
        });
      });
      if (isAdded) afterPageScripts(settle);
    });
    observer.observe(document, copyBare({ childList: true, subtree: true }));
  }

  function isPlaceholder(node) {
    return node.nodeName === "FORM" && nativeGet(node, "classList").contains("paymentWidgets");
  }

  // A copy of our form that the page made: nothing in it is ours, and the browser would send it by itself. The page's own
  // forms are the page's business.
  function stopCopies(event) {
    var copy = event.target;
    var target = nativeCall(copy, "getAttribute", "target");
    var isCopy = listForms().some(function (form) {
      return form.form && form.form !== copy && nativeCall(form.form, "getAttribute", "target") === target;
    });
    if (!isCopy || !nativeGet(copy, "classList").contains("wpwl-form")) return;
    event.preventDefault();
    nativeCall(copy, "append", make("div", "wpwl-message wpwl-has-error", { role: "alert" }, [(readLanguage() || ENGLISH).failed]));
    reportError("WidgetError", "the page has put a copy in the place of the form");
  }

  function unload() {
    if (isEnded) return;
    isEnded = true;
    if (page) page.stop();
    observer.disconnect();
    endWatch();
    unlisten(window, "message", receive);
    unlisten(window, "submit", stopCopies, true);
    darkness.removeEventListener("change", restyle);
    removeAll();
    removeFiles();
    delete window.wpwl;
    if (isExternal) window.__tillgate = { start: loader.start };
    else delete window.__tillgate;
  }

  var earlier = globalOf("__tillgate");
  // Loaded twice: only forms that came since are of interest.
  if (earlier && earlier.checkoutId === checkout.id && earlier.build === BUILD) return earlier.look();
  if (earlier && earlier.unload) earlier.unload();
  var left = globalOf("__tillgate");
  if (left && left.start) loader.start = left.start;
  window.__tillgate = loader;
  window.wpwl = makeGlobal(checkout, unload);
  onRetry(function () {
    beginWatch(isPageModuleHere);
    reloadFrames();
    requestPageModule();
  });
  var darkness = matchMedia("(prefers-color-scheme: dark)");
  darkness.addEventListener("change", restyle);
  listen(window, "message", receive);
  listen(window, "submit", stopCopies, true);
  observePage();
  lookForForms();
}

// Calls `work` two tasks after DOMContentLoaded: the page's scripts, and those that wait for jQuery's ready, have run then.
function afterPageScripts(work) {
  var later = function () {
    setTimeout(function () {
      setTimeout(work);
    });
  };
  var navigation = performance.getEntriesByType("navigation")[0];
  var isLoaded = nativeGet(document, "readyState") === "complete" || (navigation && navigation.domContentLoadedEventStart > 0);
  if (isLoaded) later();
  else listen(document, "DOMContentLoaded", later);
}

// The global that merchants know. The page module adds what the configuration tells, and further functions.
function makeGlobal(checkout, unload) {
  var endpoint = base.slice(0, -1);
  return {
    apiVersion: "1",
    cacheVersion: BUILD,
    endpoint: endpoint,
    url: endpoint,
    minified: true,
    checkout: { id: checkout.id, endpoint: endpoint, config: { customRedirectPageConfig: {} } },
    unload: unload,
  };
}

if (isModernBrowser()) startLoader();
else showPlainForms();
