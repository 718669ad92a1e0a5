// Requests to the gateway that come to an end, whatever the network does, and the one that pays.

// How long an answer is waited for, in milliseconds: twice as long as the gateway waits for a request.
const PATIENCE = 30000;

// An answer's status and text. Without an answer, or without the whole of it, the status is 0: nobody knows what came of it.
const request = async (method, path, body) => {
  const life = new AbortController();
  const timer = setTimeout(() => life.abort(), PATIENCE);
  try {
    const answer = await fetch(`checkouts/${path}`, { method, body, signal: life.signal });
    return { status: answer.status, body: await answer.text() };
  } catch (lost) {
    return { status: 0, body: "" };
  } finally {
    clearTimeout(timer);
  }
};

// Pays. Where the answer is lost, or a server between us and the gateway gave it, the payment may have been made all the
// same, so the gateway is asked where the checkout stands. To one that is paid, or about to be, the same is sent again:
// the gateway charges nobody twice and says where the shopper goes. One that is open has not been charged. One that has
// expired is gone.
const pay = async (checkout, path, body) => {
  const send = () => request("POST", `${checkout}/${path}`, body);
  const answer = await send();
  const { status } = answer;
  const isLost = !status || status > 499;
  if (!isLost && (status !== 400 || answer.body.includes("parameterErrors"))) return answer;
  const { body: known } = await request("GET", `${checkout}/state`);
  const [, state] = known.match(/"checkoutState":"(\w+)"/) || [];
  if (state === "EXPIRED") return { status: 410, body: answer.body };
  if (!isLost || state === "OPEN") return { status: status || 503, body: answer.body };
  const again = state ? await send() : answer;
  return again.status > 499 ? { status: 0, body: "" } : again;
};
