// The placeholder: the page's colour, and over it what the merchant wants, of the properties
// whose values load nothing.
const placeholder = Array.from(document.styleSheets[0].cssRules).find(
  ({ selectorText }) => selectorText === "input::placeholder",
).style;
const harmless = /^(color|opacity|letter-spacing|line-height|(text|font)-(align|transform|shadow|decoration|family|size|style|weight|variant))$/;
const dress = (style) => {
  placeholder.cssText = "opacity:1";
  placeholder.color = style.placeholder || "";
  for (const [key, value] of style.own || []) {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (harmless.test(name)) placeholder.setProperty(name, value);
  }
};
