// Waits for the frames and the page module. If one does not come, a message has a button that asks for it again.

import { readTexts } from "./files.js";
import { make, setBusy } from "./native.js";
import { findRelay, listForms, setFormHidden } from "./place.js";
import { reportError } from "./report.js";

// The time in which a form may stay empty, in milliseconds.
var PATIENCE = 15000;
// Windows of the frames that have said hello. Other frames are not asked for their windows: browsers would first make
// one for the empty document that a frame begins with, which takes longer than anything here.
var heard = new Map();
var timer = 0, retry = Boolean;
// Calls `work` when a shopper presses the button in a message.
export function onRetry(work) { retry = work; }

function listFrames() {
  var ofForm = function (form) { return form.isCard && !form.isDone ? [form.number, form.code] : []; };
  return listForms().flatMap(ofForm).concat(findRelay() || []);
}

// Notes the window of a frame that has said hello.
export function noteHello(source) {
  listFrames().forEach(function (frame) {
    if (heard.get(frame) !== source && frame.contentWindow === source) heard.set(frame, source);
  });
}

// Returns the frames that stand in the page and have not said hello.
function silentFrames() {
  return listFrames().filter(function (frame) {
    return frame.isConnected && !(heard.has(frame) && frame.contentWindow === heard.get(frame));
  });
}

function removeMessages() {
  listForms().forEach(function (form) {
    if (!form.message) return;
    form.message.remove();
    form.message = null;
    setFormHidden(form, false);
    setBusy(form.container, form.wasBusy);
  });
}

// Begins to wait. Messages that stand are removed.
export function beginWatch(isPageModuleHere) {
  clearTimeout(timer);
  removeMessages();
  if (isPageModuleHere() && !silentFrames().length) return;
  timer = setTimeout(function () {
    if (silentFrames().length) showFailure("a frame does not answer", "PciIframeCommunicationError");
    else if (!isPageModuleHere()) showFailure("the page module did not come", "WidgetError");
  }, PATIENCE);
}

export function endWatch() { clearTimeout(timer); heard.clear(); }

// Loads the silent frames again.
export function reloadFrames() {
  silentFrames().forEach(function (frame) {
    // Chromium leaves a frame empty for ever that is shown while it loads again, so it is laid out before.
    frame.getBoundingClientRect();
    frame.src += "";
  });
}

// Says in every form that it cannot be used, with a button unless it is the page's fault. What was typed stays.
export function showFailure(text, name, isOfPage) {
  clearTimeout(timer);
  removeMessages();
  listForms().forEach(function (form) {
    if (form.isDone && !form.isCard) return;
    var button = make("button", "wpwl-button wpwl-button-retry", { type: "button" }, [readTexts().retry]);
    button.onclick = function () { retry(); };
    var words = [readTexts().failed, " "].concat(isOfPage ? [] : button);
    form.message = make("div", "wpwl-message wpwl-has-error", { role: "alert" }, words);
    setFormHidden(form, true);
    form.wasBusy = form.container.classList.contains("wpwl-loading");
    setBusy(form.container, false);
    form.container.append(form.message);
  });
  reportError(name, text, isOfPage);
}
