// The key Escape, in the page and in a frame of it.

import { listen, readMember, unlisten } from "../loader/native.js";

// Calls `work` when the shopper presses Escape in the form of this frame, anywhere if the form covers the page, or in a
// page of the gateway in the frame, which passes the key on. Elsewhere the key closes what the page has opened. Returns a
// function that ends this.
export function onEscape(frame, work) {
  const container = frame.closest(".wpwl-container");
  const isHere = (target) => !container || container.matches("[aria-modal]") || container.contains(target);
  const key = (event) => {
    if (event.key === "Escape" && !event.isComposing && !event.defaultPrevented && isHere(event.target)) work();
  };
  const message = (event) => {
    const isOwn = event.source === frame.contentWindow;
    if (isOwn && event.data && readMember(event.data, "tillgateKey") === "Escape") work();
  };
  listen(window, "keydown", key);
  listen(window, "message", message);
  return () => {
    unlisten(window, "keydown", key);
    unlisten(window, "message", message);
  };
}
