// The hidden frame on our own origin that forms without a card number are told by and send by: a merchant's policy
// need not allow their page any connection to us.

const config = JSON.parse(document.getElementById("tillgate-config").textContent);
let peer = "*";
const say = (type, more) => parent.postMessage(Object.assign({ tillgate: 1, relay: 1, type }, more), peer);

// The frame with the code of a stored card: a sibling from our origin that belongs to the same form.
const codeOf = (form) => {
  for (let i = 0; i < parent.length; i++) {
    try {
      const other = parent.frames[i].tillgate;
      if (other.form === form && other.field === "card.cvv") return other;
    } catch (foreign) {
      // Another origin's frame.
    }
  }
  throw new Error("the code's frame is gone");
};

// A wallet's sheet, a page of the gateway's in a frame beside this one, sends its token here; the page hears whether it did.
let token = "";
const sheets = new URL(config.pages || location.href).origin;
addEventListener("message", ({ source, origin, data }) => {
  if (origin !== sheets || !source || source.parent !== parent || !data || data.tillgateWallet !== 1) return;
  token = String(data.token);
  say("wallet", { form: data.form, agreed: !!token });
});

const calls = {
  submit({ fields, form, code, wallet }, checkout) {
    const body = bodyOf(fields, peer);
    const digits = code && codeOf(form).digits();
    if (digits) body.set("card.cvv", digits);
    if (wallet) body.set("walletPay.paymentToken", token);
    token = "";
    return pay(checkout, purposeOf(config), body);
  },
  state: (message, checkout) => request("GET", checkout, "state"),
  // Of the registrations that the checkout offers.
  remove({ registration }, checkout) {
    const id = idOf(registration, REGISTRATION);
    if (!config.registrations.some((offered) => offered.id === id)) throw new Error("this registration is not offered");
    return request("DELETE", checkout, `registrations/${id}`);
  },
};

addEventListener("message", async ({ source, origin, data }) => {
  if (source !== parent || !data || data.tillgate !== 1 || !calls.hasOwnProperty(data.type)) return;
  if (origin !== "null") peer = origin;
  const { call } = data;
  try {
    say("answer", { call, answer: await calls[data.type](data, checkoutOf(config, data.checkout)) });
  } catch (failure) {
    say("answer", { call, answer: outline(0, "") });
  }
});
say("ready", { config });
