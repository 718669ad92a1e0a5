// Texts of the form for scripts that only some pages load.

import { readMember } from "../loader/native.js";
import { givenOptions } from "../loader/options.js";

// Returns a text of the form: the merchant's own, or else that of the language.
export function findText(key, tools) {
  const options = givenOptions();
  for (const name of ["errorMessages", "labels"]) {
    const own = readMember(readMember(options, name) || {}, key);
    if (typeof own === "string") return own;
  }
  return tools.readTexts()[key] || key;
}
