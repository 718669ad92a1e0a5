// The other frames of a form. A frame of our origin shows itself to others by `window.tillgate`.

// Finds the frame of a field in the form with this nonce.
export function findSibling(form, field) {
  for (let at = 0; at < parent.length; at++) {
    try {
      const other = parent.frames[at].tillgate;
      if (other.form === form && other.field === field) return other;
    } catch (foreign) {} // A frame of another origin.
  }
}

// Adds the security code of a form to a body.
export function addCode(form, body) {
  const frame = findSibling(form, "card.cvv");
  if (!frame) throw new Error("the code's frame is gone");
  frame.addToBody(body);
}
