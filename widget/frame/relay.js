// The hidden frame on our own origin that configures and sends the forms without a card number: a merchant's policy
// need not allow their page any connection to us.

import { config } from "./config.js";
import { listIgnored, lostAnswer, makeBody, parseRegistration, readPurpose, selectCheckout } from "./send.js";
import { sendPayment, sendRequest } from "./send.js";
import { addCode } from "./sibling.js";

let target = "*";
const sendToPage = (type, more) => parent.postMessage({ tillgate: "%WIRE%", relay: 1, type, ...more }, target);
// A wallet's sheet, a page of ours in a frame beside this one, sends its token here, with the checkout in its document.
// The page learns only that it did. The token pays that checkout and no other, because the page chooses who pays.
let token = "", tokenCheckout;
const sheetOrigin = new URL(config.pages || location.href).origin;
addEventListener("message", ({ source, origin, data }) => {
  if (origin !== sheetOrigin || !source || source.parent !== parent || !data || data.tillgateWallet !== 1) return;
  if (data.token && config.checkout && config.checkout.id !== data.checkout) return;
  [token, tokenCheckout] = [String(data.token), data.checkout];
  sendToPage("wallet", { form: data.form, agreed: !!token });
});

const handlers = {
  submit({ fields, form, code, wallet }, checkout) {
    const body = makeBody(fields, target);
    if (code) addCode(form, body);
    if (wallet && tokenCheckout === checkout) body.set("walletPay.paymentToken", token);
    token = "";
    return sendPayment(checkout, readPurpose(config), body, listIgnored(fields, config));
  },
  state: (message, checkout) => sendRequest("GET", checkout, "state"),
  // Deletes one of the registrations that the checkout offers.
  remove({ registration }, checkout) {
    const id = parseRegistration(registration);
    if (!config.registrations.some((offered) => offered.id === id)) throw new Error("this registration is not offered");
    return sendRequest("DELETE", checkout, `registrations/${id}`);
  },
};

addEventListener("message", async ({ source, origin, data }) => {
  if (source !== parent || !data || data.tillgate !== "%WIRE%" || !handlers.hasOwnProperty(data.type)) return;
  if (origin !== "null") target = origin;
  const work = async () => handlers[data.type](data, selectCheckout(config, data.checkout));
  sendToPage("answer", { call: data.call, answer: await work().catch(lostAnswer) });
});
sendToPage("ready", { config });
