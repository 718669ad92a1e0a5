// The card's form. Its bones stand at once, and both frames in their final place, as a frame that moves loads again: the
// code's as soon as place.js has the time for it. Its fields follow when the page's options may be read; what happens in
// them, the page part knows.

var group = function (name, control) {
  return make("div", "wpwl-group wpwl-group-" + name + " wpwl-clearfix", null, [
    make("div", "wpwl-label wpwl-label-" + name),
    make("div", "wpwl-wrapper wpwl-wrapper-" + name, null, control ? [control] : []),
  ]);
};

// What a frame is given leave for, of what this browser says that it knows: it would warn of the rest in the merchant's
// console, and parse all of this script once more to say where.
var policy = nativeGet(document, "featurePolicy");
var features = policy && policy.features();
var granted = ["autofill", "shared-autofill", "payment"].filter(function (name) {
  return !features || features.includes(name);
});

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
    allow: granted.join("; "),
    referrerpolicy: "no-referrer",
    src: framesBase + "v1/pciIframe.html?" + query,
  });
  // The frame's document is light and see-through; where the element were dark, browsers would
  // paint an opaque sheet behind it. Its colours follow the element by message.
  element.style.colorScheme = "light";
  return element;
};

// Nothing leaves a form but through what drives it: neither a press of the button before that is there, nor a script
// that calls submit().
var guard = function (form) {
  listen(
    form.form,
    "submit",
    function (event) {
      event.preventDefault();
      if (form.pay) form.pay();
    },
    { capture: true, passive: false },
  );
  listen(form.form, "keydown", quiet);
  form.form.submit = function () {
    nativeCall(form.form, "requestSubmit");
  };
};

// What a shopper does is the page part's; until that is there, it is kept, with the brand that was chosen then. The frames
// judge by the brand.
var act = function (form, what) {
  if (!isCurrent(state)) return;
  var brand = form.select ? form.select.value : "";
  if (form.act && state.live && !form.waiting[0]) return form.act(what, brand);
  form.waiting.push([what, brand]);
  if (what === "brand") instruct(form);
  if (what === "pay") pressed(form, true);
};

// Whether a press of the button waits for the page part: it shows as a payment under way does.
var pressed = function (form, waits) {
  if (form.spinner) form.spinner.remove();
  if (!form.button) return;
  form.button.classList.toggle("wpwl-button-busy", waits);
  form.spinner = waits && make("div", "wpwl-spinner spinner", { "aria-hidden": "true" });
  if (waits) form.wrappers.submit.append(form.spinner);
};

// What frames said and shoppers did before the page part was there. That part's start is long enough without it.
var catchUp = function () {
  if (!isCurrent(state)) return;
  if (!state.live) {
    state.live = true;
    state.inbox.forEach(state.receive);
  }
  state.forms.forEach(function (form) {
    if (!form.act || !form.waiting[0]) return;
    pressed(form, false);
    form.waiting.splice(0).forEach(function (done) {
      form.act(done[0], done[1]);
    });
  });
};

// A press of the button that nothing comes of, or of Enter in a frame.
var forget = function () {
  state.inbox = state.inbox.filter(function (event) {
    return event.data.type !== "enter";
  });
  state.forms.forEach(function (form) {
    if (!form.waiting) return;
    pressed(form, false);
    form.waiting = form.waiting.filter(function (done) {
      return done[0] !== "pay";
    });
  });
};

// Bones and frames, the code's not yet among them.
var skeleton = function (form, number, several) {
  var id = "card_" + random(12);
  form.waiting = [];
  form.pay = function () {
    act(form, "pay");
  };
  form.labels = {};
  form.wrappers = {};
  var groups = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "submit"].map(function (name) {
    var made = group(name);
    form.labels[name] = made.firstChild;
    form.wrappers[name] = made.lastChild;
    made.firstChild.id = id + "-label-" + name;
    return made;
  });
  form.labels.submit.remove();
  delete form.labels.submit;
  groups[0].append((form.logo = make("div", "wpwl-brand wpwl-brand-card")));
  var hidden = function (name, value) {
    return make("input", "", { type: "hidden", name: name, value: value });
  };
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
    groups.concat([
      hidden("shopperResultUrl", form.result),
      hidden("card.expiryMonth", ""),
      hidden("card.expiryYear", ""),
      form.slot,
    ])
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
  form.number = frame(form, "card.number", "cardNumber", "Card Number");
  form.code = frame(form, "card.cvv", "cvv", "CVV");
  form.wrappers.cardNumber.append(form.number);
  return form;
};

// What the page's own fields are, and which of a shopper's doings the page part hears of. Month before year in every script:
// among right-to-left text, "05 / 34" would stand the other way round.
var CONTROLS = {
  brand: { tag: "select", attributes: { name: "paymentBrand" }, events: { change: "brand" } },
  expiry: {
    tag: "input",
    attributes: { type: "tel", name: "card.expiry", autocomplete: "cc-exp", dir: "ltr", "data-action": "blur-card-expiry" },
    events: { input: "expiry", blur: "expiryLeft" },
    placeholder: "mmyy",
  },
  cardHolder: {
    tag: "input",
    attributes: { type: "text", name: "card.holder", autocomplete: "cc-name" },
    events: { input: "holder", blur: "holderLeft" },
    placeholder: "cardHolder",
  },
};

var control = function (form, name) {
  var kind = CONTROLS[name];
  var made = make(kind.tag, "wpwl-control wpwl-control-" + name, kind.attributes);
  made.setAttribute("aria-labelledby", form.labels[name].id);
  if (kind.placeholder) {
    made.setAttribute("aria-invalid", "false");
    made.setAttribute("translate", "no");
    if (!isOff("showPlaceholders")) made.placeholder = word(kind.placeholder);
  }
  Object.keys(kind.events).forEach(function (type) {
    made.addEventListener(type, function () {
      act(form, kind.events[type]);
    });
  });
  form.wrappers[name].append(made);
  return made;
};

// The fields, and what everything is called.
var fill = function (form) {
  if (form.button) return;
  nativeSet(form.form, "lang", state.locale);
  if (state.language && state.language.dir) nativeSet(form.form, "dir", state.language.dir);
  Object.keys(form.labels).forEach(function (name) {
    form.labels[name].textContent = word(name === "expiry" ? "expiryDate" : name);
    form.labels[name].hidden = isOff("showLabels");
  });
  [form.number, form.code].forEach(function (frame) {
    frame.title = word(frame === form.code ? "cvv" : "cardNumber");
    frame.setAttribute("placeholder", frame.title);
  });
  form.wrappers.cvv.parentNode.hidden = isOff("requireCvv");
  form.select = control(form, "brand");
  form.expiry = control(form, "expiry");
  form.holder = control(form, "cardHolder");
  var text = word(purpose === "registration" ? "register" : "submit");
  form.button = make("button", "wpwl-button wpwl-button-pay", { type: "submit", name: "pay", "aria-label": text }, [text]);
  form.wrappers.submit.append(form.button);
  handy(form);
  rise(form);
};

// Where brands and issuers show their pages inside of ours. An empty frame takes browsers as long as all the rest, so it is
// made once the shopper has had the form for a while, or when it is wanted.
var targetOf = function (form) {
  var frame = form.container.querySelector("iframe.wpwl-target");
  if (frame) return frame;
  frame = make("iframe", "wpwl-target", {
    name: nativeGet(form.form, "target"),
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
