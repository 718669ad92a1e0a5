// Explains a form that cannot be used: to the developer on the console, with the line to write, and to the shopper with
// a way back to the shop. Only pages with a fault load this script.

import { findText } from "../choice/texts.js";
import { globalOf, kindOf, readMember } from "../loader/native.js";
import { addWayBack } from "./back.js";
import { describeBrands, describeCheckout, describeFault, describeViolation } from "./sentences.js";

const BRANDS = "%BRANDS%".split(" ");
// Characters of a sentence, at most: the page may have written a part of it.
const LONGEST = 1000;
const said = new Set();
const loader = globalOf("__tillgate");
let isWatched = false, isFailed = false;

function say(sentence) {
  const text = sentence && sentence.slice(0, LONGEST);
  if (!text || said.has(text)) return;
  said.add(text);
  console.warn("Tillgate: " + text);
}

// Adds the way back to all messages that end a form.
function addWaysBack() {
  // The gateway that has the texts may be what cannot be reached.
  const text = loader.readTexts().backToShop ? findText("backToShop", loader) : "Back to the shop";
  for (const form of loader.listForms()) {
    const options = loader.readOptions();
    const address = readMember(options, "shopperResultUrl") || form.readResult();
    const messages = form.container.querySelectorAll(".wpwl-message.wpwl-has-error");
    for (const message of messages) addWayBack(message, String(address || ""), text);
  }
}

function showWaysBack() { loader.loadLaterParts(addWaysBack); }

// The page module shows that a checkout is closed after the frame has said so.
function watchMessages() {
  if (isWatched) return;
  isWatched = true;
  const observer = new MutationObserver(addWaysBack);
  loader.loadLaterParts(() => {
    addWaysBack();
    for (const form of loader.listForms()) observer.observe(form.container, { childList: true, subtree: true });
  });
}

function explainViolation(event) {
  const origin = new URL(event.blockedURI).origin;
  const directive = event.effectiveDirective;
  if (event.disposition === "report") return;
  say(describeViolation({ directive, policy: event.originalPolicy, origin }));
  // Without a frame nothing can be typed, so nobody has to wait for it. The texts take as long as the loader needs to
  // look at the page, which removes earlier messages.
  if (!/^(frame|child|default)-src$/.test(directive) || isFailed) return;
  isFailed = true;
  const failure = new Error(`${directive} blocks ${origin}`);
  failure.name = "PciIframeCommunicationError";
  loader.loadLaterParts(() => loader.fail(failure));
}

function explain(fault) {
  if (kindOf(fault) === "[object SecurityPolicyViolationEvent]") return explainViolation(fault);
  if (typeof fault === "object") {
    say(describeCheckout(fault, loader.checkoutId));
    return watchMessages();
  }
  const text = String(fault);
  if (text.startsWith("brands ")) describeBrands(text.split(" ").slice(1), BRANDS).forEach(say);
  else say(describeFault(text, loader.base.slice(0, -1), globalOf("origin")));
  showWaysBack();
}

if (loader && loader.faults) {
  loader.faults.splice(0).forEach(explain);
  loader.faults.push = explain;
}
