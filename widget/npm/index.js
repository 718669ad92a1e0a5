// Puts the payment form of a gateway into a page: the placeholder, `wpwlOptions`, and the script of a checkout. Nothing
// here reads `window` or `document` before the first call, so a server can import this module.

// The form in the page. There is one: the last call wins, as the form's last script does.
let current = null;
// The policy of pages that require Trusted Types. Browsers may refuse a second one of the same name.
let policy = null;

export function loadPaymentWidgets(settings) {
  const plan = readSettings(settings || {});
  if (typeof document === "undefined") fail("needs a browser; on a server, call it in an effect or when mounted");
  const container = findContainer(plan.container);
  const place = container ? document.createElement("form") : findPlaceholder();
  const isSame = current && current.key === plan.key && current.container === container && current.isInPlace();
  if (isSame) {
    current.handle.update(plan.options);
    return current.handle;
  }
  if (current) current.handle.unload();
  current = startForm(plan, container, place);
  return current.handle;
}

function fail(text) {
  throw new TypeError(`loadPaymentWidgets: ${text}`);
}

function isNone(value) {
  return value === undefined || value === null;
}

// Checks the settings, and returns them with the address of the script.
function readSettings({ gateway, checkoutId, integrity, options, container, action, brands }) {
  const id = checkoutId || "";
  if (typeof id !== "string") fail("checkoutId must be a string");
  if (!isNone(options) && typeof options !== "object") fail("options must be an object");
  if (!id && !(options && options.createCheckout)) fail("checkoutId is missing, and options have no createCheckout");
  // Browsers load a script unchecked if they know none of the hashes.
  if (!isNone(integrity) && !/^sha(256|384|512)-/.test(integrity)) fail("integrity must be a hash such as sha384-…");
  const src = scriptAddress(gateway) + (id && `?checkoutId=${encodeURIComponent(id)}`);
  const brandList = [].concat(brands || []).join(" ");
  const key = [src, integrity, action, brandList].join("\n");
  return { id, src, integrity, options, container, action, brandList, key };
}

function scriptAddress(gateway) {
  let base = null;
  try {
    base = new URL(gateway);
  } catch {
    fail("gateway must be an absolute address");
  }
  if (!/^https?:$/.test(base.protocol)) fail("gateway must be an address of https or http");
  return `${base.origin}${base.pathname.replace(/\/*$/, "/")}v1/paymentWidgets.js`;
}

// Returns the element for the form. Without a container, the page has placeholders of its own.
function findContainer(container) {
  if (isNone(container)) return null;
  const found = typeof container === "string" ? document.querySelector(container) : container;
  if (!found || found.nodeType !== 1) fail("container must be an element, or a selector of one");
  // The form's script looks for placeholders in the document only.
  if (found.getRootNode().host) fail("container must not be in a shadow root");
  return found;
}

// Returns the placeholder of the page. One that an earlier form has used is hidden, and has lost its class.
function findPlaceholder() {
  const found = document.querySelector("form.paymentWidgets, form[data-tillgate]");
  if (!found) fail("container is missing, and the page has no form.paymentWidgets");
  return found;
}

function trustAddress(src) {
  const types = window.trustedTypes;
  if (!types) return src;
  try {
    policy ||= types.createPolicy("tillgate-npm", { createScriptURL: (url) => url });
    return policy.createScriptURL(src);
  } catch {
    return src;
  }
}

function makeScript({ src, integrity }) {
  const script = document.createElement("script");
  if (integrity) script.integrity = integrity;
  script.crossOrigin = "anonymous";
  script.src = trustAddress(src);
  return script;
}

// Returns the global of the form's script, or an empty object if it belongs to another checkout.
function findGlobal(id) {
  const { wpwl } = window;
  const isOther = wpwl && wpwl.checkout && id && wpwl.checkout.id !== id.split("/")[0];
  return (!isOther && wpwl) || {};
}

// Puts the script into the page, and the placeholder before it.
function insertForm({ action, brandList }, container, place, script) {
  if (action) place.setAttribute("action", action);
  if (brandList) place.setAttribute("data-brands", brandList);
  if (container) {
    place.className = "paymentWidgets";
    container.append(place);
  }
  // In a container, a framework that detaches it takes both away, which removes the form.
  (container || document.head).append(script);
}

// Makes a form. Returns its handle, and the values by which the next call recognizes it.
function startForm(plan, container, place) {
  const script = makeScript(plan);
  const ready = makePromise();
  const options = composeOptions(noteReady, noteError);
  let isReady = false, isStale = false;

  function noteReady(forms) {
    isReady = true;
    ready.resolve(forms);
    // The checkout has changed while the form was loading. The form calls this within its own work.
    if (isStale) Promise.resolve().then(handle.refresh);
  }

  // An error about one brand leaves the other brands usable.
  function noteError(error) {
    if (!error.brand) ready.reject(error);
  }

  const isCurrent = () => current && current.handle === handle;
  const handle = {
    checkoutId: plan.id,
    ready: ready.promise,
    update(given) {
      if (isCurrent()) options.assign(given);
    },
    refresh() {
      isStale = !isReady;
      const { refresh } = findGlobal(plan.id);
      if (isReady && isCurrent() && refresh) refresh();
    },
    unload() {
      if (!isCurrent()) return;
      current = null;
      const { unload } = findGlobal(plan.id);
      if (unload) unload();
      // It may still run, and would find the page's own placeholder.
      else script.onload = () => { if (!current) findGlobal(plan.id).unload?.(); };
      script.remove();
      if (container) place.remove();
      options.remove();
      ready.reject(nameError("AbortError", "the form was unloaded before it was ready"));
    },
  };

  script.onerror = () => {
    if (!isCurrent()) return;
    // The next call loads the script again.
    current.key = null;
    const error = nameError("WidgetError", `${plan.src} did not load; check gateway, integrity and the page's policy`);
    error.event = "load";
    console.warn(`Tillgate: ${error.message}`);
    options.live.onError(error);
  };

  options.assign(plan.options);
  insertForm(plan, container, place, script);
  // A container that was taken out of the page and put back has no form any more: its placeholder has its class again.
  const isLost = () => isReady && place.classList.contains("paymentWidgets");
  const isInPlace = () => place.parentNode && script.parentNode && (container || place.isConnected) && !isLost();
  return { key: plan.key, container, isInPlace, handle };
}

function nameError(name, message) {
  return Object.assign(new Error(message), { name });
}

// Makes a promise with its functions. The page may ignore it, because `onError` gets the same failures.
function makePromise() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  made.promise.catch(() => {});
  return made;
}

// Makes the object that is the page's `wpwlOptions` until it is removed. It stays the same while the given options
// change, because callbacks may set options on it. `onReady` and `onError` are called before those of the page.
function composeOptions(onReady, onError) {
  const live = {};
  const earlier = window.wpwlOptions;
  let names = [];
  const compose = (own, given) =>
    function (value) {
      own(value);
      if (typeof given === "function") given.call(this, value);
    };
  const assign = (given) => {
    // The page may pass its own `wpwlOptions`, which are these.
    if (given === live) return;
    const source = given || earlier || {};
    for (const name of names) delete live[name];
    names = Object.keys(source);
    Object.assign(live, source);
    live.onReady = compose(onReady, source.onReady);
    live.onError = compose(onError, source.onError);
    window.wpwlOptions = live;
  };
  const remove = () => {
    if (window.wpwlOptions === live) window.wpwlOptions = earlier;
  };
  return { live, assign, remove };
}
