// Requests to the gateway that come to an end, whatever the network does, and the one that pays. A frame decides where
// it sends: it builds the addresses from ids of the gateway's own shape. The page learns the part of an answer that it
// acts by, and never the answer itself.

// Time to wait for an answer, in milliseconds: twice as long as the gateway waits for a request.
const TIMEOUT = 30000;
// The shapes of ids are those of server/crates/domain/src/id.rs.
function parseId(value, shape) {
  if (typeof value !== "string" || !shape.test(value)) throw new TypeError("this is no id of the gateway's");
  return value;
}
export const parseRegistration = (value) => parseId(value, /^[0-9a-f]{32}$/);

// Returns the checkout of the frame's document. If it has none, the page makes one when the shopper pays, and names it.
export function selectCheckout({ checkout, error }, named) {
  return parseId(checkout ? checkout.id : error ? "" : named, /^[0-9A-F]{32}\.[0-9a-z-]{1,15}$/);
}

// Returns the last part of a submit's address, which tells a checkout for tokenisation from others.
export const readPurpose = ({ checkout }) =>
  checkout && checkout.resourcePath.endsWith("/registration") ? "registration" : "payment";

// The fields that a page may send: names, and prefixes of names. The gateway checks by the same list.
const ALLOWED = "%FIELDS%".split(" ");

const isAllowed = (name) =>
  ALLOWED.some((entry) => (/[.[_]$/.test(entry) ? name.startsWith(entry) : name === entry));
// Names that every form sends, and that the frames set themselves.
const OWN = ["forceUtf8", "card.number", "card.cvv", "shopOrigin"];
// Schemes that run code or show local content, as in shared/src/format/url.rs. Others belong to apps.
const REFUSED = /^(javascript|data|file|vbscript|blob|about|view-source|filesystem):/i;
const isAddress = (value) => typeof value === "string" && /^[a-z][a-z\d+.-]*:\S/i.test(value) && !REFUSED.test(value);

// Lists the names of a page's fields that are not posted: a message for the developer, so only in a sandbox.
export function listIgnored(fields, { test }) {
  if (!test) return [];
  const names = [...new URLSearchParams(fields).keys()].filter((name) => !isAllowed(name) && !OWN.includes(name));
  return [...new Set(names)];
}

// Returns the fields to post: those of the page, those that 3-D Secure needs about the browser, and the origin of the
// page, whatever that page says. A frame sees the same browser as the page around it.
export function makeBody(fields, origin) {
  const body = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(fields)) {
    if (isAllowed(name) && (name !== "shopperResultUrl" || isAddress(value))) body.append(name, value);
  }
  const { width: screenWidth, height: screenHeight, colorDepth: screenColorDepth } = screen;
  // At most eight characters of a language tag, cut at a hyphen.
  const language = (navigator.language.match(/^.{1,8}(?=-|$)/) || [""])[0];
  const known = { userAgent: navigator.userAgent, language, timezone: new Date().getTimezoneOffset() };
  const browser = { ...known, screenWidth, screenHeight, screenColorDepth, javaEnabled: false };
  for (const name in browser) if (browser[name] !== "") body.set(`customer.browser.${name}`, browser[name]);
  body.set("shopOrigin", origin);
  return body;
}

const readText = (value) => (typeof value === "string" ? value : "");
const readList = (value) => (Array.isArray(value) ? value : []);

// Returns a page to go to. One without an address is the shop's own.
function readPage({ url, method, parameters, preconditions }) {
  return {
    url: isAddress(url) ? url : null,
    method: method === "POST" ? "POST" : "GET",
    parameters: readList(parameters).map(({ name, value }) => ({ name: readText(name), value: readText(value) })),
    preconditions: readList(preconditions).map(readPage).filter((page) => page.url),
  };
}

// Returns the part of an answer that the page learns. It has every name, so that the page's prototypes lend it none.
function summarizeAnswer(status, text) {
  let parsed; // Undefined if a server between us and the gateway wrote the text.
  try { parsed = JSON.parse(text); } catch (foreign) {}
  const { id, flow, advice, redirect, threeDSecure, saved, checkoutState, result, ignored } = parsed || {};
  const { description, parameterErrors } = result || {};
  return {
    status, id: readText(id), flow: readText(flow), advice: readText(advice), checkoutState: readText(checkoutState),
    redirect: redirect ? readPage(redirect) : null,
    threeDSecure: !!threeDSecure,
    saved: saved || null,
    description: readText(description),
    wrong: readList(parameterErrors).map(({ name }) => readText(name)),
    // A sandbox names what it ignored.
    ignored: readList(ignored).map(readText),
  };
}

// Returns the answer with status 0: the result is unknown.
export const lostAnswer = () => summarizeAnswer(0, "");

// Sends a request. Without a complete answer it returns the lost one.
export async function sendRequest(method, checkout, path, body) {
  const life = new AbortController();
  const timer = setTimeout(() => life.abort(), TIMEOUT);
  try {
    const answer = await fetch(`checkouts/${checkout}/${path}`, { method, body, signal: life.signal });
    return summarizeAnswer(answer.status, await answer.text());
  } catch (lost) { return lostAnswer(); } finally {
    clearTimeout(timer);
  }
}

// Pays. If the answer is lost, or a server between us and the gateway wrote it, the payment may have been made, so the
// gateway is asked for the checkout's state. If that is paid or about to be, the same is sent again: the gateway
// charges nobody twice and says where the shopper goes. An open checkout has not been charged. An expired one is gone.
// `left` are the names of fields that are not in the body.
export async function sendPayment(checkout, path, body, left) {
  const answer = await payOnce(checkout, path, body);
  return { ...answer, ignored: [...left, ...answer.ignored] };
}

async function payOnce(checkout, path, body) {
  const answer = await sendRequest("POST", checkout, path, body);
  const { status, wrong } = answer;
  const isLost = !status || status > 499;
  if (!isLost && (status !== 400 || wrong.length)) return answer;
  const { checkoutState } = await sendRequest("GET", checkout, "state");
  if (checkoutState === "EXPIRED") return { ...answer, status: 410 };
  if (!isLost || checkoutState === "OPEN") return { ...answer, status: status || 503 };
  const again = checkoutState ? await sendRequest("POST", checkout, path, body) : answer;
  return again.status > 499 ? lostAnswer() : again;
}
