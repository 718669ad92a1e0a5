// Files that the form needs: the page module, a style sheet, a language.

import { copyBare, globalOf, make, nativeGet, nativeSet, readMember } from "./native.js";
import { readOption } from "./options.js";
import { base, BUILD } from "./script.js";

// Pauses after which a file is asked for again, in milliseconds. After the last it is lost.
var PAUSES = [500, 2000];
var folder = base + "v1/static/" + BUILD + "/";
// Elements and rules that were put into the page.
var elements = [], adopted = null;
// The measures until the style sheet arrives, the wanted ground, and the look of the checkout's channel.
var measures = "", theme = "", look = "";
// Text and ground of the themes that do not follow the page. The page module reads the colour of the text.
var THEMES = copyBare({ light: "color:#1d2433;background:#fff", dark: "color:#eceff6;background:#171a21" });
var styleName = "", styleLink = null;
var hasChoice = false, hasLaterStyle = false, isEnded = false;

// Puts an element into the head: with `append` at its end, with `prepend` at its beginning, and with `after` behind the
// sheet of the style. If its file does not come, another one follows a little later.
function loadElement(create, place, attempt) {
  var pause = PAUSES[attempt];
  return new Promise(function (done, failed) {
    var element = create();
    elements.push(element);
    // Not with the event: a page may give every object `then`, and a promise would wait for it.
    element.onload = function () { done(); };
    element.onerror = function () {
      element.remove();
      if (!pause) return failed(new Error((element.src || element.href) + " did not load"));
      setTimeout(function () {
        // After unload() nothing comes any more.
        if (isEnded) done();
        else loadElement(create, place, attempt + 1).then(done, failed);
      }, pause);
    };
    // Frameworks that replace the head take sheets away.
    if (place === "after" && styleLink && nativeGet(styleLink, "isConnected")) styleLink.after(element);
    else nativeGet(document, "head")[place === "append" ? place : "prepend"](element);
  });
}

// Returns an address that Trusted Types accept. A page that requires them must list the name of our policy, which
// passes only our addresses. All loaders share one policy, because a second of the same name may be refused.
function trustAddress(url) {
  var types = globalOf("trustedTypes");
  if (!types) return url;
  var key = Symbol.for("tillgate");
  try {
    types[key] = types[key] || types.createPolicy("tillgate", copyBare({ createScriptURL: checkAddress }));
    return types[key].createScriptURL(url);
  } catch (refused) { return url; }
}

function checkAddress(wanted) {
  if (wanted.startsWith(base + "v1/static/")) return wanted;
  throw new TypeError(wanted);
}

// Makes an element for a file with this hash. A file that does not match does not run.
function makePinned(tag, hash) { return make(tag, "", { integrity: "sha256-" + hash, crossorigin: "anonymous" }); }

export function loadScript(path, hash) {
  return loadElement(function () {
    var element = makePinned("script", hash);
    element.src = trustAddress(folder + path);
    // Browsers put off asynchronous scripts of other sites until they have painted.
    element.async = false;
    element.setAttribute("fetchpriority", "high");
    return element;
  }, "append", 0);
}

// Loads the page module, or the same in plain JavaScript where policy or browser do not let wasm run.
export function loadPageModule() {
  var empty = null; // A policy that forbids wasm throws, and writes nothing on the console.
  try { empty = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); } catch (forbidden) {}
  return empty ? loadScript("js/static.min.js", "%PAGE%") : loadScript("js/plain/static.min.js", "%TWIN%");
}

// Loads the wanted style sheet, and puts the forms on the wanted ground.
export function loadStyle(wanted, ground, whenLoaded) {
  var name = wanted === "none" || wanted === "plain" ? wanted : "card";
  var colors = name === "none" ? "" : THEMES[ground];
  var rest = "){padding:1rem;border-radius:.75rem}:where(.wpwl-container,.wpwl-method,.wpwl-tabs){" + colors + "}";
  theme = colors ? ":where(.wpwl-container" + rest : "";
  if (styleName === name) return adoptRules(measures);
  styleName = name;
  if (styleLink) styleLink.remove();
  // The merchant brings all of the style, except that hidden parts stay hidden.
  if (name === "none") return adoptRules(".wpwl-container [hidden]{display:none}");
  // Until the sheet arrives, its measures alone: nothing may jump.
  adoptRules(name === "card" ? "%SKELETON%" : "");
  loadSheet(name, name === "card" ? "%CARD%" : "%BARE%", "prepend", function (link) { styleLink = link; }).then(function () {
    if (styleName === name) adoptRules("");
    whenLoaded();
    // If it does not come, the measures stay: a bare form pays too.
  }, Boolean);
}

// Loads the script that shows several ways to pay as one choice, and its sheet. Without them their forms stand below
// each other.
export function loadChoice() {
  if (hasChoice) return;
  hasChoice = true;
  loadScript("js/choice.js", "%CHOICE%").catch(Boolean);
  if (styleName !== "none") loadSheet("choice", "%CHOICE_STYLE%", "prepend").catch(Boolean);
}

// Scripts that only pages with the option of this name load, by their hashes. Without them the form does without.
var EXTRAS = copyBare({ fonts: "%FONTS%", focusNextField: "%NEXT%" });
export function loadExtras() {
  Object.keys(EXTRAS).filter(readOption).forEach(function (name) {
    loadScript("js/" + name + ".js", EXTRAS[name]).catch(Boolean);
    delete EXTRAS[name];
  });
}

// Loads a style sheet. It comes before all others in the head, so that rules of the merchant with equal weight win.
function loadSheet(name, hash, place, note) {
  return loadElement(function () {
    var link = makePinned("link", hash);
    if (note) note(link);
    link.rel = "stylesheet";
    link.href = folder + "css/" + name + ".css";
    return link;
  }, place, 0);
}

// Loads the rules for what a form of cards does not show at once. They weigh as much as those of the style, and follow
// them.
function loadLaterStyle() {
  // Without a style yet, the next call loads them.
  if (hasLaterStyle || !styleName || styleName === "none") return null;
  hasLaterStyle = true;
  return loadSheet("later", "%LATER_STYLE%", "after").catch(Boolean);
}

// Faults of which the console is not told yet. The script that explains them takes what is pushed once it has come.
export var faults = [];
// True once that script is on its way.
var hasFault = false;
// Explains a fault to developer and shopper. If that script is kept away, too, the console names its file.
export function explain(fault) {
  faults.push(fault);
  if (!hasFault) loadScript("js/fault.js", "%FAULT%").catch(function (lost) { console.warn("Tillgate: " + lost.message); });
  hasFault = true;
}

// True once the sheet of marks is on its way.
var hasMarks = false;
// Shows the mark of a brand. The sheets of the styles have those of a few brands, and one sheet has all others.
export function showMark(brand) {
  if (hasMarks || styleName === "none" || "%MARKED%".split(" ").includes(brand)) return;
  hasMarks = true;
  // If it does not come, there are names, as forms without a style sheet have them.
  loadSheet("marks", "%MARKS%", "prepend").catch(Boolean);
}

// Takes the look of the checkout's channel, as rules that weigh nothing: the page's own win.
export function takeLook(rules) {
  if (!rules) return;
  look = rules;
  adoptRules(measures);
}

// Replaces the few rules that come without a file. Browsers that cannot take them do without.
function adoptRules(wanted) {
  measures = wanted;
  var rules = wanted + theme + look;
  if (!rules && !adopted) return;
  try {
    var known = Array.from(nativeGet(document, "adoptedStyleSheets"));
    var others = known.filter(function (sheet) { return sheet !== adopted; });
    adopted = rules ? new CSSStyleSheet() : null;
    if (rules) adopted.replaceSync(rules);
    nativeSet(document, "adoptedStyleSheets", others.concat(adopted || []));
  } catch (old) { adopted = null; }
}

// English is part of this script, as far as a form of cards says it at once. The texts of another language are a script
// of their own, beside the page module. What every language says later is in a further script.
var ENGLISH = "%ENGLISH%";
// Each with its tag, other names that merchants use, and the hash of its file: "cs:cz:… da:dk:… de:…".
var LANGUAGES = "%LOCALES%";
var current = { tag: "", locale: "en", laterHash: "" };
// The texts, as far as they have come: those of the language, and English ones in the place of others.
var texts = copyBare(ENGLISH);
// Promises of the texts. As properties of the object they would be set after the object is made, through a setter that
// the page may give every object.
var loaded = null, laterLoaded = null, partsLoaded = null, debitLoaded = null;

// Takes texts of a language, unless another one was asked for meanwhile. Called by the language's scripts, the first of
// which names the hash of the second.
export function takeTexts(tag, more, laterHash) {
  if (tag === current.tag) {
    Object.assign(texts, more);
    current.laterHash = laterHash || current.laterHash;
  } else if (tag === "en") texts = Object.assign(copyBare(more), texts);
}
export function readTexts() { return texts; }
export function readLocale() { return current.locale; }
// Marks a form as one in the language of its texts, which may not be that of the page, and in their direction if they run
// from the right: others follow the page, whose own words may. Its container is marked, because messages and challenges
// stand outside of the form, and once, because a form keeps its language.
export function markLanguage(form) {
  if (form.container.lang) return;
  form.container.lang = current.locale;
  if (texts.dir) form.container.dir = texts.dir;
}

// Loads the texts of a locale. "de-AT" is served by "de" if it has no file of its own, and an unknown language by
// English. A language and a country are read of what is asked for: browsers do not know "de_DE.UTF-8".
export function loadLanguage(wanted) {
  var asked = (/^[a-z]+(-[a-z]{2}\b)?/i.exec(wanted.replace(/_/g, "-")) || ["en"])[0];
  var language = asked.toLowerCase().split("-")[0];
  var known = LANGUAGES.split(" ").map(function (names) { return names.split(":"); });
  var find = function (name) { return known.find(function (names) { return names.includes(name); }); };
  var names = find(asked.toLowerCase()) || find(language) || ["en"];
  var tag = names[0];
  if (current.tag === tag) return loaded;
  // Screen readers and fonts go by the locale: it is no alias, no missing language, no place with other characters.
  current = { tag: tag, locale: language === tag && !/zh-(tw|hk|mo)/i.test(asked) ? asked : tag, laterHash: "" };
  texts = copyBare(ENGLISH);
  laterLoaded = null;
  loaded = Promise.resolve(tag !== "en" && loadScript("js/locale-" + tag + ".js", names.at(-1)).catch(Boolean));
  return loaded;
}

// Loads the texts that a form of cards does not say at once, in English if the language's own script is lost, and the
// rules of style for what it does not show at once, with the script of later parts. Returns a promise of all, which is
// kept also if they are lost.
export function loadLaterParts() {
  var sheet = loadLaterStyle();
  partsLoaded = partsLoaded || loadScript("js/parts.js", "%PARTS%").catch(Boolean);
  laterLoaded = laterLoaded || loaded.then(function () {
    var tag = current.laterHash ? current.tag : "en";
    return loadScript("js/later-" + tag + ".js", current.laterHash || "%LATER%").catch(Boolean);
  }).then(function () { return sheet; }).then(function () { return partsLoaded; });
  return laterLoaded;
}

// Loads the script that completes forms of direct debits, once. The later texts name its hash, with which pages of cards
// have nothing to do.
export function loadDebit() {
  var hash = readMember(texts, "debitScript");
  debitLoaded = debitLoaded || hash && loadScript("js/debit.js", hash).catch(Boolean);
  return debitLoaded;
}

// Removes everything that was put into the page. Nothing comes any more.
export function removeFiles() {
  isEnded = true;
  theme = look = "";
  adoptRules("");
  elements.forEach(function (element) { element.remove(); });
}
