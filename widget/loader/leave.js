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
  document.body.append(form);
  HTMLFormElement.prototype.submit.call(form);
  form.remove();
};

// The window that goes there: the whole tab, unless the merchant has named one for pages of cards, and one for the result.
var windowOf = function (form, flow) {
  var given = options();
  if (!given.paymentTarget || (form.kind && form.kind !== "registration")) return "_top";
  return (flow === "now" ? given.shopperResultTarget : given.paymentTarget) || "_top";
};

// Whether there was somewhere to go.
var leave = function (form, answer, popup) {
  var to = answer.redirect;
  var target = popup ? popup.name : windowOf(form, answer.flow);
  var address = to.url || options().shopperResultUrl || form.result;
  var parameters = to.parameters || [];
  if (!address) raise("WidgetError", "there is no shopperResultUrl and no form action");
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
  return !!address;
};
