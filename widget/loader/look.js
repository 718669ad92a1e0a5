// How the page looks, for the text inside the frames.

// What the text in a frame takes over from the frame's element.
const inherited =
  "color,font-family,font-size,font-style,font-weight,letter-spacing,text-align,text-transform".split(",");

// The look of a frame's element as the page's style sheets have it now, the colour of placeholders as an
// input of the page shows it, and what the merchant says of the placeholder and the code.
const look = (frame, input) => {
  const style = getComputedStyle(frame);
  const seen = {};
  for (const name of inherited) seen[name] = style.getPropertyValue(name);
  if (input) seen.placeholder = getComputedStyle(input, "::placeholder").color;
  const given = options();
  const styles = given.iframeStyles || given.iframeStyle || {};
  const own = styles[frame.name === "card.cvv" ? "cvv-placeholder" : "card-number-placeholder"];
  seen.own = Object.entries(own || {}).map(([name, value]) => [name, String(value)]);
  seen.mask = isOn("maskCvv");
  return seen;
};

// Whether the text of an element is light, and so the page behind it dark.
const isOnDark = (element) => {
  // "rgb(29, 36, 51)"; whatever has another form counts as dark text. Weights as the eye has them, in percent.
  const [, red, green, blue] = /^rgba?\((\d+), (\d+), (\d+)/.exec(getComputedStyle(element).color) || [0, 0, 0, 0];
  return red * 30 + green * 59 + blue * 11 > 14000;
};
