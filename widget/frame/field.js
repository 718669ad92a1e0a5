// What every frame with a field of the card has in common: it says how its field is, looks as it is told, and gives no
// digit and no letter of it to the page.

const query = new URLSearchParams(location.search);
const field = query.get("field");
const form = query.get("form");
const isNumber = field === "card.number";
const input = document.querySelector("input");
// Also the digits of other scripts' keyboards; those of Devanagari and Bengali do not begin at 0.
const ascii = (text) =>
  text
    .replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\uff10-\uff19]/g, (c) => {
      const code = c.charCodeAt();
      return (code - (code > 0x965 && code < 0xff00 ? 6 : 0)) & 15;
    });

// Messages go to whoever spoke to us last; before that only "ready", which holds nothing secret.
let peer = "*";
const say = (type, more) =>
  parent.postMessage(Object.assign({ tillgate: 1, type, field, form }, more), peer);
// Under way while the rest of this script runs: what the page answers comes after that.
const config = JSON.parse(document.getElementById("tillgate-config").textContent);
say("ready", { config: isNumber ? config : undefined });

// What completes the frame takes up; a sibling frame of our origin finds field and form.
const own = (window.tillgate = {
  field,
  form,
  say,
  // The origin of the page around us.
  peer: "null",
  // What the page part told us last.
  options: {},
  judge: () => ({}),
  // The placeholder's look.
  dress() {},
  input,
});
const tell = () => say("state", state());

// Of the page's style, what its text alone goes by.
const inherited = /^(color|letter-spacing|font-(family|size|style|weight)|text-(align|transform))$/;
const heard = {
  options(message) {
    own.options = message;
    input.placeholder = message.placeholder || "";
    input.setAttribute("aria-label", message.label);
    document.title = message.label;
    document.documentElement.lang = message.lang;
    for (const name in message.style) if (inherited.test(name)) input.style.setProperty(name, message.style[name]);
    // Digits run from left to right in every script, so the input stays so; where they begin is the language's.
    if (input.dir && message.dir === "rtl" && input.style.textAlign === "start") input.style.textAlign = "end";
    own.dress(message.style);
    own.told(message);
    arrange();
    tell();
  },
  error(message) {
    document.getElementById("error").textContent = message.text;
    input.setAttribute("aria-invalid", !!message.text);
  },
  focus: () => input.focus(),
};
addEventListener("message", ({ source, origin, data }) => {
  if (source !== parent || !data || data.tillgate !== 1 || data.form !== form) return;
  if (origin !== "null") own.peer = peer = origin;
  if (heard.hasOwnProperty(data.type)) heard[data.type](data);
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
input.name = field;
