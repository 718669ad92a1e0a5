// The frame of the card's holder or of its expiry date, for merchants who want no field of the card in their page
// (`enableSAQACompliance`). The page learns only whether the field is empty, valid, or a date in the past. The content
// goes from frame to frame, into the one request that the frame of the card number makes.

import { input, isDate, loadChecks, startField } from "./field.js";

const readValue = () => input.value.trim();

input.autocomplete = isDate ? "cc-exp" : "cc-name";
if (!isDate) for (const name of ["dir", "inputmode"]) input.removeAttribute(name);
startField({
  readValue,
  // Formats a date at the end of the text only: a caret in the middle is left alone.
  arrangeText(checks) {
    if (!checks || !isDate || input.selectionStart !== input.value.length) return;
    const shown = checks.formatDate(input.value);
    if (shown !== input.value) input.value = shown;
  },
  applyOptions: ({ dir }) => (document.documentElement.dir = dir),
  addToBody: async (body) => (await loadChecks()).addToBody(body, readValue()),
});
