// The issuer's page: in the place of the form, or over the whole page where the screen is small.

import { listen, make, nativeCall, nativeGet, unlisten } from "../loader/native.js";
import { cover, fillBar, restyle } from "./cover.js";
import { onEscape } from "./escape.js";

// Widths and heights of challenge windows in pixels (EMV 3-D Secure, challengeWindowSize 01 to 04).
const SIZES = [["250px", "400px"], ["390px", "400px"], ["500px", "600px"], ["600px", "400px"]];

// Permissions of an issuer's page, which may ask for a passkey. Its address is not known beforehand.
const PERMISSIONS = ["publickey-credentials-get", "publickey-credentials-create", "payment"];

// Gives a frame the permissions of an issuer's page, of those that this browser knows: it would warn of the others on the
// console. They count from the frame's next page on.
export function permitIssuer({ frame }) {
  const policy = nativeGet(document, "featurePolicy");
  const known = policy && policy.features();
  const names = PERMISSIONS.filter((name) => !known || known.includes(name));
  frame.setAttribute("allow", names.map((name) => `${name} *`).join("; "));
}

// Shows a frame with the issuer's page, and a way back. The view has the container and its frame, the size of the window
// (1 to 5), the merchant's own width and height, texts, and the function `cancel`. The shop's name is the gateway's or the
// page's host: a text of the page could pretend to be the issuer's. Returns a function that ends it.
export function openChallenge(view, shop) {
  const { container, frame, size, width, height, title, label, cancel } = view;
  const button = make("button", "wpwl-button wpwl-button-small wpwl-button-cancel", { type: "button" }, [label]);
  const isWhole = !width && !height && !SIZES[size - 1];
  const bar = make("div", "wpwl-challenge-bar", null, [button]);
  const click = () => cancel();
  listen(button, "click", click);
  container.classList.toggle("wpwl-challenge-whole", isWhole);
  let undo;
  if (isWhole) {
    // In the order in which they are seen.
    nativeCall(frame, "before", bar);
    fillBar(bar, make("bdi", "wpwl-challenge-shop", null, [shop || location.host]), button);
    undo = cover(container, frame, title);
  } else {
    container.append(bar);
    const usual = SIZES[size - 1] || ["100%", "600px"];
    undo = restyle(frame, {
      __proto__: null, width: width || usual[0], height: height || usual[1], "max-width": "100%",
    });
  }
  const deaf = onEscape(frame, cancel);
  frame.focus();
  return () => {
    deaf();
    unlisten(button, "click", click);
    undo();
    bar.remove();
    container.classList.remove("wpwl-challenge-whole");
  };
}
