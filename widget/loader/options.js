// The merchant's options, read when they are needed and no earlier: merchants assign and change them late.

import { globalOf, hasOwn, readMember } from "./native.js";

// Returns the merchant's own object, also one that a script declares by `let`. An element with this id is none.
export function givenOptions() {
  try {
    if (hasOwn.call(window, "wpwlOptions")) return globalOf("wpwlOptions") || {};
    var declared = wpwlOptions;
    return declared === Object.getPrototypeOf(Window.prototype).wpwlOptions ? {} : declared || {};
  } catch (missing) { return {}; }
}

// Returns an option as text. One that is inherited, or that cannot be read, is empty.
export function readOption(name) {
  try {
    return String(readMember(givenOptions(), name) || "");
  } catch (thrown) { return ""; }
}
