// Nodes, globals and options as the browser and the merchant made them. Markup shadows a document's properties by names of
// images and forms, a form's by names of its inputs, and a window's by ids; scripts of the page may add to Object.prototype.
// So nodes are read by their prototypes, globals as own properties, and objects without Object.prototype.
//
// The loader is ES5, which any browser reads (the packing refuses what is newer). Nothing newer is called before main.js has
// found it in the browser.

export var hasOwn = Object.prototype.hasOwnProperty;

// Returns the descriptor of a node's property, as the browser defines it.
function descriptorOf(node, name) {
  var found;
  for (var at = Object.getPrototypeOf(node); at && !found; at = Object.getPrototypeOf(at))
    found = Object.getOwnPropertyDescriptor(at, name);
  return found || {};
}

export function nativeGet(node, name) {
  var found = descriptorOf(node, name);
  return hasOwn.call(found, "get") ? found.get.call(node) : hasOwn.call(found, "value") ? found.value : undefined;
}

export function nativeSet(node, name, value) {
  descriptorOf(node, name).set.call(node, value);
}

// Calls a method with the arguments that follow its name.
export function nativeCall(node, name) {
  return nativeGet(node, name).apply(node, [].slice.call(arguments, 2));
}

// Returns a global of the browser's or the page's scripts. Elements with an id and frames with a name are none.
export function globalOf(name) {
  return hasOwn.call(window, name) || hasOwn.call(Window.prototype, name) ? window[name] : undefined;
}

var EMPTY = Object.create(null);
EMPTY.toString = {}.toString;

// Returns the kind of a value, such as "[object HTMLScriptElement]".
export function kindOf(value) {
  return EMPTY.toString.call(value);
}

// Copies an object, and the plain objects in it, without what every object inherits.
export function copyBare(object, depth) {
  var copy = Object.create(EMPTY);
  for (var name in object) {
    if (hasOwn.call(Object.prototype, name) && !hasOwn.call(object, name)) continue;
    var value = object[name];
    copy[name] = depth && kindOf(value) === "[object Object]" ? copyBare(value, depth - 1) : value;
  }
  return copy;
}

// Listens to a window, document or form. By its id, an element shadows the window's own function.
export function listen(target, type, listener, capture) {
  EventTarget.prototype.addEventListener.call(target, type, listener, capture || false);
}

export function unlisten(target, type, listener, capture) {
  EventTarget.prototype.removeEventListener.call(target, type, listener, capture || false);
}
