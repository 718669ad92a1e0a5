// The loader: finds the placeholders, puts forms with their frames in their place, and starts the page module, which
// does everything else. May run again at any time: for new forms, after unload(), or for another checkout. Only one
// loader is at work. It ends once the page has the script of another checkout, be it still on its way: no shopper can
// pay an order that the page no longer shows.

import { loadChoice, loadDebit, loadExtras, loadLanguage, loadLaterParts, loadPageModule, loadStyle } from "./files.js";
import { explain, faults, markLanguage, readLocale, readTexts, removeFiles, showMark, takeLook, takeTexts } from "./files.js";
import { define, globalOf, listen, make, nativeCall, nativeGet, readMember } from "./native.js";
import { runSoon, setBusy, unlisten } from "./native.js";
import { givenOptions, readOption } from "./options.js";
import { findRelay, hasForms, listForms, openRelay, placeAll, settleForms } from "./place.js";
import { removeAbandoned, removeAll, removeCopies } from "./place.js";
import { isModernBrowser, showPlainForms } from "./plain.js";
import { reportError } from "./report.js";
import { base, BUILD, checkout, framesBase, isServedByTrunk, ownScript } from "./script.js";
import { beginTurn, hasRival, isOutdated, listAdded, noteScripts, OBSERVED, retireScripts } from "./script.js";
import { framePermissions } from "./skeleton.js";
import { beginWatch, endWatch, noteHello, onRetry, reloadFrames, showFailure } from "./watch.js";

var MISSING = "there is no form.paymentWidgets";
// Time for what comes later, in milliseconds. Then the form goes on without it.
var LATEST = 10000;
// Browsers show no frame of the gateway in a page without an origin, and a frame in a sandbox could not reach another.
var NO_ORIGIN = "this page has no origin";

function startLoader() {
  var framesOrigin = new URL(framesBase).origin;
  var darkness = matchMedia("(prefers-color-scheme: dark)");
  var observer = new MutationObserver(followPage);
  // The page module's functions, once it has started, and messages of frames that came before.
  var page = null, inbox = [];
  // The script that shows several ways to pay as one choice, and what the checkout offers.
  var painter = null, offer = null;
  // The functions of the script of later parts, and the shop's name.
  var parts = null, shop = "";
  var hasLooked = false, isSettled = false, isRequested = false, isEnded = false;
  // True once the page had a form. From the beginning, if it took the script away before that ran: then it wants no
  // forms that are not there yet.
  var hadForms = !nativeGet(ownScript, "isConnected");

  // The parts that the script of the choice uses.
  var tools = { listForms: listForms, readTexts: readTexts, readLocale: readLocale, restyle: restyle, showMark: showMark };

  // The parts of the loader that the page module uses, as widget/src/page/bridge.rs declares them.
  var loader = {
    // The version of the messages between loader, page module and frames.
    version: "%WIRE%",
    // Set by the page module.
    start: null,
    base: base, framesBase: framesBase, build: BUILD, framePermissions: framePermissions(),
    checkoutId: checkout.id, purpose: checkout.purpose, readOptions: givenOptions,
    readTexts: readTexts, readLocale: readLocale,
    loadLaterParts: function (work) {
      // A fault may be explained before the page's scripts have run.
      if (!isSettled) loadTexts();
      var loaded = loadLaterParts().then(loadDebitScript);
      // Each touch of the form asks for the parts, and waits for nothing.
      if (!work) return;
      var finish = function () {
        if (work) work();
        work = null;
      };
      loaded.then(finish);
      // A request that never ends may hold up no form and no challenge.
      setTimeout(finish, LATEST);
    },
    listForms: listForms, findRelay: findRelay, openRelay: openRelay, runSoon: runSoon, showMark: showMark,
    releaseForm: function (form) { form.isDone = true; },
    completeForm: function (form) { setBusy(form.container, false); },
    connect: function (functions) {
      page = functions;
      inbox.splice(0).forEach(page.receive);
      watch();
    },
    fail: function (error) {
      isRequested = false;
      var isOfFrames = error && error.name === "PciIframeCommunicationError";
      if (!isEnded) showFailure(String(error && error.message), isOfFrames ? error.name : "WidgetError");
    },
    showChoice: showChoice,
    // Set by the script of direct debits, which completes their forms.
    debit: null,
    // Called by the script of the choice.
    takeChoice: function (made) {
      if (painter) painter.end();
      painter = made;
      showChoice();
    },
    explain: explain, faults: faults,
    // Opens something with the script of later parts. Nothing if that is lost.
    openPart: function (name, view) { return parts && parts[name](view, shop); },
    // Called by that script.
    takeParts: function (made) { parts = made; },
    // Called by the scripts of a language.
    words: takeTexts,
    go: startPage, look: lookForForms, unload: unload, end: end, script: ownScript,
  };

  // Looks for forms that the page adds later, and for the signs that this loader's time is over.
  function followPage(changes) {
    var added = listAdded(changes);
    var scripts = noteScripts(added);
    if (scripts.length && isOutdated(scripts)) return end();
    removeAbandoned();
    if (added.some(holdsForm)) afterPageScripts(settle);
    else if (hasLooked) endIfLeft();
  }

  function endIfLeft() {
    hadForms = hadForms || !!listForms().length;
    if (hadForms && !hasForms() && !nativeGet(ownScript, "isConnected")) end();
  }

  function watch() { if (!hasNoOrigin()) beginWatch(function () { return !!page || !listForms().length; }); }
  function restyle() {
    if (page) page.restyle();
    if (painter) runSoon(painter.restyle);
  }
  function showChoice() {
    if (loader.debit) loader.debit(offer);
    if (painter && page && offer && !isEnded) painter.show(offer, tools);
  }

  // Frames speak from their own origin. The page module reads what they say.
  function receive(event) {
    if (event.origin !== framesOrigin || !event.data || !event.data.tillgate) return;
    if (event.data.type === "ready") {
      noteHello(event.source);
      // Before the page module measures the text of the page for the frames.
      var config = event.data.config || {};
      takeLook(readMember(config, "look"));
      shop = readMember(config, "shop") || shop;
      // The checkout cannot be paid.
      if (config.error) explain(config.error);
      watch();
    }
    // The page module shows the choice when it has the forms for this.
    if (event.data.relay && event.data.config && isRelay(event.source)) offer = event.data.config;
    if (page) page.receive(event);
    else inbox.push({ data: event.data, source: event.source });
  }

  // Explains that a policy of the page has blocked a file or a frame of ours.
  function noteViolation(event) {
    var blocked = event.blockedURI + "/";
    if (!blocked.indexOf(framesOrigin + "/") || !blocked.indexOf(base)) explain(event);
  }

  function requestPageModule() {
    if (isServedByTrunk || isRequested || page || loader.start) return;
    isRequested = true;
    loadPageModule().catch(loader.fail);
  }

  // Starts the page module once it has come, the page's own scripts have run, and the language is there.
  function startPage() {
    if (!isSettled || isEnded || page || hasNoOrigin() || !loader.start || !listForms().length) return;
    runSoon(function () { if (!isEnded && !page) loader.start(loader); });
  }

  function placeForms(isParsed) {
    if (!placeAll(isParsed)) return;
    // Frames are what a form waits for, and to find out whether wasm may run takes as long as to make one.
    requestPageModule();
    // From far away the sheet is there before the frames, so the page has time for it.
    loadStyle(readOption("style"), readOption("theme"), restyle);
    if (hasLayout()) loadChoice();
    // The choice needs the names of all brands.
    var hasChoice = hasLayout() && listForms().length > 1;
    if (hasChoice || listForms().some(function (form) { return !form.isCard; })) openRelay(true);
    watch();
  }

  // The page's scripts have run: forms and options count as they are now.
  function settle() {
    if (isEnded) return;
    placeForms(true);
    settleForms();
    loadStyle(readOption("style"), readOption("theme"), restyle);
    if (hasLayout()) loadChoice();
    loadExtras();
    if (!listForms().length && !isSettled && !hadForms) reportError("WidgetError", MISSING, true);
    if (!checkout.id && !readOption("createCheckout")) explain("checkoutId");
    hasLooked = true;
    endIfLeft();
    if (isEnded) return;
    loadTexts().then(function () {
      if (isEnded) return;
      isSettled = true;
      listForms().forEach(markLanguage);
      if (hasNoOrigin()) showFailure(NO_ORIGIN, "PciIframeCommunicationError", true);
      else if (page) {
        page.takeForms();
        showChoice();
      }
      else startPage();
    });
  }

  function lookForForms() {
    placeForms(false);
    afterPageScripts(function () {
      if (!isEnded) removeCopies();
      settle();
    });
  }

  // Ends this loader. Only unload() says that the page wants no form; otherwise the next loader finds the placeholders.
  function end(isUnload) {
    if (isEnded) return;
    isEnded = true;
    if (page) page.stop();
    if (painter) painter.end();
    if (parts) parts.end();
    observer.disconnect();
    endWatch();
    unlisten(window, "message", receive);
    unlisten(document, "securitypolicyviolation", noteViolation);
    unlisten(window, "submit", rejectClone, true);
    darkness.removeEventListener("change", restyle);
    removeAll(isUnload);
    removeFiles();
    // Pages call unload() when they remove a form, also one that has ended by itself.
    var rest = { unload: function () { if (window.wpwl === rest) delete window.wpwl; } };
    if (isUnload) delete window.wpwl;
    else define(window, "wpwl", rest);
    if (isServedByTrunk) define(window, "__tillgate", { start: loader.start });
    else delete window.__tillgate;
  }

  function unload() {
    if (!isEnded) retireScripts();
    end(true);
  }

  var earlier = globalOf("__tillgate");
  if (!beginTurn((earlier && earlier.script) || [])) return;
  // Loaded twice: only forms that came since are of interest.
  if (earlier && earlier.checkoutId === checkout.id && earlier.build === BUILD) return earlier.look();
  // A loader of a build that knows no other end has unload().
  if (earlier && earlier.unload) (earlier.end || earlier.unload)();
  loader.start = (globalOf("__tillgate") || loader).start;
  define(window, "__tillgate", loader);
  define(window, "wpwl", makeGlobal(unload));
  onRetry(function () { watch(); reloadFrames(); requestPageModule(); });
  darkness.addEventListener("change", restyle);
  listen(window, "message", receive);
  listen(document, "securitypolicyviolation", noteViolation);
  listen(window, "submit", rejectClone, true);
  observer.observe(document, OBSERVED);
  // Shops that show one checkout after another add scripts later.
  if (nativeGet(document, "readyState") === "loading" && hasRival()) explain("two scripts");
  lookForForms();
}

function isRelay(source) {
  var relay = findRelay();
  return !!relay && relay.contentWindow === source;
}

// Returns true if the merchant wants one choice of all ways to pay.
function hasLayout() { return /^(accordion|tabs)$/.test(readOption("methodLayout")); }

// Loads the script of direct debits if the page has a form of one.
function loadDebitScript() {
  return listForms().some(function (form) { return /SEPA/.test(form.brands); }) && loadDebit();
}

// Options with which a form of cards says and shows more from the beginning.
var TALKATIVE = ["billingAddress", "forceCardHolderEqualsBillingName", "registrations", "showCVVHint"];

// Loads the texts that the forms of cards need, and begins to load texts and rules of other forms.
function loadTexts() {
  var loaded = loadLanguage(readOption("locale"));
  if (TALKATIVE.some(readOption) || readOption("style") === "logos") return loadLaterParts();
  if (listForms().some(function (form) { return !form.isCard; })) loadLaterParts();
  return loaded;
}

// Returns true for a page without an origin. Pages in files have none either, and some browsers show frames there.
function hasNoOrigin() { return globalOf("origin") === "null" && location.protocol !== "file:"; }

// Calls `work` two tasks after DOMContentLoaded: the page's scripts, also those that wait for jQuery, have run then.
function afterPageScripts(work) {
  var later = function () { setTimeout(function () { setTimeout(work); }); };
  var navigation = performance.getEntriesByType("navigation")[0];
  var isParsed = navigation && navigation.domContentLoadedEventStart > 0;
  if (isParsed || nativeGet(document, "readyState") === "complete") later();
  else listen(document, "DOMContentLoaded", later);
}

// Returns true for a placeholder, and for an element with one in it.
function holdsForm(node) {
  var isForm = node.nodeName === "FORM" && nativeGet(node, "classList").contains("paymentWidgets");
  return isForm || !!nativeCall(node, "querySelector", "form.paymentWidgets");
}

// Stops the submit of a copy of our form that the page made: nothing in it is ours, and the browser would send it.
function rejectClone(event) {
  var clone = event.target;
  var target = nativeCall(clone, "getAttribute", "target");
  var isClone = listForms().some(function (form) {
    return form.form && form.form !== clone && nativeCall(form.form, "getAttribute", "target") === target;
  });
  if (!isClone || !nativeGet(clone, "classList").contains("wpwl-form")) return;
  event.preventDefault();
  nativeCall(clone, "append", make("div", "wpwl-message wpwl-has-error", { role: "alert" }, [readTexts().failed]));
  reportError("WidgetError", "the page has put a copy in the place of the form");
}

// The global that merchants know. The page module adds what the configuration tells, and further functions.
function makeGlobal(unload) {
  var endpoint = base.slice(0, -1);
  return {
    apiVersion: "1", cacheVersion: BUILD, minified: true, endpoint: endpoint, url: endpoint, unload: unload,
    checkout: { id: checkout.id, endpoint: endpoint, config: { customRedirectPageConfig: {} } },
  };
}

if (isModernBrowser()) startLoader();
else showPlainForms();
