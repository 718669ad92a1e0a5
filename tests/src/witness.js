// A witness in every page of a test, there before the page's own scripts. It writes down what a merchant could see or
// could be harmed by: messages that arrive, everything that leaves, policy violations, errors. What it saw survives the
// way to the next page of the same site.
(() => {
  if (window !== window.top || window.witness) return;
  const key = "witness";
  let seen = [];
  try { seen = JSON.parse(sessionStorage.getItem(key) || "[]"); } catch { /* a page without storage */ }

  // Anything as searchable text; bytes as the letters they stand for.
  function text(value, depth = 0) {
    if (depth > 8) return "…";
    if (value === null || typeof value !== "object") return String(value);
    if (value instanceof ArrayBuffer) return text(new Uint8Array(value), depth + 1);
    if (ArrayBuffer.isView(value)) return Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), (b) => String.fromCharCode(b)).join("");
    if (value instanceof URLSearchParams) return value.toString();
    if (value instanceof FormData || value instanceof Map) return [...value].map(([k, v]) => `${text(k, depth + 1)}=${text(v, depth + 1)}`).join("&");
    if (value instanceof MessagePort) return "[port]";
    if (value instanceof Node) return value.nodeName;
    return Object.entries(value).map(([k, v]) => `${k}: ${text(v, depth + 1)}`).join("; ");
  }

  function note(kind, detail) {
    seen.push({ kind, detail: text(detail) });
    try { sessionStorage.setItem(key, JSON.stringify(seen)); } catch { /* a page without storage */ }
  }

  window.witness = {
    note,
    all: () => seen,
    // Everything in the document as text: markup, and what stands in its controls now.
    dom: () => document.documentElement.outerHTML + [...document.querySelectorAll("input,select,textarea")].map((it) => `\n${it.name}=${it.value}`).join(""),
  };
  note("loaded", location.href);

  addEventListener("error", (event) => note("error", event.message || `${event.target.nodeName} ${event.target.src || ""}`), true);
  addEventListener("unhandledrejection", (event) => note("error", event.reason));
  addEventListener("securitypolicyviolation", (event) => note("violation", `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`), true);

  // Messages: whoever reads one, on whatever port, the witness reads it too.
  const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
  Object.defineProperty(MessageEvent.prototype, "data", {
    ...data,
    get() {
      const value = data.get.call(this);
      note("message", value);
      return value;
    },
  });
  addEventListener("message", (event) => void event.data, true);

  function wrap(owner, name, kind, describe) {
    const original = owner[name];
    owner[name] = function (...parts) {
      note(kind, describe.call(this, ...parts));
      return original.apply(this, parts);
    };
  }
  wrap(MessagePort.prototype, "postMessage", "posted", (value) => value);
  wrap(window, "fetch", "sent", (address, options) => [address.url || address, options && options.body]);
  wrap(XMLHttpRequest.prototype, "open", "sent", (method, address) => address);
  wrap(XMLHttpRequest.prototype, "send", "sent", (body) => body);
  wrap(navigator, "sendBeacon", "sent", (address, body) => [address, body]);
  wrap(HTMLFormElement.prototype, "submit", "sent", function () { return [this.action, new FormData(this)]; });
  wrap(HTMLFormElement.prototype, "requestSubmit", "sent", function () { return [this.action, new FormData(this)]; });
  addEventListener("submit", (event) => note("submit", [event.target.action, new FormData(event.target)]), true);
  window.WebSocket = class extends WebSocket {
    constructor(...parts) { note("sent", parts); super(...parts); }
    send(value) { note("sent", value); super.send(value); }
  };
})();
