// How the page looks, for the text inside the frames, and what else they are told.

// What the text in a frame takes over from the frame's element.
var inherited =
  "color,font-family,font-size,font-style,font-weight,letter-spacing,text-align,text-transform".split(",");

// The look of a frame's element as the page's style sheets have it now, the colour of placeholders as an
// input of the page shows it, and what the merchant says of the placeholder and the code.
var look = function (frame, input) {
  var style = getComputedStyle(frame);
  var seen = {};
  inherited.forEach(function (name) {
    seen[name] = style.getPropertyValue(name);
  });
  if (input) seen.placeholder = getComputedStyle(input, "::placeholder").color;
  var given = options();
  var styles = given.iframeStyles || given.iframeStyle || {};
  var own = styles[frame.name === "card.cvv" ? "cvv-placeholder" : "card-number-placeholder"] || {};
  seen.own = Object.keys(own).map(function (name) {
    return [name, String(own[name])];
  });
  seen.mask = isOn("maskCvv");
  return seen;
};

// Whether the text of an element is light, and so the page behind it dark.
var isOnDark = function (element) {
  // "rgb(29, 36, 51)"; whatever has another form counts as dark text. Weights as the eye has them, in percent.
  var parts = /^rgba?\((\d+), (\d+), (\d+)/.exec(getComputedStyle(element).color) || [0, 0, 0, 0];
  return parts[1] * 30 + parts[2] * 59 + parts[3] * 11 > 14000;
};

// What a frame is told of how its field looks and is called. The placeholder looks as one of this input does.
var manner = function (frame, input, label, placeholder) {
  return {
    style: look(frame, input),
    label: label,
    placeholder: isOff("showPlaceholders") ? "" : placeholder,
    lang: state.locale,
    dir: (state.language && state.language.dir) || "",
  };
};

// What is said of the code, by brand.
var HELP = { AMEX: "cvvHintAmex", MAESTRO: "cvvHintMaestro" };

// Tells both frames of a form how to look and what to say.
var instruct = function (form) {
  if (!form.up || form.ended) return;
  form.container.classList.toggle("wpwl-dark", isOnDark(form.container));
  var brand = form.select.value;
  var help = isOn("showCVVHint") ? word(HELP[brand] || "cvvHint") : "";
  hint(form, help);
  [form.number, form.code].forEach(function (frame) {
    var label = word(frame === form.code ? "cvv" : "cardNumber");
    var message = { type: "options", brand: brand, help: help, brands: form.cards, formatting: !isOff("numberFormatting") };
    tell(form, frame, Object.assign(message, manner(frame, form.holder, label, label)));
  });
};

// The page may look different now. What makes the other forms adds its own to `state.restyle`.
var restyle = function () {
  state.forms.forEach(instruct);
};
var restyled = function () {
  state.restyle();
};
