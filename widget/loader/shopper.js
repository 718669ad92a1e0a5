// What makes the form kind to shoppers, besides its fields: where the code stands on the card, a choice for
// cards of two brands, what the browser filled in, and keys that must not send.

var near = function (form, frame, box) {
  var group = frame.closest(".wpwl-group");
  if (group && box.parentNode !== group) group.append(box);
};

// Where the security code is: shown while the pointer or the caret is at its field, until Escape.
var hint = function (form, text) {
  if (!form.hint) {
    if (!text) return;
    var box = (form.hint = make("div", "wpwl-cvv-hint", { role: "tooltip", hidden: "" }));
    near(form, form.code, box);
    var group = box.parentNode;
    ["pointerenter", "pointerleave"].forEach(function (type) {
      group.addEventListener(type, function () {
        box.hidden = type === "pointerleave" && !form.code.matches(".wpwl-focus");
      });
    });
    group.addEventListener("keydown", function (event) {
      box.hidden = box.hidden || event.key === "Escape";
    });
  }
  form.hint.textContent = text;
};

// A card of two brands: the shopper chooses, also where the merchant has hidden the list of brands.
var offer = function (form, brands) {
  var select = findIn(form, "select[name=paymentBrand]");
  var box = form.choice;
  if (!select || (!box && !(brands && brands[1]))) return;
  if (!box) {
    box = form.choice = make("div", "wpwl-brand-choice", { role: "radiogroup" });
    box.addEventListener("change", function (event) {
      select.value = event.target.value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
  if (brands && brands.join() !== form.offered) {
    form.offered = brands.join();
    near(form, form.number, box);
    box.setAttribute("aria-label", form.labels.brand.textContent);
    var named = Array.from(select.options).filter(function (option) {
      return brands[1] && brands.includes(option.value);
    });
    // Without a form of their own they are not posted: the list is what counts.
    var choices = named.map(function (option) {
      var radio = make("input", "", { type: "radio", name: form.nonce, form: "", value: option.value });
      return make("label", "wpwl-brand-option", null, [radio, option.text]);
    });
    box.replaceChildren.apply(box, choices);
  }
  box.childNodes.forEach(function (choice) {
    choice.firstChild.checked = choice.firstChild.value === select.value;
  });
};

// What a frame says that is no matter of the fields' checks. No digit of number or code is among it.
var hear = function (data) {
  var form = formOf(data);
  if (!form) return;
  var type = data.type;
  if (form.hint && data.field === "card.cvv" && /^(focus|blur|escape)$/.test(type)) form.hint.hidden = type !== "focus";
  // The browser filled in the whole card where the number was.
  if (type === "autofill")
    ["card.holder", "card.expiry"].forEach(function (name) {
      var input = findIn(form, 'input[name="' + name + '"]');
      if (!input || input.value || !data[name]) return;
      input.value = data[name];
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
  if (type !== "state" || data.field !== "card.number" || !isOn("brandDetection")) return;
  var brands = data.bin ? data.brands || [] : [];
  offer(form, brands);
  if (data.bin === form.bin) return;
  form.bin = data.bin;
  // The page part has followed the number by then.
  if (data.bin && /^bin/.test(options().brandDetectionType))
    setTimeout(function () {
      notify("onDetectBin", [{ brands: brands, activeBrand: brandOf(form) }], form);
    });
};

var focus = function (form, control) {
  control.focus();
  if (control.contentWindow) tell(form, control, { type: "focus" });
};

// Pointers that mean a field: at its label, or at the padding of its frame. And a press of the button must not
// leave the field first: a hint that appeared then would move the button away, and the click would be lost.
var handy = function (form) {
  Object.keys(form.labels).forEach(function (name) {
    form.labels[name].addEventListener("click", function () {
      var control = form.wrappers[name].querySelector(".wpwl-control");
      if (control) focus(form, control);
    });
  });
  [form.number, form.code].forEach(function (frame) {
    frame.addEventListener("click", function () {
      focus(form, frame);
    });
  });
  form.button.addEventListener("mousedown", function (event) {
    event.preventDefault();
  });
};

// Enter in a list chooses, and sends nothing.
var quiet = function (event) {
  var tag = event.target.tagName;
  if (event.key === "Enter" && (tag === "SELECT" || (tag === "INPUT" && isOn("disableSubmitOnEnter"))))
    event.preventDefault();
};

// A copy of our form that the page made: nothing in it is ours, and the browser would send it by itself.
var stray = function (event) {
  var copy = event.target;
  var isOurs = state.forms.some(function (form) {
    return form.form === copy;
  });
  if (isOurs || !nativeGet(copy, "classList").contains("wpwl-form")) return;
  event.preventDefault();
  nativeCall(copy, "append", message(word("failed")));
  raise("WidgetError", "the page has put a copy in the place of the form");
};
