// Says below the mandate to whom it is given, and by which reference it is known. The gateway decides on both, never the
// page.

import { findText } from "../choice/texts.js";
import { make, nativeCall, readMember } from "../loader/native.js";

const CLASS = "wpwl-mandate-reference";

// Returns what a text says, with a value in the place of its placeholder. Its letters run in their own direction.
function insertValue(text, value) {
  const [before, after] = text.split(/\{\w+\}/);
  return [before, make("bdi", "", null, [value]), after || ""];
}

// Adds the lines with the creditor's identifier, if there is one, and with the reference, or says that the reference
// comes later. Once for each mandate.
export function completeMandate(container, offer, tools) {
  const group = nativeCall(container, "querySelector", ".wpwl-group-mandate");
  if (!group || nativeCall(group, "querySelector", `.${CLASS}`)) return;
  const addLine = (name, parts) => nativeCall(group, "append", make("div", name, null, parts));
  const creditor = offer && readMember(offer, "creditorId");
  if (creditor) addLine("wpwl-mandate-creditor", insertValue(findText("mandateCreditor", tools), creditor));
  const reference = offer && readMember(offer, "mandateReference");
  const text = findText(reference ? "mandateReference" : "mandateLater", tools);
  addLine(CLASS, reference ? insertValue(text, reference) : [text]);
}
