// The test's hands in a page whose names are all taken: what it needs of the document, as it was before the markup came.
(() => {
  const getter = (owner, name) => Object.getOwnPropertyDescriptor(owner, name).get;
  const all = Document.prototype.querySelectorAll.bind(document);
  const one = (css) => all(css)[0];
  const fire = EventTarget.prototype.dispatchEvent;
  const append = Element.prototype.append;
  const body = getter(Document.prototype, "body").bind(document);
  const isConnected = getter(Node.prototype, "isConnected");
  let hostile = [];
  const type = (css, value) => {
    const input = one(css);
    input.value = value;
    fire.call(input, new Event("input", { bubbles: true }));
    fire.call(input, new Event("blur"));
  };
  window.hands = {
    ready: () => !!one(".wpwl-form-card .wpwl-live") && !!one(".wpwl-container-card:not([aria-busy])"),
    // Takes the hostile markup away and puts it back, for WebDriver itself does not work among it.
    lift() {
      hostile = [...all(".hostile")];
      for (const node of hostile) Element.prototype.remove.call(node);
    },
    restore: () => append.apply(body(), hostile),
    // Whether a name is taken: what the document gives under it comes from the markup.
    isTaken: (name) => document[name] instanceof Element || typeof document[name] === "object",
    fill() {
      type(".wpwl-control-expiry", "05 / 34");
      type(".wpwl-control-cardHolder", "Jane Jones");
    },
    // Inputs that a merchant's script adds to our form.
    inject(names) {
      const form = one("form.wpwl-form-card");
      const make = Document.prototype.createElement;
      const inputs = names.map((name) => {
        const input = make.call(document, "input");
        input.type = "hidden";
        input.name = name;
        input.value = "hostile";
        return input;
      });
      append.apply(form, inputs);
      return inputs.every((input) => isConnected.call(input));
    },
    // What the form says, for a test that fails.
    said: () => [...all(".wpwl-message, .wpwl-hint, .wpwl-live, .wpwl-button-pay")].map((it) => `${it.className}: ${it.textContent}`),
    press: () => one(".wpwl-button-pay").click(),
    // The hosts of everything that the page has loaded: frames, scripts, sheets.
    hosts: () => [...new Set([...all("iframe[src], script[src], link[rel=stylesheet]")].map((it) => new URL(it.getAttribute(it.localName === "link" ? "href" : "src"), location.href).host))].sort(),
  };
})();
