// The frame of the card number or of the security code. This script makes it usable before the checks are there.

import { input, isNumber, startField } from "./field.js";
import { showGroups, skipSpace } from "./spaces.js";

// Digits of other scripts. Those of Devanagari and Bengali do not begin at a multiple of 16.
const FOREIGN = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\uff10-\uff19]/g;

function toAscii(digit) {
  const code = digit.charCodeAt();
  return (code - (code > 0x965 && code < 0xff00 ? 6 : 0)) & 15;
}

const keepDigits = (text) => text.replace(FOREIGN, toAscii).replace(/\D/g, "");
const readValue = () => keepDigits(input.value).slice(0, isNumber ? 19 : 4);
// Returns the lengths of the groups of most card numbers. The checks know all of them.
const guessGroups = (number) => (/^3[47]/.test(number) ? [4, 6, 5] : [4, 4, 4, 4, 3]);

function formatNumber(number, checks) {
  let at = 0;
  const lengths = checks ? checks.listGroups(number) : guessGroups(number);
  const groups = lengths.map((length) => number.slice(at, (at += length)));
  return [...groups, number.slice(at)].filter(Boolean).join(" ");
}

function arrangeText(checks, options) {
  const before = keepDigits(input.value.slice(0, input.selectionStart)).length;
  const value = readValue();
  showGroups(input, isNumber && options.formatting !== false ? formatNumber(value, checks) : value, before);
}

input.autocomplete = isNumber ? "cc-number" : "cc-csc";
input.setAttribute("aria-label", isNumber ? "Card Number" : "CVV");
input.addEventListener("beforeinput", skipSpace);
startField({
  readValue,
  arrangeText,
  applyOptions({ help, style }) {
    document.getElementById("help").textContent = isNumber ? "" : help;
    input.style.setProperty("-webkit-text-security", style.mask ? "disc" : "");
  },
  addToBody: (body) => readValue() && body.set(input.name, readValue()),
});
