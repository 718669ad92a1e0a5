// A visit of the shopper to a brand's page, in a window or a frame.

import { listen, unlisten } from "../loader/native.js";
import { onEscape } from "./escape.js";

// Time between two looks at a window, in milliseconds.
const PAUSE = 400;
// Looks at a window with a brand's page in it after which the browser is trusted with telling that it is closed.
const LOOKS = 2;
const SIGNS = ["focus", "pointerdown", "keydown"];

// Returns true if the window shows a page of another origin. Until the brand's page has come, it shows an empty one of
// ours.
function showsBrand(window) {
  try { return window.location.href !== "about:blank"; } catch { return true; }
}

// Watches a visit, and calls `cancel` when the shopper has left the brand's page: by the key Escape if it is in a frame of
// this page. A brand's page may cut itself off from the page that opened it, and its window then looks closed at
// once. So a window that looks closed is closed if the shopper is back in this page: by a sign of that, or by the focus
// that a closed window leaves to this one, if it did not look closed while it showed the brand's page. A brand's page that
// goes on to a page which cuts itself off keeps the focus. Returns a function that ends this.
export function watchVisit({ window: brand, frame, cancel }) {
  if (frame) return onEscape(frame, cancel);
  let looks = 0;
  let isBack = false;
  const look = () => {
    if (!brand.closed) looks += showsBrand(brand) ? 1 : 0;
    else if (isBack || (looks >= LOOKS && document.hasFocus())) {
      stop();
      cancel();
    }
  };
  const back = () => {
    isBack = true;
    look();
  };
  const stop = () => {
    clearInterval(timer);
    SIGNS.forEach((kind) => unlisten(window, kind, back));
  };
  const timer = setInterval(look, PAUSE);
  SIGNS.forEach((kind) => listen(window, kind, back));
  return stop;
}
