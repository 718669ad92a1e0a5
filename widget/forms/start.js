// Meets the loader's state, hears the relay, and puts everything in its place.

const dress = () => {
  const link = make("link", "", {
    rel: "stylesheet",
    href: `${state.base}v1/static/${state.build}/css/forms.css`,
    integrity: `sha256-${state.pins.css}`,
    crossorigin: "anonymous",
  });
  state.nodes.push(link);
  // Behind the sheet of the style, which it completes.
  if (state.link) state.link.after(link);
  else nativeGet(document, "head").prepend(link);
};

const offer = () => {
  if (config.error) {
    others().forEach((form) => end(form, config.error.paid ? "paidError" : "checkoutError"));
    if (!cards().length) raise("InvalidCheckoutIdError", config.error.message);
    return;
  }
  if (!makeOthers()) {
    others().forEach((form) => end(form, "checkoutError"));
    return raise("WidgetError", "none of the brands is offered by this channel");
  }
  oneClick();
  logos();
  state.told("more");
  if (!toldWallets && others().some(isWallet)) {
    toldWallets = true;
    afterReady(() => notify("onReadyExternal", []));
  }
};

let toldWallets;
const isWallet = ({ brands: [brand] }) => (config.brands[brand] || {}).kind === "wallet";

// What a merchant hears of parts that are ready later, it hears after onReady.
const late = [];
const afterReady = (act) => {
  late.push(act);
  catchUp();
};
const catchUp = () => {
  if (state.done.all) for (const act of late.splice(0)) act();
};
const { told } = state;
state.told = (who) => {
  told(who);
  catchUp();
};

const receive = ({ source, data }) => {
  if (state.relay && source === state.relay.contentWindow) {
    if (data.type === "answer") answered(data);
    if (data.type === "wallet") heardWallet(data);
    if (data.type !== "ready") return;
    state.relay.open = true;
    config = data.config;
    for (const message of queue.splice(0)) source.postMessage(message, state.framesBase);
    return offer();
  }
  const form = others().find((form) => form.code && form.code.contentWindow === source);
  if (form) heardCode(form, data);
  const one = secured.find(({ element }) => element.contentWindow === source);
  if (one) heardField(one, data);
};

// The hashes of the other forms' sheet and of its languages, for whoever fetches them.
state.pins = "%PINS%";

let begun = false;

state.startMore = () => {
  cards().forEach(extend);
  spin();
  if (!begun && options().style !== "none") dress();
  if (options().style === "logos") relay();
  if (!begun) {
    state.receiveMore = receive;
    state.inbox.forEach(receive);
  }
  begun = true;
  if (!state.relay) state.told("more");
  if (state.authenticates) authenticate(...state.authenticates);
  state.authenticates = null;
};

state.stopMore = () => {
  life.abort();
  abandon();
  unspin();
};

// A page that comes back from the browser's memory still shows what was under way.
listen(
  window,
  "pageshow",
  ({ persisted }) => {
    if (!persisted) return;
    others().forEach((form) => form.button && busy(form, false));
    state.forms.forEach((form) => form.challenged && restore(form.challenged));
  },
  { signal: life.signal },
);
