// The skeleton of a card form: its groups, and the frames of number and code in their final place, as a frame that moves loads
// again. The page module fills the groups.

import { make, randomDigits } from "./dom.js";
import { listen, nativeCall, nativeGet } from "./native.js";
import { base, framesBase } from "./script.js";

// Returns the permissions of a frame, of those that this browser knows: it would warn of the others in the merchant's
// console, and parse all of this script once more to say where.
export function framePermissions() {
  var policy = nativeGet(document, "featurePolicy");
  var features = policy && policy.features();
  return ["autofill", "shared-autofill", "payment"]
    .filter(function (name) {
      return !features || features.includes(name);
    })
    .join("; ");
}

function makeGroup(id, name, control) {
  var label = make("div", "wpwl-label wpwl-label-" + name, { id: id + "-label-" + name });
  var wrapper = make("div", "wpwl-wrapper wpwl-wrapper-" + name, null, control ? [control] : []);
  return make("div", "wpwl-group wpwl-group-" + name + " wpwl-clearfix", null, name === "submit" ? [wrapper] : [label, wrapper]);
}

function makeFrame(form, checkout, field, name, title) {
  var query = new URLSearchParams({ checkoutId: checkout.id, field: field, form: form.nonce });
  // The code's frame needs no brands.
  if (name === "cardNumber") query.set("brands", form.brands.join(" "));
  var element = make("iframe", "wpwl-control wpwl-control-iframe wpwl-control-" + name, {
    name: field,
    title: title,
    placeholder: title,
    frameborder: "0",
    scrolling: "no",
    // Weighs less than any style sheet.
    height: "40",
    allow: framePermissions(),
    referrerpolicy: "no-referrer",
    src: framesBase + "v1/pciIframe.html?" + query,
  });
  // The frame's document is light and see-through. In a dark element browsers would paint an opaque sheet behind it.
  element.style.colorScheme = "light";
  return element;
}

// Lets nothing leave a form but by the page module: neither a press of Enter before that has come, nor a script that calls
// submit().
function guardForm(form) {
  listen(
    form,
    "submit",
    function (event) {
      event.preventDefault();
    },
    true,
  );
  form.submit = function () {
    nativeCall(form, "requestSubmit");
  };
}

function makeInput(name, value) {
  return make("input", "", { type: "hidden", name: name, value: value });
}

// Adds container, form and frames of a card form. The frame of the code is not in its place yet.
export function addSkeleton(form, checkout, number, isNumbered) {
  var id = "card_" + randomDigits(12);
  form.number = makeFrame(form, checkout, "card.number", "cardNumber", "Card Number");
  form.code = makeFrame(form, checkout, "card.cvv", "cvv", "CVV");
  var groups = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "submit"].map(function (name) {
    return makeGroup(id, name, name === "cardNumber" && form.number);
  });
  groups[0].append(make("div", "wpwl-brand wpwl-brand-card"));
  form.codeWrapper = groups[4].lastChild;
  var slot = make("div", "wpwl-slot");
  // Off the screen yet read aloud, whatever the style.
  Object.assign(slot.style, { position: "absolute", width: "1px", height: "1px", overflow: "hidden", clipPath: "inset(50%)", whiteSpace: "nowrap" });
  form.form = make(
    "form",
    "wpwl-form wpwl-form-card wpwl-form-has-inputs wpwl-clearfix",
    {
      method: "POST",
      action: base + "v1/checkouts/" + checkout.id + "/" + checkout.purpose,
      target: id + "-target",
      lang: "en",
      novalidate: "",
    },
    groups.concat([
      makeInput("shopperResultUrl", form.readResult()),
      makeInput("card.expiryMonth", ""),
      makeInput("card.expiryYear", ""),
      slot,
    ]),
  );
  // Tells this form from the others of the page.
  form.key = "wpwl-container-card" + (isNumbered ? "-" + number : "");
  var classes = "wpwl-container wpwl-container-card " + (isNumbered ? form.key + " " : "") + "wpwl-loading";
  form.container = make("div", classes, { id: id, "aria-busy": "true" }, [form.form]);
  guardForm(form.form);
}
