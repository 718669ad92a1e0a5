// Brands with a page in a window of its own. The window tells little: a brand's page may cut itself off from us and then
// looks closed. So the gateway is asked how it stands, until it knows; and a window that looks closed is one that was given up
// once the shopper does something here.

const PAUSE = 1500;

// The one window that somebody is expected to come back from.
let visit;

// In the click itself, or the browser takes it for advertising. The address follows.
const openWindow = (form) => {
  const size = `popup,width=${Math.min(screen.availWidth, 600)},height=${Math.min(screen.availHeight, 760)}`;
  return window.open("about:blank", `tillgate-${form.nonce}`, size);
};

// What has the same words as a window, and is a frame.
const into = (frame) => ({
  name: frame.name,
  location: {
    set href(address) {
      frame.src = address;
    },
  },
});

// The form's own frame: for brands that the merchant wants inside its page.
const frameWindow = (form) => {
  const target = targetOf(form);
  target.title = form.label;
  seen(target, true);
  return {
    ...into(target),
    inline: true,
    focus: () => target.focus(),
    close() {
      seen(target, false);
      target.src = "about:blank";
    },
  };
};
const isInline = (form) => form.flow !== "now" && !summarizes() && [].concat(options().inlineFlow || []).includes(form.brands[0]);

const follow = (form, checkout, popup, answer) => {
  state.leave(form, answer, popup);
  abandon();
  const own = (visit = { form, checkout, popup });
  // What the shopper does here says that they are back.
  for (const type of ["focus", "pointerdown", "keydown"])
    listen(window, type, () => (own.back = true), { signal: life.signal });
  busy(form, false);
  const text = say(popup.inline ? "payWith" : "popupOpen", form.label);
  const show = [word("popupShow"), () => (popup.closed ? pay(form) : popup.focus())];
  tell(form, text, [...(popup.inline ? [] : [show]), [word("cancel"), () => stop(own)]]);
  form.live.textContent = text;
  watch(own);
};

// The shopper does not want to go on there, as far as can be told: another brand may be taken. What is paid in the window all
// the same is not lost.
const stop = (own) => {
  if (own.stopped) return;
  own.stopped = true;
  own.popup.close();
  tell(own.form, "");
  own.form.live.textContent = word("cancelled");
  if (own.form.button.isConnected) own.form.button.focus();
  notify("onLightboxCancel", [], own.form);
};

const abandon = () => {
  if (visit && !visit.stopped) {
    visit.stopped = true;
    visit.popup.close();
    tell(visit.form, "");
  }
  visit = null;
};

const watch = async (own) => {
  while (visit === own) {
    const { status, checkoutState } = await ask("state", { checkout: own.checkout });
    if (visit !== own) return;
    if (/PAID|REGISTERED|EXPIRED/.test(checkoutState)) {
      own.popup.close();
      return goBack(own.form, own.checkout);
    }
    if ((own.popup.closed && own.back) || checkoutState === "OPEN") stop(own);
    if (checkoutState === "OPEN" || status === 404) return;
    await new Promise((done) => setTimeout(done, PAUSE));
  }
};
