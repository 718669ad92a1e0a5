// Browsers that are too old for the form: a frame with a form that the gateway writes, in the place of each placeholder.

import { actionOf, brandsOf, isCardBrand } from "./brands.js";
import { globalOf, hasOwn, listen, nativeCall, nativeGet } from "./native.js";
import { framesBase, ownScript } from "./script.js";

// Syntax cannot be asked for without running text as code, which policies forbid. The flag of regular expressions comes
// from the engine, and no page can add it; whoever knows it and the two functions knows ES2020, and wasm as it is built here.
export function isModernBrowser() {
  try {
    return [].at && HTMLFormElement.prototype.requestSubmit && new RegExp("", "d");
  } catch (old) {
    return false;
  }
}

// Estimates the height of a plain form: cards share one, and another brand has a button, or four fields more.
function heightOf(brands) {
  var height = !brands.length || brands.some(isCardBrand) ? 600 : 70;
  brands.forEach(function (brand) {
    if (!isCardBrand(brand)) height += /DEBIT|SEPA/.test(brand) ? 450 : 130;
  });
  return height;
}

function replacePlaceholder(place) {
  var checkout = /[?&]checkoutId=([^&#]*)/.exec(ownScript.src) || ["", ""];
  var given = globalOf("wpwlOptions") || {};
  var listed = nativeCall(place, "getAttribute", "data-brands") || nativeGet(place, "textContent");
  var frame = nativeCall(document, "createElement", "iframe");
  var fields = {
    brands: listed,
    locale: given.locale || "",
    requireCvv: (given.registrations || {}).requireCvv || "",
    shopperResultUrl: actionOf(place),
  };
  frame.src = framesBase + "v1/plainForm.html?checkoutId=" + checkout[1];
  for (var name in fields) if (hasOwn.call(fields, name)) frame.src += "&" + name + "=" + encodeURIComponent(fields[name]);
  frame.title = "Payment";
  frame.className = "wpwl-plain";
  frame.frameBorder = 0;
  frame.style.width = "100%";
  frame.style.height = heightOf(brandsOf(place)) + "px";
  nativeGet(place, "parentNode").replaceChild(frame, place);
}

function replaceAll() {
  var places = nativeCall(document, "querySelectorAll", "form.paymentWidgets");
  for (var at = 0; at < places.length; at++) replacePlaceholder(places[at]);
}

export function showPlainForms() {
  // Also a form that comes after this script.
  if (nativeGet(document, "readyState") === "loading") listen(document, "DOMContentLoaded", replaceAll);
  else replaceAll();
}
