// The language of the page: its texts are a script, which comes beside the page module. English is part of this script.

import { loadScript } from "./files.js";

export var ENGLISH = "%ENGLISH%";

// Each with its tag, what else merchants call it, and the hash of its file: "cs:cz:… da:dk:… de:…".
var LANGUAGES = "%LOCALES%";

var current = { tag: "", locale: "en", texts: undefined, loaded: null };

// Takes the texts of a language, unless another one was asked for meanwhile. Called by the language's script.
export function takeTexts(tag, texts) {
  if (tag === current.tag) current.texts = texts;
}

export function readLanguage() {
  return current.texts;
}

export function readLocale() {
  return current.locale;
}

// Returns a text that is needed although the page module is missing.
export function textOf(key) {
  return (current.texts && current.texts[key]) || ENGLISH[key];
}

// Loads the texts of a locale. "de-AT" is served by "de" if it has no file of its own, and an unknown language by English. Of
// what is asked for, a language and a country are read: browsers do not know "de_DE.UTF-8".
export function loadLanguage(wanted) {
  var asked = (/^[a-z]+(-[a-z]{2}\b)?/i.exec(String(wanted).replace(/_/g, "-")) || ["en"])[0];
  var language = asked.toLowerCase().split("-")[0];
  var known = LANGUAGES.split(" ").map(function (names) {
    return names.split(":");
  });
  var find = function (name) {
    return known.find(function (names) {
      return names.includes(name);
    });
  };
  var names = find(asked.toLowerCase()) || find(language) || ["en"];
  var tag = names[0];
  if (current.tag === tag) return current.loaded;
  // Screen readers and fonts go by the locale, so it is neither "dk" nor a language that is not there, nor a place that reads
  // traditional characters.
  current = { tag: tag, locale: language === tag && !/zh-(tw|hk|mo)/i.test(asked) ? asked : tag, texts: undefined };
  current.loaded = tag === "en" ? Promise.resolve() : loadScript("js/locale-" + tag + ".js", names.at(-1)).catch(Boolean);
  return current.loaded;
}
