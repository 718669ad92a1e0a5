// The forms of brands that are no cards, each as the gateway describes it.

const brandForm = (form) => {
  const [code] = form.brands;
  const { name, form: type, fields, extras = [], flow } = config.brands[code];
  form.label = name;
  form.flow = flow;
  const isDebit = type === "directDebit";
  const groups = (form) => {
    const made = [...fields, ...wanted(extras)].map((key) => {
      const name = key.replace("?", "");
      if (name === "paymentMode") return modes(form);
      return labelled(form, name, key.endsWith("?"), ownCountries(code, name));
    });
    if (code === "STC_PAY") chooses(form, made);
    if (isDebit) {
      made.push(...billing(form), ...mandate(form));
      follows(form);
    }
    return made;
  };
  const alone = !fields.length && !wanted(extras).length;
  build(form, {
    type,
    suffix: isDebit ? "" : `-${code}`,
    groups,
    button: alone ? `wpwl-button-brand wpwl-button-brand-${code}` : "wpwl-button-pay",
    wrapper: alone ? `wpwl-wrapper-brand-${code}` : "wpwl-wrapper-submit",
    text: alone ? say("payWith", name) : word(purpose === "payment" ? "submit" : "register"),
  });
};

// What the merchant has switched on. It is the customer's, and whatever is sent of a customer comes with the names.
const wanted = (extras) => {
  const { showBirthDate, showTaxNumberField } = options();
  const kept = extras.filter((key) => isOn(key === "birthDate" ? showBirthDate : showTaxNumberField));
  return kept.length && config.nameless ? ["givenName", "surname", ...kept] : kept;
};

// An account at this brand is a mobile number; who has the app at hand takes a picture instead.
const modes = (form) => {
  const mode = (value, text) => {
    const radio = make("input", `wpwl-tick wpwl-control-radio-${value}`, {
      type: "radio",
      name: "customParameters[SHOPPER_paymentMode]",
      value,
    });
    return make("label", `wpwl-agree wpwl-wrapper-radio wpwl-wrapper-radio-${value}`, null, [radio, make("span", "", null, [text])]);
  };
  return make("div", "wpwl-group wpwl-group-paymentMode wpwl-clearfix", { role: "radiogroup", "aria-label": form.label }, [
    mode("qrcode", word("qrCode")),
    mode("mobile", word("mobilePhoneNumber")),
  ]);
};
const chooses = (form, [group, phone]) => {
  const { element } = form.fields.find(({ key }) => key === "mobilePhone");
  const follow = (mode) => (phone.hidden = element.disabled = mode === "qrcode");
  group.addEventListener("change", ({ target }) => {
    follow(target.value);
    revive(form);
  });
  group.querySelector("input").checked = true;
  follow("qrcode");
};

// The merchant may name the countries of this brand.
const ownCountries = (code, field) => {
  const { sofortCountries } = options();
  if (code !== "SOFORTUEBERWEISUNG" || field !== "country" || !sofortCountries) return {};
  return { choices: Object.entries(sofortCountries) };
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

// A form whose brand is not offered any more says so, until it is offered again.
const showForm = (form, is) => {
  if (!form.gone === is) return;
  form.gone = !is;
  seen(form.form, is);
  tell(form, is ? "" : say("unavailable", form.label));
};

// Makes what is offered, and takes away what is not. Its place stays: the merchant may change the checkout.
const makeOthers = () => {
  const kept = [];
  const dropped = [];
  for (const form of others().concat(state.away)) {
    const about = config.brands[form.brands[0]];
    // Both names of the direct debit have one form.
    const twin = about && about.form === "directDebit" && kept.some((other) => other.kind === about.form && other.result === form.result);
    if (form.kind === "registration") kept.push(form);
    else if (form.kind !== "other") {
      showForm(form, !!about);
      kept.push(form);
    } else if (about && !twin) {
      nativeSet(form.container, "hidden", false);
      brandForm(form);
      kept.push(form);
    } else dropped.push(form);
  }
  if (!kept.length && !cards().length && !stored().length) return false;
  const fresh = dropped.filter((form) => !state.away.includes(form));
  missing([...new Set(fresh.flatMap(({ brands }) => brands))].filter((brand) => !config.brands[brand]));
  for (const form of fresh) {
    Object.assign(form.container, { className: "", hidden: true });
    form.container.removeAttribute("aria-busy");
  }
  state.forms = state.forms.filter((form) => !dropped.includes(form));
  state.forms.push(...kept.filter((form) => !state.forms.includes(form)));
  state.away = dropped;
  return true;
};
