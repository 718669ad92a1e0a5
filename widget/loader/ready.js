// When a card's form stands: its fields are there, both frames have spoken, and it is known what the checkout offers.

// A frame has loaded: for the first time, or again because the page has moved it.
var arrive = function (form, element, config) {
  if (element === form.number) form.hasNumber = true;
  else form.hasCode = true;
  if (config && !form.cards && !form.ended) configure(form, config);
  instruct(form);
  rise(form);
};

// What the gateway says of the checkout.
var configure = function (form, config) {
  var error = config.error;
  var known = config.brands;
  if (error) {
    end(form, error.paid ? "paidError" : "checkoutError");
    return raise(error.name, error.message);
  }
  form.cards = form.brands.filter(function (brand) {
    return known[brand] && known[brand].kind === "card";
  });
  if (!form.cards[0] && drop(form)) return stand();
  if (!form.cards[0]) {
    end(form, "checkoutError");
    return raise("WidgetError", "none of the brands is a card of this channel");
  }
  form.names = form.cards.map(function (brand) {
    return known[brand].name;
  });
  list(form);
};

// A message takes the form's place for good.
var end = function (form, key) {
  form.ended = true;
  form.form.hidden = true;
  wait(form.container, false);
  form.container.append(alarm(word(key)));
};

var rise = function (form) {
  if (form.up || form.ended || !form.hasNumber || !form.hasCode || !form.button || !form.cards) return;
  form.up = true;
  wait(form.container, false);
  stand();
  // The look is computed once, with what the merchant has just changed. Text that grows in the page grows in the frames.
  soon(function () {
    instruct(form);
    if (window.ResizeObserver)
      new ResizeObserver(function () {
        state.restyle();
      }).observe(form.number);
  });
};

// Once all cards' forms are up, the merchant hears of it; the page part, which is of use from now on, comes after them.
var stand = function () {
  var all = state.forms.every(function (form) {
    return isOther(form) || form.up;
  });
  if (!all) return;
  state.told();
  pagePart();
};

// The cards' forms say that they stand, and so does what makes the others: once all of them do, the merchant is told of
// those that are new, and the caret is put where it wants it.
var told = function (who) {
  var done = state.done;
  var forms = state.forms;
  done[who || "cards"] = true;
  var fresh = forms.filter(function (form) {
    return !form.stands;
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
    idly(function () {
      targetOf(form);
    });
    [form.number, form.code].forEach(function (frame) {
      notify("onReadyIframeCommunication", [], form, frame);
    });
  });
  var wanted = options().autofocus;
  var field = wanted && first.form.querySelector('[name="' + CSS.escape(wanted) + '"]');
  if (field) focus(first, field);
};
