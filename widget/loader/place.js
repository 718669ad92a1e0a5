// What comes into a placeholder's place: one form for all of its cards, one for each other brand. Only cards are known
// here (see old.js); what the other forms are made of, the gateway says.

// Cards have no kind.
var isOther = function (form) {
  return form.kind;
};

// The form that a frame's message is about.
var formOf = function (data) {
  return state.forms.find(function (form) {
    return form.nonce === data.form;
  });
};

var brandsOf = function (placeholder) {
  var listed = nativeCall(placeholder, "getAttribute", "data-brands") || nativeGet(placeholder, "textContent");
  return listed.split(/[\s,]+/).filter(Boolean);
};

// Milliseconds, what a screen takes for a picture: placing that takes longer has no time for a second frame.
var SLOW = 16;

var place = function (placeholder, several) {
  var begun = performance.now();
  var card;
  var brands = brandsOf(placeholder);
  var result = actionOf(placeholder);
  var own = brands.filter(isCard);
  var containers = [];
  (brands.length ? brands : [""]).forEach(function (brand) {
    var form = bare({ nonce: random(20), brands: [brand], result: result });
    if (!isCard(brand)) {
      form.container = make("div", "wpwl-container wpwl-loading", { id: "other_" + random(12), "aria-busy": "true" }, [
        make("div", "wpwl-wrapper"),
      ]);
      form.kind = "other";
      // Until what makes it has come.
      form.form = form.container;
      state.forms.push(form);
    } else if (brand === own[0] || !brand) {
      form.brands = own;
      delete state.done.cards;
      var cardForms = state.forms.filter(function (other) {
        return !isOther(other);
      });
      card = skeleton(form, cardForms.length + 1, several);
      state.forms.push(card);
    } else return;
    containers.push(form.container);
  });
  nativeGet(placeholder, "replaceWith").apply(placeholder, containers);
  var complete = function () {
    if (card) card.wrappers.cvv.append(card.code);
  };
  // Nothing is dearer to make than a frame: on a slow processor, two of them would be a long task.
  if (performance.now() - begun < SLOW) complete();
  else soon(complete);
};

// A card form of which the channel offers no brand gives way to what else there is. Its place stays: stored cards may want it.
var drop = function (form) {
  if (!state.stored && !state.forms[1]) return false;
  state.forms.splice(state.forms.indexOf(form), 1);
  state.nodes.push(form.container);
  Object.assign(form.container, { className: "", hidden: true });
  state.dropped = form;
  form.ended = true;
  return true;
};

// Said to whoever made the page; the shopper has the other brands.
var missing = function (brands) {
  if (brands[0]) console.warn("Tillgate: " + brands.join(", ") + ": not offered by this channel");
};

// A frame of our origin without a field: it tells the other forms what they are, and sends what they post. Forms that came
// since want another.
var relay = function (anew) {
  var brands = state.forms
    .concat(state.away)
    .map(function (form) {
      return form.brands.join(" ");
    })
    .join(" ");
  var query = new URLSearchParams({ checkoutId: checkoutId, brands: brands });
  var src = framesBase + "v1/internalRequestIframe.html?" + query;
  if (!anew && state.relay && state.relay.src === src) return;
  if (state.relay) state.relay.remove();
  state.relay = make("iframe", "", { hidden: "", referrerpolicy: "no-referrer", src: src });
  // Many sheets give frames a display, and thereby show hidden ones.
  state.relay.style.display = "none";
  nativeGet(document, "body").append(state.relay);
  delete state.done.more;
};

// Asks again what the checkout offers, which the merchant may have changed since.
var reread = function () {
  relay(true);
};

// What makes the other forms: fetched only where there are some, or where the page's options ask for more than cards.
var moreTag;
var moreReady;
var more = function () {
  var tag = state.tag;
  if (moreTag === tag) return;
  moreTag = tag;
  var forms = (state.more = state.more || script(state, "js/forms.min.js", pinned("%FORMS%")));
  // Which hash the language's file has, that script knows.
  var speaks = function () {
    return tag === "en" || script(state, "js/forms-" + tag + ".js", pinned(state.pins[tag])).catch(Boolean);
  };
  forms.then(speaks).then(
    function () {
      // Unless another language was asked for meanwhile.
      if (moreTag !== tag) return;
      moreReady = true;
      state.go();
    },
    function (error) {
      moreTag = state.more = null;
      fail(error);
    },
  );
};

var wantsMore = function () {
  var given = options();
  return (
    state.forms.some(isOther) ||
    state.authenticates ||
    given.style === "logos" ||
    given.billingAddress ||
    given.forceCardHolderEqualsBillingName ||
    given.useSummaryPage ||
    given.spinner ||
    given.enableSAQACompliance ||
    (given.registrations && given.registrations.offer)
  );
};
