// The inputs: what each posts, what the browser may fill in, and when a value is wrong. The gateway judges in the end;
// this is for shoppers who mistype.

const between = (least, most) => (value) => value.length >= least && value.length <= most;
const dense = (value) => value.replace(/[\s.-]/g, "").toUpperCase();
const seemsIban = (value) => /^[A-Z]{2}\d\d/.test(value);

// ISO 7064, MOD 97-10.
const isIban = (value) => {
  const turned = (value.slice(4) + value.slice(0, 4)).replace(/[A-Z]/g, (letter) => letter.charCodeAt() - 55);
  return (
    /^[A-Z]{2}\d\d[A-Z\d]{11,27}$/.test(value) && [...turned].reduce((rest, digit) => (rest * 10 + +digit) % 97, 0) === 1
  );
};
const isBic = (value) => /^[A-Z]{6}[A-Z\d]{2}([A-Z\d]{3})?$/.test(value);

const countries = "%COUNTRIES%".match(/../g);
const address = (name, fill, most, key) => ({
  name: `billing.${name}`,
  fill: `billing ${fill}`,
  is: between(1, most),
  hint: `billing${key}Error`,
  placeholder: `billing${key}Placeholder`,
});

// `post`, where there is one, gives the parameter's name by the value.
const kinds = {
  accountHolder: { name: "bankAccount.holder", fill: "name", is: between(4, 128) },
  accountNumber: {
    name: "bankAccount.iban",
    tidy: dense,
    is: (value) => (seemsIban(value) ? isIban(value) : /^[A-Z\d]{3,64}$/.test(value)),
    post: (value) => (seemsIban(value) ? "bankAccount.iban" : "bankAccount.number"),
  },
  accountBank: {
    name: "bankAccount.bic",
    tidy: dense,
    is: (value) => isBic(value) || /^\d{1,12}$/.test(value),
    post: (value) => (isBic(value) ? "bankAccount.bic" : "bankAccount.bankCode"),
  },
  bankName: { name: "bankAccount.bankName", is: between(1, 255) },
  country: { name: "bankAccount.country", fill: "country", list: () => countries },
  accountId: { name: "virtualAccount.accountId", fill: "email", is: between(1, 100) },
  givenName: { name: "customer.givenName", fill: "cc-given-name", is: between(1, 48) },
  surname: { name: "customer.surname", fill: "cc-family-name", is: between(1, 48), hint: "surNameError" },
  birthDate: { name: "customer.birthDate", type: "date", fill: "bday", is: (day) => day > "1900" && day < today() },
  taxNumber: {
    name: "customer.identificationDocId",
    is: between(8, 64),
    also: [["customer.identificationDocType", "TAXSTATEMENT"]],
  },
  mobilePhone: {
    name: "virtualAccount.accountId",
    type: "tel",
    fill: "tel",
    tidy: (text) => text.replace(/[^+\d]/g, ""),
    is: (number) => /^\+?\d{6,15}$/.test(number),
    label: "mobilePhoneNumber",
    hint: "mobilePhoneNumberError",
  },
  mandate: { name: "bankAccount.mandate.dateOfSignature", tick: true },
};

// Names of countries in the page's language, in its order.
const named = (codes) => {
  const tag = state.locale || "en";
  let name = (code) => code;
  try {
    const names = new Intl.DisplayNames([tag], { type: "region" });
    name = (code) => names.of(code);
  } catch (old) {
    // A browser without the names shows the codes.
  }
  return codes.map((code) => [code, name(code)]).sort((a, b) => a[1].localeCompare(b[1], tag));
};

const choices = (list, empty) => [
  make("option", "", { value: "" }, [empty]),
  ...list.map(([value, text]) => make("option", "", { value }, [text])),
];

// Makes an input and keeps it in `form.fields`; where it stands is the caller's affair.
const control = (form, key, kind, optional, more) => {
  const id = `${form.container.id}-${key}`;
  const attributes = { id, name: kind.name, "aria-invalid": "false", autocomplete: kind.fill || "off", ...more };
  if (!optional) attributes["aria-required"] = "true";
  let element;
  if (kind.list) {
    element = make("select", `wpwl-control wpwl-control-${key}`, attributes, choices(kind.choices || named(kind.list()), word(kind.placeholder || key)));
  } else {
    const type = kind.tick ? "checkbox" : kind.type || "text";
    const classes = kind.tick ? "wpwl-tick" : "wpwl-control";
    if (kind.tidy) Object.assign(attributes, { spellcheck: "false", autocapitalize: "characters" });
    element = make("input", `${classes} wpwl-control-${key}`, { type, ...attributes });
  }
  const field = { key, kind, element, optional };
  element.addEventListener("input", () => {
    // Numbers run from left to right in every script; what a placeholder says does not.
    if (kind.tidy) element.dir = element.value ? "ltr" : "";
    if (field.wrong && !fault(field)) mark(form, field, false);
    revive(form);
  });
  element.addEventListener("blur", () => {
    if (value(field) || field.wrong) mark(form, field, fault(field));
  });
  form.fields.push(field);
  return element;
};

const value = ({ kind, element, judge }) => {
  if (judge) return "";
  if (kind.tick) return element.checked ? today() : "";
  return (kind.tidy || String)(element.value.trim());
};

const fault = (field) => {
  if (field.judge) return field.judge();
  const now = value(field);
  return now ? !!field.kind.is && !field.kind.is(now) : !field.optional;
};

// The state on the control, and the hint right behind it.
const mark = (form, field, wrong) => {
  const { element, key, kind } = field;
  field.wrong = wrong;
  element.classList.toggle("wpwl-has-error", wrong);
  if (!field.judge) element.setAttribute("aria-invalid", wrong);
  else sayToCode(form, "error", { text: wrong ? word(kind.hint) : "" });
  if (!wrong) {
    if (field.hint) field.hint.remove();
    element.removeAttribute("aria-describedby");
    return;
  }
  const name = kind.hint || `${key}Error`;
  const id = `${form.container.id}-${key}-hint`;
  field.hint = field.hint || make("div", `wpwl-hint wpwl-hint-${name}`, { id });
  field.hint.textContent = word(name);
  (kind.tick ? element.parentNode : element).after(field.hint);
  element.setAttribute("aria-describedby", id);
};

// A group of the contract's shape around an input.
const labelled = (form, key, optional, more) => {
  const kind = { ...kinds[key], ...more };
  const id = `${form.container.id}-label-${key}`;
  const text = word(kind.label || key);
  const placeholder = options().showPlaceholders === false || kind.list ? {} : { placeholder: text };
  const made = group(key, control(form, key, kind, optional, { "aria-labelledby": id, ...placeholder }));
  const [label] = made.children;
  label.id = id;
  label.textContent = text;
  label.hidden = options().showLabels === false;
  label.addEventListener("click", () => made.querySelector(".wpwl-control").focus());
  return made;
};

// A box to tick, with what it means beside it.
const ticked = (form, key, kind, text, optional) =>
  make("div", `wpwl-group wpwl-group-${key} wpwl-clearfix`, null, [
    make("label", "wpwl-agree", null, [control(form, key, kind, optional), make("span", "", null, [text])]),
  ]);

const today = () => new Date().toISOString().slice(0, 10);
