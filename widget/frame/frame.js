// A frame on our own origin holds the card number or the security code. This script alone makes it
// usable; the checks that the server shares follow as wasm. No digit ever goes to the page: it hears
// only whether the field is empty, complete and valid, and which brands fit.
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

  // What the page part told us last.
  let options = {};
  let peer = "*";
  const say = (type, more) =>
    parent.postMessage(Object.assign({ tillgate: 1, type, field, form }, more), peer);

  // Checks: none until the wasm is there.
  let checks;
  let given;
  const waiting = new Promise((done) => (given = done));
  // Puts a question to the checks and takes the answer; they keep nothing of it.
  const ask = (value, brand, answer) => {
    const question = [value, brand || "", ...(options.brands || [])].join(" ");
    for (const character of question) checks.put(character.charCodeAt());
    try {
      return answer();
    } finally {
      checks.clear();
    }
  };
  const list = (next) => {
    const items = [];
    for (let item; (item = next(items.length)) > -1; ) items.push(item);
    return items;
  };
  const isNumberOf = (value, brand) => ask(value, brand, checks.number) === 2;
  const isCodeOf = (value, brand) => ask(value, brand, checks.code);
  const groups = (value) =>
    checks
      ? ask(value, "", () => list((place) => checks.group(place) || -1))
      : /^3[47]/.test(value)
        ? [4, 6, 5]
        : [4, 4, 4, 4, 3];

  const state = () => {
    const value = digits();
    const told = { empty: !value, known: !!checks };
    if (checks && isNumber) {
      ask(value, options.brand, () => {
        const is = checks.number();
        told.complete = is > 0;
        told.valid = is > 1;
        told.brands = list(checks.fitting).map((place) => options.brands[place]);
      });
    } else if (checks) {
      told.complete = told.valid = isCodeOf(value, options.brand);
    }
    return told;
  };
  const tell = () => say("state", state());

  // Spaces between the groups; the caret stays behind the digit that it was behind.
  const arrange = () => {
    const caret = input.selectionStart;
    let before = ascii(input.value.slice(0, caret)).length;
    const value = digits();
    let shown = value;
    if (isNumber && options.formatting !== false) {
      let at = 0;
      const parts = [];
      for (const length of groups(value)) {
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

  // Backspace behind a space, and delete before one, mean the digit beyond it.
  input.addEventListener("beforeinput", (event) => {
    const at = input.selectionStart;
    if (at !== input.selectionEnd) return;
    if (event.inputType === "deleteContentBackward" && input.value[at - 1] === " ")
      input.setSelectionRange(at - 1, at - 1);
    if (event.inputType === "deleteContentForward" && input.value[at] === " ")
      input.setSelectionRange(at + 1, at + 1);
  });
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

  // The frame with the code: a sibling from our origin that belongs to the same form.
  const sibling = () => {
    for (let i = 0; i < parent.length; i++) {
      try {
        const other = parent.frames[i].tillgate;
        if (other.form === form && other.field === "card.cvv") return other;
      } catch (foreign) {}
    }
  };

  const submit = async (message) => {
    try {
      await waiting;
      const other = sibling();
      if (message.code && !other) throw 0;
      const code = message.code ? other.digits() : "";
      const number = digits();
      const brand = new URLSearchParams(message.fields).get("paymentBrand") || "";
      const wrong = [];
      if (!isNumberOf(number, brand)) wrong.push("card.number");
      if (code ? !isCodeOf(code, brand) : message.codeRequired) wrong.push("card.cvv");
      if (wrong.length) return say("invalid", { wrong });
      const body = new URLSearchParams(message.fields);
      body.set("card.number", number);
      if (code) body.set("card.cvv", code);
      const answer = await fetch(`checkouts/${config.checkout.id}/payment`, { method: "POST", body });
      say("answer", { status: answer.status, body: await answer.text() });
    } catch (failure) {
      say("failed");
    }
  };

  const heard = {
    options(message) {
      options = message;
      input.placeholder = message.placeholder || "";
      input.setAttribute("aria-label", message.label);
      document.title = message.label;
      document.documentElement.lang = message.lang;
      input.dir = message.dir || "";
      for (const name of allowed) input.style.setProperty(name, message.style[name] || "");
      document.body.style.setProperty("--placeholder", message.style["placeholder"] || "");
      arrange();
      tell();
    },
    error(message) {
      document.getElementById("error").textContent = message.text;
      input.setAttribute("aria-invalid", message.text ? "true" : "false");
    },
    brand(message) {
      options.brand = message.brand;
      tell();
    },
    focus: () => input.focus(),
    clear() {
      input.value = "";
      tell();
    },
    submit,
  };
  const allowed = [
    "color",
    "caret-color",
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
    if (origin !== "null") peer = origin;
    if (heard.hasOwnProperty(data.type)) heard[data.type](data);
  });

  input.name = field;
  input.autocomplete = isNumber ? "cc-number" : "cc-csc";
  input.placeholder = isNumber ? "Card Number" : "CVV";
  input.setAttribute("aria-label", input.placeholder);
  window.tillgate = {
    field,
    form,
    digits,
    wasm(glue) {
      glue(module).then((exports) => {
        checks = exports;
        given();
        arrange();
        tell();
      }, () => 0);
    },
  };
  say("ready", { config: isNumber ? config : undefined });

  // The rest after the first paint.
  let module;
  requestAnimationFrame(() =>
    setTimeout(() => {
      const folder = `static/${config.build}/frame/frame.`;
      module = fetch(`${folder}wasm`);
      const script = document.createElement("script");
      script.src = `${folder}js`;
      document.head.append(script);
    }),
  );
})();
