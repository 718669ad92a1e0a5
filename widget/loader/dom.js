// Makes nodes. No style attributes: a merchant's policy may forbid them.

import { copyBare, globalOf, nativeCall } from "./native.js";

export function make(tag, classes, attributes, children) {
  var element = nativeCall(document, "createElement", tag);
  if (classes) element.className = classes;
  Object.keys(attributes || {}).forEach(function (name) {
    element.setAttribute(name, attributes[name]);
  });
  element.append.apply(element, children || []);
  return element;
}

// Runs work in a task of its own and before anything else, so that the page may answer its shopper in between.
export function runSoon(work) {
  var scheduler = globalOf("scheduler");
  if (scheduler && scheduler.postTask) scheduler.postTask(work, copyBare({ priority: "user-blocking" }));
  else setTimeout(work);
}

export function randomDigits(count) {
  return Array.from(crypto.getRandomValues(new Uint8Array(count)), function (byte) {
    return byte % 10;
  }).join("");
}

// Marks a container as busy, so that screen readers do not read it aloud.
export function setBusy(container, isBusy) {
  container.classList.toggle("wpwl-loading", isBusy);
  if (isBusy) container.setAttribute("aria-busy", "true");
  else container.removeAttribute("aria-busy");
}
