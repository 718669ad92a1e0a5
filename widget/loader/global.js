// The global `wpwl` that merchants know; the page part adds what only the configuration tells.

const wpwl = () => {
  const endpoint = base.slice(0, -1);
  return {
    apiVersion: "1",
    cacheVersion: build,
    endpoint,
    url: endpoint,
    minified: true,
    checkout: { id: checkoutId, endpoint, config: { customRedirectPageConfig: {} } },
    // "wpwl-container-card", or a list of classes joined by dots.
    executePayment(name) {
      const selector = `.${String(name).trim().replace(/^\.|\s+/g, ".").replace(/^\./, "")}`;
      const own = state.forms.find(({ container }) => container.matches(selector));
      const form = own ? own.form : document.querySelector(`${selector} form.wpwl-form`);
      if (!form) throw new Error(`wpwl.executePayment: there is no ${selector}`);
      form.requestSubmit();
    },
    unload,
  };
};
