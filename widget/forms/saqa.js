// Where the merchant wants no field of a card in its page (`enableSAQACompliance`): holder and expiry date come in frames of
// our origin, too. The page part's two inputs stay where they are, out of sight, and hold no more than how the field is, so
// that checks, hints, callbacks and the button go on as ever; what is typed goes from frame to frame.

const secured = [];

// What stands for a state of the frame: nothing, a thing that is right, one that is wrong.
const stands = {
  "card.holder": ({ empty, valid }) => (empty ? "" : valid ? "***" : "*"),
  "card.expiry": ({ empty, valid, past }) => {
    const year = (more) => `${new Date().getFullYear() + more}`.slice(2);
    if (empty || !valid) return empty ? "" : "0";
    return past ? `01 / ${year(-1)}` : `12 / ${year(1)}`;
  },
};

const secure = (card) => {
  if (!isOn(options().enableSAQACompliance)) return;
  if (!secured.length) {
    const { restyle } = state;
    state.restyle = () => {
      restyle();
      secured.forEach(instruct);
    };
  }
  take(card, "card.expiry", "expiry", "expiryDate", "mmyy");
  // Two names in the page make up the holder's.
  if (!options().forceCardHolderEqualsBillingName) take(card, "card.holder", "cardHolder", "cardHolder", "cardHolder");
};

const take = (card, field, name, label, placeholder) => {
  const wrapper = findIn(card, `.wpwl-wrapper-${name}`);
  const element = frame(card, field, name, word(label));
  const one = { card, field, element, wrapper, label, placeholder, said: "" };
  element.setAttribute("placeholder", word(label));
  element.addEventListener("click", () => enter(one));
  const watch = new MutationObserver(() => mirror(one));
  watch.observe(wrapper, { childList: true, subtree: true, characterData: true, attributeFilter: ["class"] });
  life.signal.addEventListener("abort", () => watch.disconnect());
  secured.push(one);
  mirror(one);
};

const sayTo = ({ card, element }, type, more) => {
  const message = { ...more, tillgate: 1, type, form: card.nonce };
  if (element.contentWindow) element.contentWindow.postMessage(message, state.framesBase);
};

const enter = (one) => {
  one.element.focus();
  sayTo(one, "focus");
};

// Whatever the page part does to its input, and says behind it, is the frame's.
const mirror = (one) => {
  const { element, wrapper } = one;
  if (!one.input) {
    one.input = wrapper.querySelector("input");
    if (!one.input) return;
    one.input.hidden = true;
    one.input.style.display = "none";
    one.input.autocomplete = "off";
    one.input.focus = () => enter(one);
    one.input.after(element);
  }
  element.classList.toggle("wpwl-has-error", one.input.classList.contains("wpwl-has-error"));
  const hint = wrapper.querySelector(".wpwl-hint");
  const text = hint ? hint.textContent : "";
  if (text !== one.said) sayTo(one, "error", { text });
  one.said = text;
};

const instruct = (one) => {
  if (!one.ready) return;
  sayTo(one, "options", state.manner(one.element, one.input, word(one.label), word(one.placeholder)));
};

const heardField = (one, { type, ...told }) => {
  const { card, element, input } = one;
  const say = (name) => notify(name, [], card, element);
  if (type === "ready") {
    // Moved, it loads again; that is no news.
    if (!one.ready) afterReady(() => say("onReadyIframeCommunication"));
    one.ready = true;
    one.said = "";
    instruct(one);
    mirror(one);
    if (nativeGet(document, "activeElement") === element) enter(one);
  } else if (type === "state" || type === "blur") {
    const now = stands[one.field](told);
    if (now !== input.value) {
      input.value = now;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (type === "state") return;
    element.classList.remove("wpwl-focus");
    say("onBlurIframeCommunication");
    input.dispatchEvent(new Event("blur"));
  } else if (type === "focus") {
    element.classList.add("wpwl-focus");
    say("onFocusIframeCommunication");
  } else if (type === "enter" && !isOn(options().disableSubmitOnEnter)) {
    const button = findIn(card, ".wpwl-button-pay");
    if (!button || !button.disabled) nativeCall(card.form, "requestSubmit");
  }
};

// Whether all of it can be sent.
const isSecured = (card) =>
  secured.every((one) => one.card !== card || (one.ready && one.element.isConnected && one.wrapper.contains(one.element)));
