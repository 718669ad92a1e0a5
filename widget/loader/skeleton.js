// The skeleton of a card form: its groups, and the frames of number and code in their final place, as a frame that
// moves loads again. The page module fills the groups.

import { listen, make, nativeCall, nativeGet, randomDigits, setStyle } from "./native.js";
import { base, checkout, framesBase } from "./script.js";

// Returns the permissions of a frame, of those that this browser knows: it would warn of the others on the console.
// `target` says which origins get them; without it, that of the frame's address.
function joinPermissions(names, target) {
  var policy = nativeGet(document, "featurePolicy");
  var features = policy && policy.features();
  var isKnown = function (name) { return !features || features.includes(name); };
  return names.filter(isKnown).map(function (name) { return name + target; }).join("; ");
}

export function framePermissions() { return joinPermissions(["autofill", "shared-autofill", "payment"], ""); }

// Returns the permissions of an issuer's page, which may ask for a passkey. Its address is not known beforehand.
export function issuerPermissions() {
  return joinPermissions(["publickey-credentials-get", "publickey-credentials-create", "payment"], " *");
}

function makeGroup(id, name, control) {
  var label = make("div", "wpwl-label wpwl-label-" + name, { id: id + "-label-" + name });
  var wrapper = make("div", "wpwl-wrapper wpwl-wrapper-" + name, null, control ? [control] : []);
  var children = name === "submit" ? [wrapper] : [label, wrapper];
  return make("div", "wpwl-group wpwl-group-" + name + " wpwl-clearfix", null, children);
}

function makeFrame(form, field, name, title) {
  var query = new URLSearchParams({ checkoutId: checkout.id, field: field, form: form.nonce });
  // The code's frame needs no brands.
  if (name === "cardNumber") query.set("brands", form.brands.join(" "));
  var element = make("iframe", "wpwl-control wpwl-control-iframe wpwl-control-" + name, {
    name: field, title: title, placeholder: title, frameborder: "0", scrolling: "no",
    // Weighs less than any style sheet.
    height: "40",
    allow: framePermissions(), referrerpolicy: "no-referrer", src: framesBase + "v1/pciIframe.html?" + query,
  });
  // The frame's document is light and see-through. In a dark element browsers would paint an opaque sheet behind it.
  setStyle(element, "color-scheme", "light");
  return element;
}

function makeCardForm(id, result, groups) {
  var slot = make("div", "wpwl-slot");
  // Off the screen yet read aloud, whatever the style.
  slot.style = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";
  var action = base + "v1/checkouts/" + checkout.id + "/" + checkout.purpose;
  var attributes = { method: "POST", action: action, target: id + "-target", lang: "en", novalidate: "" };
  var inputs = ["shopperResultUrl", "card.expiryMonth", "card.expiryYear"].map(function (name, at) {
    return make("input", "", { type: "hidden", name: name, value: at ? "" : result });
  });
  var classes = "wpwl-form wpwl-form-card wpwl-form-has-inputs wpwl-clearfix";
  return make("form", classes, attributes, groups.concat(inputs, slot));
}

// Adds container, form and frames to the description of a card form. The frame of the code is not in its place yet.
export function addSkeleton(form, number, isNumbered) {
  var id = "card_" + randomDigits(12);
  form.number = makeFrame(form, "card.number", "cardNumber", "Card Number");
  form.code = makeFrame(form, "card.cvv", "cvv", "CVV");
  var groups = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "submit"].map(function (name) {
    return makeGroup(id, name, name === "cardNumber" && form.number);
  });
  form.brandGroup = groups[0];
  groups[0].append(make("div", "wpwl-brand wpwl-brand-card", { "aria-hidden": "true" }));
  form.codeWrapper = groups[4].lastChild;
  form.form = makeCardForm(id, form.readResult(), groups);
  form.parts = groups.concat(form.number, form.code, form.form);
  // Nothing leaves the form but by the page module: neither by Enter before that has come, nor by a script's submit().
  listen(form.form, "submit", function (event) { event.preventDefault(); }, true);
  form.form.submit = function () { nativeCall(form.form, "requestSubmit"); };
  // Tells this form from the others of the page.
  form.key = "wpwl-container-card" + (isNumbered ? "-" + number : "");
  var classes = "wpwl-container wpwl-container-card " + (isNumbered ? form.key + " " : "") + "wpwl-loading";
  form.container = make("div", classes, { id: id, "aria-busy": "true" }, [form.form]);
}
