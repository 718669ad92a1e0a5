// What makes the form kind to shoppers, besides its fields: where the code stands on the card, a choice for
// cards of two brands, what the browser filled in, and keys that must not send.

const near = (form, frame, box) => {
  const group = frame.closest(".wpwl-group");
  if (group && box.parentNode !== group) group.append(box);
};

// Where the security code is: shown while the pointer or the caret is at its field, until Escape.
const hint = (form, text) => {
  if (!form.hint) {
    if (!text) return;
    const box = (form.hint = make("div", "wpwl-cvv-hint", { role: "tooltip", hidden: "" }));
    near(form, form.code, box);
    const group = box.parentNode;
    for (const type of ["pointerenter", "pointerleave"])
      group.addEventListener(type, () => (box.hidden = type === "pointerleave" && !form.code.matches(".wpwl-focus")));
    group.addEventListener("keydown", ({ key }) => (box.hidden = box.hidden || key === "Escape"));
  }
  form.hint.textContent = text;
};

// A card of two brands: the shopper chooses, also where the merchant has hidden the list of brands.
const offer = (form, brands) => {
  const select = form.form.querySelector("select[name=paymentBrand]");
  let box = form.choice;
  if (!select || (!box && !(brands && brands[1]))) return;
  if (!box) {
    box = form.choice = make("div", "wpwl-brand-choice", { role: "radiogroup" });
    box.addEventListener("change", ({ target }) => {
      select.value = target.value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
  if (brands && brands.join() !== form.offered) {
    form.offered = brands.join();
    near(form, form.number, box);
    box.setAttribute("aria-label", form.form.querySelector(".wpwl-label-brand").textContent);
    const named = Array.from(select.options).filter(({ value }) => brands[1] && brands.includes(value));
    // Without a form of their own they are not posted: the list is what counts.
    const radio = (value) => make("input", "", { type: "radio", name: form.nonce, form: "", value });
    box.replaceChildren(...named.map(({ value, text }) => make("label", "wpwl-brand-option", null, [radio(value), text])));
  }
  for (const { firstChild } of box.children) firstChild.checked = firstChild.value === select.value;
};

// What a frame says that is no matter of the fields' checks. No digit of number or code is among it.
const hear = (data) => {
  const form = state.forms.find((form) => form.nonce === data.form);
  if (!form) return;
  const { type, field } = data;
  if (form.hint && field === "card.cvv" && /^(focus|blur|escape)$/.test(type)) form.hint.hidden = type !== "focus";
  // The browser filled in the whole card where the number was.
  if (type === "autofill")
    for (const name of ["card.holder", "card.expiry"]) {
      const input = form.form.querySelector(`input[name="${name}"]`);
      if (!input || input.value || !data[name]) continue;
      input.value = data[name];
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  if (type !== "state" || field !== "card.number" || !isOn("brandDetection")) return;
  const brands = data.bin ? data.brands || [] : [];
  offer(form, brands);
  if (data.bin === form.bin) return;
  form.bin = data.bin;
  // The page part has followed the number by then.
  if (data.bin && options().brandDetectionType === "binlist")
    setTimeout(() => notify("onDetectBin", [{ brands, activeBrand: brandOf(form) }], form));
};

const focus = (form, control) => {
  control.focus();
  if (control.contentWindow) tell(form, control, { type: "focus" });
};

// Pointers that mean a field: at its label, or at the padding of its frame. And a press of the button must not
// leave the field first: a hint that appeared then would move the button away, and the click would be lost.
const handy = (form) => {
  for (const label of form.form.querySelectorAll(".wpwl-label")) {
    const wrapper = label.nextElementSibling;
    label.addEventListener("click", () => {
      const control = wrapper.querySelector(".wpwl-control");
      if (control) focus(form, control);
    });
  }
  for (const frame of [form.number, form.code]) frame.addEventListener("click", () => focus(form, frame));
  form.form.querySelector(".wpwl-button-pay").addEventListener("mousedown", (event) => event.preventDefault());
};

// Enter in a list chooses, and sends nothing.
const quiet = (event) => {
  const { tagName } = event.target;
  if (event.key === "Enter" && (tagName === "SELECT" || (tagName === "INPUT" && isOn("disableSubmitOnEnter"))))
    event.preventDefault();
};

// A copy of our form that the page made: nothing in it is ours, and the browser would send it by itself.
const stray = (event) => {
  const copy = event.target;
  if (!copy.classList.contains("wpwl-form") || state.forms.some(({ form }) => form === copy)) return;
  event.preventDefault();
  copy.append(broken());
  raise("WidgetError", "the page has put a copy in the place of the form");
};
