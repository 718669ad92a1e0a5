// What options add to a card form: billing address, given name and surname, a box to save the card; and logos to choose by.

const places = {
  country: { ...address("country", "country", 2, "Country"), list: () => countries, is: undefined },
  state: address("state", "address-level1", 10, "State"),
  city: address("city", "address-level2", 48, "City"),
  postcode: { ...address("postcode", "postal-code", 16, "PostCode"), hint: "billingPostCodeError" },
  street1: { ...address("street1", "address-line1", 100, "Street1"), hint: "billingStreetError" },
  street2: { ...address("street2", "address-line2", 100, "Street2"), hint: "billingStreetError2" },
};

const billing = (form) => {
  const wanted = options().billingAddress;
  if (!wanted) return [];
  const must = options().mandatoryBillingFields || wanted.mandatoryBillingFields || {};
  const label = make("div", "wpwl-label wpwl-label-billing", null, [word("billingAddress")]);
  label.hidden = options().showLabels === false;
  const parts = Object.keys(places).map((key) => {
    const kind = { ...places[key] };
    if (key === "street2" && must[key]) kind.placeholder = "billingStreet2PlaceholderMandatory";
    const text = word(kind.placeholder);
    const element = control(form, `billing-${key}`, kind, !isOn(must[key]), { "aria-label": text, ...(kind.list ? {} : { placeholder: text }) });
    element.classList.add(`wpwl-control-${key === "state" ? "stateText" : key}`);
    if (wanted[key]) element.value = wanted[key];
    return make("div", `wpwl-wrapper wpwl-sup-wrapper wpwl-sup-wrapper-${key}`, null, [element]);
  });
  return [
    make("div", "wpwl-group wpwl-group-billing wpwl-clearfix", { role: "group", "aria-label": word("billingAddress") }, [
      label,
      make("div", "wpwl-wrapper wpwl-wrapper-billing", null, parts),
    ]),
  ];
};

// Two fields in place of the one for the holder; together they are what it posts.
const names = (form) => {
  const groups = ["givenName", "surname"].map((key) => labelled(form, key));
  const whole = () => {
    const holder = findIn(form, '[name="card.holder"]');
    holder.value = form.fields.slice(0, 2).map(value).join(" ").trim();
    holder.dispatchEvent(new Event("input"));
  };
  for (const { element } of form.fields) element.addEventListener("input", whole);
  return groups;
};

const save = (form) => {
  const kind = { name: "createRegistration", tick: true };
  const made = ticked(form, "createRegistration", kind, word("saveCard"), true);
  const [box] = made.querySelectorAll("input");
  box.value = "true";
  box.checked = wishes().offer === "checked";
  return made;
};

const extend = (card) => {
  if (card.extended) return;
  card.extended = true;
  const form = { container: card.container, form: card.form, fields: [] };
  const submit = findIn(card, ".wpwl-group-submit");
  const holder = findIn(card, ".wpwl-group-cardHolder");
  if (options().forceCardHolderEqualsBillingName) {
    holder.after(...names(form));
    holder.hidden = true;
  }
  secure(card);
  submit.before(...billing(form));
  if (wishes().offer && purpose === "payment") submit.before(save(form));
  // The page part asks before it sends.
  card.check = () => {
    tell(card, "");
    if (!isSecured(card)) {
      tell(card, word("formError"));
      raise("PciIframeCommunicationError", "a frame of the card is missing or silent");
      return false;
    }
    const good = isValid(form);
    if (!good) halt(form);
    return good;
  };
};

// A row of all brands; what the shopper presses decides which form is seen.
const logos = () => {
  if (options().style !== "logos") return;
  if (state.logos) state.logos.remove();
  const [shown, pressed] = state.logo || [];
  const forms = state.forms.filter((form) => form.brands[0]);
  if (!forms.length) return;
  const buttons = [];
  const choose = (form, brand, button) => {
    state.logo = [form, brand];
    for (const other of buttons) {
      other.setAttribute("aria-pressed", other === button);
      other.classList.toggle("wpwl-selected", other === button);
    }
    for (const other of forms) other.container.style.display = other === form ? "" : "none";
    const list = form.container.querySelector("select.wpwl-control-brand");
    if (list) {
      list.value = brand;
      list.dispatchEvent(new Event("change"));
    }
    state.restyle();
  };
  for (const form of forms) {
    form.container.style.display = form === shown ? "" : "none";
    for (const brand of form.brands.filter((code) => config.brands[code])) {
      const { name, kind } = config.brands[brand];
      const is = form === shown && brand === pressed;
      const button = make("button", `wpwl-logo${is ? " wpwl-selected" : ""}`, { type: "button", "aria-pressed": is }, [
        emblem("span", brand, name, kind),
      ]);
      button.addEventListener("click", () => choose(form, brand, button));
      buttons.push(button);
    }
  }
  state.logos = make("div", "wpwl-logos", { role: "group", "aria-label": word("brand") }, buttons);
  state.nodes.push(state.logos);
  forms[0].container.before(state.logos);
};
