// Puts forms in the place of placeholders: one for all cards, and an empty place for each other brand, which the page
// module fills. Frames load at once. The placeholder stays beside them, hidden: it may belong to a framework, which
// finds it where it was, and the next loader needs it.

import { copyBare, kindOf, make, nativeCall, nativeGet, nativeSet, randomDigits, runSoon, setStyle } from "./native.js";
import { readOption } from "./options.js";
import { checkout, framesBase, ownScript } from "./script.js";
import { addSkeleton } from "./skeleton.js";

// Only cards are known here. The gateway describes all other brands.
var CARDS = "%CARDS%".split(" ");
// Cards of the first brands, as many as this, are known by their numbers.
var TOLD = "%TOLD%";
export function isCardBrand(brand) { return CARDS.indexOf(brand) > -1 || !brand; }

// Hides the list of brands where the style has room for their marks in the field of the number, unless only the list
// tells the brand or the merchant wants it.
function arrangeBrands(form) {
  if (!form.brandGroup) return;
  var isTold = form.brands.length && form.brands.every(function (brand) { return CARDS.indexOf(brand) < TOLD; });
  var isWanted = /^(plain|none)$/.test(readOption("style")) || readOption("brandList") === "true";
  form.brandGroup.classList.toggle("wpwl-brand-quiet", isTold && !isWanted);
}

// Returns the text that lists the brands of a placeholder.
export function brandListOf(placeholder) {
  return nativeCall(placeholder, "getAttribute", "data-brands") || nativeGet(placeholder, "textContent");
}
export function brandsOf(placeholder) { return brandListOf(placeholder).match(/[^\s,]+/g) || []; }

// Returns the address in a placeholder's `action`, whole; empty if it is none of http or https.
export function actionOf(placeholder) {
  var action = nativeCall(placeholder, "getAttribute", "action") ? nativeGet(placeholder, "action") : "";
  return /^https?:/i.test(action) ? action : "";
}

// Milliseconds, what a screen takes for a picture: placing that takes longer has no time for a second frame.
var SLOW = 16;
// Attribute of everything that a loader adds to the body, and of the placeholders that it hides. Pages keep copies of
// themselves, and show them to a shopper who comes back: other loaders' nodes are known by other values.
var MARK = "data-tillgate";
var OWN = String(Math.random());
// Placeholders with their forms. An entry is settled once the page's scripts have run.
var entries = [];
var relayFrame = null;
export function listForms() { return entries.flatMap(function (entry) { return entry.forms; }); }
export function findRelay() { return relayFrame; }
export function setFormHidden(form, isHidden) { if (form.form) nativeSet(form.form, "hidden", isHidden); }

// Describes a form as widget/src/page/bridge.rs declares it. It inherits nothing: the page may add to every object.
function describeForm(placeholder, brands) {
  var readResult = function () { return actionOf(placeholder); };
  var isCard = isCardBrand(brands[0]);
  return copyBare({ nonce: randomDigits(20), brands: brands, isCard: isCard, key: "", readResult: readResult });
}

// Makes the forms of a placeholder, in the order in which it names their brands.
function makeForms(placeholder, isOneOfSeveral) {
  var begun = performance.now();
  var brands = brandsOf(placeholder);
  var cards = brands.filter(isCardBrand);
  var made = brands.filter(function (brand) { return !isCardBrand(brand); }).map(function (brand) {
    var form = describeForm(placeholder, [brand]);
    var attributes = { id: "other_" + randomDigits(12), "aria-busy": "true" };
    form.container = make("div", "wpwl-container wpwl-loading", attributes, [make("div", "wpwl-wrapper")]);
    return form;
  });
  if (!cards.length && brands.length) return made;
  var form = describeForm(placeholder, cards);
  var others = listForms().filter(function (other) { return other.isCard; }).length;
  var complete = function () { form.codeWrapper.append(form.code); };
  addSkeleton(form, others + 1, isOneOfSeveral || others > 0);
  arrangeBrands(form);
  // Nothing is dearer to make than a frame: on a slow processor, two of them would be a long task.
  if (performance.now() - begun < SLOW) complete();
  else runSoon(complete);
  made.splice(Math.max(brands.indexOf(cards[0]), 0), 0, form);
  return made;
}

function isInPage(node) { return nativeGet(node, "isConnected"); }
function hasStandingForm(entry) { return entry.forms.some(function (form) { return form.container.isConnected; }); }
// Returns true if a form stands in the page.
export function hasForms() { return entries.some(hasStandingForm); }

function insertForms(entry) {
  entry.parent = nativeGet(entry.placeholder, "parentNode");
  var containers = entry.forms.map(function (form) { return form.container; });
  nativeGet(entry.placeholder, "before").apply(entry.placeholder, containers);
}

function addForms(entry, isOneOfSeveral) {
  entry.brands = brandsOf(entry.placeholder).join();
  entry.forms = makeForms(entry.placeholder, isOneOfSeveral);
  entry.forms.forEach(function (form) { form.container.setAttribute(MARK, OWN); });
  insertForms(entry);
}

// Removes forms and their parts, wherever the page has moved them: a frame that is left could still send.
function removeForms(entry) {
  entry.forms.forEach(function (form) {
    (form.parts || []).concat(form.container).forEach(function (part) { nativeCall(part, "remove"); });
  });
  entry.forms = [];
}

function hidePlaceholder(placeholder) {
  nativeGet(placeholder, "classList").remove("paymentWidgets");
  nativeCall(placeholder, "setAttribute", MARK, OWN);
}

function restorePlaceholder(placeholder) {
  nativeGet(placeholder, "classList").add("paymentWidgets");
  nativeCall(placeholder, "removeAttribute", MARK);
  setStyle(placeholder, "display", "");
}

// Forgets forms that have left the page. If the page shows their placeholder again, that gets another form.
function forgetLostForms() {
  entries = entries.filter(function (entry) {
    if (hasStandingForm(entry)) return true;
    removeForms(entry);
    restorePlaceholder(entry.placeholder);
    // It describes forms once, when it loads.
    removeRelay();
    return false;
  });
}

// Places the forms of all placeholders that stand in the page. Returns the number of new ones.
export function placeAll(isParsed) {
  var found = Array.from(nativeCall(document, "querySelectorAll", "form.paymentWidgets")).filter(function (form) {
    var isKnown = entries.some(function (entry) { return entry.placeholder === form; });
    return !isKnown && (isParsed || !nativeCall(form, "contains", ownScript));
  });
  if (!found.length) return 0;
  forgetLostForms();
  found.forEach(function (placeholder) {
    var entry = { placeholder: placeholder, brands: "", forms: [], parent: null, isSettled: false };
    // The names of its forms depend on the forms before it.
    addForms(entry, found.length > 1);
    entries.push(entry);
    setStyle(placeholder, "display", "none");
  });
  return found.length;
}

// The page's scripts change the placeholders no more: forms go where these are now, for the brands that they name now.
export function settleForms() {
  entries = entries.filter(function (entry) {
    if (entry.isSettled) return true;
    entry.isSettled = true;
    if (!isInPage(entry.placeholder)) return removeForms(entry);
    if (brandsOf(entry.placeholder).join() !== entry.brands) {
      removeForms(entry);
      addForms(entry, false);
    } else if (!hasStandingForm(entry)) insertForms(entry);
    entry.forms.forEach(arrangeBrands);
    hidePlaceholder(entry.placeholder);
    return true;
  });
}

// Removes the nodes of other loaders, which a page has kept in a copy of itself. Their placeholders come back, unless
// the page has others.
export function removeCopies() {
  forgetLostForms();
  var hasOthers = entries.length || nativeCall(document, "querySelector", "form.paymentWidgets");
  var selector = "[" + MARK + "]:not([" + MARK + "='" + OWN + "'])";
  nativeCall(document, "querySelectorAll", selector).forEach(function (node) {
    if (kindOf(node) === "[object HTMLFormElement]" && !hasOthers) restorePlaceholder(node);
    else nativeCall(node, "remove");
  });
}

// Removes forms that the page has left behind: it took their placeholder alone, as frameworks do with their elements.
export function removeAbandoned() {
  entries.forEach(function (entry) {
    if (!entry.isSettled || isInPage(entry.placeholder)) return;
    entry.forms.forEach(function (form) { if (form.container.parentNode === entry.parent) form.container.remove(); });
    if (hasForms()) return;
    // The stored accounts, which the page module has placed.
    var left = nativeCall(document, "querySelectorAll", "div[" + MARK + "='" + OWN + "']");
    left.forEach(function (node) { node.remove(); });
  });
}

// Opens the relay frame, which is hidden and describes and sends the forms of other brands and of stored accounts.
export function openRelay(isAnew) {
  var brands = listForms().map(function (form) { return form.brands.join(" "); }).join(" ");
  var query = new URLSearchParams({ checkoutId: checkout.id, brands: brands });
  var src = framesBase + "v1/internalRequestIframe.html?" + query;
  if (!isAnew && relayFrame && relayFrame.isConnected && relayFrame.src === src) return relayFrame;
  if (relayFrame) relayFrame.remove();
  relayFrame = make("iframe", "", { hidden: "", referrerpolicy: "no-referrer", src: src });
  relayFrame.setAttribute(MARK, OWN);
  // Many sheets give frames a display, and thereby show hidden ones.
  setStyle(relayFrame, "display", "none");
  nativeGet(document, "body").append(relayFrame);
  return relayFrame;
}

function removeRelay() {
  if (relayFrame) relayFrame.remove();
  relayFrame = null;
}

// Removes everything that stands. The next loader finds the placeholders: after unload() hidden, and else as they were.
export function removeAll(isUnload) {
  entries.forEach(function (entry) {
    removeForms(entry);
    if (!isUnload || !entry.isSettled) restorePlaceholder(entry.placeholder);
  });
  removeRelay();
  entries = [];
}
