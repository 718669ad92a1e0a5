// Errors of the loader, for the merchant and the developer.

import { explain } from "./files.js";
import { define, readMember } from "./native.js";
import { givenOptions } from "./options.js";

// Tells the merchant an error of the loader. A fault of the page is written on the console, too.
export function reportError(name, message, isOfPage) {
  if (isOfPage) console.warn("Tillgate: " + message);
  explain(message);
  var error = new Error(message);
  error.name = name;
  if (name === "WidgetError") define(error, "event", "load");
  try {
    var given = givenOptions();
    if (typeof readMember(given, "onError") === "function") given.onError(error);
  } catch (thrown) { Promise.reject(thrown); } // Shown on the merchant's console.
}
