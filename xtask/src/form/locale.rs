//! Languages: one TOML file each in widget/locales becomes one small script; English is in the scripts themselves.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use tillgate_shared::language::{LANGUAGES, Language};

use super::script;

/// Tables of texts that every language has: what the loader says, labels and errors of card forms, and what other forms
/// say beside those.
const GROUPS: [&str; 4] = ["loading", "labels", "errors", "forms"];
/// Those that travel with every form.
pub const CARD: [&str; 3] = ["loading", "labels", "errors"];
/// And with the other forms, beside those.
pub const FORMS: [&str; 1] = ["forms"];

/// A language that travels as a script of its own.
pub struct Locale {
    /// Its row of the table.
    language: &'static Language,
    /// The script with the texts of card forms.
    pub script: String,
    /// The script with the texts of other forms.
    pub forms: String,
}

impl Locale {
    /// Its tag, such as `de`.
    pub fn tag(&self) -> &'static str {
        self.language.tag
    }

    /// Its tag, and its other names after it.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.language.tag).chain(self.language.aliases())
    }
}

/// Reads all languages but English.
///
/// # Errors
/// When a file is missing or malformed, or says anything but what English says.
pub fn read_all(folder: &Path) -> Result<Vec<Locale>> {
    let english = read(&folder.join("en.toml"))?;
    let mut locales = Vec::new();
    let mut languages: Vec<&Language> = LANGUAGES.iter().filter(|language| language.tag != "en").collect();
    languages.sort_by_key(|language| language.tag);
    for language in languages {
        let path = folder.join(format!("{}.toml", language.tag));
        let table = read(&path)?;
        for group in GROUPS {
            same_keys(&english, &table, group)
                .and_then(|()| same_shape(&english, &table, group))
                .with_context(|| format!("in {}", path.display()))?;
        }
        let mut data = Map::new();
        for group in CARD {
            data.insert(group.to_owned(), serde_json::to_value(&table[group])?);
        }
        if language.right_to_left {
            data.insert("dir".to_owned(), json!("rtl"));
        }
        let telling = |words: &str, data: &Value| {
            let tag = json!(language.tag);
            format!("(function(t){{t&&t.{words}&&t.{words}({tag},{})}})(window.__tillgate);\n", ascii(data))
        };
        let script = telling("words", &Value::Object(data));
        let forms = telling("moreWords", &serde_json::to_value(&table["forms"])?);
        locales.push(Locale { language, script, forms });
    }
    Ok(locales)
}

/// The English texts of these groups in one object.
///
/// # Errors
/// When the file is malformed.
pub fn english(folder: &Path, groups: &[&str]) -> Result<String> {
    let table = read(&folder.join("en.toml"))?;
    let mut all = Map::new();
    for group in groups {
        if let Value::Object(texts) = serde_json::to_value(&table[*group])? {
            all.extend(texts);
        }
    }
    Ok(ascii(&Value::Object(all)))
}

/// Every name by which the loader finds a language, as dense text: `cs:cz:hash da:dk:hash de:hash`. First comes the
/// language's tag, last its script's hash.
pub fn directory(locales: &[Locale]) -> String {
    let entries: Vec<String> = locales
        .iter()
        .map(|locale| {
            let hash = script::hash(locale.script.as_bytes());
            let mut names: Vec<&str> = locale.names().collect();
            names.push(&hash);
            names.join(":")
        })
        .collect();
    entries.join(" ")
}

fn read(path: &Path) -> Result<toml::Table> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    text.parse().with_context(|| format!("in {}", path.display()))
}

fn same_keys(english: &toml::Table, other: &toml::Table, group: &str) -> Result<()> {
    let keys = |table: &toml::Table| -> Vec<String> {
        let Some(group) = table.get(group).and_then(toml::Value::as_table) else {
            return Vec::new();
        };
        let mut keys: Vec<String> = group.keys().cloned().collect();
        keys.sort();
        keys
    };
    let (wanted, found) = (keys(english), keys(other));
    if let Some(key) = wanted.iter().find(|k| !found.contains(k)) {
        bail!("[{group}] lacks {key}");
    }
    if let Some(key) = found.iter().find(|k| !wanted.contains(k)) {
        bail!("[{group}] has {key}, which English does not know");
    }
    Ok(())
}

/// What a translation keeps: something in every text, the number of lines, placeholders in braces, and the form of the
/// hint for the expiry date, month before year.
fn same_shape(english: &toml::Table, other: &toml::Table, group: &str) -> Result<()> {
    let text =
        |table: &toml::Table, key: &str| -> Option<String> { Some(table.get(group)?.get(key)?.as_str()?.to_owned()) };
    let Some(keys) = english.get(group).and_then(toml::Value::as_table) else {
        return Ok(());
    };
    for key in keys.keys() {
        let (Some(wanted), Some(found)) = (text(english, key), text(other, key)) else {
            bail!("{key} is no text");
        };
        if found.trim().is_empty() || found.trim() != found {
            bail!("{key} is empty, or has spaces around it");
        }
        if wanted.lines().count() != found.lines().count() {
            bail!("{key} has another number of lines than English");
        }
        if placeholders(&wanted) != placeholders(&found) {
            bail!("{key} has other placeholders than English");
        }
        if key == "mmyy" && found.split(" / ").count() != 2 {
            bail!("{key} is not of the form MM / YY");
        }
    }
    Ok(())
}

/// What a text has in braces, sorted, as another language may need another order.
fn placeholders(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect();
    found.sort_unstable();
    found
}

/// JSON in ASCII, so that no server setting can spoil it.
fn ascii(value: &Value) -> String {
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

    fn all() -> Vec<Locale> {
        read_all(&crate::root().join("widget/locales")).expect("every language says what English says")
    }

    fn table(text: &str) -> toml::Table {
        text.parse().expect("TOML")
    }

    #[test]
    fn every_language_but_english_is_complete() {
        assert_eq!(all().len(), LANGUAGES.len() - 1);
    }

    #[test]
    fn the_directory_puts_the_tag_before_its_other_names_and_the_hash_last() {
        let directory = directory(&all());
        let entries: Vec<&str> = directory.split(' ').filter_map(|entry| Some(entry.rsplit_once(':')?.0)).collect();
        for entry in ["de", "da:dk", "sv:se", "cs:cz", "zh:cn", "el:gr", "nb:no:nn", "ro:mo"] {
            assert!(entries.contains(&entry), "{entry} in {directory}");
        }
    }

    #[test]
    fn only_what_is_written_from_right_to_left_says_so() {
        let rightward = |locale: &&Locale| locale.script.contains("\"dir\":\"rtl\"");
        let found: Vec<&str> = all().iter().filter(rightward).map(|locale| locale.tag()).collect();
        assert_eq!(found, ["ar"]);
    }

    #[test]
    fn a_translation_that_loses_something_is_refused() {
        let english = table("[labels]\nmmyy = 'MM / YY'\npay = 'Pay {amount}'\n");
        let labels = |mmyy: &str, pay: &str| table(&format!("[labels]\nmmyy = '{mmyy}'\npay = '{pay}'\n"));
        let said = |other: &toml::Table| same_shape(&english, other, "labels").err().map(|e| e.to_string());
        assert_eq!(said(&labels("MM / JJ", "{amount} zahlen")), None);
        for (mmyy, pay, key) in [
            ("MM/JJ", "{amount} zahlen", "mmyy"),
            ("MM / JJ", "zahlen", "pay"),
            ("MM / JJ", "{summe} zahlen", "pay"),
            ("MM / JJ", "", "pay"),
        ] {
            let error = said(&labels(mmyy, pay)).unwrap_or_default();
            assert!(error.starts_with(key), "{mmyy}, {pay}: {error}");
        }
        let (two, one) = (table("[errors]\na = \"b\\nc\"\n"), table("[errors]\na = 'b c'\n"));
        assert!(same_shape(&two, &one, "errors").is_err());
        assert!(same_keys(&english, &table("[labels]\nmmyy = 'MM / JJ'\n"), "labels").is_err());
    }
}
