// Moves the focus to the next field once the card's number or its expiry date is whole (option `focusNextField`). Only
// pages with the option load this script.

import { globalOf, listen, nativeCall, nativeGet, unlisten } from "../loader/native.js";

const NUMBER = "iframe.wpwl-control-cardNumber", EXPIRY = ".wpwl-control-expiry";
// A whole date as the form writes it.
const DATE = /^(0[1-9]|1[0-2]) \/ \d\d$/;

function begin(loader) {
  const origin = new URL(loader.framesBase).origin;
  // Frames and inputs whose text was whole when they last changed: a shopper who comes back to correct it stays.
  const whole = new WeakSet();

  // Moves on from a field that has become whole under the shopper's hands.
  function follow(control, isWhole) {
    const wasWhole = whole.has(control);
    whole[isWhole ? "add" : "delete"](control);
    if (!isWhole || wasWhole || nativeGet(document, "activeElement") !== control) return;
    const container = control.closest(".wpwl-container");
    const all = Array.from(container ? container.querySelectorAll(".wpwl-control") : []);
    const next = all.slice(all.indexOf(control) + 1).find((other) => other.getClientRects().length && !other.disabled);
    if (!next) return;
    next.focus();
    if (!next.matches("iframe")) return;
    const form = new URL(next.src).searchParams.get("form");
    next.contentWindow.postMessage({ tillgate: loader.version, type: "focus", form }, origin);
  }

  function receive({ origin: from, source, data }) {
    if (globalOf("__tillgate") !== loader) return end();
    if (from !== origin || !data || data.tillgate !== loader.version || data.type !== "state") return;
    const frames = Array.from(nativeCall(document, "querySelectorAll", `${NUMBER}, iframe${EXPIRY}`));
    const frame = frames.find((other) => other.contentWindow === source);
    if (frame) follow(frame, !!data.whole);
  }

  function read(event) {
    const { target, isTrusted } = event;
    if (globalOf("__tillgate") !== loader) return end();
    if (!isTrusted || !target.matches || !target.matches(`input${EXPIRY}`)) return;
    // A caret inside of the text corrects it.
    follow(target, DATE.test(target.value) && target.selectionEnd === target.value.length);
  }

  // After the page module has written the date as it should be.
  const readSoon = (event) => setTimeout(read, 0, event);

  function end() {
    unlisten(window, "message", receive);
    unlisten(document, "input", readSoon);
  }

  listen(window, "message", receive);
  listen(document, "input", readSoon);
}

const loader = globalOf("__tillgate");
if (loader && loader.framesBase) begin(loader);
