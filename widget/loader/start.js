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
  words(tag, words) {
    if (tag === state.tag) state.language = words;
  },
});

const receive = (event) => {
  if (event.data && event.data.tillgate === 1) {
    if (state.receive) state.receive(event);
    else state.inbox.push(event);
  }
};

const fail = (error) => {
  for (const form of state.forms) {
    const text = make("div", "wpwl-message wpwl-has-error", { role: "alert" }, [
      "The payment form could not be loaded. Please reload the page.",
    ]);
    form.container.classList.remove("wpwl-loading");
    form.container.replaceChildren(text);
  }
  const { onError } = options();
  if (onError) onError({ name: "WidgetError", message: String(error && error.message) });
};

const unload = () => {
  if (window.__tillgate !== state) return;
  if (state.stop) state.stop();
  removeEventListener("message", receive);
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

// The global that merchants know; the page part adds what only the configuration tells.
const wpwl = () => ({
  apiVersion: "1",
  cacheVersion: build,
  endpoint: base.slice(0, -1),
  url: base.slice(0, -1),
  minified: true,
  checkout: {
    id: checkoutId,
    endpoint: base.slice(0, -1),
    config: { customRedirectPageConfig: {} },
  },
  // "wpwl-container-card", or a list of classes joined by dots.
  executePayment(name) {
    const container = document.querySelector(`.${name}`);
    const form = container && container.querySelector("form");
    if (form) form.requestSubmit();
  },
  unload,
});

const look = (ready) => {
  const found = Array.from(document.querySelectorAll("form.paymentWidgets")).filter(
    (form) => ready || !form.contains(own),
  );
  if (!state.forms.length && !found.length) return;
  // What has to be fetched first: making frames takes browsers a while.
  dress(state);
  const spoken = speak(state);
  found.forEach((placeholder) => {
    const form = skeleton(placeholder, state.forms.length + 1, found.length > 1);
    state.forms.push(form);
  });
  if (ready) spoken.then(() => ((state.ready = true), state.go()));
};

const begin = () => {
  look(false);
  const ready = () => window.__tillgate === state && look(true);
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
    if (state.start && state.ready && window.__tillgate === state) state.start(state);
  };
  window.wpwl = wpwl();
  addEventListener("message", receive);
  if (!external) pagePart(state);
  begin();
}
