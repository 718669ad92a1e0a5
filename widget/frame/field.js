// The common part of the frames that hold one field each. A frame reports the state of its field, applies the page's style,
// and gives no digit and no letter of the content to the page. The checks come a moment later, in a script of their own.

// Time in which the script with the checks has to come, in milliseconds.
const PATIENCE = 30000;

const query = new URLSearchParams(location.search);
const field = query.get("field");
const form = query.get("form");
const config = JSON.parse(document.getElementById("tillgate-config").textContent);
export const isNumber = field === "card.number";
export const isDate = field === "card.expiry";
export const input = document.querySelector("input");

// Messages go to the page that spoke to this frame last. Before that there is only "ready", which holds nothing secret.
let target = "*";

export function sendToPage(type, more) {
  parent.postMessage({ tillgate: "%WIRE%", type, field, form, ...more }, target);
}

// Comes first: the page prepares its answer while the rest of this script runs.
sendToPage("ready", { config: isNumber ? config : undefined });

let options = {};
let checks;
let loading;
let receiveChecks;
// The functions of the entry module: `readValue`, `arrangeText`, `applyOptions` and `addToBody`.
let kind;

// Loads the checks, unless they are here or under way, and resolves with them. A script that did not come is loaded again by
// the next call.
export function loadChecks() {
  loading = loading || requestChecks().then(
    (attach) => {
      checks = attach({ field, form, config, input, sendToPage, readValue: kind.readValue, pageOrigin });
      if (options.style) checks.stylePlaceholder(options.style);
      updateField();
      return checks;
    },
    (lost) => {
      loading = null;
      throw lost;
    },
  );
  return loading;
}

function requestChecks() {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    const wasm = window.WebAssembly;
    receiveChecks = done;
    script.src = `static/${config.build}/frame/${wasm ? "frame" : "plain"}.js`;
    script.integrity = `sha256-${wasm ? "%GLUE%" : "%PLAIN%"}`;
    script.onerror = failed;
    setTimeout(failed, PATIENCE);
    document.head.append(script);
  });
}

const pageOrigin = () => (target === "*" ? "null" : target);

function describeField() {
  const value = kind.readValue();
  return { empty: !value, ...(checks && checks.describe(value, options)) };
}

function updateField() {
  kind.arrangeText(checks, options);
  sendToPage("state", describeField());
}

// The properties of the page's style that the text takes over.
const INHERITED = /^(color|letter-spacing|font-(family|size|style|weight)|text-(align|transform))$/;

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
    // The page sends its options once the form is there. What loads then does not delay the form.
    if (!loading) setTimeout(() => loadChecks().catch(() => {}));
  },
  brand({ brand }) {
    options.brand = brand;
    sendToPage("state", describeField());
  },
  error({ text }) {
    document.getElementById("error").textContent = text;
    input.setAttribute("aria-invalid", !!text);
  },
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
  input.addEventListener("input", updateField);
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
  window.tillgate = Object.freeze({
    form,
    field,
    fill,
    addToBody: kind.addToBody,
    complete: (attach) => receiveChecks(attach),
    isComplete: () => !!checks,
  });
}
