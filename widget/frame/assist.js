// Help with typing and filling in a card number.

import { findSibling } from "./sibling.js";

// Lets Backspace behind a space, and Delete before one, remove the digit beyond it.
export function skipSpaces(input) {
  input.addEventListener("beforeinput", ({ inputType }) => {
    const { selectionStart: at, selectionEnd, value } = input;
    if (at !== selectionEnd) return;
    if (inputType === "deleteContentBackward" && value[at - 1] === " ") input.setSelectionRange(at - 1, at - 1);
    if (inputType === "deleteContentForward" && value[at] === " ") input.setSelectionRange(at + 1, at + 1);
  });
}

// Adds invisible fields for the rest of the card: browsers fill in the document that has the caret, and no other. Each value
// goes to the frame of its field. Name and date go to the page if they have no frame there.
export function addAutofill({ form, input, sendToPage }) {
  const tokens = { "cc-name": "card.holder", "cc-exp": "card.expiry", "cc-csc": "card.cvv" };
  for (const [autocomplete, field] of Object.entries(tokens)) {
    const helper = Object.assign(document.createElement("input"), { className: "helper", tabIndex: -1, autocomplete });
    helper.setAttribute("aria-hidden", true);
    helper.addEventListener("input", () => {
      const { value } = helper;
      const frame = findSibling(form, field);
      if (frame) frame.fill(value);
      else if (field !== "card.cvv") sendToPage("autofill", { [field]: value });
      helper.value = "";
    });
    input.form.append(helper);
  }
}
