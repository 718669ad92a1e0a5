//! Languages: each TOML file in widget/locales becomes two small scripts, the texts that a form of cards says at once
//! and the others. The first part of English is in the loader.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use tillgate_shared::language::{LANGUAGES, Language};

use super::script;

/// Tables of texts that a form of cards says at once: texts of the loader, labels and errors.
const FIRST: [&str; 3] = ["loading", "labels", "errors"];
/// Tables of texts of other forms, and of those that a form of cards says later.
const LATER: [&str; 2] = ["forms", "later"];

/// A language with its scripts.
pub struct Locale {
    /// Its row in the table of languages.
    language: &'static Language,
    /// The script with the texts of [`FIRST`], which names the hash of the other.
    pub script: String,
    /// The script with the texts of [`LATER`].
    pub later: String,
}

impl Locale {
    /// Returns its tag, such as `de`.
    pub fn tag(&self) -> &'static str {
        self.language.tag
    }

    /// Returns its tag, followed by its other names.
    fn all_names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.language.tag).chain(self.language.aliases())
    }
}

/// Reads all languages except English, sorted by their tags. `debit_hash` is the hash of the script of direct debits.
///
/// # Errors
/// If a file is missing or malformed, or its keys differ from those of English.
pub fn read_all(folder: &Path, debit_hash: &str) -> Result<Vec<Locale>> {
    let english = read_table(&folder.join("en.toml"))?;
    let mut locales = Vec::new();
    let mut languages: Vec<&Language> = LANGUAGES.iter().filter(|language| language.tag != "en").collect();
    languages.sort_by_key(|language| language.tag);
    for language in languages {
        let path = folder.join(format!("{}.toml", language.tag));
        let table = read_table(&path)?;
        for group in FIRST.into_iter().chain(LATER) {
            check_keys(&english, &table, group)
                .and_then(|()| check_texts(&english, &table, group))
                .with_context(|| format!("in {}", path.display()))?;
        }
        let mut texts = join_tables(&table, &FIRST)?;
        if language.right_to_left {
            texts.insert("dir".to_owned(), json!("rtl"));
        }
        let later = make_script(language.tag, later_texts(&table, debit_hash)?, None);
        let script = make_script(language.tag, texts, Some(&script::sha256_base64(later.as_bytes())));
        locales.push(Locale { language, script, later });
    }
    Ok(locales)
}

/// Returns the English texts of the loader in one JSON object, and the script with the others.
///
/// # Errors
/// If the file is malformed, or lacks a table.
pub fn english_texts(folder: &Path, debit_hash: &str) -> Result<(String, String)> {
    let table = read_table(&folder.join("en.toml"))?;
    let first = ascii_json(&Value::Object(join_tables(&table, &FIRST)?));
    Ok((first, make_script("en", later_texts(&table, debit_hash)?, None)))
}

/// Returns the texts of [`LATER`], and the hash of the script of direct debits among them: pages that need that script
/// load these texts anyway, and in the loader it would weigh on every page of cards.
fn later_texts(table: &toml::Table, debit_hash: &str) -> Result<Map<String, Value>> {
    let mut texts = join_tables(table, &LATER)?;
    texts.insert("debitScript".to_owned(), json!(debit_hash));
    Ok(texts)
}

/// Returns the texts of several tables.
fn join_tables(table: &toml::Table, groups: &[&str]) -> Result<Map<String, Value>> {
    let mut all = Map::new();
    for group in groups {
        let texts = serde_json::to_value(table.get(*group).with_context(|| format!("no [{group}]"))?)?;
        if let Value::Object(texts) = texts {
            all.extend(texts);
        }
    }
    Ok(all)
}

/// Returns a script that hands texts of a language to the loader, and the hash of the script with its later texts.
fn make_script(tag: &str, texts: Map<String, Value>, later_hash: Option<&str>) -> String {
    let (tag, texts) = (json!(tag), ascii_json(&Value::Object(texts)));
    let hash = later_hash.map_or_else(String::new, |hash| format!(",{}", json!(hash)));
    format!("(function(t){{t&&t.words&&t.words({tag},{texts}{hash})}})(window.__tillgate);\n")
}

/// Lists every name by which the loader finds a language, as dense text: `cs:cz:hash da:dk:hash de:hash`. Each entry
/// begins with the language's tag and ends with its script's hash.
pub fn list_names(locales: &[Locale]) -> String {
    let entries: Vec<String> = locales
        .iter()
        .map(|locale| {
            let hash = script::sha256_base64(locale.script.as_bytes());
            let mut names: Vec<&str> = locale.all_names().collect();
            names.push(&hash);
            names.join(":")
        })
        .collect();
    entries.join(" ")
}

/// Reads a TOML file, or fails with its path.
fn read_table(path: &Path) -> Result<toml::Table> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    text.parse().with_context(|| format!("in {}", path.display()))
}

/// Checks that a group of texts has the same keys in both languages. A missing group has no keys.
fn check_keys(english: &toml::Table, other: &toml::Table, group: &str) -> Result<()> {
    let keys = |table: &toml::Table| -> Vec<String> {
        let Some(group) = table.get(group).and_then(toml::Value::as_table) else {
            return Vec::new();
        };
        let mut keys: Vec<String> = group.keys().cloned().collect();
        keys.sort();
        keys
    };
    let (expected, found) = (keys(english), keys(other));
    if let Some(key) = expected.iter().find(|k| !found.contains(k)) {
        bail!("[{group}] lacks {key}");
    }
    if let Some(key) = found.iter().find(|k| !expected.contains(k)) {
        bail!("[{group}] has {key}, which English does not know");
    }
    Ok(())
}

/// Checks that a translation has no empty text and none with spaces around it, the same number of lines and the same
/// placeholders as English, and two parts around ` / ` in the hint for the expiry date. A missing text is a fault.
fn check_texts(english: &toml::Table, other: &toml::Table, group: &str) -> Result<()> {
    let text =
        |table: &toml::Table, key: &str| -> Option<String> { Some(table.get(group)?.get(key)?.as_str()?.to_owned()) };
    let Some(keys) = english.get(group).and_then(toml::Value::as_table) else {
        return Ok(());
    };
    for key in keys.keys() {
        let (Some(expected), Some(found)) = (text(english, key), text(other, key)) else {
            bail!("{key} is no text");
        };
        if found.trim().is_empty() || found.trim() != found {
            bail!("{key} is empty, or has spaces around it");
        }
        if expected.lines().count() != found.lines().count() {
            bail!("{key} has another number of lines than English");
        }
        if find_placeholders(&expected) != find_placeholders(&found) {
            bail!("{key} has other placeholders than English");
        }
        if key == "mmyy" && found.split(" / ").count() != 2 {
            bail!("{key} is not of the form MM / YY");
        }
    }
    Ok(())
}

/// Returns the placeholders in braces, sorted, because their order differs between languages.
fn find_placeholders(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect();
    found.sort_unstable();
    found
}

/// Returns JSON in ASCII, so that no character encoding of a server can corrupt it.
pub fn ascii_json(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_locales() -> Vec<Locale> {
        read_all(&crate::workspace_root().join("widget/locales"), "hash")
            .expect("every language says what English says")
    }

    fn parse_table(text: &str) -> toml::Table {
        text.parse().expect("TOML")
    }

    #[test]
    fn every_language_but_english_is_complete() {
        assert_eq!(read_locales().len(), LANGUAGES.len() - 1);
    }

    #[test]
    fn the_directory_puts_the_tag_before_its_other_names_and_the_hash_last() {
        let directory = list_names(&read_locales());
        let entries: Vec<&str> = directory.split(' ').filter_map(|entry| Some(entry.rsplit_once(':')?.0)).collect();
        for entry in ["de", "da:dk", "sv:se", "cs:cz", "zh:cn", "el:gr", "nb:no:nn", "ro:mo"] {
            assert!(entries.contains(&entry), "{entry} in {directory}");
        }
    }

    #[test]
    fn the_script_of_a_language_pins_the_one_with_its_later_texts_and_no_text_is_in_both() {
        for locale in read_locales() {
            assert!(locale.script.contains(&script::sha256_base64(locale.later.as_bytes())), "{}", locale.tag());
            for (key, is_later) in [("failed", false), ("submit", false), ("payWith", true), ("formError", true)] {
                let found = [&locale.script, &locale.later].map(|text| text.contains(&format!("\"{key}\":")));
                assert_eq!(found, [!is_later, is_later], "{key} in {}", locale.tag());
            }
        }
    }

    #[test]
    fn only_what_is_written_from_right_to_left_says_so() {
        let rightward = |locale: &&Locale| locale.script.contains("\"dir\":\"rtl\"");
        let found: Vec<&str> = read_locales().iter().filter(rightward).map(|locale| locale.tag()).collect();
        let mut expected: Vec<&str> = LANGUAGES.iter().filter(|row| row.right_to_left).map(|row| row.tag).collect();
        expected.sort_unstable();
        assert!(found == expected && found.contains(&"ar"), "{found:?}");
    }

    #[test]
    fn a_translation_that_loses_something_is_refused() {
        let english = parse_table("[labels]\nmmyy = 'MM / YY'\npay = 'Pay {amount}'\n");
        let labels = |mmyy: &str, pay: &str| parse_table(&format!("[labels]\nmmyy = '{mmyy}'\npay = '{pay}'\n"));
        let error_of = |other: &toml::Table| check_texts(&english, other, "labels").err().map(|e| e.to_string());
        assert_eq!(error_of(&labels("MM / JJ", "{amount} zahlen")), None);
        for (mmyy, pay, key) in [
            ("MM/JJ", "{amount} zahlen", "mmyy"),
            ("MM / JJ", "zahlen", "pay"),
            ("MM / JJ", "{summe} zahlen", "pay"),
            ("MM / JJ", "", "pay"),
        ] {
            let error = error_of(&labels(mmyy, pay)).unwrap_or_default();
            assert!(error.starts_with(key), "{mmyy}, {pay}: {error}");
        }
        let (two, one) = (parse_table("[errors]\na = \"b\\nc\"\n"), parse_table("[errors]\na = 'b c'\n"));
        assert!(check_texts(&two, &one, "errors").is_err());
        assert!(check_keys(&english, &parse_table("[labels]\nmmyy = 'MM / JJ'\n"), "labels").is_err());
    }
}
