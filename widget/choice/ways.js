// The ways to pay that a checkout offers, of the forms in the page.

import { readMember } from "../loader/native.js";
import { readOption } from "../loader/options.js";
import { findText } from "./texts.js";

// Returns true if a form is in the page, and not hidden by the page module in favour of another one.
function isShown(container) {
  const isHidden = container.style.display === "none" && !container.hasAttribute("data-closed");
  return container.isConnected && !container.hidden && !isHidden;
}

// Describes the form of a placeholder. Undefined if the checkout does not offer its brands.
function describeForm({ container, brands, isCard }, offer, tools) {
  const offered = brands.filter((code) => readMember(offer.brands, code));
  if (!offered.length || !isShown(container)) return undefined;
  const [code] = offered;
  const { name, flow } = offer.brands[code];
  if (isCard) return { container, key: "card", name: findText("cardMethod", tools), hint: "", brands: offered };
  const hint = flow === "now" ? "" : findText("continueAt", tools).replace(/\{\w+\}/, () => name);
  return { container, key: code, name, hint, brands: offered };
}

function describeStored(offer, tools) {
  const container = Document.prototype.querySelector.call(document, ".wpwl-container-registration");
  const isOffered = container && offer.registrations && offer.registrations.length && isShown(container);
  return isOffered ? [{ container, key: "stored", name: findText("savedMethods", tools), hint: "", brands: [] }] : [];
}

// Describes the choice. A way to pay has its container, a name, a hint, its brands, and a key: "card", "stored" or the
// code of its brand, and never an account's id. There is no way without an offer, or if the logos are the choice.
export function describeChoice(offer, tools) {
  const isChoice = offer.brands && !readMember(offer, "error") && readOption("style") !== "logos";
  const forms = isChoice ? tools.listForms().map((form) => describeForm(form, offer, tools)).filter(Boolean) : [];
  return {
    layout: readOption("methodLayout"),
    label: findText("paymentMethods", tools),
    lang: tools.readLocale(),
    dir: tools.readTexts().dir,
    ways: isChoice ? forms.concat(describeStored(offer, tools)) : [],
  };
}
