// What comes into a placeholder's place: one form for all of its cards, one for each other brand. Only cards are known
// here; what the other forms are made of, the gateway says.

const cards = " %CARDS% ";
const isCard = (brand) => cards.includes(` ${brand} `) || !brand;

// Cards have no kind.
const isOther = (form) => form.kind;

const place = (placeholder, several) => {
  const brands = (placeholder.dataset.brands || placeholder.textContent).split(/[\s,]+/).filter(Boolean);
  // As written: an address relative to the page stays so.
  const result = placeholder.action && placeholder.getAttribute("action") ? placeholder.action : "";
  const own = brands.filter(isCard);
  const containers = [];
  for (const brand of brands.length ? brands : [""]) {
    const form = { nonce: random(20), brands: [brand], result };
    if (!isCard(brand)) {
      const id = `other_${random(12)}`;
      form.container = make("div", "wpwl-container wpwl-loading", { id, "aria-busy": "true" }, [
        make("div", "wpwl-wrapper"),
      ]);
      form.kind = "other";
      // Until what makes it has come.
      form.form = form.container;
      state.forms.push(form);
    } else if (brand === own[0] || !brand) {
      form.brands = own;
      state.forms.push(skeleton(form, state.forms.filter((other) => !isOther(other)).length + 1, several));
      // Text that grows in the page grows in the frames.
      if (window.ResizeObserver) new ResizeObserver(() => state.restyle && state.restyle()).observe(form.number);
    } else continue;
    containers.push(form.container);
  }
  placeholder.replaceWith(...containers);
};

// A frame of our origin without a field: it tells the other forms what they are, and sends what they post.
const relay = () => {
  const brands = state.forms.map((form) => form.brands.join(" ")).join(" ");
  const src = `${base}v1/internalRequestIframe.html?${new URLSearchParams({ checkoutId, brands })}`;
  if (state.relay && state.relay.src === src) return;
  if (state.relay) state.relay.remove();
  state.relay = make("iframe", "", { hidden: "", referrerpolicy: "no-referrer", src });
  document.body.append(state.relay);
  delete state.done.more;
};

// What makes the other forms: fetched only where there are some, or where the page's options ask for more than cards.
let moreTag;
let moreReady;
const more = () => {
  const { tag } = state;
  if (moreTag === tag) return;
  moreTag = tag;
  const forms = (state.more = state.more || script(state, "js/forms.min.js", pinned("%FORMS%")));
  // Which hash the language's file has, that script knows.
  const speaks = () => tag === "en" || script(state, `js/forms-${tag}.js`, pinned(state.pins[tag])).catch(() => 0);
  forms.then(speaks).then(
    () => {
      // Unless another language was asked for meanwhile.
      if (moreTag !== tag) return;
      moreReady = true;
      state.go();
    },
    (error) => {
      moreTag = state.more = null;
      state.fail(error);
    },
  );
};

const wantsMore = () => {
  const { style, billingAddress, forceCardHolderEqualsBillingName, registrations } = options();
  return (
    state.forms.some(isOther) ||
    style === "logos" ||
    billingAddress ||
    forceCardHolderEqualsBillingName ||
    (registrations && registrations.offer)
  );
};
