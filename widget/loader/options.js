// The merchant's options, read when they are needed and no earlier: merchants assign and change them late.

/* global wpwlOptions */

import { copyBare, globalOf, hasOwn } from "./native.js";

// Returns the merchant's own object, also one that a script declares by `let`. An element with this id is none.
export function givenOptions() {
  if (hasOwn.call(window, "wpwlOptions")) return globalOf("wpwlOptions") || {};
  try {
    var declared = wpwlOptions;
    return declared === Object.getPrototypeOf(Window.prototype).wpwlOptions ? {} : declared || {};
  } catch (missing) {
    return {};
  }
}

// Returns a copy of the options that inherits nothing.
export function readOptions() {
  return copyBare(givenOptions(), 2);
}

// Tells the merchant an error of the loader: the page module, which tells all others, may be what is missing.
export function reportError(name, message) {
  var given = givenOptions();
  var callback = given.onError;
  if (typeof callback !== "function") return;
  var error = new Error(message);
  error.name = name;
  if (name === "WidgetError") error.event = "load";
  try {
    callback.call(given, error);
  } catch (thrown) {
    // Shown in the merchant's console.
    Promise.reject(thrown);
  }
}
