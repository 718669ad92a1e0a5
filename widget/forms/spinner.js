// The merchant's own spinner, by the measures of spin.js: a ring of lines that fade. CSS draws it, on the element that turns
// anyway.

let spinner;

// Where the text of a line begins to fade, by what spin.js calls it: the part of a turn that is of one colour.
const tails = { "spinner-line-fade-quick": 0.6, "spinner-line-fade-more": -0.5 };

const spin = () => {
  const wanted = options().spinner;
  if (spinner || !wanted || typeof wanted !== "object") return;
  const { lines = 12, length = 7, width = 5, radius = 10, scale = 1, speed = 1, rotate = 0, direction = 1 } = wanted;
  const { color = "currentColor", fadeColor = "transparent", top, left, shadow, zIndex, position } = wanted;
  const { className, corners = 0, animation = "" } = wanted;
  const size = 2 * (radius + length) * scale;
  // How much of its share of the ring a line takes, in its middle.
  const part = Math.min(1, (width * lines) / (2 * Math.PI * (radius + length / 2)));
  // Round ends are discs at both ends of a line that is so much shorter.
  const round = corners > 0 ? (width * scale) / 2 : 0;
  const ends = [radius * scale + round, (radius + length) * scale - round];
  const discs = [];
  for (let line = 0; round && line < lines; line++) {
    const turn = ((line + part / 2) / lines) * 2 * Math.PI;
    for (const from of ends) {
      const [x, y] = [Math.sin(turn), -Math.cos(turn)].map((at) => (size / 2 + from * at).toFixed(2));
      discs.push(`radial-gradient(circle at ${x}px ${y}px,#000 ${round}px,#0000 ${round + 0.5}px)`);
    }
  }
  const ring = `radial-gradient(closest-side,#0000 ${ends[0]}px,#000 0 ${ends[1]}px,#0000 0)`;
  const mask = [...discs, ring, `repeating-conic-gradient(#000 0 ${part / lines}turn,#0000 0 ${1 / lines}turn)`].join();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const style = {
    "box-sizing": "border-box",
    width: `${size}px`,
    height: `${size}px`,
    border: "0",
    "border-radius": "50%",
    background: `conic-gradient(from ${rotate}deg,${fadeColor} ${(tails[animation] || 0) * 100}%,${[].concat(color)[0]})`,
    mask,
    "mask-composite": [...discs.map(() => "add"), "intersect", "add"].join(),
    // Names of spin.js say how the lines fade, others are of the page's own.
    animation: still ? "none" : `${/^(spinner-line.*)?$/.test(animation) ? "wpwl-spin" : animation} ${1 / speed}s linear infinite${direction < 0 ? " reverse" : ""}`,
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
  nativeSet(document, "adoptedStyleSheets", [...nativeGet(document, "adoptedStyleSheets"), spinner]);
  if (className && className !== "spinner") classed(String(className).split(/\s+/).filter(Boolean));
};

// Puts classes of the merchant's on whatever turns.
const classed = (classes) => {
  const watch = new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) if (node.matches && node.matches(".wpwl-spinner")) node.classList.add(...classes);
  });
  for (const { container } of state.forms) watch.observe(container, { childList: true, subtree: true });
  life.signal.addEventListener("abort", () => watch.disconnect());
};

const unspin = () => {
  const sheets = [...nativeGet(document, "adoptedStyleSheets")];
  nativeSet(document, "adoptedStyleSheets", sheets.filter((sheet) => sheet !== spinner));
};
