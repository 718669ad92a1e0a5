// The few words for making nodes. No style attributes: a merchant's policy may forbid them.

const make = (tag, classes, attributes, children) => {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  for (const name in attributes || {}) element.setAttribute(name, attributes[name]);
  element.append(...(children || []));
  return element;
};

const random = (digits) =>
  Array.from(crypto.getRandomValues(new Uint8Array(digits)), (byte) => byte % 10).join("");

// Off the screen yet read aloud, whatever the style.
const visuallyHidden = (element) => {
  Object.assign(element.style, {
    position: "absolute",
    width: "1px",
    height: "1px",
    overflow: "hidden",
    clipPath: "inset(50%)",
    whiteSpace: "nowrap",
  });
  return element;
};
