// The form's unchanging bones, standing before any wasm is there. Both frames are put in their final
// place, as a frame that moves loads again; everything that changes is filled in by the page part.

var group = function (name, control) {
  return make("div", "wpwl-group wpwl-group-" + name + " wpwl-clearfix", null, [
    make("div", "wpwl-label wpwl-label-" + name),
    make("div", "wpwl-wrapper wpwl-wrapper-" + name, null, control ? [control] : []),
  ]);
};

var frame = function (form, field, name, title) {
  var query = new URLSearchParams({ checkoutId: checkoutId, field: field, form: form.nonce });
  // The code frame needs no brands.
  if (name === "cardNumber") query.set("brands", form.brands.join(" "));
  var element = make("iframe", "wpwl-control wpwl-control-iframe wpwl-control-" + name, {
    name: field,
    title: title,
    placeholder: title,
    frameborder: "0",
    scrolling: "no",
    // Weighs less than any style sheet.
    height: "40",
    allow: "autofill; shared-autofill; payment",
    referrerpolicy: "no-referrer",
    src: base + "v1/pciIframe.html?" + query,
  });
  // The frame's document is light and see-through; where the element were dark, browsers would
  // paint an opaque sheet behind it. Its colours follow the element by message.
  element.style.colorScheme = "light";
  return element;
};

// Nothing leaves a form but through what drives it: neither a press of the button before that is there, nor a script
// that calls submit().
var guard = function (form) {
  form.form.addEventListener(
    "submit",
    function (event) {
      event.preventDefault();
      if (form.pay) form.pay();
    },
    { capture: true, passive: false },
  );
  form.form.addEventListener("keydown", quiet);
  form.form.submit = function () {
    form.form.requestSubmit();
  };
};

// Fills in the nodes of a card form.
var skeleton = function (form, number, several) {
  var numberFrame = (form.number = frame(form, "card.number", "cardNumber", "Card Number"));
  var codeFrame = (form.code = frame(form, "card.cvv", "cvv", "CVV"));
  var brand = group("brand");
  brand.append(make("div", "wpwl-brand wpwl-brand-card"));
  var submit = group("submit");
  submit.firstChild.remove();
  var hidden = function (name, value) {
    return make("input", "", { type: "hidden", name: name, value: value });
  };
  var id = "card_" + random(12);
  form.slot = visuallyHidden(make("div", "wpwl-slot"));
  form.form = make(
    "form",
    "wpwl-form wpwl-form-card wpwl-form-has-inputs wpwl-clearfix",
    {
      method: "POST",
      action: base + "v1/checkouts/" + checkoutId + "/" + purpose,
      target: id + "-target",
      lang: "en",
      novalidate: "",
    },
    [
      brand,
      group("cardNumber"),
      group("expiry"),
      group("cardHolder"),
      group("cvv"),
      submit,
      hidden("shopperResultUrl", form.result),
      hidden("card.expiryMonth", ""),
      hidden("card.expiryYear", ""),
      form.slot,
    ],
  );
  var numbered = several || number > 1;
  // What tells this form from the others of the page.
  form.key = "wpwl-container-card" + (numbered ? "-" + number : "");
  form.container = make(
    "div",
    "wpwl-container wpwl-container-card " + (numbered ? form.key + " " : "") + "wpwl-loading",
    { id: id, "aria-busy": "true" },
    [form.form],
  );
  guard(form);
  // Nothing takes browsers longer than a frame, so each has a task.
  [numberFrame, codeFrame].forEach(function (frame) {
    var wrapper = form.form.querySelector(".wpwl-wrapper-" + (frame === codeFrame ? "cvv" : "cardNumber"));
    soon(function () {
      wrapper.prepend(frame);
      watch();
    });
  });
  return form;
};

// Where brands and issuers show their pages inside of ours. An empty frame takes browsers as long as all the rest, so it is
// made when there is time, or when it is wanted.
var targetOf = function (form) {
  var frame = form.container.querySelector("iframe.wpwl-target");
  if (frame) return frame;
  frame = make("iframe", "wpwl-target", {
    name: form.form.target,
    title: "3D Secure",
    src: "about:blank",
    frameborder: "0",
    hidden: "",
  });
  // Many sheets give frames a display, and thereby show hidden ones.
  frame.style.display = "none";
  form.container.append(frame);
  return frame;
};
