// Nodes and globals as the browser made them. Markup shadows a document's properties by names of images and forms, a
// form's by names of its inputs, and a window's by ids; scripts of the page may add to Object.prototype. So nodes are
// read by their prototypes, globals as own properties, and objects without Object.prototype. The loader is ES5, which
// any browser reads (the packing refuses what is newer). Nothing newer is called before main.js has looked for it.

export var hasOwn = Object.prototype.hasOwnProperty;

var EMPTY = Object.create(null);
EMPTY.toString = {}.toString;

// Returns the descriptor of a node's property, as the browser defines it. What every object has is not the browser's.
function descriptorOf(node, name) {
  for (var at = Object.getPrototypeOf(node); at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    var found = Object.getOwnPropertyDescriptor(at, name);
    if (found) return found;
  }
  return EMPTY;
}

export function nativeGet(node, name) {
  var found = descriptorOf(node, name);
  return hasOwn.call(found, "get") ? found.get.call(node) : hasOwn.call(found, "value") ? found.value : undefined;
}
export function nativeSet(node, name, value) { descriptorOf(node, name).set.call(node, value); }
// Calls a method with the arguments that follow its name.
export function nativeCall(node, name) { return nativeGet(node, name).apply(node, [].slice.call(arguments, 2)); }

// Returns a global of the browser's or the page's scripts. Elements with an id and frames with a name are none.
export function globalOf(name) {
  return hasOwn.call(window, name) || hasOwn.call(Window.prototype, name) ? window[name] : undefined;
}

// Returns the kind of a value, such as "[object HTMLScriptElement]".
export function kindOf(value) { return EMPTY.toString.call(value); }

// Copies an object without what every object inherits.
export function copyBare(object) { return Object.assign(Object.create(EMPTY), object); }

// Returns an object's own property, or one of a class of the page. Undefined if every object has it.
export function readMember(object, name) {
  return hasOwn.call(Object.prototype, name) && !hasOwn.call(object, name) ? undefined : object[name];
}

// Sets an object's own property. An assignment would call a setter that every object has.
export function define(object, name, value) {
  if (hasOwn.call(object, name)) return void (object[name] = value);
  var own = Object.create(null);
  own.value = value;
  own.writable = own.enumerable = own.configurable = true;
  Object.defineProperty(object, name, own);
}

// Sets a property of an element's own style. Chromium would write one that every object has in its place.
export function setStyle(element, name, value) { nativeGet(element, "style").setProperty(name, value); }

// Listens to a window, document or form. By its id, an element shadows the window's own function.
export function listen(target, type, listener, capture) {
  EventTarget.prototype.addEventListener.call(target, type, listener, capture || false);
}
export function unlisten(target, type, listener, capture) {
  EventTarget.prototype.removeEventListener.call(target, type, listener, capture || false);
}

// Makes an element. It has no style attribute: a merchant's policy may forbid them.
export function make(tag, classes, attributes, children) {
  var element = nativeCall(document, "createElement", tag);
  if (classes) element.className = classes;
  Object.keys(attributes || {}).forEach(function (name) { element.setAttribute(name, attributes[name]); });
  element.append.apply(element, children || []);
  return element;
}

// Marks a container as busy or not. A busy one is not read aloud.
export function setBusy(container, isBusy) {
  container.classList.toggle("wpwl-loading", isBusy);
  if (isBusy) container.setAttribute("aria-busy", "true");
  else container.removeAttribute("aria-busy");
}

// Runs work in a task of its own and before anything else, so that the page may answer its shopper in between.
export function runSoon(work) {
  var scheduler = globalOf("scheduler");
  if (scheduler && scheduler.postTask) scheduler.postTask(work, copyBare({ priority: "user-blocking" }));
  else setTimeout(work);
}

export function randomDigits(count) {
  return Array.from(crypto.getRandomValues(new Uint8Array(count)), function (byte) { return byte % 10; }).join("");
}
