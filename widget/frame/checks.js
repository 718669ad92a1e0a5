// Completes a frame once the shared checks are there: what is valid, which brands fit, and the one
// request that carries card data. `begin` starts the wasm.

const own = window.tillgate;
const isNumber = own.field === "card.number";
let checks;

// Puts a question to the checks and takes the answer; they keep nothing of it.
const ask = (value, brand, answer) => {
  const question = [value, brand || "", ...(own.options.brands || [])].join(" ");
  for (const character of question) checks.put(character.charCodeAt());
  try {
    return answer();
  } finally {
    checks.clear();
  }
};
const list = (next) => {
  const items = [];
  for (let item; (item = next(items.length)) > -1; ) items.push(item);
  return items;
};
const isNumberOf = (value, brand) => ask(value, brand, checks.number) === 2;
const isCodeOf = (value, brand) => ask(value, brand, checks.code);

const groups = (value) => ask(value, "", () => list((place) => checks.group(place) || -1));

// The first digits decide on the brand; how often they have changed says nothing of them.
let bin;
let bins = 0;

const judge = (value) => {
  const { brand, brands } = own.options;
  const first = value.slice(0, 6);
  if (first !== bin) bins++;
  bin = first;
  const told = { known: true, brand, bin: first[5] && bins };
  if (isNumber) {
    ask(value, brand, () => {
      const is = checks.number();
      told.complete = is > 0;
      told.valid = is > 1;
      told.brands = list(checks.fitting).map((place) => brands[place]);
    });
  } else {
    told.complete = told.valid = isCodeOf(value, brand);
    told.optional = ask("", brand, checks.optional);
  }
  return told;
};

// The frame with another field: of our origin, and of the same form.
const sibling = (field) => {
  for (let i = 0; i < parent.length; i++) {
    try {
      const other = parent.frames[i].tillgate;
      if (other.form === own.form && other.field === field) return other;
    } catch (foreign) {
      // Another origin's frame.
    }
  }
};

const submit = async (message) => {
  // The code's frame sends nothing.
  if (!isNumber) return;
  try {
    const checkout = checkoutOf(own.config, message.checkout);
    const other = sibling("card.cvv");
    if (message.code && !other) throw new Error("the code's frame is gone");
    const number = own.digits();
    const code = message.code ? other.digits() : "";
    const body = bodyOf(message.fields, own.peer);
    const brand = body.get("paymentBrand") || "";
    const wrong = [];
    if (!isNumberOf(number, brand)) wrong.push("card.number");
    const needed = message.codeRequired && !ask("", brand, checks.optional);
    if (code ? !isCodeOf(code, brand) : needed) wrong.push("card.cvv");
    if (wrong.length) return own.say("invalid", { wrong });
    body.set("card.number", number);
    // What else the merchant wants to have in frames.
    for (const field of ["card.holder", "card.expiry"]) {
      const other = sibling(field);
      if (other) other.post(body);
    }
    if (code) body.set("card.cvv", code);
    own.say("answer", { answer: await pay(checkout, purposeOf(own.config), body) });
  } catch (failure) {
    own.say("failed");
  }
};

// Takes what the browser filled in where the number is.
const fill = (value) => {
  if (own.input.value) return;
  own.input.value = value;
  own.refresh();
};

// Backspace behind a space, and delete before one, mean the digit beyond it.
own.input.addEventListener("beforeinput", ({ target, inputType }) => {
  const { selectionStart: at, selectionEnd, value } = target;
  if (at !== selectionEnd) return;
  if (inputType === "deleteContentBackward" && value[at - 1] === " ") target.setSelectionRange(at - 1, at - 1);
  if (inputType === "deleteContentForward" && value[at] === " ") target.setSelectionRange(at + 1, at + 1);
});
own.input.addEventListener("keydown", ({ key }) => key === "Escape" && own.say("escape"));

// Browsers fill in a card where the caret is, and in that document alone: fields that nobody sees take the
// rest of it. It goes to the field's own frame, on our origin; name and date, where they have none, are the page's.
const help = (token, field) => {
  const helper = document.createElement("input");
  helper.className = "helper";
  helper.tabIndex = -1;
  helper.autocomplete = `cc-${token}`;
  helper.setAttribute("aria-hidden", true);
  helper.addEventListener("input", () => {
    const { value } = helper;
    const other = sibling(field);
    if (other) other.fill(value);
    else if (field !== "card.cvv") own.say("autofill", { [field]: value });
    helper.value = "";
  });
  own.input.form.append(helper);
};
if (isNumber) {
  help("name", "card.holder");
  help("exp", "card.expiry");
  help("csc", "card.cvv");
}

begin().then((exports) => {
  checks = exports;
  Object.assign(own, { groups, judge, submit, dress, fill });
  own.refresh();
}, own.fail);
