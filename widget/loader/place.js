// Puts forms in the place of placeholders: one for all cards of a placeholder, and an empty place for each other brand, which
// the page module fills. Frames begin to load at once; the placeholder itself stays beside them until the page's scripts have
// run, as those may still look for it, move it, or name its brands.

import { actionOf, brandsOf, isCardBrand } from "./brands.js";
import { make, randomDigits, runSoon } from "./dom.js";
import { nativeCall, nativeGet, nativeSet } from "./native.js";
import { framesBase, ownScript } from "./script.js";
import { addSkeleton } from "./skeleton.js";

// Milliseconds, what a screen takes for a picture: placing that takes longer has no time for a second frame.
var SLOW = 16;

// Forms that stand, and placeholders beside them.
var forms = [];
var pending = [];
var relayFrame = null;

export function listForms() {
  return forms;
}

function makeForm(placeholder, brands) {
  return {
    nonce: randomDigits(20),
    brands: brands,
    isCard: isCardBrand(brands[0]),
    key: "",
    // Filled in later; here so that nothing stands in their place which the page has added to every object.
    container: null,
    form: null,
    number: null,
    code: null,
    codeWrapper: null,
    message: null,
    wasBusy: false,
    isDone: false,
    readResult: function () {
      return actionOf(placeholder);
    },
  };
}

function placeForms(placeholder, checkout, isOneOfSeveral) {
  var begun = performance.now();
  var brands = brandsOf(placeholder);
  var cards = brands.filter(isCardBrand);
  var placed = [];
  if (cards.length || !brands.length) placed.push(makeForm(placeholder, cards.length ? cards : [""]));
  brands.forEach(function (brand) {
    if (!isCardBrand(brand)) placed.push(makeForm(placeholder, [brand]));
  });
  // In the order in which the page names the brands.
  placed.sort(function (a, b) {
    return brands.indexOf(a.brands[0]) - brands.indexOf(b.brands[0]);
  });
  placed.forEach(function (form) {
    if (!form.isCard) {
      form.container = make("div", "wpwl-container wpwl-loading", { id: "other_" + randomDigits(12), "aria-busy": "true" }, [
        make("div", "wpwl-wrapper"),
      ]);
      return;
    }
    form.brands = cards;
    var number = forms.filter(function (other) {
      return other.isCard;
    }).length;
    addSkeleton(form, checkout, number + 1, isOneOfSeveral || number > 0);
    var complete = function () {
      form.codeWrapper.append(form.code);
    };
    // Nothing is dearer to make than a frame: on a slow processor, two of them would be a long task.
    if (performance.now() - begun < SLOW) complete();
    else runSoon(complete);
  });
  return placed;
}

function containersOf(entry) {
  return entry.forms.map(function (form) {
    return form.container;
  });
}

// Places the forms of all placeholders that stand in the page. Returns the number of new ones.
export function placeAll(checkout, isParsed) {
  var found = Array.from(nativeCall(document, "querySelectorAll", "form.paymentWidgets")).filter(function (form) {
    var isKnown = pending.some(function (entry) {
      return entry.placeholder === form;
    });
    return !isKnown && (isParsed || !nativeCall(form, "contains", ownScript));
  });
  found.forEach(function (placeholder) {
    var entry = { placeholder: placeholder, brands: brandsOf(placeholder).join(), forms: placeForms(placeholder, checkout, found.length > 1) };
    nativeGet(placeholder, "style").display = "none";
    nativeGet(placeholder, "after").apply(placeholder, containersOf(entry));
    pending.push(entry);
    forms.push.apply(forms, entry.forms);
  });
  return found.length;
}

function removeForms(entry) {
  forms = forms.filter(function (form) {
    return !entry.forms.includes(form);
  });
  containersOf(entry).forEach(function (container) {
    container.remove();
  });
}

// Ends the time in which the page's scripts may change the placeholders: forms go where these are now, for the brands that
// they name now.
export function settleForms(checkout) {
  pending.splice(0).forEach(function (entry) {
    var placeholder = entry.placeholder;
    if (!nativeGet(placeholder, "isConnected")) return removeForms(entry);
    if (brandsOf(placeholder).join() !== entry.brands) {
      removeForms(entry);
      entry.forms = placeForms(placeholder, checkout, false);
      forms.push.apply(forms, entry.forms);
      nativeGet(placeholder, "after").apply(placeholder, containersOf(entry));
    } else if (nativeGet(placeholder, "nextSibling") !== entry.forms[0].container && !entry.forms[0].container.isConnected)
      nativeGet(placeholder, "after").apply(placeholder, containersOf(entry));
    nativeCall(placeholder, "remove");
  });
}

// Opens the hidden frame on the frames' origin that tells the page module about other brands than cards and about stored
// accounts, and sends for their forms.
export function openRelay(checkout, isAnew) {
  var brands = forms
    .map(function (form) {
      return form.brands.join(" ");
    })
    .join(" ");
  var query = new URLSearchParams({ checkoutId: checkout.id, brands: brands });
  var src = framesBase + "v1/internalRequestIframe.html?" + query;
  if (!isAnew && relayFrame && relayFrame.src === src) return relayFrame;
  if (relayFrame) relayFrame.remove();
  relayFrame = make("iframe", "", { hidden: "", referrerpolicy: "no-referrer", src: src });
  // Many sheets give frames a display, and thereby show hidden ones.
  relayFrame.style.display = "none";
  nativeGet(document, "body").append(relayFrame);
  return relayFrame;
}

export function findRelay() {
  return relayFrame;
}

// Removes everything that stands.
export function removeAll() {
  pending.forEach(function (entry) {
    nativeCall(entry.placeholder, "remove");
  });
  forms.forEach(function (form) {
    if (form.form) nativeCall(form.form, "remove");
    form.container.remove();
  });
  if (relayFrame) relayFrame.remove();
  pending = [];
  forms = [];
  relayFrame = null;
}

export function setFormHidden(form, isHidden) {
  if (form.form) nativeSet(form.form, "hidden", isHidden);
}
