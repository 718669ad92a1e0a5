//! Languages: one TOML file each in widget/locales becomes one small script; English is compiled in.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

/// A language that travels as a script of its own.
pub struct Locale {
    /// Its tag, such as `de`.
    pub tag: String,
    /// Other names that merchants use for it, such as `cn` for `zh`.
    pub aliases: Vec<String>,
    /// The script.
    pub script: String,
}

/// Reads all languages but English.
///
/// # Errors
/// When a file is malformed, or lacks or invents a key in comparison with English.
pub fn read_all(folder: &Path) -> Result<Vec<Locale>> {
    let english = read(&folder.join("en.toml"))?;
    let mut locales = Vec::new();
    let mut names: Vec<_> = fs::read_dir(folder)?.flatten().map(|e| e.path()).collect();
    names.sort();
    for path in names {
        let tag = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if tag == "en" || path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let table = read(&path)?;
        for group in ["labels", "errors"] {
            same_keys(&english, &table, group).with_context(|| format!("in {}", path.display()))?;
        }
        let aliases = match table.get("aliases") {
            Some(list) => list.clone().try_into()?,
            None => Vec::new(),
        };
        let mut data = Map::new();
        for group in ["labels", "errors"] {
            data.insert(group.to_owned(), serde_json::to_value(&table[group])?);
        }
        if let Some(dir) = table.get("dir") {
            data.insert("dir".to_owned(), json!(dir.as_str()));
        }
        let script = format!(
            "(function(t){{t&&t.words&&t.words({},{})}})(window.__tillgate);\n",
            json!(tag),
            ascii(&Value::Object(data)),
        );
        locales.push(Locale { tag, aliases, script });
    }
    Ok(locales)
}

/// The map from every accepted name to the language's tag, as a JavaScript object.
pub fn names(locales: &[Locale]) -> String {
    let mut map = Map::new();
    for locale in locales {
        for name in std::iter::once(&locale.tag).chain(&locale.aliases) {
            map.insert(name.clone(), json!(locale.tag));
        }
    }
    Value::Object(map).to_string()
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
