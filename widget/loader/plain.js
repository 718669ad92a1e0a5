// Browsers that are too old for the form: a frame with a form of the gateway's in the place of each placeholder.

import { listen, nativeCall, nativeGet, readMember, setStyle } from "./native.js";
import { givenOptions, readOption } from "./options.js";
import { actionOf, brandListOf, brandsOf, isCardBrand } from "./place.js";
import { beginTurn, checkout, framesBase, isOutdated, listAdded, noteScripts, OBSERVED } from "./script.js";

// Finds out whether a browser knows ES2020, and wasm as it is built here. Policies forbid to try syntax. The flag of
// regular expressions comes from the engine, and no page can add it. It and the two functions are proof enough.
export function isModernBrowser() {
  try { return [].at && HTMLFormElement.prototype.requestSubmit && new RegExp("", "d"); } catch (old) {} // It is not.
}

// Estimates the height of a plain form: cards share one, and another brand has a button, or four fields more.
function heightOf(brands) {
  return brands.reduce(function (height, brand) {
    return isCardBrand(brand) ? height : height + (/DEBIT|SEPA/.test(brand) ? 650 : 130);
  }, !brands.length || brands.some(isCardBrand) ? 600 : 70);
}

function replacePlaceholder(place) {
  var frame = nativeCall(document, "createElement", "iframe");
  var fields = {
    brands: brandListOf(place),
    locale: readOption("locale"),
    requireCvv: readMember(readMember(givenOptions(), "registrations") || {}, "requireCvv") || "",
    shopperResultUrl: actionOf(place),
  };
  var query = Object.keys(fields).map(function (name) { return "&" + name + "=" + encodeURIComponent(fields[name]); });
  frame.src = framesBase + "v1/plainForm.html?checkoutId=" + checkout.given + query.join("");
  frame.title = "Payment";
  frame.className = "wpwl-plain";
  frame.frameBorder = 0;
  setStyle(frame, "width", "100%");
  setStyle(frame, "height", heightOf(brandsOf(place)) + "px");
  nativeGet(place, "parentNode").replaceChild(frame, place);
  return function () { if (frame.parentNode) frame.parentNode.replaceChild(place, frame); };
}

export function showPlainForms() {
  if (!beginTurn([])) return;
  // Also forms that come after this script.
  if (nativeGet(document, "readyState") === "loading") return listen(document, "DOMContentLoaded", showPlainForms);
  var places = [].slice.call(nativeCall(document, "querySelectorAll", "form.paymentWidgets"));
  var restores = places.map(replacePlaceholder);
  // Nothing can be paid here any more once the page has the script of another checkout.
  var observer = new MutationObserver(function (changes) {
    if (!isOutdated(noteScripts(listAdded(changes)))) return;
    observer.disconnect();
    restores.forEach(function (restore) { restore(); });
  });
  observer.observe(document, OBSERVED);
}
