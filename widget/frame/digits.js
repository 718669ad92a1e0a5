// A frame on our own origin holds the card number or the security code. This script and field.js alone make it
// usable; checks.js and the wasm behind it follow. No digit ever goes to the page: it hears only
// whether the field is empty, complete and valid, and which brands fit.

const only = (text) => ascii(text).replace(/\D/g, "");
const digits = () => only(input.value).slice(0, isNumber ? 19 : 4);
let waiting;
let lost;
let begun;

Object.assign(own, {
  config,
  digits,
  groups: (value) => (/^3[47]/.test(value) ? [4, 6, 5] : [4, 4, 4, 4, 3]),
  told(message) {
    document.getElementById("help").textContent = isNumber ? "" : message.help;
    input.style.setProperty("-webkit-text-security", message.style.mask ? "disc" : "");
    // The rest once the form stands, which is when the page says how the field looks.
    begun = begun || setTimeout(load);
  },
  // Waits for checks.js, though not for ever; where that was lost, it is fetched again.
  submit(message) {
    waiting = message;
    if (lost) load();
    setTimeout(() => waiting === message && own.fail(), 30000);
  },
  refresh() {
    if (own.options.style) own.dress(own.options.style);
    arrange();
    tell();
    const message = waiting;
    waiting = null;
    if (message) own.submit(message);
  },
  fail() {
    lost = true;
    if (waiting) say("failed");
    waiting = null;
  },
});
const state = () => Object.assign({ empty: !digits() }, own.judge(digits()));

// Spaces between the groups; the caret stays behind the digit that it was behind.
const arrange = () => {
  const caret = input.selectionStart;
  let before = only(input.value.slice(0, caret)).length;
  const value = digits();
  let shown = value;
  if (isNumber && own.options.formatting !== false) {
    let at = 0;
    const parts = [];
    for (const length of own.groups(value)) {
      parts.push(value.slice(at, (at += length)));
    }
    parts.push(value.slice(at));
    shown = parts.filter(Boolean).join(" ");
  }
  if (shown === input.value) return;
  input.value = shown;
  let place = 0;
  for (; before > 0 && place < shown.length; place++) if (shown[place] !== " ") before--;
  if (document.activeElement === input) input.setSelectionRange(place, place);
};

Object.assign(heard, {
  brand(message) {
    own.options.brand = message.brand;
    tell();
  },
  submit: (message) => own.submit(message),
});

input.autocomplete = isNumber ? "cc-number" : "cc-csc";
input.setAttribute("aria-label", isNumber ? "Card Number" : "CVV");

const load = () => {
  lost = false;
  const script = document.createElement("script");
  const wasm = window.WebAssembly;
  script.src = `static/${config.build}/frame/${wasm ? "frame" : "plain"}.js`;
  script.integrity = `sha256-${wasm ? "%GLUE%" : "%PLAIN%"}`;
  script.onerror = own.fail;
  document.head.append(script);
};
