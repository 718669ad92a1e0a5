// The submit: checks, the merchant's say, one request from our own origin, and where the shopper goes.

let last = 0;
const waiting = new Map();
let queue = [];

// Asks the gateway, by way of the relay.
const ask = (type, more) =>
  new Promise((done) => {
    const call = ++last;
    waiting.set(call, done);
    const message = { ...more, tillgate: 1, type, call };
    if (state.relay.open) state.relay.contentWindow.postMessage(message, state.framesBase);
    else queue.push(message);
  });

// The relay that is asked has to stay until it has answered.
const { reread } = state;
state.reread = () => void (waiting.size ? setTimeout(state.reread, 200) : reread());

const answered = ({ call, answer }) => {
  const done = waiting.get(call);
  waiting.delete(call);
  if (done) done(answer);
};

// Every named field that the form has now, the merchant's own included; our own inputs, tidied.
const collect = (form) => {
  const fields = [...new FormData(form.form)].filter(([, value]) => typeof value === "string");
  const ours = form.fields.map((field) => field.kind.name);
  const kept = fields.filter(([name]) => !ours.includes(name));
  for (const field of form.fields) {
    const now = value(field);
    const { post, name, also = [] } = field.kind;
    if (now && !field.element.disabled) kept.push([post ? post(now) : name, now], ...also);
  }
  return [...kept, ["forceUtf8", "\u2620"]];
};

// Somebody wants to pay. Asking twice is asking once.
const pay = async (form) => {
  if (form.busy) return;
  tell(form, "");
  if (!nativeGet(form.form, "isConnected")) {
    tell(form, word("formError"));
    return raise("WidgetError", "the page took the form out of the document");
  }
  if (!isValid(form)) return halt(form);
  const wallet = asksWallet(form);
  if (wallet && config.brands[form.brands[0]].sheet === false) {
    tell(form, say("unavailable", form.label));
    return raise("WidgetError", `${form.brands[0]}: put the wallet's token into an input named walletPay.paymentToken`);
  }
  busy(form, true);
  const inline = isInline(form);
  const popup = inline ? frameWindow(form) : form.flow === "popup" && !summarizes() ? openWindow(form) : null;
  const drop = () => {
    if (popup) popup.close();
    busy(form, false);
  };
  // Virtual accounts inside the page are asked about by a name of their own.
  const asked = inline && form.kind === "virtualAccount" ? { ...form, kind: "inlineVirtualAccount" } : form;
  const checkout = await state.allow(asked, form.brands[0] || form.chosen.registration.brand);
  if (!checkout) return drop();
  if (wallet && !(await openSheet(form, checkout))) {
    drop();
    form.live.textContent = word("cancelled");
    return notify("onLightboxCancel", [], form);
  }
  abandon();
  const fields = collect(form);
  if (inline) fields.push(["inlineFlow", "true"]);
  const sent = ask("submit", { checkout, fields, form: form.nonce, code: !!form.code, wallet });
  notify("onAfterSubmit", [], form);
  const answer = await sent;
  if (answer.status === 200) {
    if (popup && answer.flow === (inline ? "inline" : "popup")) return follow(form, checkout, popup, answer);
    if (popup) popup.close();
    // Still busy: nothing can be sent while the page goes away.
    return busy(form, state.leave(form, answer));
  }
  drop();
  refused(form, answer);
};

const refused = (form, { status, description, wrong: names }) => {
  const wrong = form.fields.filter(({ kind, element }) =>
    names.some((name) => name === kind.name || (kind.post && name === kind.post((kind.tidy || String)(element.value)))),
  );
  wrong.forEach((field) => mark(form, field, true));
  if (wrong.length) return halt(form);
  if (status === 404 || status === 410) {
    end(form, "checkoutError");
    return raise("InvalidCheckoutIdError", description);
  }
  if (status === 400 && description) {
    const text = [description, ...names].join(" ");
    const isWithdrawn = names.includes("paymentBrand");
    raise("WidgetError", text);
    if (isWithdrawn) state.reread();
    return tell(form, isWithdrawn ? say("unavailable", form.label) : text);
  }
  tell(form, word(status ? "unsentError" : "communicationError"));
  raise("PciIframeSubmitError", "the payment request was not answered");
};

// Back to the shop, with the two parameters that say which payment it was.
const goBack = (form, checkout) => {
  const { shopperResultUrl: url, resourcePath = `/v1/checkouts/${checkout}/${purpose}` } = config.checkout || {};
  const parameters = Object.entries({ id: checkout, resourcePath }).map(([name, value]) => ({ name, value }));
  busy(form, state.leave(form, { flow: "now", redirect: { url, parameters } }));
};
