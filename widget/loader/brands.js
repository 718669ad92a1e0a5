// Brands of a placeholder. Only cards are known here; the gateway describes all others.

import { nativeCall, nativeGet } from "./native.js";

var CARDS = " %CARDS% ";

export function isCardBrand(brand) {
  return CARDS.indexOf(" " + brand + " ") > -1 || !brand;
}

export function brandsOf(placeholder) {
  var listed = nativeCall(placeholder, "getAttribute", "data-brands") || nativeGet(placeholder, "textContent");
  return listed.match(/[^\s,]+/g) || [];
}

// Returns the address in a placeholder's `action`, whole; empty if it is none of http or https.
export function actionOf(placeholder) {
  var action = nativeCall(placeholder, "getAttribute", "action") ? nativeGet(placeholder, "action") : "";
  return /^https?:/i.test(action) ? action : "";
}
