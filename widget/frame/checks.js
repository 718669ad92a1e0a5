// Completes the frame of a field with the checks that the server shares: they are wasm, which `begin` starts. In the
// frame of the card number also makes the one request that carries card data.

import { listIgnored, makeBody, readPurpose, selectCheckout, sendPayment } from "./send.js";
import { addCode, findSibling } from "./sibling.js";

let wasm;

// Puts a question to the wasm module byte by byte, and returns the answer. The module forgets the question at once.
function askText(text, answer) {
  for (const byte of new TextEncoder().encode(text)) wasm.put(byte);
  try {
    return answer();
  } finally { wasm.clear(); }
}

const askDigits = (digits, brand, brands, answer) => askText([digits, brand, ...brands].join(" "), answer);
const isNumberOf = (number, brand) => askDigits(number, brand, [], wasm.number) === 2;
const isCodeOf = (code, brand, brands = []) => askDigits(code, brand, brands, wasm.code);
const isCodeOptional = (brand) => askDigits("", brand, [], wasm.optional);

// Lists what `read` returns for 0, 1, 2 and so on, up to the first negative number.
function listAnswers(read) {
  const answers = [];
  for (let answer; (answer = read(answers.length)) > -1; ) answers.push(answer);
  return answers;
}

async function submitCard({ fields, checkout, code, codeRequired }, frame) {
  const { config, form, readValue, pageOrigin, sendToPage } = frame;
  try {
    const id = selectCheckout(config, checkout);
    const number = readValue();
    const body = makeBody(fields, pageOrigin());
    const brand = body.get("paymentBrand") || "";
    if (code) addCode(form, body);
    const typedCode = body.get("card.cvv");
    const wrong = [];
    if (!isNumberOf(number, brand)) wrong.push("card.number");
    if (typedCode ? !isCodeOf(typedCode, brand) : codeRequired && !isCodeOptional(brand)) wrong.push("card.cvv");
    if (wrong.length) return sendToPage("invalid", { wrong });
    body.set("card.number", number);
    for (const field of ["card.holder", "card.expiry"]) await findSibling(form, field)?.addToBody(body);
    sendToPage("answer", { answer: await sendPayment(id, readPurpose(config), body, listIgnored(fields, config)) });
  } catch (failure) { sendToPage("failed"); }
}

// Adds invisible fields for the rest of the card to the frame of the card number: browsers fill in the document that
// has the caret, and no other. Each value goes to the frame of its field. Name and date may be fields of the page.
function addAutofill({ form, input, sendToPage }) {
  const tokens = { "cc-name": "card.holder", "cc-exp": "card.expiry", "cc-csc": "card.cvv" };
  for (const [autocomplete, field] of Object.entries(tokens)) {
    const helper = Object.assign(document.createElement("input"), { className: "helper", tabIndex: -1, autocomplete });
    helper.setAttribute("aria-hidden", true);
    helper.addEventListener("input", () => {
      const { value } = helper;
      const frame = findSibling(form, field);
      if (frame) frame.fill(value);
      else if (field !== "card.cvv") sendToPage("autofill", { [field]: value });
      helper.value = "";
    });
    input.form.append(helper);
  }
}

// Returns numbers that begin with this one, of each length up to the longest that there is.
const listLonger = (number) => Array.from({ length: 19 - number.length }, (_, more) => number.padEnd(number.length + more + 1, "0"));

function makeNumberChecks(frame) {
  // The first six digits decide on the brand. The number of their changes says nothing about them.
  let lastBin, changes = 0;
  addAutofill(frame);
  return {
    listGroups: (number) => askText(number, () => listAnswers((place) => wasm.group(place) || -1)),
    describe(number, { brand = "", brands = [] }) {
      const bin = number.slice(0, 6);
      if (bin !== lastBin) changes++;
      lastBin = bin;
      // Numbers of 16 digits and more have hardly ever another one.
      const isWhole = number.length > 15 || !listLonger(number).some((longer) => askDigits(longer, brand, brands, wasm.number));
      return askDigits(number, brand, brands, () => {
        const fitting = listAnswers(wasm.fitting).map((place) => brands[place]);
        const [complete, valid] = [wasm.number() > 0, wasm.number() > 1];
        return { known: true, brand, bin: bin[5] && changes, complete, valid, whole: valid && isWhole, brands: fitting };
      });
    },
    submit: (message) => submitCard(message, frame),
  };
}

const codeChecks = {
  describe(code, { brand = "", brands }) {
    const valid = isCodeOf(code, brand, brands);
    // With a digit or two more it would be one.
    const isShort = !valid && ["0", "00"].some((more) => isCodeOf(code + more, brand, brands));
    return { known: true, brand, complete: !isShort, valid, optional: isCodeOptional(brand) };
  },
};

const holderChecks = {
  describe: (name) => ({ known: true, valid: askText(name, wasm.holder) }),
  addToBody: (body, name) => (name ? body.set("card.holder", name) : body.delete("card.holder")),
};

// In milliseconds. Cards are judged by the half day, as a month ends everywhere twelve hours after its end in UTC.
const HALF_DAY = 12 * 60 * 60 * 1000;

const dateChecks = {
  formatDate: (text) => askText(text, () => String.fromCharCode(...listAnswers((at) => wasm.formatted(at) || -1))),
  describe(text) {
    const now = new Date();
    return askText(text, () => {
      const valid = wasm.date(now.getFullYear()) > 0;
      return { known: true, valid, past: wasm.past(now / HALF_DAY), whole: valid && text.length === 7 };
    });
  },
  // The gateway refuses the month 00 and the empty year of a text that is no date.
  addToBody(body, text) {
    const date = askText(text, () => wasm.date(new Date().getFullYear()));
    body.set("card.expiryMonth", String(date % 100).padStart(2, "0"));
    body.set("card.expiryYear", Math.floor(date / 100) || "");
  },
};

// The properties of a placeholder that a merchant may set: their values load nothing.
const HARMLESS = /^(color|opacity|letter-spacing|line-height)$/;
const HARMLESS_TEXT = /^(text|font)-(align|transform|shadow|decoration|family|size|style|weight|variant)$/;

// Gives the placeholder the page's colour, and then what the merchant wants.
function stylePlaceholder(style) {
  const rules = Array.from(document.styleSheets[0].cssRules);
  const placeholder = rules.find(({ selectorText }) => selectorText === "input::placeholder").style;
  placeholder.cssText = "opacity:1";
  placeholder.color = style.placeholder || "";
  for (const [key, value] of style.own || []) {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (HARMLESS.test(name) || HARMLESS_TEXT.test(name)) placeholder.setProperty(name, value);
  }
}

// Maximum number of fonts in a frame, which may be told twice, and of the bytes of one.
const MOST_FONTS = 8;
const LARGEST_FONT = 256 * 1024;

// Adds fonts of the page. It has loaded their bytes: a frame loads nothing for a page.
async function addFonts({ fonts }) {
  for (const { family, weight, style, bytes } of Array.isArray(fonts) ? fonts.slice(0, MOST_FONTS) : []) {
    if (document.fonts.size >= MOST_FONTS || !(bytes instanceof ArrayBuffer) || bytes.byteLength > LARGEST_FONT) continue;
    try {
      document.fonts.add(await new FontFace(family, bytes, { weight, style }).load());
    } catch (refused) { /* The text keeps the font that it has. */ }
  }
}

const CHECKS = { "card.cvv": codeChecks, "card.holder": holderChecks, "card.expiry": dateChecks };

function receiveModule(exports) {
  wasm = exports;
  return (frame) => ({ addFonts, stylePlaceholder, ...(CHECKS[frame.field] || makeNumberChecks(frame)) });
}

window.tillgate.complete(begin().then(receiveModule));
