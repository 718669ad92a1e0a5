// The global `wpwl` that merchants know; a frame brings what only the configuration tells.

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
      const selector = `.${name.trim().replace(/\s+/g, ".")}`;
      const form = state.forms.find(({ container }) => container.matches(selector));
      if (!form) throw new Error(`wpwl.executePayment: there is no ${selector}`);
      form.form.requestSubmit();
    },
    unload,
  };
};

const publish = ({ ndc, timestamp, test, checkout }) => {
  Object.assign(window.wpwl, { ndc, timestamp, isTestSystem: test });
  Object.assign(window.wpwl.checkout, checkout);
};
