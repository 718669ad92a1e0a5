// When a card's form stands: its fields are there, both frames have spoken, and it is known what the checkout offers.

// A frame has loaded: for the first time, or again because the page has moved it.
var arrive = function (form, element, config) {
  if (element === form.number) form.hasNumber = true;
  else form.hasCode = true;
  form.config = form.config || config;
  instruct(form);
  rise(form);
};

// Those brands of a form that are cards the checkout offers.
var cardsAmong = function (form, offered) {
  return form.brands.filter(function (brand) {
    return offered[brand] && offered[brand].kind === "card";
  });
};
var listCards = function (form, offered) {
  var choices = form.cards.map(function (brand) {
    return make("option", "", { value: brand }, [offered[brand].name]);
  });
  form.select.replaceChildren.apply(form.select, choices);
};

// Tells the shopper that a card's brand is not offered any more, and asks what is.
var unavailable = function (form) {
  var chosen = form.select.selectedOptions[0];
  return word("unavailable").replace("{brand}", chosen ? chosen.text : "");
};
var withdrawn = function (form) {
  form.refused = true;
  state.reread();
  return unavailable(form);
};

// The checkout may offer other brands than at first. A form that is left without any says so until there is one again.
var followOffer = function (offered) {
  state.forms.forEach(function (form) {
    if (isOther(form) || !form.cards || form.ended) return;
    var cards = cardsAmong(form, offered);
    // What was refused has been told already.
    var isTold = form.refused;
    form.refused = false;
    if (cards.join() === form.cards.join()) return;
    var chosen = form.select.value;
    if (form.gone) form.gone.remove();
    form.gone = cards[0] || isTold ? null : message(unavailable(form));
    if (form.gone) form.container.append(form.gone);
    nativeSet(form.form, "hidden", !cards[0]);
    form.cards = cards;
    listCards(form, offered);
    if (cards.includes(chosen)) form.select.value = chosen;
    else if (cards[0]) form.select.dispatchEvent(new Event("change", { bubbles: true }));
    instruct(form);
  });
};

// What the gateway says of the checkout. The brands to choose from have the names that it gives them.
var configure = function (form) {
  var error = form.config.error;
  var known = form.config.brands;
  if (error) {
    end(form, error.paid ? "paidError" : "checkoutError");
    return raise(error.name, error.message);
  }
  form.cards = cardsAmong(form, known);
  if (!form.cards[0] && drop(form)) return stand();
  if (!form.cards[0]) {
    end(form, "checkoutError");
    return raise("WidgetError", "none of the brands is a card of this channel");
  }
  listCards(form, known);
  form.logo.classList.add("wpwl-brand-" + form.cards[0]);
};

// A message takes the form's place for good.
var end = function (form, key) {
  form.ended = true;
  nativeSet(form.form, "hidden", true);
  wait(form.container, false);
  form.container.append(message(word(key)));
};

// Its fields are made once the page's options and words may be read, so whatever is said of it is said after that.
var rise = function (form) {
  if (form.up || form.ended || !form.button) return;
  if (form.config && !form.cards) configure(form);
  if (form.ended || !form.cards || !form.hasNumber || !form.hasCode) return;
  form.up = true;
  wait(form.container, false);
  stand();
  // The page part is of use from now on. One that is there already takes the form up.
  pagePart();
  if (state.start) state.go();
  // The look is computed once, with what the merchant has just changed.
  soon(function () {
    instruct(form);
  });
  // Text that grows in the page grows in the frames. Not heard from the start: the first rendering would tell of itself.
  idly(function () {
    var Observer = globalOf("ResizeObserver");
    if (Observer) new Observer(restyled).observe(form.number);
  });
};

// Once no card's form is to come, the merchant hears of those that are up.
var stand = function () {
  var all = state.forms.every(function (form) {
    return isOther(form) || form.up || form.ended;
  });
  if (all) state.told();
};

// The cards' forms say that they stand, and so does what makes the others: once all of them do, the merchant is told of
// those that are new, and the caret is put where it wants it.
var told = function (who) {
  var done = state.done;
  var forms = state.forms;
  done[who || "cards"] = true;
  var fresh = forms.filter(function (form) {
    return !form.stands && !form.ended;
  });
  var first = fresh[0];
  if (!first || (!done.cards && !forms.every(isOther)) || (!done.more && state.more)) return;
  done.all = true;
  notify("onReady", [
    fresh.map(function (form) {
      form.stands = true;
      return { containerKey: form.kind || "card", ccMethods: form.brands };
    }),
  ]);
  fresh.forEach(function (form) {
    if (!form.number) return;
    // By then the start is over; who pays sooner gets it sooner.
    form.rest = setTimeout(function () {
      idly(function () {
        targetOf(form);
      });
    }, 3000);
    [form.number, form.code].forEach(function (frame) {
      notify("onReadyIframeCommunication", [], form, frame);
    });
  });
  var wanted = options().autofocus;
  var field = wanted && findIn(first, '[name="' + CSS.escape(wanted) + '"]');
  if (field) focus(first, field);
};
