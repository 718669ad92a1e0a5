// Where the shopper goes after a submit: to the brand's page, or back to the shop with what says which payment it was.

// `address` with parameters added to its query; what it has already stays, also its fragment.
var withParameters = function (address, parameters) {
  var parts = address.match(/^([^#]*)(.*)$/);
  var before = parts[1];
  var query = parameters
    .map(function (parameter) {
      return encodeURIComponent(parameter.name) + "=" + encodeURIComponent(parameter.value);
    })
    .join("&");
  return before + (!query || /[?&]$/.test(before) ? "" : before.includes("?") ? "&" : "?") + query + parts[2];
};

// Sends a form of these fields to another page. The browser's own function: a page may have put a field of that name.
var post = function (action, parameters, target) {
  var fields = parameters.map(function (parameter) {
    return make("input", "", { type: "hidden", name: parameter.name, value: parameter.value });
  });
  var form = make("form", "", { method: "POST", action: action, target: target, hidden: "" }, fields);
  nativeGet(document, "body").append(form);
  nativeCall(form, "submit");
  nativeCall(form, "remove");
};

// The window that goes there: the whole tab, unless the merchant has named one for pages of cards, and one for the result.
var windowOf = function (form, flow) {
  var given = options();
  if (!given.paymentTarget || (form.kind && form.kind !== "registration")) return "_top";
  return (flow === "now" ? given.shopperResultTarget : given.paymentTarget) || "_top";
};

// What a challenge of the card's issuer has to fit into: the merchant's word, or by the form's width (EMV 3-D Secure,
// challengeWindowSize).
var challengeWindow = function (form) {
  var given = (options().browser || {}).threeDChallengeWindow;
  var width = form.container.clientWidth;
  if (/^[1-5]$/.test(given)) return +given;
  return options().paymentTarget ? 5 : width < 390 ? 1 : width < 500 ? 2 : width < 600 ? 3 : 4;
};

// What is told with a card's submit, for its authentication.
var fit = function (form) {
  var chosen = (form.chosen || {}).registration || {};
  var isCard = !form.kind || chosen.kind === "card";
  var tell = function (name, value) {
    var field = findIn(form, '[name="' + name + '"]');
    if (!field) nativeCall(form.form, "append", (field = make("input", "", { type: "hidden", name: name })));
    field.value = value;
    field.disabled = !isCard;
  };
  tell("customer.browser.challengeWindow", "0" + challengeWindow(form));
  tell("inlineFlow", options().paymentTarget !== "_top");
};

// Whether there was somewhere to go.
var leave = function (form, answer, popup) {
  var to = answer.redirect;
  if (answer.threeDSecure && !popup) {
    // What shows the issuer's page comes only now.
    state.authenticates = [form, answer];
    relay();
    more();
    state.go();
    return true;
  }
  var target = popup ? popup.name : windowOf(form, answer.flow);
  var address = to.url || options().shopperResultUrl || form.result;
  var parameters = to.parameters || [];
  if (!address) raise("WidgetError", "there is no shopperResultUrl and no form action");
  // Anything else would be a script of the page, or a page of its own making.
  else if (!isWeb(address)) raise("WidgetError", "shopperResultUrl is no http or https address: " + address);
  else if (to.method === "POST") post(address, parameters, target);
  else {
    var whole = withParameters(address, parameters);
    try {
      if (popup || target === "_top") (popup || top).location.href = whole;
      else make("a", "", { href: whole, target: target }).click();
    } catch (framed) {
      // A frame without leave to move the top window shows the result itself.
      location.href = whole;
    }
  }
  return !!address && isWeb(address);
};
