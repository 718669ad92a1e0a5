// Puts a container over the whole page. Its frame must not move, or it would load again, so the container stays in its
// place of the document: styles of its own, and the top layer of browsers that have one, put it over everything else.

import { nativeCall, nativeGet } from "../loader/native.js";

// Sets properties of an element's own style over all rules of the page. Returns a function that takes them back.
export function restyle(element, properties) {
  const own = nativeGet(element, "style");
  const before = Object.keys(properties).map((name) => [name, own.getPropertyValue(name), own.getPropertyPriority(name)]);
  // A browser leaves out a value that it does not understand, so of two values the second is the better one.
  for (const [name, values] of Object.entries(properties)) {
    for (const value of [].concat(values)) own.setProperty(name, value, "important");
  }
  return () => before.forEach(([name, value, priority]) => own.setProperty(name, value, priority));
}

// Sets attributes. Returns a function that takes them back.
function mark(element, attributes) {
  const before = Object.keys(attributes).map((name) => [name, element.getAttribute(name)]);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  return () => before.forEach(([name, value]) => {
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  });
}

// Makes everything around an element inert: neither keys nor screen readers get there. Returns a function that takes it
// back.
function silenceRest(element) {
  const silenced = [];
  let at = element;
  while (at) {
    const parent = nativeGet(at, "parentNode") || at.host;
    if (!parent || parent === document) break;
    for (const other of Array.from(nativeGet(parent, "children") || [])) {
      if (other === at || nativeCall(other, "hasAttribute", "inert")) continue;
      nativeCall(other, "setAttribute", "inert", "");
      silenced.push(other);
    }
    at = parent;
  }
  return () => silenced.forEach((other) => nativeCall(other, "removeAttribute", "inert"));
}

const WHOLE = {
  __proto__: null, position: "fixed", inset: "0", width: "100%", "max-width": "none", height: ["100%", "100dvh"],
  "max-height": "none", margin: "0", padding: "0", border: "0", display: "block", overflow: "hidden", opacity: "1",
  transform: "none", "z-index": "2147483647", background: "Canvas", color: "CanvasText",
};
// Height of the bar, without the notch of a phone. In pixels, because pages change the size of a rem.
const BAR = "56px";
const edge = (side) => `env(safe-area-inset-${side}, 0px)`;
const TOP = `calc(${BAR} + ${edge("top")})`;
// Light or dark as the issuer's page, which asks the device.
const BAR_STYLE = {
  __proto__: null, position: "absolute", inset: "0 0 auto", width: "100%", height: TOP, margin: "0", "box-sizing": "border-box",
  padding: `${edge("top")} calc(${edge("right")} + 12px) 0 calc(${edge("left")} + 12px)`, display: "flex",
  "align-items": "center", "justify-content": "space-between", gap: "12px", "touch-action": "none",
  "border-block-end": "1px solid GrayText", "color-scheme": "light dark", background: "Canvas", color: "CanvasText",
};
const FRAME_STYLE = {
  __proto__: null, position: "absolute", top: TOP, left: edge("left"), right: "auto", bottom: "auto", margin: "0",
  width: ["100%", `calc(100% - ${edge("left")} - ${edge("right")})`], height: `calc(100% - ${TOP} - ${edge("bottom")})`,
  border: "0", "max-width": "none", "max-height": "none", "min-height": "0", "border-radius": "0", background: "#fff",
};
const NAME_STYLE = {
  __proto__: null, "min-width": "0", overflow: "hidden", "text-overflow": "ellipsis", "white-space": "nowrap",
  "font-weight": "600",
};

// Fills the bar over the frame with the shop's name and a button.
export function fillBar(bar, name, button) {
  restyle(bar, BAR_STYLE);
  restyle(name, NAME_STYLE);
  restyle(button, { __proto__: null, margin: "0", flex: "none", "min-height": "44px", "min-width": "44px" });
  bar.prepend(name);
}

// Puts a container with its frame over the whole page, and stops the page's scrolling. Returns a function
// that takes everything back.
export function cover(container, frame, title) {
  const undo = [
    restyle(container, WHOLE), restyle(frame, FRAME_STYLE),
    restyle(nativeGet(document, "documentElement"), { __proto__: null, overflow: "hidden" }),
    mark(container, { __proto__: null, role: "dialog", "aria-modal": "true", "aria-label": title, popover: "manual" }),
    silenceRest(container),
  ];
  // Otherwise a transformed ancestor would be its page. Without the top layer, it is over everything in most pages.
  try { container.showPopover(); } catch { /* It is one already, or the browser knows none. */ }
  return () => undo.forEach((work) => work());
}
