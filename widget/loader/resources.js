// What the form needs besides its bones: the page part, a style sheet, a language.

var file = function (path) {
  return base + "v1/static/" + build + "/" + path;
};

// How long a file is waited for before it is asked for again; after the last it is lost.
var PAUSES = [500, 2000];

// Puts the element that `create` makes into the head; when its file does not come, another one, a little later.
var bring = function (state, create, put, attempt) {
  var pause = PAUSES[attempt || 0];
  return new Promise(function (done, failed) {
    var element = create();
    element.onload = done;
    element.onerror = function () {
      element.remove();
      if (!pause) return failed(new Error((element.src || element.href) + " did not load"));
      setTimeout(function () {
        // After unload() nothing comes any more.
        if (isCurrent(state)) bring(state, create, put, (attempt || 0) + 1).then(done, failed);
        else done();
      }, pause);
    };
    put(element);
  });
};

// Where the page requires Trusted Types, the name of our policy must be in its list; addresses of ours alone pass. There
// is one for all loaders, as a second of the same name may be refused.
var POLICY = Symbol.for("tillgate");
var trusted = function (url) {
  var types = globalOf("trustedTypes");
  if (!types) return url;
  var rule = function (wanted) {
    if (wanted.startsWith(base + "v1/static/")) return wanted;
    throw new TypeError(wanted);
  };
  try {
    types[POLICY] = types[POLICY] || types.createPolicy("tillgate", bare({ createScriptURL: rule }));
    return types[POLICY].createScriptURL(url);
  } catch (refused) {
    return url;
  }
};

// The hash of a file as an element's attributes: what does not match does not run.
var pinned = function (hash) {
  return { integrity: "sha256-" + hash, crossorigin: "anonymous" };
};

var script = function (state, path, attributes) {
  return bring(
    state,
    function () {
      var element = make("script", "", attributes);
      element.src = trusted(file(path));
      // Browsers put off asynchronous scripts of other sites until they have painted.
      element.async = false;
      element.fetchPriority = "high";
      state.nodes.push(element);
      return element;
    },
    function (element) {
      nativeGet(document, "head").append(element);
    },
  );
};

// Whether the page's policy and its browser let wasm run. The eight bytes are an empty module; a policy that forbids it
// throws, and nothing is said on the console.
var runsWasm = function () {
  try {
    return !!new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  } catch (forbidden) {
    return false;
  }
};

// The page part, or the same in plain JavaScript where wasm cannot run: asked for once, unless it was lost, and by none that
// brings its own.
var pagePart = function () {
  if (external || !isCurrent(state) || state.coming || !lacksPart()) return;
  state.coming = true;
  watch();
  var came = runsWasm()
    ? script(state, "js/static.min.js", pinned("%PAGE%"))
    : script(state, "js/plain/static.min.js", pinned("%TWIN%"));
  came.catch(state.fail);
};

// The style sheet goes first in the head, so that a merchant's rules of equal weight win.
var dress = function (state) {
  var wanted = options().style || "card";
  var name = wanted === "none" || wanted === "plain" ? wanted : "card";
  if (state.style === name) return;
  state.style = name;
  if (state.link) state.link.remove();
  // Who brings all of the style leaves hidden what is hidden.
  if (name === "none") return adopt(".wpwl-container [hidden]{display:none}");
  // Until the sheet arrives, its measures alone: nothing may jump.
  adopt(name === "card" ? "%SKELETON%" : "");
  var sheet = function () {
    var attributes = { rel: "stylesheet", href: file("css/" + name + ".css") };
    return (state.link = make("link", "", Object.assign(attributes, pinned(name === "card" ? "%CARD%" : "%BARE%"))));
  };
  bring(state, sheet, function (link) {
    nativeGet(document, "head").prepend(link);
  }).then(
    function () {
      if (state.style === name) undress();
      state.restyle();
    },
    // The measures stay: a bare form pays too.
    Boolean,
  );
};

var sheetsOf = function () {
  return Array.from(nativeGet(document, "adoptedStyleSheets"));
};
var adoptSheets = function (sheets) {
  nativeSet(document, "adoptedStyleSheets", sheets);
};

// A few rules of ours without a file; browsers that cannot take them do without.
var adopt = function (rules) {
  undress();
  try {
    state.sheet = new CSSStyleSheet();
    state.sheet.replaceSync(rules);
    adoptSheets(sheetsOf().concat(state.sheet));
  } catch (old) {
    state.sheet = null;
  }
};

// Takes them away.
var undress = function () {
  if (state.sheet)
    adoptSheets(
      sheetsOf().filter(function (sheet) {
        return sheet !== state.sheet;
      }),
    );
};

// Each with its tag, what else merchants call it, and the hash of its file: "cs:cz:… da:dk:… de:…".
var languages = "%LOCALES%".split(" ").map(function (names) {
  return names.split(":");
});

// "de-AT" is served by "de" where it has no file of its own; what nobody knows is English. Of what is asked for, a language and
// a country are read: "de_DE.UTF-8" is none that a browser could be told.
var speak = function (state) {
  var asked = (/^[a-z]+(-[a-z]{2}\b)?/i.exec(String(options().locale).replace(/_/g, "-")) || ["en"])[0];
  var language = asked.toLowerCase().split("-")[0];
  var known = function (name) {
    return languages.find(function (names) {
      return names.includes(name);
    });
  };
  var names = known(asked.toLowerCase()) || known(language) || ["en"];
  var tag = names[0];
  if (state.tag === tag) return state.spoken;
  state.tag = tag;
  // Said of the form: screen readers and fonts go by it, so neither "dk" nor a language that is not there, nor a place that
  // reads traditional characters.
  state.locale = language === tag && !/zh-(tw|hk|mo)/i.test(asked) ? asked : tag;
  state.spoken =
    tag === "en" ? Promise.resolve() : script(state, "js/locale-" + tag + ".js", pinned(names.at(-1))).catch(Boolean);
  return state.spoken;
};
