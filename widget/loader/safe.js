// Nodes, globals and options as the browser and the merchant made them. Markup shadows a document's properties by names of
// images and forms, a form's by names of its inputs, and a window's missing or inherited ones by ids; scripts of the page may
// add to Object.prototype. So nodes are read by their prototypes, globals as own properties, and objects without Object.prototype.

var hasOwn = Object.prototype.hasOwnProperty;

// The descriptor of a node's property, as the browser defines it.
var descriptorOf = function (node, name) {
  var found;
  for (var at = Object.getPrototypeOf(node); at && !found; at = Object.getPrototypeOf(at))
    found = Object.getOwnPropertyDescriptor(at, name);
  return found || {};
};
var nativeGet = function (node, name) {
  var found = descriptorOf(node, name);
  return hasOwn.call(found, "get") ? found.get.call(node) : hasOwn.call(found, "value") ? found.value : undefined;
};
var nativeSet = function (node, name, value) {
  descriptorOf(node, name).set.call(node, value);
};
// Calls a method with the arguments that follow its name.
var nativeCall = function (node, name) {
  return nativeGet(node, name).apply(node, [].slice.call(arguments, 2));
};

// A node in a form of ours, also where the page has moved the form out of its container.
var findIn = function (form, css) {
  return nativeCall(form.form, "querySelector", css);
};

// A global of the browser's or the page's scripts. Elements with an id and frames with a name are none.
var globalOf = function (name) {
  return hasOwn.call(window, name) || hasOwn.call(Window.prototype, name) ? window[name] : undefined;
};

// A copy of an object, and of the plain objects in it, that inherits nothing but a text.
var EMPTY = Object.create(null);
EMPTY.toString = {}.toString;
var bare = function (object, depth) {
  var copy = Object.create(EMPTY);
  for (var name in object) {
    if (hasOwn.call(Object.prototype, name) && !hasOwn.call(object, name)) continue;
    var value = object[name];
    var isPlain = depth && EMPTY.toString.call(value) === "[object Object]";
    copy[name] = isPlain ? bare(value, depth - 1) : value;
  }
  return copy;
};

// Listens to a window, document or form. By its id, an element shadows the window's own function.
var listen = function (target, type, listener, options) {
  EventTarget.prototype.addEventListener.call(target, type, listener, typeof options === "object" ? bare(options) : options);
};
var unlisten = function (target, type, listener, options) {
  EventTarget.prototype.removeEventListener.call(target, type, listener, options);
};

// Returns true if a shopper may be sent to an address: of http or https, also where it is relative to the page.
var isWeb = function (address) {
  try {
    return /^https?:$/.test(new URL(address, nativeGet(document, "baseURI")).protocol);
  } catch (none) {
    return false;
  }
};
