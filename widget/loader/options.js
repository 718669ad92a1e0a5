// The merchant's options, read when they are needed and no earlier: merchants assign and change them late.

import { copyBare, globalOf, hasOwn } from "./native.js";

// Returns the merchant's own object, also one that a script declares by `let`. An element with this id is none.
export function givenOptions() {
  if (hasOwn.call(window, "wpwlOptions")) return globalOf("wpwlOptions") || {};
  try {
    var declared = wpwlOptions;
    return declared === Object.getPrototypeOf(Window.prototype).wpwlOptions ? {} : declared || {};
  } catch (missing) { return {}; }
}

// Returns a copy of the options that inherits nothing.
export function readOptions() { return copyBare(givenOptions(), 2); }

// Tells the merchant an error of the loader. A fault of the page is written on the console, too.
export function reportError(name, message, isOfPage) {
  if (isOfPage) console.warn("Tillgate: " + message);
  var given = givenOptions();
  if (typeof given.onError !== "function") return;
  var error = new Error(message);
  error.name = name;
  if (name === "WidgetError") error.event = "load";
  try {
    given.onError(error);
  } catch (thrown) { Promise.reject(thrown); } // Shown on the merchant's console.
}
