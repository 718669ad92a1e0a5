// Finds the placeholder forms, puts ours in their place, hears the frames, and brings form and page part
// together. May run again at any time: for new forms, after unload(), or for another checkout.

var newState = function (start) {
  return bare({
    base: base,
    framesBase: framesBase,
    build: build,
    checkoutId: checkoutId,
    start: start,
    forms: [],
    // Forms of brands that were not offered when they were placed.
    away: [],
    nodes: [],
    // Messages of the frames that arrive before the page part hears them.
    inbox: [],
    live: false,
    // Frames that have spoken, each with the window that it spoke from.
    heard: new Map(),
    // What the page part asks of us, and what makes the other forms.
    options: options,
    notify: notify,
    raise: raise,
    allow: allow,
    leave: leave,
    challengeWindow: challengeWindow,
    offer: offer,
    word: word,
    end: end,
    instruct: instruct,
    restyle: restyle,
    reread: reread,
    withdrawn: withdrawn,
    findIn: findIn,
    // What makes the other forms says that it has.
    told: told,
    done: {},
    manner: manner,
    tools: {
      make: make,
      group: group,
      frame: frame,
      targetOf: targetOf,
      guard: guard,
      options: options,
      purpose: purpose,
      relay: relay,
      missing: missing,
      message: message,
      hidden: visuallyHidden,
      nativeGet: nativeGet,
      nativeSet: nativeSet,
      nativeCall: nativeCall,
      listen: listen,
    },
    moreWords: function (tag, words) {
      if (tag === state.tag) state.sayings = words;
    },
    words: function (tag, words) {
      if (tag === state.tag) state.language = words;
    },
  });
};

// Where a form has the frame of a field.
var fields = { "card.number": "number", "card.cvv": "code" };

// Frames speak from their own origin, and in this version of the protocol.
var receive = function (heard) {
  if (heard.origin !== framesOrigin || !heard.data) return;
  var data = bare(heard.data, 4);
  var event = { data: data, source: heard.source, origin: heard.origin };
  if (!data.tillgate) return;
  if (data.tillgate !== 1)
    return raise(
      "PciIframeCommunicationError",
      "a frame speaks version " + data.tillgate + " of the protocol, not 1",
    );
  var about = formOf(data);
  var sender = data.relay ? state.relay : about && about[fields[data.field]];
  var isOurs = sender && sender.contentWindow === event.source;
  if (isOurs) state.heard.set(sender, event.source);
  if (data.config) {
    publish(data.config);
    if (data.relay && isOurs && data.config.brands) followOffer(data.config.brands);
    // Stored cards are shown by what shows other brands.
    if (data.config.registrations === true) {
      state.stored = true;
      more(relay());
    }
    var offered = data.config.brands;
    if (offered && about && !about.stands)
      missing(
        about.brands.filter(function (brand) {
          return brand && !offered[brand];
        }),
      );
  }
  if (!state.live || (!state.receiveMore && data.type === "ready")) state.inbox.push(event);
  if (state.live) state.receive(event);
  if (state.receiveMore) state.receiveMore(event);
  hear(data);
  if (data.type !== "ready") return;
  watch();
  if (isOurs && about && !isOther(about)) arrive(about, sender, data.config);
};

// Frames of our origin that have not said a word. They are not asked for their windows: browsers would first make one for
// the empty document that a frame begins with, which takes longer than anything here.
var silent = function () {
  return state.forms
    .flatMap(function (form) {
      return form.ended ? [] : [form.number, form.code];
    })
    .concat(state.relay)
    .filter(function (element) {
      var window = state.heard.get(element);
      return element && element.isConnected && !(window && element.contentWindow === window);
    });
};

// How long a form may stay empty, in milliseconds, before the shopper is told.
var PATIENCE = 15000;

// A page that offers no card needs no page part.
var lacksPart = function () {
  return (
    !state.start &&
    state.forms.some(function (form) {
      return !isOther(form) && !form.ended;
    })
  );
};

// Loading goes on, whatever was said before: page part and frames may come late.
var watch = function () {
  clearTimeout(state.timer);
  state.forms.forEach(function (form) {
    if (form.message) form.message.remove();
    nativeSet(form.form, "hidden", !!form.ended || (nativeGet(form.form, "hidden") && !form.message));
    form.message = null;
  });
  if (!lacksPart() && !silent().length) return;
  state.timer = setTimeout(function () {
    if (silent().length) fail(new Error("a frame does not answer"), "PciIframeCommunicationError");
    else if (lacksPart() && state.coming) fail(new Error("the page part did not come"));
  }, PATIENCE);
};

// What is missing is asked for again.
var again = function () {
  state.forms.forEach(function (form) {
    wait(form.container, !!(form.message && form.waited && !form.up));
  });
  watch();
  silent().forEach(function (element) {
    // Chromium leaves a frame empty for ever that is shown while it loads again, so it is laid out before.
    element.getBoundingClientRect();
    element.src += "";
  });
  pagePart();
  if (wantsMore()) more();
};

// What is busy is not read aloud.
var wait = function (container, busy) {
  container.classList.toggle("wpwl-loading", busy);
  if (busy) container.setAttribute("aria-busy", "true");
  else container.removeAttribute("aria-busy");
};

// Says so in every form, with a button; what was typed stays.
var fail = function (error, name) {
  if (!isCurrent(state)) return;
  clearTimeout(state.timer);
  forget();
  state.forms.forEach(function (form) {
    if (form.ended) return;
    if (form.message) form.message.remove();
    var retry = make("button", "wpwl-button wpwl-button-retry", { type: "button" }, [word("retry")]);
    retry.onclick = again;
    form.message = message(word("failed"), [" ", retry]);
    // The form of another brand may not be made yet.
    if (form.form !== form.container) nativeSet(form.form, "hidden", true);
    form.waited = form.waited || form.container.classList.contains("wpwl-loading");
    wait(form.container, false);
    form.container.append(form.message);
  });
  raise(name || "WidgetError", String(error && error.message));
};

var dark = matchMedia("(prefers-color-scheme: dark)");

// A page that comes back from the browser's memory still shows what was under way.
var revive = function (event) {
  if (event.persisted && state.idle) state.idle();
};

var unload = function () {
  if (!isCurrent(state)) return;
  clearTimeout(state.timer);
  if (state.stop) state.stop();
  if (state.stopMore) state.stopMore();
  unlisten(window, "message", receive);
  unlisten(window, "submit", stray, true);
  unlisten(window, "pageshow", revive);
  dark.removeEventListener("change", restyled);
  state.forms.forEach(function (form) {
    clearTimeout(form.rest);
    nativeCall(form.form, "remove");
    form.container.remove();
  });
  state.away.forEach(function (form) {
    form.container.remove();
  });
  state.nodes.forEach(function (node) {
    node.remove();
  });
  if (state.relay) state.relay.remove();
  state.style = "";
  if (state.link) state.link.remove();
  undress();
  delete window.wpwl;
  if (external) window.__tillgate = { start: state.start };
  else delete window.__tillgate;
};

var find = function (ready) {
  var found = Array.from(nativeCall(document, "querySelectorAll", "form.paymentWidgets")).filter(function (form) {
    return ready || !nativeCall(form, "contains", own);
  });
  if (!state.forms.length && !found.length) {
    if (ready)
      raise("WidgetError", "there is no form.paymentWidgets; inside of another form, browsers leave it out");
    return;
  }
  // First what the form waits for. From far away the sheet is there before the frames are: styled while the page has time.
  dress(state);
  found.forEach(function (placeholder) {
    place(placeholder, found.length > 1);
  });
  var spoken = speak(state);
  if (found[0] && state.forms.some(isOther)) relay(true);
  if (wantsMore()) more();
  if (found.length) watch();
  if (ready)
    spoken.then(function () {
      state.ready = true;
      state.go();
    });
};

var begin = function () {
  find(false);
  var ready = function () {
    if (isCurrent(state)) find(true);
  };
  if (nativeGet(document, "readyState") === "loading") listen(document, "DOMContentLoaded", ready);
  else ready();
};

var state = globalOf("__tillgate");
if (state && state.checkoutId === checkoutId && state.build === build) {
  // Loaded twice: only forms that came since are of interest.
  state.look();
} else {
  if (state && state.unload) state.unload();
  var left = globalOf("__tillgate");
  state = window.__tillgate = newState(external && left ? left.start : undefined);
  // What the page part says when it does not start; it may be fetched again.
  state.fail = function (error) {
    state.coming = false;
    fail(error);
  };
  state.unload = unload;
  state.look = begin;
  state.go = function () {
    soon(function () {
      if (!state.ready || !isCurrent(state)) return;
      // Where no field of the card may be the page's, there is none before what puts them into frames.
      if (moreReady || !isOn("enableSAQACompliance"))
        state.forms.forEach(function (form) {
          if (!isOther(form)) fill(form);
        });
      // The merchant may have taken it all away.
      if (!isCurrent(state)) return;
      if (state.start) {
        state.start(state);
        soon(catchUp);
      }
      if (state.startMore && moreReady) state.startMore();
      watch();
    });
  };
  window.wpwl = wpwl();
  listen(window, "message", receive);
  listen(window, "submit", stray, true);
  listen(window, "pageshow", revive);
  dark.addEventListener("change", restyled);
  begin();
}
