// The few words for making nodes. No style attributes: a merchant's policy may forbid them.

var make = function (tag, classes, attributes, children) {
  var element = nativeCall(document, "createElement", tag);
  if (classes) element.className = classes;
  Object.keys(attributes || {}).forEach(function (name) {
    element.setAttribute(name, attributes[name]);
  });
  element.append.apply(element, children || []);
  return element;
};

// In a task of its own and before anything else, so that the page may answer its shopper in between.
var soon = function (work) {
  var scheduler = globalOf("scheduler");
  if (scheduler && scheduler.postTask) scheduler.postTask(work, bare({ priority: "user-blocking" }));
  else setTimeout(work);
};

// When nothing else is to be done.
var idly = globalOf("requestIdleCallback") || setTimeout;

var random = function (digits) {
  return Array.from(crypto.getRandomValues(new Uint8Array(digits)), function (byte) {
    return byte % 10;
  }).join("");
};

// Off the screen yet read aloud, whatever the style.
var visuallyHidden = function (element) {
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
