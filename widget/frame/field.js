// The common part of the frames that hold one field each. A frame reports the state of its field, applies the page's
// style, and gives no digit and no letter of the content to the page. The checks are a script that comes later.

import { config } from "./config.js";
import { shareWith } from "./sibling.js";

// Time to wait for the checks, in milliseconds.
const PATIENCE = 30000;
// The properties of the page's style that the text takes over.
const INHERITED = /^(color|letter-spacing|font-(family|size|style|weight)|text-(align|transform))$/;
const query = new URLSearchParams(location.search);
const [field, form] = [query.get("field"), query.get("form")];
export const isNumber = field === "card.number";
export const isDate = field === "card.expiry";
export const input = document.querySelector("input");
// Messages go to the page that spoke to this frame last. Before that there is only "ready", which holds nothing secret.
let target = "*";
const pageOrigin = () => (target === "*" ? "null" : target);
export const sendToPage = (type, more) =>
  parent.postMessage({ tillgate: "%WIRE%", type, field, form, ...more }, target);

// Comes first: the page prepares its answer while the rest of this script runs.
sendToPage("ready", { config: isNumber ? config : undefined });

// The functions of the entry module: `readValue`, `arrangeText`, `applyOptions` and `addToBody`.
let kind, options = {};
// `loading` is a promise of the checks, null after they were lost, and undefined before.
let checks, loading, receiveChecks;

function requestChecks(done, failed) {
  const script = document.createElement("script");
  const wasm = window.WebAssembly;
  receiveChecks = done;
  script.src = `static/${config.build}/frame/${wasm ? "frame" : "plain"}.js`;
  // Without CORS, the Integrity-Policy of this document would refuse the script.
  script.crossOrigin = "";
  script.integrity = `sha256-${wasm ? "%GLUE%" : "%PLAIN%"}`;
  script.onerror = failed;
  document.head.append(script);
}

function attachChecks(attach) {
  checks = attach({ field, form, config, input, sendToPage, readValue: kind.readValue, pageOrigin });
  if (options.style) checks.stylePlaceholder(options.style);
  updateField();
}

// Waits for the checks, though not for ever, and resolves with them. Loads them if they are not under way.
export function loadChecks() {
  if (checks) return Promise.resolve(checks);
  loading = loading || new Promise(requestChecks).then(attachChecks);
  const tooLate = new Promise((done, failed) => setTimeout(failed, PATIENCE));
  return Promise.race([loading, tooLate]).then(() => checks, (lost) => {
    loading = null;
    throw lost;
  });
}

function describeField() {
  const value = kind.readValue();
  return { empty: !value, ...(checks && checks.describe(value, options)) };
}

function sendState() { sendToPage("state", describeField()); }

function updateField() {
  kind.arrangeText(checks, options);
  sendState();
}

const handlers = {
  options(message) {
    const { label, lang, dir, style } = (options = message);
    input.placeholder = message.placeholder || "";
    input.setAttribute("aria-label", label);
    document.title = label;
    document.documentElement.lang = lang;
    for (const name in style) if (INHERITED.test(name)) input.style.setProperty(name, style[name]);
    // Digits run from left to right in every script, so the input stays so; the language decides where they begin.
    if (input.dir && dir === "rtl" && input.style.textAlign === "start") input.style.textAlign = "end";
    if (checks) checks.stylePlaceholder(style);
    kind.applyOptions(message);
    updateField();
    // The form is there when the first options come, so nothing delays it. Lost checks load again when they are needed.
    if (loading === undefined) setTimeout(() => loadChecks().catch(() => {}));
  },
  brand({ brand }) {
    options.brand = brand;
    sendState();
  },
  error({ text }) {
    document.getElementById("error").textContent = text;
    input.setAttribute("aria-invalid", !!text);
  },
  fonts: (message) => loadChecks().then(({ addFonts }) => addFonts(message), () => {}),
  ask: () => sendToPage("told", describeField()),
  focus: () => input.focus(),
  // Only the frame of the card number sends. It waits for the checks.
  submit(message) {
    if (isNumber) loadChecks().then(() => checks.submit(message), () => sendToPage("failed"));
  },
};

// Takes over what the browser filled in where the card number is, unless something has been typed here.
function fill(value) {
  if (input.value) return;
  input.value = value;
  updateField();
}

// Starts the frame with the functions of its kind of field.
export function startField(functions) {
  kind = functions;
  input.name = field;
  // An input method replaces its own text: to format that would type it once more. Its end formats the text.
  input.addEventListener("input", ({ isComposing }) => (isComposing ? sendState() : updateField()));
  input.addEventListener("compositionend", updateField);
  input.addEventListener("focus", () => sendToPage("focus"));
  input.addEventListener("blur", () => sendToPage("blur", describeField()));
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    sendToPage("enter");
  });
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent || !data || data.tillgate !== "%WIRE%" || data.form !== form) return;
    if (origin !== "null") target = origin;
    if (handlers.hasOwnProperty(data.type)) handlers[data.type](data);
  });
  // The other frames of the form and the script with the checks use this object. All of them come from our origin.
  const openFor = shareWith(Object.freeze({ fill, addToBody: kind.addToBody }));
  const [complete, isComplete] = [(attach) => receiveChecks(attach), () => !!checks];
  window.tillgate = Object.freeze({ form, field, openFor, complete, isComplete });
}
