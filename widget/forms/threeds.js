// 3D authentication: the card's issuer asks its cardholder, in a frame of ours in the place of the form, or where the merchant
// wants it (`paymentTarget`). The page learns only that it is over; how it went, its server reads.

// How long the issuer's method page may take, in milliseconds (EMV 3-D Secure, protocol specification, 3DS Method).
const METHOD_TIME = 10000;

// Widths and heights of challenge windows (EMV 3-D Secure, challengeWindowSize); the fifth is the whole screen.
const WINDOWS = { 1: [250, 400], 2: [390, 400], 3: [500, 600], 4: [600, 400] };

// The one authentication that is under way.
let challenge;

const authenticate = async (form, answer) => {
  const { redirect, flow } = answer;
  // The shopper has gone on in another form.
  if (challenge) restore(challenge);
  const own = (challenge = { form, checkout: answer.id, target: targetOf(form) });
  form.challenged = own;
  for (const page of redirect.preconditions || []) await load(own, page);
  if (challenge !== own) return;
  const page = { ...answer, threeDSecure: null };
  // Where the page leads back to the shop by itself, there is nothing to wait for.
  if (flow !== "inline") return void state.leave(form, page);
  if (options().paymentTarget) {
    state.leave(form, page);
    tell(form, word("challenge"), [[word("cancel"), () => give(own)]]);
  } else show(own, page);
  learn(own);
};

// Loads a page in a hidden frame; one that does not come is not waited for long.
const load = (own, page) =>
  new Promise((done) => {
    const name = `tillgate-method-${own.form.nonce}`;
    const frame = make("iframe", "", { name, title: name, tabindex: "-1", "aria-hidden": "true", frameborder: "0" });
    own.method = seen(frame, false);
    state.nodes.push(frame);
    own.form.container.append(frame);
    state.leave(own.form, { redirect: page }, into(frame));
    frame.addEventListener("load", done);
    setTimeout(done, METHOD_TIME);
  });

// Shows the issuer's page in place of the form, once it has loaded, and unless its message says by then that nobody has to be
// asked. The form's values stay, for a shopper who cancels.
const show = (own, page) => {
  const { form, target } = own;
  target.title = word("challenge");
  measure(form, target);
  target.addEventListener("load", () => setTimeout(() => own === challenge && !own.over && reveal(own), 100), { once: true });
  state.leave(form, page, into(target));
  const cancel = make("button", "wpwl-button wpwl-button-small wpwl-button-cancel", { type: "button" }, [word("cancel")]);
  cancel.addEventListener("click", () => give(own));
  own.bar = make("div", "wpwl-challenge-bar", null, [cancel]);
};

const reveal = (own) => {
  const { form, target, bar } = own;
  form.container.classList.add("wpwl-challenge");
  seen(form.form, false);
  seen(target, true);
  target.style.display = "block";
  form.container.append(bar);
  target.focus();
  const { onLoadThreeDIframe } = options();
  if (typeof onLoadThreeDIframe !== "function") return;
  try {
    onLoadThreeDIframe.call(target);
  } catch (thrown) {
    // The merchant's, for its console.
    Promise.reject(thrown);
  }
};

// By the merchant's measures, or those that the issuer was told; never wider than there is room.
const measure = (form, { style }) => {
  const wanted = options().threeDIframeSize || {};
  const [least, most] = WINDOWS[state.challengeWindow(form)] || [];
  const length = (given, usual) => (given > 0 ? `${given}px` : given || usual);
  const whole = !least && !wanted.width && !wanted.height;
  form.container.classList.toggle("wpwl-challenge-whole", whole);
  Object.assign(style, whole ? { position: "fixed", inset: "0 0 4rem", width: "100%", height: "calc(100% - 4rem)", zIndex: "2147483646" } : {
    width: length(wanted.width, least ? `${least}px` : "100%"),
    height: length(wanted.height, `${most || 600}px`),
    maxWidth: "100%",
  });
};

// The form again, as it was.
const restore = ({ form, target, bar, method }) => {
  challenge = null;
  if (bar) bar.remove();
  if (method) method.remove();
  form.container.classList.remove("wpwl-challenge", "wpwl-challenge-whole");
  seen(target, false);
  target.src = "about:blank";
  seen(form.form, true);
  if (form.kind) busy(form, false);
  else state.idle();
};

// The shopper does not want to go on there. Another card may be taken, or the same again.
const give = (own) => {
  restore(own);
  const { form } = own;
  tell(form, word("cancelled"));
  findIn(form, ".wpwl-button-pay").focus();
};

// Its page says that it is over; should that get lost, the gateway knows.
const learn = async (own) => {
  while (challenge === own) {
    const { status, checkoutState } = await ask("state", { checkout: own.checkout });
    if (challenge !== own) return;
    if (own.over || status === 404 || (status === 200 && checkoutState !== "PENDING")) return finish(own);
    await new Promise((done) => {
      own.hurry = done;
      setTimeout(done, PAUSE);
    });
  }
};

// How it went is told to the merchant's server alone.
const finish = (own) => {
  const { shopperResultUrl: url, resourcePath = `/v1/checkouts/${own.checkout}/${purpose}` } = config.checkout || {};
  const parameters = Object.entries({ id: own.checkout, resourcePath }).map(([name, value]) => ({ name, value }));
  challenge = null;
  tell(own.form, "");
  if (!state.leave(own.form, { flow: "now", redirect: { url, parameters } })) restore(own);
};

listen(
  window,
  "message",
  ({ source, origin, data }) => {
    const own = challenge;
    if (!own || !state.base.startsWith(`${origin}/`) || !data || data.threeDSecure !== "ended") return;
    // In a frame of the merchant's it is some other window.
    if (!options().paymentTarget && source !== own.target.contentWindow) return;
    own.over = true;
    if (own.hurry) own.hurry();
  },
  { signal: life.signal },
);
