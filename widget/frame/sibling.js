// The other frames of a form. A frame of our origin shows itself to others by `window.tillgate`. A hostile page can put
// any frame of ours beside a form, with the nonce of the form and a checkout of its own. So frames give each other
// their content only if the gateway has written the same checkout and entity into both documents.

import { owner } from "./config.js";

// Returns the content of this frame, `functions`, to a frame with the same owner, and nothing to others. A frame of an
// earlier build names no owner.
export const shareWith = (functions) => (asking) =>
  typeof asking === "string" && asking === owner ? functions : undefined;

// Finds the frame of a field in the form with this nonce, among the frames of this owner.
export function findSibling(form, field) {
  for (let at = 0; at < parent.length; at++) {
    try {
      const other = parent.frames[at].tillgate;
      const content = other.form === form && other.field === field && other.openFor(owner);
      if (content) return content;
    } catch (foreign) {} // A frame of another origin or of an earlier build.
  }
}

// Adds the security code of a form to a body.
export function addCode(form, body) {
  const frame = findSibling(form, "card.cvv");
  if (!frame) throw new Error("the code's frame is gone");
  frame.addToBody(body);
}
