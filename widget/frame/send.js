// Requests to the gateway that come to an end, whatever the network does, and the one that pays. A frame decides by itself
// where it sends: addresses are built here, of ids that have the gateway's own shape. The page around it learns of an answer
// what it acts by, and never the answer itself.

// How long an answer is waited for, in milliseconds: twice as long as the gateway waits for a request.
const PATIENCE = 30000;

// The shapes of ids (server/src/domain/id.rs).
const CHECKOUT = /^[0-9A-F]{32}\.[0-9a-z-]{1,15}$/;
const REGISTRATION = /^[0-9a-f]{32}$/;
const idOf = (value, shape) => {
  if (typeof value !== "string" || !shape.test(value)) throw new TypeError("this is no id of the gateway's");
  return value;
};

// The checkout of the frame's own document. A page that makes its checkout when the shopper pays names it then.
const checkoutOf = ({ checkout, error }, named) => idOf(checkout ? checkout.id : error ? "" : named, CHECKOUT);
// A tokenisation checkout ends on another word.
const purposeOf = ({ checkout }) => (checkout && checkout.resourcePath.endsWith("/registration") ? "registration" : "payment");

// The fields that a page may send: names, and beginnings of names. The gateway judges by the same list.
const ALLOWED = "%FIELDS%".split(" ");
const isAllowed = (name) =>
  ALLOWED.some((entry) => (/[.[_]$/.test(entry) ? name.startsWith(entry) : name === entry));

const isWeb = (address) => typeof address === "string" && /^https?:\/\//i.test(address);

// The posted fields: the page's, what 3D authentication wants to know of the browser, and the page that the frame is in,
// whatever that page says of itself.
const bodyOf = (fields, origin) => {
  const body = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(fields)) {
    if (isAllowed(name) && (name !== "shopperResultUrl" || isWeb(value))) body.append(name, value);
  }
  browser(body).set("shopOrigin", origin);
  return body;
};

const textOf = (value) => (typeof value === "string" ? value : "");
const listOf = (value) => (Array.isArray(value) ? value : []);

// A page to go to. One without an address is the shop's own.
const pageOf = (redirect) => {
  const { url, method, parameters, preconditions } = redirect;
  return {
    url: isWeb(url) ? url : null,
    method: method === "POST" ? "POST" : "GET",
    parameters: listOf(parameters).map(({ name, value }) => ({ name: textOf(name), value: textOf(value) })),
    preconditions: listOf(preconditions).map(pageOf).filter((page) => page.url),
  };
};

// The part of an answer that the page learns. Every name is there, so that a page's prototypes cannot lend it one.
const outline = (status, body) => {
  let parsed;
  try {
    parsed = JSON.parse(body);
  } catch (foreign) {
    // A server between us and the gateway gave it.
  }
  const { id, flow, redirect, threeDSecure, saved, checkoutState, result } = parsed || {};
  const { description, parameterErrors } = result || {};
  return {
    status,
    id: textOf(id),
    flow: textOf(flow),
    redirect: redirect ? pageOf(redirect) : null,
    threeDSecure: !!threeDSecure,
    saved: saved || null,
    checkoutState: textOf(checkoutState),
    description: textOf(description),
    // The names of wrong parameters.
    wrong: listOf(parameterErrors).map(({ name }) => textOf(name)),
  };
};

// Without an answer, or without the whole of it, the status is 0: nobody knows what came of it.
const request = async (method, checkout, path, body) => {
  const life = new AbortController();
  const timer = setTimeout(() => life.abort(), PATIENCE);
  try {
    const answer = await fetch(`checkouts/${checkout}/${path}`, { method, body, signal: life.signal });
    return outline(answer.status, await answer.text());
  } catch (lost) {
    return outline(0, "");
  } finally {
    clearTimeout(timer);
  }
};

// Pays. Where the answer is lost, or a server between us and the gateway gave it, the payment may have been made all the
// same, so the gateway is asked where the checkout stands. To one that is paid, or about to be, the same is sent again:
// the gateway charges nobody twice and says where the shopper goes. One that is open has not been charged. One that has
// expired is gone.
const pay = async (checkout, path, body) => {
  const send = () => request("POST", checkout, path, body);
  const answer = await send();
  const { status, wrong } = answer;
  const isLost = !status || status > 499;
  if (!isLost && (status !== 400 || wrong.length)) return answer;
  const { checkoutState } = await request("GET", checkout, "state");
  if (checkoutState === "EXPIRED") return { ...answer, status: 410 };
  if (!isLost || checkoutState === "OPEN") return { ...answer, status: status || 503 };
  const again = checkoutState ? await send() : answer;
  return again.status > 499 ? outline(0, "") : again;
};
