// Completes a frame once the shared checks are there: what is valid, which brands fit, and the one
// request that carries card data. `glue` starts the wasm.

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

const judge = (value) => {
  const { brand, brands } = own.options;
  const told = { known: true };
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

// The frame with the code: a sibling from our origin that belongs to the same form.
const sibling = () => {
  for (let i = 0; i < parent.length; i++) {
    try {
      const other = parent.frames[i].tillgate;
      if (other.form === own.form && other.field === "card.cvv") return other;
    } catch (foreign) {
      // Another origin's frame.
    }
  }
};

const submit = async (message) => {
  try {
    const other = sibling();
    if (message.code && !other) throw new Error("the code's frame is gone");
    const number = own.digits();
    const code = message.code ? other.digits() : "";
    const body = new URLSearchParams(message.fields);
    const brand = body.get("paymentBrand") || "";
    const wrong = [];
    if (!isNumberOf(number, brand)) wrong.push("card.number");
    const needed = message.codeRequired && !ask("", brand, checks.optional);
    if (code ? !isCodeOf(code, brand) : needed) wrong.push("card.cvv");
    if (wrong.length) return own.say("invalid", { wrong });
    body.set("card.number", number);
    if (code) body.set("card.cvv", code);
    const answer = await fetch(`checkouts/${own.config.checkout.id}/payment`, { method: "POST", body });
    own.say("answer", { status: answer.status, body: await answer.text() });
  } catch (failure) {
    own.say("failed");
  }
};

glue(own.module).then((exports) => {
  checks = exports;
  Object.assign(own, { groups, judge, submit });
  own.refresh();
}, own.fail);
