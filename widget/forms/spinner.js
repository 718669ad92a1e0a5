// The merchant's own spinner, by the measures of spin.js: a ring of lines that fade. CSS draws it, on the element that turns
// anyway.

let spinner;

const spin = () => {
  const wanted = options().spinner;
  if (spinner || !wanted || typeof wanted !== "object") return;
  const { lines = 12, length = 7, width = 5, radius = 10, scale = 1, speed = 1, rotate = 0, direction = 1 } = wanted;
  const { color = "currentColor", fadeColor = "transparent", top, left, shadow, zIndex, position } = wanted;
  const size = 2 * (radius + length) * scale;
  // How much of its share of the ring a line takes, in its middle.
  const part = Math.min(1, (width * lines) / (2 * Math.PI * (radius + length / 2)));
  const mask = `radial-gradient(closest-side,#0000 ${(radius / (radius + length)) * 100}%,#000 0),repeating-conic-gradient(#000 0 ${part / lines}turn,#0000 0 ${1 / lines}turn)`;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const style = {
    "box-sizing": "border-box",
    width: `${size}px`,
    height: `${size}px`,
    border: "0",
    "border-radius": "50%",
    background: `conic-gradient(from ${rotate}deg,${fadeColor},${[].concat(color)[0]})`,
    mask,
    "mask-composite": "intersect",
    animation: still ? "none" : `wpwl-spin ${1 / speed}s linear infinite${direction < 0 ? " reverse" : ""}`,
    "inset-block-start": top || `calc(50% - ${size / 2}px)`,
    "inset-inline-start": "auto",
    left: left || `calc(50% - ${size / 2}px)`,
    filter: shadow ? "drop-shadow(0 0 4px #0008)" : "none",
    "z-index": zIndex || "auto",
    position: position || "absolute",
  };
  spinner = new CSSStyleSheet();
  spinner.insertRule("@keyframes wpwl-spin{to{transform:rotate(1turn)}}");
  spinner.insertRule(".wpwl-container .wpwl-spinner{}");
  for (const name in style) spinner.cssRules[0].style.setProperty(name, String(style[name]));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, spinner];
};

const unspin = () => {
  document.adoptedStyleSheets = Array.from(document.adoptedStyleSheets).filter((sheet) => sheet !== spinner);
};
