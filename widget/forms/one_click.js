// Stored cards and accounts: one form with an entry for each, and the code of the chosen one in a frame of its own.

const isOn = (value) => value === true || value === "true";
const wishes = () => options().registrations || {};

const stored = () => (options().showOneClickWidget === false ? [] : config.registrations || []);

// Shows the entries that are offered now.
const followStored = (form, registrations) => {
  const isOffered = (one) => registrations.some(({ id }) => id === one.registration.id);
  for (const one of form.entries) {
    seen(one.group, isOffered(one));
    one.radio.disabled = !isOffered(one);
  }
  const left = form.entries.filter(isOffered);
  showForm(form, !!left.length);
  if (left.length && !left.includes(form.chosen)) select(form, left[0]);
};

const oneClick = () => {
  const registrations = stored();
  const made = state.forms.find((form) => form.kind === "registration");
  if (made) return followStored(made, registrations);
  if (!registrations.length) return;
  const places = state.forms.concat(state.dropped || [], state.away);
  const all = places.map((form) => form.container);
  const [first] = all.sort((a, b) => (a.compareDocumentPosition(b) & 2 ? 1 : -1));
  const id = `registration_${Date.now()}`;
  const form = { nonce: id, brands: [], container: make("div", "", { id }), entries: [], result: places[0].result };
  state.forms.push(form);
  build(form, {
    type: "registration",
    groups: () => registrations.map((registration) => entry(form, registration)),
    button: "wpwl-button-pay",
    wrapper: "wpwl-wrapper-submit",
    text: word("submit"),
  });
  nativeGet(form.form, "classList").add("wpwl-form-registrations", "wpwl-form-has-inputs");
  nativeCall(form.form, "setAttribute", "data-action", "submit-registration");
  nativeSet(form.form, "target", (form.container.lastChild.name = "registrations-target"));
  form.outer = make("div", "", { id: "wpwl-registrations" }, [form.container]);
  state.nodes.push(form.outer);
  first.before(form.outer);
  select(form, form.entries[0]);
  if (isOn(wishes().hideInitialPaymentForms)) hideInitial(form);
};

const entry = (form, registration) => {
  const { id, brand, name, kind, last4, expiry, holder, email } = registration;
  const part = (key, children, more) =>
    make("div", `wpwl-wrapper-registration wpwl-wrapper-registration-${key}`, null, children, more);
  const detail = (key, text, more) => make("div", `wpwl-registration-${key}`, more, [text]);
  const radio = make("input", "", {
    type: "radio",
    name: "registrationId",
    value: id,
    "data-action": "change-registration",
  });
  const details = [];
  if (last4) details.push(detail("number", `**** ${last4}`, { dir: "ltr" }));
  if (expiry) details.push(detail("expiry", expiry, { dir: "ltr" }));
  const one = { registration, radio, code: part("cvv", []) };
  if (holder) details.push(detail("holder", holder));
  else if (config.overrideHolder && kind !== "virtual") {
    const isCard = kind === "card";
    const asked = { ...kinds.accountHolder, name: isCard ? "card.holder" : "bankAccount.holder" };
    const key = isCard ? "cardHolder" : "accountHolder";
    asked.hint = `${key}Error`;
    if (isCard) asked.is = between(3, 128);
    one.holder = control(form, `${key}-${form.entries.length}`, asked, false, {
      "aria-label": word(key),
      placeholder: word(key),
    });
    one.holder.classList.add(`wpwl-control-${key}`);
    details.push(make("div", "wpwl-registration-holder", null, [one.holder]));
  }
  if (email) details.push(detail("email", email));
  one.group = make("div", "wpwl-group wpwl-group-registration wpwl-clearfix", null, [
    make("label", "wpwl-registration", null, [
      part("registrationId", [radio]),
      part("brand", [emblem("div", brand, name, kind)]),
      part("details", details),
    ]),
    one.code,
  ]);
  if (config.deletable) one.group.append(remover(form, one));
  radio.addEventListener("change", () => select(form, one));
  form.entries.push(one);
  return one.group;
};

// The logo of a card's brand; another's name.
const emblem = (tag, brand, name, kind) => {
  const isCard = kind === "card";
  const told = isCard ? { role: "img", "aria-label": name } : {};
  return make(tag, `wpwl-brand wpwl-brand-${brand} wpwl-brand-inline`, told, isCard ? [] : [name]);
};

// Pressed twice: what is gone is gone.
const remover = (form, one) => {
  const button = make(
    "button",
    "wpwl-button wpwl-button-small wpwl-button-delete",
    { type: "button", "data-action": "delete-registration" },
    [word("remove")],
  );
  button.addEventListener("click", async () => {
    if (!button.classList.contains("wpwl-selected")) {
      button.classList.add("wpwl-selected");
      button.textContent = word("removeSure");
      return;
    }
    button.disabled = true;
    const { status } = await ask("remove", { checkout: config.checkout.id, registration: one.registration.id });
    if (status !== 200) {
      button.disabled = false;
      return tell(form, word("removeError"));
    }
    one.group.remove();
    form.entries = form.entries.filter((other) => other !== one);
    form.fields = form.fields.filter((field) => !one.group.contains(field.element));
    if (form.entries.length) {
      form.live.textContent = word("removed");
      select(form, form.entries[0]);
      return form.entries[0].radio.focus();
    }
    form.outer.remove();
    state.forms.splice(state.forms.indexOf(form), 1);
    if (form.showInitial) form.showInitial();
  });
  button.addEventListener("blur", () => {
    button.classList.remove("wpwl-selected");
    button.textContent = word("remove");
  });
  return button;
};

// One is chosen. A code that was typed for another is forgotten with its frame.
const select = (form, chosen) => {
  if (form.chosen === chosen) return;
  form.chosen = chosen;
  const { brand, kind, flow, name } = chosen.registration;
  form.label = name;
  form.flow = flow;
  chosen.radio.checked = true;
  for (const one of form.entries) {
    one.group.classList.toggle("wpwl-selected", one === chosen);
    if (one.holder) one.holder.disabled = one !== chosen;
  }
  for (const field of form.fields) if (field.wrong) mark(form, field, false);
  revive(form);
  if (form.code) {
    form.code.remove();
    form.fields = form.fields.filter((field) => field.key !== "cvv");
    form.code = null;
  }
  if (kind !== "card" || !(isOn(wishes().requireCvv) || config.requireCvv)) return;
  form.code = frame({ nonce: form.nonce, brands: [brand] }, "card.cvv", "cvv", word("cvv"));
  form.told = { empty: true };
  form.fields.push({
    key: "cvv",
    kind: { name: "card.cvv", hint: "cvvError" },
    element: form.code,
    judge: () => (form.told.empty ? !form.told.optional : form.told.known && !form.told.valid),
    focus: () => sayToCode(form, "focus"),
  });
  chosen.code.append(form.code);
};

const sayToCode = (form, type, more) => {
  const message = { ...more, tillgate: 1, type, form: form.nonce };
  if (form.code.contentWindow) form.code.contentWindow.postMessage(message, state.framesBase);
};

// What the code's frame says: whether there is a code and it fits, never a digit of it.
const heardCode = (form, data) => {
  const field = form.fields.find(({ key }) => key === "cvv");
  const frame = form.code;
  const say = (name) => notify(name, [], form, frame);
  const focused = (is) => {
    frame.classList.toggle("wpwl-focus", is);
    say(is ? "onFocusIframeCommunication" : "onBlurIframeCommunication");
  };
  if (data.type === "ready") {
    // Moved, it loads again; that is no news.
    if (!frame.stands) afterReady(() => say("onReadyIframeCommunication"));
    frame.stands = true;
    const label = word("cvv");
    const { brand } = form.chosen.registration;
    sayToCode(form, "options", { ...state.manner(form.code, undefined, label, label), brand, brands: [brand] });
  } else if (data.type === "state" || data.type === "blur") {
    form.told = data;
    const left = data.type === "blur";
    if (left) {
      focused(false);
      notify("onBlurSecurityCode", [!fault(field)], form);
    } else revive(form);
    if (field.wrong ? !fault(field) : left && !data.empty) mark(form, field, fault(field));
  } else if (data.type === "focus") focused(true);
  else if (data.type === "enter" && !isOn(options().disableSubmitOnEnter)) nativeCall(form.form, "requestSubmit");
};

// New cards and other brands wait behind a button.
const hideInitial = (form) => {
  const initial = () => state.forms.filter((other) => other !== form);
  const show = (is) => initial().forEach(({ container }) => (container.style.display = is ? "" : "none"));
  const button = make("button", "wpwl-button", { type: "button", "data-action": "show-initial-forms" }, [
    word("showOtherPaymentMethods"),
  ]);
  form.showInitial = () => {
    button.remove();
    show(true);
    state.restyle();
    const [next] = initial();
    const control = next && next.container.querySelector("select, input:not([type=hidden]), button");
    if (control) control.focus();
  };
  button.addEventListener("click", form.showInitial);
  show(false);
  state.nodes.push(button);
  if (!isOn(options().hideOtherPaymentButton)) form.outer.after(button);
};
