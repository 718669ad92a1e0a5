// A form that is not the card's: its bones, its button, what it says.

// Fills the container that the loader has put in place.
const build = (form, { type, suffix = "", groups, button, wrapper, text }) => {
  const { container } = form;
  const name = type + suffix;
  const before = nativeCall(document, "querySelectorAll", `.wpwl-container-${name}`).length;
  form.kind = type;
  form.fields = [];
  form.live = hidden(make("div", "wpwl-live", { role: "status" }));
  form.button = make("button", `wpwl-button ${button}`, { type: "submit", name: "pay" }, [text]);
  form.place = make("div", `wpwl-wrapper ${wrapper}`, null, [form.button]);
  const input = (name, value) => make("input", "", { type: "hidden", name, value: value || "" });
  form.form = make(
    "form",
    `wpwl-form wpwl-form-${type}${suffix && ` wpwl-form-${name}`} wpwl-clearfix`,
    {
      method: "POST",
      action: `${state.base}v1/checkouts/${state.checkoutId}/${purpose}`,
      target: `${container.id}-target`,
      lang: state.locale || "en",
      novalidate: "",
      "accept-charset": "UTF-8",
    },
    [...form.brands.slice(0, 1).map((brand) => input("paymentBrand", brand)), input("shopperResultUrl", form.result)],
  );
  const dir = (state.language || {}).dir;
  if (dir) nativeSet(form.form, "dir", dir);
  nativeCall(form.form, "append", ...groups(form), make("div", `wpwl-group wpwl-group-${button.includes("brand") ? "brand" : "submit"} wpwl-clearfix`, null, [form.place]), form.live);
  if (form.fields.length) nativeGet(form.form, "classList").add("wpwl-form-has-inputs");
  // What tells this form from the others of the page.
  form.key = `wpwl-container-${name}${before ? `-${before + 1}` : ""}`;
  container.className = `wpwl-container wpwl-container-${name} ${before ? `${form.key} ` : ""}wpwl-clearfix`;
  container.removeAttribute("aria-busy");
  container.replaceChildren(form.form);
  targetOf(form);
  form.pay = () => pay(form);
  guard(form);
};

// Shows an element or hides it, whatever the page's sheets say of its kind.
const seen = (element, is) => {
  nativeSet(element, "hidden", !is);
  nativeGet(element, "style").display = is ? "" : "none";
  return element;
};

// A message for the form as a whole. Said as an alert when it is bad news.
const tell = (form, text, actions = []) => {
  if (form.notice) form.notice.remove();
  form.notice = null;
  if (!text) return;
  const buttons = actions.map(([text, act]) => {
    const button = make("button", "wpwl-button wpwl-button-small", { type: "button" }, [text]);
    button.addEventListener("click", act);
    return button;
  });
  form.notice = message(text, buttons, !!buttons.length);
  form.container.append(form.notice);
};

const busy = (form, is) => {
  form.busy = is;
  form.button.classList.toggle("wpwl-button-busy", is);
  form.live.textContent = is ? word("processing") : "";
  if (form.spinner) form.spinner.remove();
  form.spinner = is && make("div", "wpwl-spinner spinner", { "aria-hidden": "true" });
  if (is) form.place.append(form.spinner);
};

// After faults the button waits for a correction, and any correction will do.
const halt = (form) => {
  const wrong = form.fields.filter((field) => field.wrong);
  if (form.button) {
    form.button.disabled = true;
    form.button.classList.add("wpwl-button-error");
  }
  if (form.live) form.live.textContent = wrong.map((field) => field.hint.textContent).join(" ");
  wrong[0].element.focus();
  if (wrong[0].focus) wrong[0].focus();
};

const revive = (form) => {
  if (!form.button) return;
  form.button.disabled = false;
  form.button.classList.remove("wpwl-button-error");
};

// Judges every field that is shown.
const isValid = (form) => {
  for (const field of form.fields) mark(form, field, !field.element.disabled && fault(field));
  return !form.fields.some((field) => field.wrong);
};

// The message stands in the form's place for good.
const end = (form, key) => {
  tell(form, word(key));
  form.container.classList.remove("wpwl-loading");
  form.container.replaceChildren(form.notice);
};
