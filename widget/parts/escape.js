// The key Escape, in the page and in a frame of it.

import { listen, readMember, unlisten } from "../loader/native.js";

// Calls `work` when the shopper presses Escape in the page, or in a page of the gateway in this frame, which passes the
// key on. Returns a function that ends this.
export function onEscape(frame, work) {
  const key = (event) => {
    if (event.key === "Escape" && !event.isComposing) work();
  };
  const message = (event) => {
    const isOwn = frame && event.source === frame.contentWindow;
    if (isOwn && event.data && readMember(event.data, "tillgateKey") === "Escape") work();
  };
  listen(window, "keydown", key, true);
  listen(window, "message", message);
  return () => {
    unlisten(window, "keydown", key, true);
    unlisten(window, "message", message);
  };
}
