// Puts forms in the place of placeholders: one for all cards, and an empty place for each other brand, which the page
// module fills. Frames load at once. The placeholder stays beside them until the page's scripts have run.

import { copyBare, make, nativeCall, nativeGet, nativeSet, randomDigits, runSoon } from "./native.js";
import { checkout, framesBase, ownScript } from "./script.js";
import { addSkeleton } from "./skeleton.js";

// Only cards are known here. The gateway describes all other brands.
var CARDS = "%CARDS%".split(" ");
export function isCardBrand(brand) { return CARDS.indexOf(brand) > -1 || !brand; }

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
// Forms that stand, and placeholders beside them.
var forms = [], pending = [];
var relayFrame = null;
export function listForms() { return forms; }
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
  var others = forms.filter(function (other) { return other.isCard; }).length;
  var complete = function () { form.codeWrapper.append(form.code); };
  addSkeleton(form, others + 1, isOneOfSeveral || others > 0);
  // Nothing is dearer to make than a frame: on a slow processor, two of them would be a long task.
  if (performance.now() - begun < SLOW) complete();
  else runSoon(complete);
  made.splice(Math.max(brands.indexOf(cards[0]), 0), 0, form);
  return made;
}

function listContainers(entry) { return entry.forms.map(function (form) { return form.container; }); }
function insertForms(entry) { nativeGet(entry.placeholder, "after").apply(entry.placeholder, listContainers(entry)); }

function addForms(entry, isOneOfSeveral) {
  entry.brands = brandsOf(entry.placeholder).join();
  entry.forms = makeForms(entry.placeholder, isOneOfSeveral);
  forms = forms.concat(entry.forms);
  insertForms(entry);
}

function removeForms(entry) {
  forms = forms.filter(function (form) { return !entry.forms.includes(form); });
  listContainers(entry).forEach(function (container) { container.remove(); });
}

// Places the forms of all placeholders that stand in the page, and calls `prepare` before it if there are new ones.
// Returns their number.
export function placeAll(isParsed, prepare) {
  var found = Array.from(nativeCall(document, "querySelectorAll", "form.paymentWidgets")).filter(function (form) {
    var isKnown = pending.some(function (entry) { return entry.placeholder === form; });
    return !isKnown && (isParsed || !nativeCall(form, "contains", ownScript));
  });
  if (found.length) prepare();
  found.forEach(function (placeholder) {
    var entry = { placeholder: placeholder, brands: "", forms: [] };
    addForms(entry, found.length > 1);
    nativeGet(placeholder, "style").display = "none";
    pending.push(entry);
  });
  return found.length;
}

// The page's scripts change the placeholders no more: forms go where these are now, for the brands that they name now.
export function settleForms() {
  pending.splice(0).forEach(function (entry) {
    if (!nativeGet(entry.placeholder, "isConnected")) return removeForms(entry);
    if (brandsOf(entry.placeholder).join() !== entry.brands) {
      removeForms(entry);
      addForms(entry, false);
    } else if (!entry.forms[0].container.isConnected) insertForms(entry);
    nativeCall(entry.placeholder, "remove");
  });
}

// Opens the relay frame, which is hidden and describes and sends the forms of other brands and of stored accounts.
export function openRelay(isAnew) {
  var brands = forms.map(function (form) { return form.brands.join(" "); }).join(" ");
  var query = new URLSearchParams({ checkoutId: checkout.id, brands: brands });
  var src = framesBase + "v1/internalRequestIframe.html?" + query;
  if (!isAnew && relayFrame && relayFrame.isConnected && relayFrame.src === src) return relayFrame;
  if (relayFrame) relayFrame.remove();
  relayFrame = make("iframe", "", { hidden: "", referrerpolicy: "no-referrer", src: src });
  // Many sheets give frames a display, and thereby show hidden ones.
  relayFrame.style.display = "none";
  nativeGet(document, "body").append(relayFrame);
  return relayFrame;
}

// Removes everything that stands. Placeholders that are still there wait for the next loader.
export function removeAll() {
  pending.forEach(function (entry) { nativeGet(entry.placeholder, "style").display = ""; });
  forms.forEach(function (form) {
    if (form.form) nativeCall(form.form, "remove");
    form.container.remove();
  });
  if (relayFrame) relayFrame.remove();
  pending = [];
  forms = [];
  relayFrame = null;
}
