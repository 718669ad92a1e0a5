// The way back to the shop, in the message of a form that cannot be used.

import { make, nativeGet, nativeSet } from "../loader/native.js";

// Returns the origin of an address, or nothing. An address of another site counts only if the query of the page names
// none: a link that anybody may have written could have put it there, in any spelling that browsers understand.
export function shopOrigin(address, page) {
  let url;
  try { url = new URL(address, page.href); } catch { return ""; }
  if (!/^https?:$/.test(url.protocol)) return "";
  if (url.origin !== page.origin && /[:/\\]/.test(decodeAll(page.search + page.hash))) return "";
  return url.origin + "/";
}

// Returns a text without percent-encoding, however often it was applied.
function decodeAll(text) {
  let decoded = text.toLowerCase();
  for (let times = 0; times < 8; times++) {
    const next = decoded.replace(/(%[0-9a-f]{2})+/g, (part) => {
      try { return decodeURIComponent(part); } catch { return part; }
    });
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

// Adds a link to the shop to a message, or without an address a button that leads one page back. Nothing if the message
// has one, or if there is no page before.
export function addWayBack(message, address, text) {
  if (message.querySelector(".wpwl-back")) return;
  const origin = shopOrigin(address, location);
  let way = null;
  if (origin) {
    way = make("a", "wpwl-back", { href: origin }, [text]);
  } else if (history.length > 1) {
    way = make("button", "wpwl-back", { type: "button" }, [text]);
    nativeSet(way, "onclick", () => history.back());
  }
  if (way) nativeGet(message, "append").call(message, make("div", "", {}, [way]));
}
