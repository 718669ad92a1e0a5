// What the form needs besides its bones: the page part, a style sheet, a language.

const file = (path) => `${base}v1/static/${build}/${path}`;

const later = (time) => new Promise((done) => setTimeout(done, time));

// How long a file is waited for before it is asked for again; after the last it is lost.
const PAUSES = [500, 2000];

// Puts the element that `create` makes into the head; when its file does not come, another one, a little later.
const bring = async (state, create, put) => {
  for (let attempt = 0; ; attempt++) {
    const element = create();
    const came = await new Promise((done) => {
      element.onload = () => done(true);
      element.onerror = () => done(false);
      put(element);
    });
    if (came) return;
    element.remove();
    if (attempt === PAUSES.length) throw new Error(`${element.src || element.href} did not load`);
    await later(PAUSES[attempt]);
    // After unload() nothing comes any more.
    if (window.__tillgate !== state) return;
  }
};

// Where the page requires Trusted Types, the name of our policy must be in its list; addresses of ours alone pass. There
// is one for all loaders, as a second of the same name may be refused.
const POLICY = Symbol.for("tillgate");
const trusted = (url) => {
  const types = window.trustedTypes;
  if (!types) return url;
  const rule = (wanted) => {
    if (wanted.startsWith(`${base}v1/static/`)) return wanted;
    throw new TypeError(wanted);
  };
  try {
    types[POLICY] = types[POLICY] || types.createPolicy("tillgate", { createScriptURL: rule });
    return types[POLICY].createScriptURL(url);
  } catch (refused) {
    return url;
  }
};

// The hash of a file as an element's attributes: what does not match does not run.
const pinned = (hash) => ({ integrity: `sha256-${hash}`, crossorigin: "anonymous" });

const script = (state, path, attributes) =>
  bring(
    state,
    () => {
      const element = make("script", "", attributes);
      element.src = trusted(file(path));
      // Browsers put off asynchronous scripts of other sites until they have painted.
      element.async = false;
      state.nodes.push(element);
      return element;
    },
    (element) => document.head.append(element),
  );

// Whether the page's policy and its browser let wasm run. The eight bytes are an empty module; a policy that forbids it
// throws, and nothing is said on the console.
const runsWasm = () => {
  try {
    return !!new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  } catch (forbidden) {
    return false;
  }
};

// The page part, or the same in plain JavaScript where wasm cannot run.
const pagePart = (state) => {
  const wasm = runsWasm();
  state.coming = true;
  // The charset is in the answer: the module lies in the script byte by byte.
  const came = wasm
    ? script(state, "js/static.min.js", pinned("%PAGE%"))
    : script(state, "js/plain/static.min.js", pinned("%TWIN%"));
  came.catch(state.fail).then(() => (state.coming = false));
};

// The style sheet goes first in the head, so that a merchant's rules of equal weight win.
const dress = (state) => {
  const wanted = options().style || "card";
  const name = wanted === "none" || wanted === "plain" ? wanted : "card";
  if (state.style === name) return;
  state.style = name;
  if (state.link) state.link.remove();
  const bare = (sheets) => sheets.filter((sheet) => sheet !== state.sheet);
  const undress = () => {
    document.adoptedStyleSheets = bare(Array.from(document.adoptedStyleSheets));
  };
  if (name !== "card") undress();
  if (name === "none") return;
  if (name === "card" && !state.sheet) {
    // Until the sheet arrives, its measures alone: nothing may jump.
    try {
      state.sheet = new CSSStyleSheet();
      state.sheet.replaceSync("%SKELETON%");
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, state.sheet];
    } catch (old) {
      state.sheet = null;
    }
  }
  const sheet = () => (state.link = make("link", "", {
      rel: "stylesheet",
      href: file(`css/${name}.css`),
      ...pinned(name === "card" ? "%CARD%" : "%BARE%"),
    }));
  bring(state, sheet, (link) => document.head.prepend(link)).then(
    () => {
      if (state.sheet) undress();
      if (state.restyle) state.restyle();
    },
    // The measures stay: a bare form pays too.
    () => 0,
  );
};

// Each with its tag, what else merchants call it, and the hash of its file: "cs:cz:… da:dk:… de:…".
const languages = "%LOCALES%".split(" ").map((names) => names.split(":"));

// "de-AT" is served by "de" where it has no file of its own; what nobody knows is English. Of what is asked for, a language and
// a country are read: "de_DE.UTF-8" is none that a browser could be told.
const speak = (state) => {
  const [asked] = /^[a-z]+(-[a-z]{2}\b)?/i.exec(String(options().locale).replace(/_/g, "-")) || ["en"];
  const [language] = asked.toLowerCase().split("-");
  const known = (name) => languages.find((names) => names.includes(name));
  const names = known(asked.toLowerCase()) || known(language) || ["en"];
  const tag = names[0];
  if (state.tag === tag) return state.spoken;
  state.tag = tag;
  // Said of the form: screen readers and fonts go by it, so neither "dk" nor a language that is not there, nor a place that
  // reads traditional characters.
  state.locale = language === tag && !/zh-(tw|hk|mo)/i.test(asked) ? asked : tag;
  state.spoken = tag === "en" ? Promise.resolve() : script(state, `js/locale-${tag}.js`, pinned(names.at(-1))).catch(() => 0);
  return state.spoken;
};
