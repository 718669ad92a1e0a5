// Says below the mandate by which reference it is known. The gateway decides on the reference, never the page.

import { findText } from "../choice/texts.js";
import { make, nativeCall, readMember } from "../loader/native.js";

const CLASS = "wpwl-mandate-reference";

// Returns what a text says, with a value in the place of its placeholder. Its letters run in their own direction.
function insertValue(text, value) {
  const [before, after] = text.split(/\{\w+\}/);
  return [before, make("bdi", "", null, [value]), after || ""];
}

// Adds the line with the reference, or says that it comes later, if the mandate has no such line yet.
export function completeMandate(container, offer, tools) {
  const group = nativeCall(container, "querySelector", ".wpwl-group-mandate");
  if (!group || nativeCall(group, "querySelector", `.${CLASS}`)) return;
  const reference = offer && readMember(offer, "mandateReference");
  const text = findText(reference ? "mandateReference" : "mandateLater", tools);
  const parts = reference ? insertValue(text, reference) : [text];
  nativeCall(group, "append", make("div", CLASS, null, parts));
}
