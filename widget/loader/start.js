// Finds the placeholder forms, puts the skeletons in their place, and brings skeleton and page part
// together. May run again at any time: for new forms, after unload(), or for another checkout.

const newState = (start) => ({
  base,
  build,
  checkoutId,
  start,
  forms: [],
  nodes: [],
  // Messages of the frames that arrive before the page part is there.
  inbox: [],
  // Windows of frames that have spoken.
  heard: new Set(),
  // What the page part asks of us, and what makes the other forms.
  notify,
  raise,
  allow,
  leave,
  told,
  done: {},
  dressed: look,
  isOnDark,
  hint,
  offer,
  handy,
  tools: { make, group, frame, guard, options, purpose, relay, hidden: visuallyHidden },
  moreWords(tag, words) {
    if (tag === state.tag) state.sayings = words;
  },
  words(tag, words) {
    if (tag === state.tag) state.language = words;
  },
});

// Frames speak from our own origin, and in this version of the protocol.
const receive = (event) => {
  const { origin, data } = event;
  if (origin !== address.origin || !data || !data.tillgate) return;
  if (data.tillgate !== 1)
    return raise("PciIframeCommunicationError", `a frame speaks version ${data.tillgate} of the protocol, not 1`);
  state.heard.add(event.source);
  if (data.config) {
    publish(data.config);
    // Stored cards are shown by what shows other brands.
    if (data.config.registrations) more(relay());
  }
  if (!state.receive || (!state.receiveMore && data.type === "ready")) state.inbox.push(event);
  if (state.receive) state.receive(event);
  if (state.receiveMore) state.receiveMore(event);
  watch();
  hear(data);
};

// Frames of our origin that have not said a word.
const silent = () =>
  state.forms
    .flatMap((form) => [form.number, form.code])
    .concat(state.relay)
    .filter((element) => element && element.isConnected && !state.heard.has(element.contentWindow));

// How long a form may stay empty, in milliseconds, before the shopper is told.
const PATIENCE = 15000;

// A page that offers no card needs no page part.
const lacksPart = () => !state.start && state.forms.some((form) => !isOther(form));

// Loading goes on, whatever was said before: page part and frames may come late.
const watch = () => {
  clearTimeout(state.timer);
  for (const form of state.forms) {
    if (form.message) form.message.remove();
    form.form.hidden = form.form.hidden && !form.message;
    form.message = null;
  }
  if (!lacksPart() && !silent().length) return;
  state.timer = setTimeout(() => {
    const frames = silent();
    if (frames.length) fail(new Error("a frame does not answer"), "PciIframeCommunicationError");
    else if (lacksPart()) fail(new Error("the page part did not come"));
  }, PATIENCE);
};

// What is missing is asked for again.
const again = () => {
  for (const form of state.forms) wait(form.container, !!(form.message && form.waited));
  for (const element of silent()) element.src += "";
  if (lacksPart() && !state.coming && !external) pagePart(state);
  if (wantsMore()) more();
  watch();
};

// What is busy is not read aloud.
const wait = (container, busy) => {
  container.classList.toggle("wpwl-loading", busy);
  if (busy) container.setAttribute("aria-busy", "true");
  else container.removeAttribute("aria-busy");
};

const ENGLISH = "%LOADING%";
const words = () => Object.assign({}, ENGLISH, (state.language || {}).loading);
const broken = (...more) =>
  make("div", "wpwl-message wpwl-has-error", { role: "alert" }, [words().failed, ...more]);

// Says so in every form, with a button; what was typed stays.
const fail = (error, name) => {
  if (window.__tillgate !== state) return;
  clearTimeout(state.timer);
  for (const form of state.forms) {
    if (form.message) form.message.remove();
    const retry = make("button", "wpwl-button wpwl-button-retry", { type: "button" }, [words().retry]);
    retry.onclick = again;
    form.message = broken(" ", retry);
    // The form of another brand may not be made yet.
    if (form.form !== form.container) form.form.hidden = true;
    form.waited = form.waited || form.container.classList.contains("wpwl-loading");
    wait(form.container, false);
    form.container.append(form.message);
  }
  raise(name || "WidgetError", String(error && error.message));
};

const unload = () => {
  if (window.__tillgate !== state) return;
  clearTimeout(state.timer);
  if (state.stop) state.stop();
  if (state.stopMore) state.stopMore();
  removeEventListener("message", receive);
  removeEventListener("submit", stray, true);
  for (const form of state.forms) {
    for (const node of [form.form, form.container]) node.remove();
  }
  for (const node of state.nodes) node.remove();
  if (state.relay) state.relay.remove();
  state.style = "";
  if (state.link) state.link.remove();
  document.adoptedStyleSheets = Array.from(document.adoptedStyleSheets).filter(
    (sheet) => sheet !== state.sheet,
  );
  delete window.wpwl;
  if (external) window.__tillgate = { start: state.start };
  else delete window.__tillgate;
};

const find = (ready) => {
  const found = Array.from(document.querySelectorAll("form.paymentWidgets")).filter(
    (form) => ready || !form.contains(own),
  );
  if (!state.forms.length && !found.length) {
    if (ready)
      raise("WidgetError", "there is no form.paymentWidgets; inside of another form, browsers leave it out");
    return;
  }
  // What has to be fetched first: making frames takes browsers a while.
  dress(state);
  const spoken = speak(state);
  found.forEach((placeholder) => place(placeholder, found.length > 1));
  if (state.forms.some(isOther)) relay();
  if (wantsMore()) more();
  start();
  if (found.length) watch();
  if (ready) spoken.then(() => ((state.ready = true), state.go()));
};

// The page part is fetched before any form is found, unless those that were are of no card.
const start = () => {
  if (external || state.brought || (state.forms.length && state.forms.every(isOther))) return;
  state.brought = true;
  pagePart(state);
};

const begin = () => {
  find(false);
  const ready = () => window.__tillgate === state && find(true);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
  else ready();
};

let state = window.__tillgate;
if (state && state.checkoutId === checkoutId && state.build === build) {
  // Loaded twice: only forms that came since are of interest.
  state.look();
} else {
  if (state && state.unload) state.unload();
  const left = window.__tillgate;
  state = window.__tillgate = newState(external && left ? left.start : undefined);
  state.fail = fail;
  state.unload = unload;
  state.look = begin;
  state.go = () => {
    if (!state.ready || window.__tillgate !== state) return;
    if (state.start) state.start(state);
    if (state.startMore && moreReady) state.startMore();
    watch();
  };
  window.wpwl = wpwl();
  addEventListener("message", receive);
  addEventListener("submit", stray, true);
  begin();
  start();
}
