// The merchant's callbacks: looked up when they are called, their promises awaited, their errors theirs.

// What merchants call on `this.$form` and `this.$iframe`: an object of their own jQuery, or the few of its
// words that the contract names.
var access = function (nodes, read, write) {
  return function (value) {
    if (value === undefined) return nodes[0] && read(nodes[0]);
    nodes.forEach(function (node) {
      write(node, value);
    });
    return nodes;
  };
};
var wrap = function (nodes) {
  var jQuery = globalOf("jQuery");
  if (jQuery) return jQuery(nodes);
  return Object.assign(nodes, {
    find: function (css) {
      return wrap(
        nodes.flatMap(function (node) {
          return Array.from(node.querySelectorAll(css));
        }),
      );
    },
    val: access(
      nodes,
      function (node) {
        return node.value;
      },
      function (node, value) {
        node.value = value;
      },
    ),
    height: access(
      nodes,
      function (node) {
        return node.clientHeight;
      },
      function (node, value) {
        node.style.height = value > 0 ? value + "px" : value;
      },
    ),
  });
};

// Calls `wpwlOptions[name]`. Its `this` is the options, with the form and the frame that it is about.
var notify = function (name, values, form, frame) {
  var given = givenOptions();
  var callback = given[name];
  if (typeof callback !== "function") return undefined;
  var self = Object.create(given);
  if (form) self.$form = wrap([form.form]);
  if (frame) self.$iframe = wrap([frame]);
  try {
    return callback.apply(self, frame ? [{ $iframe: self.$iframe }] : values);
  } catch (thrown) {
    // Shown in the merchant's console, outside our work.
    Promise.reject(thrown);
    return undefined;
  }
};

// One of the contract's names; a WidgetError says at what and with which brand.
var raise = function (name, message) {
  var current = state.current;
  // Asked for again, the page might make another, and both were paid.
  if (name === "PciIframeSubmitError") state.unsure = window.wpwl.checkout.id;
  var about =
    name === "WidgetError" ? { event: current ? "submit" : "load", brand: brandOf(current || state.forms[0]) } : {};
  notify("onError", [Object.assign(new Error(message), { name: name }, about)]);
};

var brandOf = function (form) {
  var control = form && findIn(form, '[name="paymentBrand"]');
  return (control && control.value) || (form && form.brands[0]);
};

// The loader came without a checkout: it is made now, unless nobody knows what became of the last.
var create = function (form, brand) {
  return new Promise(function (done) {
    done(state.unsure || givenOptions().createCheckout({ brand: brand }));
  })
    .then(function (id) {
      if (typeof id !== "string" || !/^[\w.-]+$/.test(id)) throw new Error("it gave no checkout id");
      window.wpwl.checkout.id = id;
      nativeSet(form.form, "action", base + "v1/checkouts/" + id + "/" + purpose);
      return id;
    })
    .catch(function (failure) {
      raise("WidgetError", "createCheckout: " + ((failure && failure.message) || failure));
      return "";
    });
};

// Whether a submit may go on: `false`, a broken promise and preventDefault() stop it. What comes out is the
// id of the checkout to pay, or nothing.
var allow = function (form, brand) {
  state.current = form;
  var kind = form.kind || "card";
  var name = "onBeforeSubmit" + (kind === "registration" ? "OneClickCard" : kind[0].toUpperCase() + kind.slice(1));
  var event = new Event("submit", { cancelable: true });
  Object.defineProperty(event, "target", bare({ value: form.form }));
  var ask = function (callback) {
    return Promise.resolve(notify(callback, [event], form)).then(function (said) {
      if (said === false || event.defaultPrevented) throw said;
    });
  };
  return ask(name)
    .then(function () {
      return ask(name + "Promise");
    })
    .then(
      function () {
        fit(form);
        return checkoutId || create(form, brand);
      },
      function () {
        return undefined;
      },
    );
};

var tell = function (form, frame, message) {
  var whole = Object.assign({ tillgate: 1, form: form.nonce }, message);
  if (frame.contentWindow) frame.contentWindow.postMessage(whole, framesOrigin);
};
