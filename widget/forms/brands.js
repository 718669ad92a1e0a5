// The forms of brands that are no cards, each as the gateway describes it.

const brandForm = (form) => {
  const [code] = form.brands;
  const { name, form: type, fields, flow } = config.brands[code];
  form.label = name;
  form.flow = flow;
  const isDebit = type === "directDebit";
  const groups = (form) => {
    const made = fields.map((key) => labelled(form, key.replace("?", ""), key.endsWith("?")));
    if (isDebit) {
      made.push(...billing(form), ...mandate(form));
      follows(form);
    }
    return made;
  };
  const alone = !fields.length;
  build(form, {
    type,
    suffix: isDebit ? "" : `-${code}`,
    groups,
    button: alone ? `wpwl-button-brand wpwl-button-brand-${code}` : "wpwl-button-pay",
    wrapper: alone ? `wpwl-wrapper-brand-${code}` : "wpwl-wrapper-submit",
    text: alone ? say("payWith", name) : word(purpose === "payment" ? "submit" : "register"),
  });
};

// What the shopper agrees to by a direct debit; to be ticked where the merchant has a mandate in mind.
const mandate = (form) => {
  if (config.mandate) return [ticked(form, "mandate", kinds.mandate, word("mandate"))];
  return [make("div", "wpwl-group wpwl-group-mandate wpwl-clearfix", null, [word("mandate")])];
};

// The IBAN tells the country.
const follows = (form) => {
  const of = (key) => form.fields.find((field) => field.key === key).element;
  of("accountNumber").addEventListener("input", ({ target }) => {
    const [code] = dense(target.value).match(/^[A-Z]{2}(?=\d\d)/) || [];
    if (countries.includes(code)) of("country").value = code;
  });
};

// Makes what is offered, and takes away what is not.
const makeOthers = () => {
  const kept = [];
  const dropped = [];
  for (const form of others()) {
    const about = config.brands[form.brands[0]];
    // Both names of the direct debit have one form.
    const twin = about && about.form === "directDebit" && kept.some((other) => other.kind === about.form && other.result === form.result);
    if (form.kind === "registration") kept.push(form);
    else if (about && !twin) {
      if (form.kind === "other") brandForm(form);
      kept.push(form);
    } else dropped.push(form);
  }
  if (!kept.length && !cards().length) return false;
  for (const form of dropped) {
    form.container.remove();
    state.forms.splice(state.forms.indexOf(form), 1);
  }
  return true;
};
