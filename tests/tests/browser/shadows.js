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
    // Whether markup stands in the place of a function of the document, or of a global that pages may have.
    isShadowed: () => document.createElement !== Document.prototype.createElement || typeof window.jQuery === "object",
    // Puts inputs of these names into our form before its button, as merchants do. Returns how many of them shadow
    // what the form has under their names.
    inject(css, names) {
      const form = one(css);
      const inputs = names.map((name) => {
        const input = Document.prototype.createElement.call(document, "input");
        input.type = "hidden";
        input.name = name;
        input.value = "hostile";
        return input;
      });
      Element.prototype.before.apply(one(`${css} .wpwl-group-submit, ${css} .wpwl-group-brand`), inputs);
      return inputs.filter((input) => form[input.name] === input).length;
    },
    has: (css) => !!one(css),
    click: (css) => one(css).click(),
    // What the form says, for a test that fails.
    said: () => [...all(".wpwl-message, .wpwl-hint, .wpwl-live, .wpwl-button-pay")].map((it) => `${it.className}: ${it.textContent}`),
    press: () => one(".wpwl-button-pay").click(),
    // The hosts of everything that the page has loaded: frames, scripts, sheets.
    hosts: () => [...new Set([...all("iframe[src], script[src], link[rel=stylesheet]")].map((it) => new URL(it.getAttribute(it.localName === "link" ? "href" : "src"), location.href).host).filter(Boolean))].sort(),
  };
})();
