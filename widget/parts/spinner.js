// The merchant's own spinner, by the measures of spin.js: a ring of lines that fade. CSS draws it on the element that
// turns anyway, and calculates with the measures as the merchant gave them.

import { globalOf, nativeGet, nativeSet, readMember } from "../loader/native.js";

// Measures of spin.js, in pixels, degrees, and turns per second.
const USUAL = {
  __proto__: null, lines: "12", length: "7", width: "5", radius: "10", scale: "1", speed: "1", rotate: "0",
  direction: "1", corners: "0", color: "currentColor", fadeColor: "transparent", animation: "", top: "", left: "",
  zIndex: "auto", position: "absolute",
};
// Part of a turn that has one colour, by the names of spin.js.
const TAILS = { __proto__: null, "spinner-line-fade-quick": "60%", "spinner-line-fade-more": "-50%" };
// Most lines with round ends. Each is two gradients.
const MOST_LINES = 100;

function textOf(value) { return typeof value === "string" || typeof value === "number" ? String(value) : ""; }

function readMeasures(given) {
  const measures = { __proto__: null };
  for (const name of Object.keys(USUAL)) measures[name] = textOf(readMember(given, name)) || USUAL[name];
  const color = readMember(given, "color");
  if (Array.isArray(color)) measures.color = textOf(color[0]) || USUAL.color;
  measures.shadow = !!readMember(given, "shadow");
  measures.isRound = !/^[0-]/.test(measures.corners);
  return measures;
}

// Returns the image that cuts the lines out of a disc, and how its layers are combined.
function maskOf({ lines, length, width, radius, scale, isRound }, size) {
  // The share of its sector that a line takes in its middle.
  const part = `min(1, ${width} * ${lines} / (2 * pi * (${radius} + ${length} / 2)))`;
  // Round ends are discs at both ends of a line that is shorter by as much.
  const round = isRound ? `${width}px * ${scale} / 2` : "0px";
  const ends = [`${radius}px * ${scale} + ${round}`, `(${radius} + ${length}) * ${scale} * 1px - ${round}`];
  const layers = [];
  const count = isRound && /^\d+$/.test(lines) ? Math.min(Number(lines), MOST_LINES) : 0;
  for (let line = 0; line < count; line++) {
    const turn = `(${line} + ${part} / 2) * 1turn / ${lines}`;
    for (const from of ends) {
      const x = `calc(${size} / 2 + (${from}) * sin(${turn}))`;
      const y = `calc(${size} / 2 - (${from}) * cos(${turn}))`;
      layers.push(`radial-gradient(circle at ${x} ${y}, #000 calc(${round}), #0000 calc(${round} + 0.5px))`);
    }
  }
  const composite = layers.map(() => "add").concat("intersect", "add").join();
  layers.push(`radial-gradient(closest-side, #0000 calc(${ends[0]}), #000 0 calc(${ends[1]}), #0000 0)`);
  layers.push(`repeating-conic-gradient(#000 0 calc(${part} * 1turn / ${lines}), #0000 0 calc(1turn / ${lines}))`);
  return [layers.join(), composite];
}

// Returns the CSS of a ring, as names and values.
function ringStyle(measures, isStill) {
  const size = `2px * (${measures.radius} + ${measures.length}) * ${measures.scale}`;
  const [mask, composite] = maskOf(measures, size);
  const { animation } = measures;
  const name = animation && !animation.startsWith("spinner-line") ? animation : "wpwl-spin";
  const direction = measures.direction.startsWith("-") ? " reverse" : "";
  const middle = `calc(50% - ${size} / 2)`;
  return [
    ["box-sizing", "border-box"],
    ["width", `calc(${size})`],
    ["height", `calc(${size})`],
    ["border", "0"],
    ["border-radius", "50%"],
    ["background", `conic-gradient(from ${measures.rotate}deg, ${measures.fadeColor} ${TAILS[animation] || "0%"}, ${measures.color})`],
    ["mask", mask],
    ["mask-composite", composite],
    ["animation", isStill ? "none" : `${name} calc(1s / ${measures.speed}) linear infinite${direction}`],
    ["inset-block-start", measures.top || middle],
    ["inset-inline-start", "auto"],
    ["left", measures.left || middle],
    ["filter", measures.shadow ? "drop-shadow(0 0 4px #0008)" : "none"],
    ["z-index", measures.zIndex],
    ["position", measures.position],
  ];
}

function adopt(change) { nativeSet(document, "adoptedStyleSheets", change(Array.from(nativeGet(document, "adoptedStyleSheets")))); }

// Adds the style of the merchant's spinner to the page, if the options have one. Returns a function that removes it.
export function drawSpinner(options) {
  const given = readMember(options || {}, "spinner");
  if (!given || typeof given !== "object") return null;
  try {
    const sheet = new CSSStyleSheet();
    sheet.insertRule("@keyframes wpwl-spin{to{transform:rotate(1turn)}}");
    sheet.insertRule(".wpwl-container .wpwl-spinner{}");
    const isStill = !!globalOf("matchMedia") && matchMedia("(prefers-reduced-motion: reduce)").matches;
    const { style } = sheet.cssRules[0];
    for (const [name, value] of ringStyle(readMeasures(given), isStill)) style.setProperty(name, value);
    adopt((sheets) => sheets.concat(sheet));
    return () => adopt((sheets) => sheets.filter((other) => other !== sheet));
  } catch {
    // A browser without such sheets shows the spinner of the style.
    return null;
  }
}
