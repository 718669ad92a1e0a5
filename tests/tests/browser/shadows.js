// The test's hands in a hostile page: what it needs of the document, without a look at what every object inherits.
(() => {
  const all = Document.prototype.querySelectorAll.bind(document);
  const one = (css) => all(css)[0];
  const fire = EventTarget.prototype.dispatchEvent;
  const type = (css, value) => {
    const input = one(css);
    input.value = value;
    fire.call(input, new Event("input", { bubbles: true }));
    fire.call(input, new Event("blur"));
  };
  window.hands = {
    ready: () => !!one(".wpwl-form-card .wpwl-live") && !!one(".wpwl-container-card:not([aria-busy])"),
    fill() {
      type(".wpwl-control-expiry", "05 / 34");
      type(".wpwl-control-cardHolder", "Jane Jones");
    },
    // What the form says, for a test that fails.
    said: () => [...all(".wpwl-message, .wpwl-hint, .wpwl-live, .wpwl-button-pay")].map((it) => `${it.className}: ${it.textContent}`),
    press: () => one(".wpwl-button-pay").click(),
    // The hosts of everything that the page has loaded: frames, scripts, sheets.
    hosts: () => [...new Set([...all("iframe[src], script[src], link[rel=stylesheet]")].map((it) => new URL(it.getAttribute(it.localName === "link" ? "href" : "src"), location.href).host))].sort(),
  };
})();
