// A frame on our own origin holds the card number or the security code. This script alone makes it
// usable; checks.js and the wasm behind it follow. No digit ever goes to the page: it hears only
// whether the field is empty, complete and valid, and which brands fit.
(() => {
  const query = new URLSearchParams(location.search);
  const field = query.get("field") || name;
  const form = query.get("form");
  const config = JSON.parse(document.getElementById("tillgate-config").textContent);
  const isNumber = field === "card.number";
  const input = document.querySelector("input");
  // Also the digits of other scripts' keyboards; those of Devanagari and Bengali do not begin at 0.
  const ascii = (text) =>
    text
      .replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\uff10-\uff19]/g, (c) => {
        const code = c.charCodeAt();
        return (code - (code > 0x965 && code < 0xff00 ? 6 : 0)) & 15;
      })
      .replace(/\D/g, "");
  const digits = () => ascii(input.value).slice(0, isNumber ? 19 : 4);

  // Messages go to whoever spoke to us last; before that only "ready", which holds nothing secret.
  let peer = "*";
  const say = (type, more) =>
    parent.postMessage(Object.assign({ tillgate: 1, type, field, form }, more), peer);

  // What checks.js takes up and completes; a sibling frame of our origin finds field, form and digits.
  const own = (window.tillgate = {
    field,
    form,
    config,
    digits,
    say,
    // The origin of the page around us.
    peer: "null",
    // What the page part told us last.
    options: {},
    groups: (value) => (/^3[47]/.test(value) ? [4, 6, 5] : [4, 4, 4, 4, 3]),
    judge: () => ({}),
    // The placeholder's look.
    dress() {},
    input,
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
  let waiting;
  let lost;
  const state = () => Object.assign({ empty: !digits() }, own.judge(digits()));
  const tell = () => say("state", state());

  // Spaces between the groups; the caret stays behind the digit that it was behind.
  const arrange = () => {
    const caret = input.selectionStart;
    let before = ascii(input.value.slice(0, caret)).length;
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

  input.addEventListener("input", () => {
    arrange();
    tell();
  });
  input.addEventListener("focus", () => say("focus"));
  input.addEventListener("blur", () => say("blur", state()));
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    say("enter");
  });

  const heard = {
    options(message) {
      own.options = message;
      input.placeholder = message.placeholder || "";
      input.setAttribute("aria-label", message.label);
      document.title = message.label;
      document.documentElement.lang = message.lang;
      for (const name of allowed) input.style.setProperty(name, message.style[name] || "");
      // Digits run from left to right in every script, so the input stays so; where they begin is the language's.
      if (message.dir === "rtl" && input.style.textAlign === "start") input.style.textAlign = "end";
      document.getElementById("help").textContent = (!isNumber && message.help) || "";
      input.style.setProperty("-webkit-text-security", message.style.mask ? "disc" : "");
      own.dress(message.style);
      arrange();
      tell();
    },
    error(message) {
      document.getElementById("error").textContent = message.text;
      input.setAttribute("aria-invalid", message.text ? "true" : "false");
    },
    brand(message) {
      own.options.brand = message.brand;
      tell();
    },
    focus: () => input.focus(),
    submit: (message) => own.submit(message),
  };
  const allowed = [
    "color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "letter-spacing",
    "text-align",
    "text-transform",
  ];
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent || !data || data.tillgate !== 1 || data.form !== form) return;
    if (origin !== "null") own.peer = peer = origin;
    if (heard.hasOwnProperty(data.type)) heard[data.type](data);
  });

  input.name = field;
  input.autocomplete = isNumber ? "cc-number" : "cc-csc";
  input.placeholder = isNumber ? "Card Number" : "CVV";
  input.setAttribute("aria-label", input.placeholder);
  say("ready", { config: isNumber ? config : undefined });

  // The rest after the first paint.
  const load = () => {
    lost = false;
    const folder = `static/${config.build}/frame/`;
    const wasm = window.WebAssembly;
    if (wasm) {
      own.module = fetch(`${folder}frame.wasm`, { integrity: "sha256-%WASM%" });
      own.module.catch(own.fail);
    }
    const script = document.createElement("script");
    script.src = folder + (wasm ? "frame.js" : "plain.js");
    script.integrity = "sha256-" + (wasm ? "%GLUE%" : "%PLAIN%");
    script.onerror = own.fail;
    document.head.append(script);
  };
  requestAnimationFrame(() => setTimeout(load));
})();
