// The global `wpwl` that merchants know; a frame brings what only the configuration tells.

var wpwl = function () {
  var endpoint = base.slice(0, -1);
  return {
    apiVersion: "1",
    cacheVersion: build,
    endpoint: endpoint,
    url: endpoint,
    minified: true,
    checkout: { id: checkoutId, endpoint: endpoint, config: { customRedirectPageConfig: {} } },
    // "wpwl-container-card", or a list of classes joined by dots.
    executePayment: function (name) {
      var selector = "." + name.trim().replace(/\s+/g, ".");
      var form = state.forms.find(function (form) {
        return form.container.matches(selector);
      });
      if (!form) throw new Error("wpwl.executePayment: there is no " + selector);
      nativeCall(form.form, "requestSubmit");
    },
    refresh: function () {
      state.reread();
    },
    unload: unload,
  };
};

var publish = function (config) {
  Object.assign(window.wpwl, { ndc: config.ndc, timestamp: config.timestamp, isTestSystem: config.test });
  Object.assign(window.wpwl.checkout, config.checkout);
};
