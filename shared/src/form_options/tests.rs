//! Compares the table with the form's sources, and the published declarations with the table.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;

fn crate_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the form's own sources, Rust and JavaScript, without comments.
fn form_sources() -> Vec<String> {
    /// Adds the `.rs` and `.js` files of a folder and its subfolders to `found`, without lines of comments.
    fn collect_sources(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_sources(&path, found);
            } else if path.extension().is_some_and(|it| it == "rs" || it == "js") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                found.push(code.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    let mut found = Vec::new();
    for part in ["src", "loader", "frame"] {
        let part = crate_path("../widget").join(part);
        if part.exists() {
            collect_sources(&part, &mut found);
        }
    }
    found
}

#[test]
fn keys_that_nothing_shows_are_no_keys_of_ours_and_the_table_says_so() {
    for (kind, option) in [(TextKind::Labels, "labels"), (TextKind::Errors, "errorMessages")] {
        let meaning = OPTIONS.iter().find(|it| it.name == option).unwrap().meaning;
        for key in kind.unused_keys() {
            assert!(
                !kind.keys_and_texts().any(|(known, _)| known == *key) && meaning.contains(&format!("`{key}`")),
                "{key}"
            );
        }
    }
}

/// Options that the form does not read: its behaviour cannot be changed, or the loader reads them by their names.
const NOT_BY_ROW: [&str; 7] = ["imageStyle", "locale", "methodLayout", "theme", "brandList", "fonts", "focusNextField"];

#[test]
fn the_form_uses_the_row_of_every_option_and_callback() {
    let code = form_sources().join("\n");
    for (option, constant) in OPTIONS.iter().zip(rows::CONSTANTS) {
        let is_used =
            [format!("rows::{constant}."), format!("key!({constant})")].iter().any(|use_| code.contains(use_));
        // The promise twin of a deciding callback is found by the name of the callback.
        let is_twin = option.name.ends_with("Promise");
        assert!(is_used || is_twin || NOT_BY_ROW.contains(&option.name), "nothing uses {}", option.name);
    }
}

#[test]
fn the_names_of_errors_are_those_that_the_form_gives() {
    let mut given = BTreeSet::new();
    for source in form_sources().iter().filter(|source| !source.contains("wpwl.d.ts")) {
        for literal in source.split('"').skip(1).step_by(2) {
            // The ending alone is that of a text's key.
            let is_name = literal.ends_with("Error") && literal != "Error";
            if is_name && literal.starts_with(|it: char| it.is_ascii_uppercase()) {
                given.insert(literal.to_owned());
            }
        }
    }
    let known = ERROR_NAMES.map(|(name, _)| name.to_owned());
    let unknown: Vec<_> = given.iter().filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "missing in ERROR_NAMES: {unknown:?}");
    assert!(given.len() >= 3, "the search finds them: {given:?}");
}

#[test]
fn the_published_declarations_are_what_the_table_makes() {
    let made = render_declarations();
    if std::env::var_os("WRITE").is_some() {
        std::fs::write(crate_path("wpwl.d.ts"), &made).unwrap();
        return;
    }
    let differs = made.lines().zip(DECLARATIONS.lines()).find(|(made, published)| made != published);
    assert!(
        DECLARATIONS == made,
        "run WRITE=1 cargo test -p tillgate-shared declarations; first difference: {differs:?}"
    );
}

#[test]
fn rows_are_complete_and_no_name_comes_twice() {
    let mut names = BTreeSet::new();
    for option in OPTIONS {
        assert!(names.insert(option.name), "{} comes twice", option.name);
        assert!(option.meaning.ends_with('.') && !option.meaning.contains("*/"), "{}", option.name);
        if let OptionType::Object(_, example) = option.kind {
            serde_json::from_str::<serde_json::Value>(example).unwrap();
        }
    }
    let grouped: usize = OptionGroup::ALL.iter().map(|group| group.options().count()).sum();
    assert_eq!(grouped, OPTIONS.len());
}

#[test]
fn every_key_of_the_language_file_is_found() {
    let labels: Vec<_> = TextKind::Labels.keys_and_texts().collect();
    assert!(labels.contains(&("submit", "\"Pay now\"")), "{labels:?}");
    assert!(!labels.iter().any(|(key, _)| *key == "cvvError"));
    assert!(TextKind::Errors.keys_and_texts().any(|(key, _)| key == "cvvError"));
}

/// Returns the custom properties that a text names.
fn property_names(text: &str) -> BTreeSet<String> {
    let end = |it: &str| it.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(it.len());
    text.split("--wpwl-").skip(1).map(|rest| format!("--wpwl-{}", &rest[..end(rest)])).collect()
}

#[test]
fn the_themes_properties_are_those_of_the_sheets_with_their_defaults_and_all_are_in_the_document() {
    let style = crate_path("../widget/style");
    let files = std::fs::read_dir(&style).unwrap().map(|entry| entry.unwrap().path());
    let sheets: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let card = std::fs::read_to_string(style.join("card.css")).unwrap();
    let document = std::fs::read_to_string(crate_path("../docs/theme.md")).unwrap();
    let known: BTreeSet<_> = THEME.iter().map(|property| property.name.to_owned()).collect();
    assert_eq!(known, property_names(&sheets));
    assert_eq!(known, property_names(&document));
    let dark = card.split_once(":where(.wpwl-dark) {").unwrap().1.split_once('}').unwrap().0;
    for ThemeProperty { name, default, on_dark, meaning } in THEME {
        assert!(card.contains(&format!("\n  {name}: {default};\n")), "{name} is not {default}");
        assert_eq!(dark.contains(*name), on_dark.is_some(), "{name} on dark pages");
        let dark_value = on_dark.map(|value| format!("`{value}` ")).unwrap_or_default();
        if let Some(value) = on_dark {
            assert!(dark.contains(&format!("{name}: {value};")), "{name} is not {value} on dark pages");
        }
        let line = format!("| `{name}` | `{default}` | {dark_value}| {meaning} |");
        assert!(document.contains(&line), "docs/theme.md lacks: {line}");
    }
}
