//! The table against the form's sources, and the published declarations against the table.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The form's own sources, Rust and JavaScript, without comments.
fn sources() -> Vec<String> {
    fn collect(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|it| it == "rs" || it == "js") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                found.push(code.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    let mut found = Vec::new();
    for part in ["src", "loader", "frame", "forms"] {
        let part = folder("../widget").join(part);
        if part.exists() {
            collect(&part, &mut found);
        }
    }
    found
}

/// The name that stands at the start of `text`.
fn name(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len())]
}

/// The names of options that the sources ask for.
fn read() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in sources() {
        let mut add = |name: &str| {
            if !name.is_empty() {
                found.insert(name.to_owned());
            }
        };
        // Rust: options::is_on("name"), js::text(&options::object(), "name").
        for rest in source.split("options::").skip(1) {
            let (_, rest) = rest.split_at(name(&rest.replace('_', "x")).len());
            for ask in ["(\"", "(), \""] {
                add(rest.strip_prefix(ask).map(name).unwrap_or_default());
            }
        }
        for rest in source.split("&options, \"").skip(1) {
            add(name(rest));
        }
        // JavaScript: options().name, isOn("name"), const { name, other } = options().
        for ask in ["options().", "isOn(\""] {
            for rest in source.split(ask).skip(1) {
                add(name(rest));
            }
        }
        // const given = options(); given.name
        for before in source.split(" = options();").collect::<Vec<_>>().split_last().map_or(&[][..], |it| it.1) {
            if let Some(variable) = before.rsplit(' ').next().filter(|it| name(it) == *it) {
                source.split(&format!("{variable}.")).skip(1).for_each(|rest| add(name(rest)));
            }
        }
        for before in source.split("} = options()").collect::<Vec<_>>().split_last().map_or(&[][..], |it| it.1) {
            let names = before.rsplit('{').next().unwrap();
            names.split(',').for_each(|it| add(name(it.trim())));
        }
        // Callbacks by their name, wherever it stands.
        for rest in source.split("\"on").skip(1) {
            let name = name(rest);
            // One that the loader puts together is looked for where the table is read.
            if name.starts_with(|it: char| it.is_ascii_uppercase()) && !rest.starts_with(COMPOSED) {
                add(&format!("on{name}"));
            }
        }
    }
    found
}

/// How the loader puts the names of these callbacks together, behind their `"on`.
const COMPOSED: &str = "BeforeSubmit\" + ";

#[test]
fn the_table_knows_every_option_that_the_form_reads() {
    let known: BTreeSet<_> = OPTIONS.iter().flat_map(|option| option.name.split('.')).map(str::to_owned).collect();
    let unknown: Vec<_> = read().into_iter().filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "missing in shared/src/options/rows.rs: {unknown:?}");
    assert!(read().len() > 15, "the search finds what is read: {:?}", read());
}

/// Options of which there is nothing to read: what they can ask for is so anyway.
const ACCEPTED: [&str; 1] = ["imageStyle"];

#[test]
fn keys_that_nothing_shows_are_no_keys_of_ours_and_the_table_says_so() {
    for (section, option) in [(Section::Labels, "labels"), (Section::Errors, "errorMessages")] {
        let meaning = OPTIONS.iter().find(|it| it.name == option).unwrap().meaning;
        for key in section.unused() {
            assert!(!section.keys().any(|(known, _)| known == *key) && meaning.contains(&format!("`{key}`")), "{key}");
        }
    }
}

#[test]
fn the_form_reads_every_option_of_the_table() {
    let code = sources().join("\n");
    let asked = read();
    for option in OPTIONS {
        for name in option.name.split('.') {
            let spelled = |before: &str, after: &str| code.contains(&format!("{before}{name}{after}"));
            let composed = name.starts_with("onBeforeSubmit") && code.contains(COMPOSED);
            let read =
                ACCEPTED.contains(&name) || asked.contains(name) || spelled("\"", "\"") || spelled(".", "") || composed;
            assert!(read, "{} is in the table, and nothing reads {name}", option.name);
        }
    }
}

#[test]
fn the_names_of_errors_are_those_that_the_form_gives() {
    let mut given = BTreeSet::new();
    for source in sources().iter().filter(|source| !source.contains("wpwl.d.ts")) {
        for literal in source.split('"').skip(1).step_by(2) {
            if literal.ends_with("Error") && literal.starts_with(|it: char| it.is_ascii_uppercase()) {
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
    let made = declarations();
    if std::env::var_os("WRITE").is_some() {
        std::fs::write(folder("wpwl.d.ts"), &made).unwrap();
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
        if let Kind::Object(_, example) = option.kind {
            serde_json::from_str::<serde_json::Value>(example).unwrap();
        }
    }
    let grouped: usize = Group::ALL.iter().map(|group| group.options().count()).sum();
    assert_eq!(grouped, OPTIONS.len());
}

#[test]
fn every_key_of_the_language_file_is_found() {
    let labels: Vec<_> = Section::Labels.keys().collect();
    assert!(labels.contains(&("submit", "\"Pay now\"")), "{labels:?}");
    assert!(!labels.iter().any(|(key, _)| *key == "cvvError"));
    assert!(Section::Errors.keys().any(|(key, _)| key == "cvvError"));
}

/// The custom properties that a text names.
fn properties(text: &str) -> BTreeSet<String> {
    let end = |it: &str| it.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(it.len());
    text.split("--wpwl-").skip(1).map(|rest| format!("--wpwl-{}", &rest[..end(rest)])).collect()
}

#[test]
fn the_themes_properties_are_those_of_the_sheets_with_their_defaults_and_all_are_in_the_document() {
    let style = folder("../widget/style");
    let files = std::fs::read_dir(&style).unwrap().map(|entry| entry.unwrap().path());
    let sheets: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let card = std::fs::read_to_string(style.join("card.css")).unwrap();
    let document = std::fs::read_to_string(folder("../docs/theme.md")).unwrap();
    let known: BTreeSet<_> = THEME.iter().map(|property| property.name.to_owned()).collect();
    assert_eq!(known, properties(&sheets));
    assert_eq!(known, properties(&document));
    let dark = card.split_once(".wpwl-dark {").unwrap().1.split_once('}').unwrap().0;
    for Property { name, default, on_dark, meaning } in THEME {
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
