// Passkeys: asks the gateway for a challenge, lets the browser answer it, and sends the answer. Forms that need this are
// hidden until it runs in a browser that has passkeys.
const decode = text =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), character => character.charCodeAt(0));
const encode = bytes =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

class Refusal extends Error {}

async function send(address, content) {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(content) });
  // The session has ended meanwhile.
  if (response.redirected) {
    location.assign(response.url);
    return new Promise(() => {});
  }
  const answer = await response.json();
  if (!response.ok) throw new Refusal(answer.message);
  return answer;
}

// The parsers of browsers for this form of options are newer than passkeys.
function readOptions({ publicKey }) {
  const list = entries => entries?.map(entry => ({ ...entry, id: decode(entry.id) }));
  const options = { ...publicKey, challenge: decode(publicKey.challenge) };
  if (publicKey.user) options.user = { ...publicKey.user, id: decode(publicKey.user.id) };
  if (publicKey.excludeCredentials) options.excludeCredentials = list(publicKey.excludeCredentials);
  if (publicKey.allowCredentials) options.allowCredentials = list(publicKey.allowCredentials);
  return { publicKey: options };
}

function writeAnswer({ id, rawId, type, response }) {
  const answer = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) answer[name] = encode(response[name]);
  }
  return { id, rawId: encode(rawId), type, response: answer, extensions: {} };
}

async function run(form) {
  const fields = Object.fromEntries(new FormData(form));
  const options = readOptions(await send(form.dataset.challenge, fields));
  const made = form.dataset.passkey === "create" ? navigator.credentials.create(options) : navigator.credentials.get(options);
  const answer = writeAnswer(await made);
  const { location: next } = await send(form.action, { answer, next: fields.next ?? "" });
  location.assign(next);
}

function describe(error, { cancelled, known, failed }) {
  if (error instanceof Refusal && error.message) return error.message;
  if (error.name === "NotAllowedError" || error.name === "AbortError") return cancelled;
  return error.name === "InvalidStateError" ? known : failed;
}

async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const button = form.querySelector("button");
  const message = form.querySelector("[role=alert]");
  button.disabled = true;
  message.textContent = "";
  try {
    await run(form);
  } catch (error) {
    message.textContent = describe(error, form.dataset);
    // A code works once.
    const code = form.elements.namedItem("code");
    if (code) code.value = "";
  }
  button.disabled = false;
}

if (globalThis.PublicKeyCredential) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.addEventListener("submit", submit);
    form.hidden = false;
  }
  for (const text of document.querySelectorAll("[data-without-passkeys]")) text.remove();
}
