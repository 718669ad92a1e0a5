// The hidden frame on our own origin that forms without a card number are told by and send by: a merchant's policy
// need not allow their page any connection to us.

const config = JSON.parse(document.getElementById("tillgate-config").textContent);
// A page may make its checkout only when the shopper pays.
const { resourcePath = "/payment" } = config.checkout || {};
const last = resourcePath.split("/").pop();
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

// A wallet's sheet, a frame of our origin too, leaves its token here; the page hears whether it did.
let token = "";
window.tillgate = {
  wallet(form, value) {
    token = value;
    say("wallet", { form, agreed: !!value });
  },
};

const calls = {
  submit({ fields, form, code, wallet, checkout }) {
    const body = browser(new URLSearchParams(fields));
    body.set("shopOrigin", peer);
    const digits = code && codeOf(form).digits();
    if (digits) body.set("card.cvv", digits);
    if (wallet) body.set("walletPay.paymentToken", token);
    token = "";
    return pay(checkout, last, body);
  },
  state: ({ checkout }) => request("GET", `${checkout}/state`),
  remove: ({ checkout, registration }) => request("DELETE", `${checkout}/registrations/${registration}`),
};

addEventListener("message", async ({ source, origin, data }) => {
  if (source !== parent || !data || data.tillgate !== 1 || !calls.hasOwnProperty(data.type)) return;
  if (origin !== "null") peer = origin;
  const { call } = data;
  try {
    say("answer", { call, ...(await calls[data.type](data)) });
  } catch (failure) {
    say("answer", { call, status: 0, body: "" });
  }
});
say("ready", { config });
