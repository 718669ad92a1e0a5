// The page on which a cardholder is authenticated. Where the issuer's method page runs, it goes on when that has loaded, or
// after ten seconds. Once all is done, it goes back to the shop, or tells the form around it that it is done, and no more.
// The key Escape is passed on to the form around this page.
addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && parent !== window) parent.postMessage({ tillgateKey: key }, "*");
});
// An issuer's page is in a frame of ours, and ends with a page of ours in that frame, which tells those around it.
function listen(step, end) {
  addEventListener("message", ({ origin, data }) => {
    if (origin === location.origin && data?.threeDSecureStep === step) end();
  });
}
const left = document.querySelector("#left");
if (left && parent === window) location.replace(left.href);
else if (left) {
  for (let frame = parent; ; frame = frame.parent) {
    frame.postMessage({ threeDSecureStep: left.dataset.step }, location.origin);
    if (frame === top) break;
  }
}
const issuer = document.querySelector("#issuer");
const next = document.querySelector("#next");
if (issuer && "auto" in issuer.dataset) issuer.submit();
if (next) listen("challenge", () => location.replace(next.href));
const on = document.querySelector("#on");
const back = document.querySelector("#back");
if (on) {
  const goOn = () => location.replace(on.href);
  const time = setTimeout(goOn, 10000);
  const method = document.querySelector("#method");
  const end = () => {
    clearTimeout(time);
    goOn();
  };
  // The page around an issuer's page has loaded before the issuer's page has run, which is told by a message.
  if ("foreign" in method.dataset) listen("method", end);
  else method.addEventListener("load", end);
} else if (back) {
  back.addEventListener("click", (event) => {
    event.preventDefault();
    const windows = { _self: self, _parent: parent, _top: top };
    try {
      windows[back.target].location.href = back.href;
    } catch {
      // A frame that may not navigate the window around it goes on itself.
      location.href = back.href;
    }
  });
  if ("auto" in back.dataset) back.click();
} else if (parent !== window && document.querySelector("#ended")) {
  parent.postMessage({ threeDSecure: "ended" }, "*");
}

// A passkey of this device is made and used at once, as the simulated issuer knows none. A shopper who refuses it, and a
// browser without passkeys, answers with a code.
const passkey = document.querySelector("#passkey");
const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
const encode = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

async function askPasskey({ create, get }) {
  const userVerification = "required";
  const { rawId, response: made } = await navigator.credentials.create({
    publicKey: {
      challenge: decode(create),
      rp: { name: "Simulated issuer" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: "cardholder", displayName: "Cardholder" },
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      authenticatorSelection: { userVerification, residentKey: "discouraged" },
    },
  });
  const allowCredentials = [{ type: "public-key", id: rawId }];
  const { response: used } = await navigator.credentials.get({
    publicKey: { challenge: decode(get), userVerification, allowCredentials },
  });
  return {
    publicKey: encode(made.getPublicKey()),
    created: encode(made.clientDataJSON),
    clientData: encode(used.clientDataJSON),
    authenticatorData: encode(used.authenticatorData),
    signature: encode(used.signature),
  };
}

if (passkey && globalThis.PublicKeyCredential) {
  const notice = document.querySelector("#code");
  notice.textContent = "";
  passkey.hidden = false;
  passkey.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      passkey.elements.passkey.value = JSON.stringify(await askPasskey(passkey.dataset));
      passkey.submit();
    } catch (error) {
      const isRefused = error.name === "NotAllowedError" || error.name === "AbortError";
      const reason = isRefused ? "The passkey was refused. Try again, or" : "No passkey can be used here. Please";
      notice.textContent = `${reason} answer with a code instead.`;
    }
  });
}
