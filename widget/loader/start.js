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
  // What the page part asks of us.
  notify,
  raise,
  allow,
  told,
  dressed: look,
  isOnDark,
  hint,
  offer,
  handy,
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
  if (state.receive) state.receive(event);
  else state.inbox.push(event);
  watch();
  hear(data);
};

// Frames of our origin that have not said a word.
const silent = () =>
  state.forms
    .flatMap((form) => [form.number, form.code])
    .filter((element) => element && element.isConnected && !state.heard.has(element.contentWindow));

// How long a form may stay empty, in milliseconds, before the shopper is told.
const PATIENCE = 15000;

// Loading goes on, whatever was said before: page part and frames may come late.
const watch = () => {
  clearTimeout(state.timer);
  for (const form of state.forms) {
    if (form.message) form.message.remove();
    form.form.hidden = form.form.hidden && !form.message;
    form.message = null;
  }
  if (state.start && !silent().length) return;
  state.timer = setTimeout(() => {
    const frames = silent();
    if (frames.length) fail(new Error("a frame does not answer"), "PciIframeCommunicationError");
    else if (!state.start) fail(new Error("the page part did not come"));
  }, PATIENCE);
};

// What is missing is asked for again.
const again = () => {
  for (const form of state.forms) wait(form.container, !!(form.message && form.waited));
  for (const element of silent()) element.src += "";
  if (!state.start && !state.coming && !external) pagePart(state);
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
    form.form.hidden = true;
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
  removeEventListener("message", receive);
  removeEventListener("submit", stray, true);
  for (const form of state.forms) {
    for (const node of [form.form, form.container]) node.remove();
  }
  for (const node of state.nodes) node.remove();
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
  found.forEach((placeholder) => {
    const form = skeleton(placeholder, state.forms.length + 1, found.length > 1);
    form.form.addEventListener("keydown", quiet);
    // Text that grows in the page grows in the frames.
    if (window.ResizeObserver)
      new ResizeObserver(() => state.restyle && state.restyle()).observe(form.number);
    state.forms.push(form);
  });
  if (found.length) watch();
  if (ready) spoken.then(() => ((state.ready = true), state.go()));
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
    if (!state.start || !state.ready || window.__tillgate !== state) return;
    state.start(state);
    watch();
  };
  window.wpwl = wpwl();
  addEventListener("message", receive);
  addEventListener("submit", stray, true);
  if (!external) pagePart(state);
  begin();
}
