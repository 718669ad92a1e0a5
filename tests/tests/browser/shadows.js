// The test's functions in a hostile page. They use no property that such a page can shadow or add to every object.
(() => {
  const all = Document.prototype.querySelectorAll.bind(document);
  // Without the length, an empty list has the page's own property 0.
  const one = (css) => (all(css).length ? all(css)[0] : undefined);
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
    // Returns true if markup shadows a function of the document, or a global that pages may have.
    isShadowed: () => document.createElement !== Document.prototype.createElement || typeof window.jQuery === "object",
    // Inserts inputs with these names into our form before its button, as merchants do. Returns the number of inputs
    // that shadow the form's property of their name.
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
    // Returns the form's messages, for a test that fails.
    said: () => [...all(".wpwl-message, .wpwl-hint, .wpwl-live, .wpwl-button-pay")].map((it) => `${it.className}: ${it.textContent}`),
    press: () => one(".wpwl-button-pay").click(),
    // Returns the hosts of all frames, scripts and style sheets in the page.
    hosts: () => [...new Set([...all("iframe[src], script[src], link[rel=stylesheet]")].map((it) => new URL(it.getAttribute(it.localName === "link" ? "href" : "src"), location.href).host).filter(Boolean))].sort(),
  };
})();
