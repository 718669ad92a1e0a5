// The merchant's callbacks: looked up when they are called, their promises awaited, their errors theirs.

// What merchants call on `this.$form` and `this.$iframe`: an object of their own jQuery, or the few of its
// words that the contract names.
const access = (nodes, read, write) => (value) => {
  if (value === undefined) return nodes[0] && read(nodes[0]);
  for (const node of nodes) write(node, value);
  return nodes;
};
const wrap = (nodes) =>
  window.jQuery
    ? jQuery(nodes)
    : Object.assign(nodes, {
        find: (css) => wrap([].concat(...nodes.map((node) => Array.from(node.querySelectorAll(css))))),
        val: access(nodes, (node) => node.value, (node, value) => (node.value = value)),
        height: access(
          nodes,
          (node) => node.clientHeight,
          (node, value) => (node.style.height = value > 0 ? `${value}px` : value),
        ),
      });

// Calls `wpwlOptions[name]`. Its `this` is the options, with the form and the frame that it is about.
const notify = (name, values, form, frame) => {
  const given = options();
  const callback = given[name];
  if (typeof callback !== "function") return undefined;
  const self = Object.create(given);
  if (form) self.$form = wrap([form.form]);
  if (frame) self.$iframe = wrap([frame]);
  try {
    return callback.apply(self, frame ? [{ $iframe: self.$iframe }] : values);
  } catch (thrown) {
    // Shown in the merchant's console, outside our work.
    Promise.reject(thrown);
    return undefined;
  }
};

// One of the contract's names; a WidgetError says at what and with which brand.
const raise = (name, message) => {
  const { current } = state;
  const about = name === "WidgetError" ? { event: current ? "submit" : "load", brand: brandOf(current || state.forms[0]) } : {};
  notify("onError", [Object.assign(new Error(message), { name }, about)]);
};

const brandOf = (form) => {
  const control = form && form.form.querySelector('[name="paymentBrand"]');
  return (control && control.value) || (form && form.brands[0]);
};

// Whether a submit may go on: `false`, a broken promise and preventDefault() stop it. What comes out is the
// id of the checkout to pay, or nothing.
const allow = async (form, brand) => {
  state.current = form;
  const { kind = "card" } = form;
  const name = `onBeforeSubmit${kind === "registration" ? "OneClickCard" : kind[0].toUpperCase() + kind.slice(1)}`;
  const event = new Event("submit", { cancelable: true });
  Object.defineProperty(event, "target", { value: form.form });
  try {
    for (const callback of [name, `${name}Promise`])
      if ((await notify(callback, [event], form)) === false || event.defaultPrevented) return undefined;
  } catch (rejected) {
    return undefined;
  }
  if (checkoutId) return checkoutId;
  // The loader came without a checkout: it is made now.
  try {
    const id = await options().createCheckout({ brand });
    if (typeof id !== "string" || !/^[\w.-]+$/.test(id)) throw new Error("it gave no checkout id");
    window.wpwl.checkout.id = id;
    form.form.action = `${base}v1/checkouts/${id}/${purpose}`;
    return id;
  } catch (failure) {
    raise("WidgetError", `createCheckout: ${(failure && failure.message) || failure}`);
    return "";
  }
};

// The cards' forms say that they stand, and so does what makes the others: once all of them do, the merchant is told, and
// the caret is put where it wants it.
const told = (who = "cards") => {
  const { done, forms } = state;
  done[who] = true;
  if (done.all || (!done.cards && !forms.every(isOther)) || (!done.more && state.more)) return;
  done.all = true;
  notify("onReady", [state.forms.map(({ kind = "card", brands }) => ({ containerKey: kind, ccMethods: brands }))]);
  for (const form of state.forms)
    for (const frame of form.container.querySelectorAll("iframe.wpwl-control-iframe"))
      notify("onReadyIframeCommunication", [], form, frame);
  const wanted = options().autofocus;
  const field = wanted && state.forms[0].form.querySelector(`[name="${CSS.escape(wanted)}"]`);
  if (field) focus(state.forms[0], field);
};

const tell = (form, frame, message) =>
  frame.contentWindow.postMessage({ tillgate: 1, form: form.nonce, ...message }, address.origin);
