// Where the shopper goes after a submit: to the brand's page, or back to the shop with what says which payment it was.

// `address` with parameters added to its query; what it has already stays, also its fragment.
const withParameters = (address, parameters) => {
  const [, before, fragment] = address.match(/^([^#]*)(.*)$/);
  const query = parameters.map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  return before + (!query || /[?&]$/.test(before) ? "" : before.includes("?") ? "&" : "?") + query + fragment;
};

// Sends a form of these fields to another page. The browser's own function: a page may have put a field of that name.
const post = (action, parameters, target) => {
  const fields = parameters.map(({ name, value }) => make("input", "", { type: "hidden", name, value }));
  const form = make("form", "", { method: "POST", action, target, hidden: "" }, fields);
  document.body.append(form);
  HTMLFormElement.prototype.submit.call(form);
  form.remove();
};

// Whether there was somewhere to go. Without a window named, the whole tab goes.
const leave = (form, { url, method, parameters = [] }, popup) => {
  const address = url || options().shopperResultUrl || form.result;
  if (!address) raise("WidgetError", "there is no shopperResultUrl and no form action");
  else if (method === "POST") post(address, parameters, popup ? popup.name : "_top");
  else {
    const whole = withParameters(address, parameters);
    try {
      (popup || top).location.href = whole;
    } catch (framed) {
      // A frame without leave to move the top window shows the result itself.
      location.href = whole;
    }
  }
  return !!address;
};
