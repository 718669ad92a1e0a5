//! What the plain form says, in the languages of the hosted form: its files are the source.

use std::sync::LazyLock;

use toml::{Table, Value};

/// Reads the file of each of these languages; the first is what stands where no other is asked for.
macro_rules! read {
    ($($tag:literal)*) => {
        vec![$(Texts::read($tag, include_str!(concat!("../../../../widget/locales/", $tag, ".toml")))),*]
    };
}

static LANGUAGES: LazyLock<Vec<Texts>> = LazyLock::new(
    || read!("en" "ar" "bg" "cs" "da" "de" "el" "es" "fi" "fr" "hu" "it" "ja" "ko" "nb" "nl" "pl" "pt" "ro" "ru" "sk" "sl" "sv" "tr" "zh"),
);

/// A language's texts.
#[derive(Debug)]
pub(super) struct Texts {
    /// Its tag, such as `de`.
    pub(super) tag: &'static str,
    /// Whether it is written from right to left.
    pub(super) rtl: bool,
    aliases: Vec<String>,
    tables: Table,
}

impl Texts {
    fn read(tag: &'static str, text: &str) -> Self {
        let tables: Table = text.parse().unwrap_or_default();
        let strings = |name: &str| tables.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let aliases = strings("aliases").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let rtl = tables.get("dir").and_then(Value::as_str) == Some("rtl");
        Self { tag, rtl, aliases, tables }
    }

    /// The language that a page asks for. As in the form: `de-AT` is served by `de` where it has no file of its own, and
    /// what nobody knows is English.
    pub(super) fn of(locale: &str) -> &'static Self {
        let asked = locale.replace('_', "-").to_ascii_lowercase();
        let language = asked.split('-').next().unwrap_or_default();
        let known = |name: &str| LANGUAGES.iter().find(|it| it.tag == name || it.aliases.iter().any(|it| it == name));
        known(&asked).or_else(|| known(language)).unwrap_or(&LANGUAGES[0])
    }

    /// A label, an error, or what forms of other brands say.
    pub(super) fn get(&self, key: &str) -> &str {
        let groups = ["labels", "errors", "forms"];
        groups.iter().find_map(|group| self.tables.get(*group)?.get(key)?.as_str()).unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_language_of_the_form_is_spoken_here_too() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../widget/locales");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let mut spoken: Vec<&str> = LANGUAGES.iter().map(|texts| texts.tag).collect();
        spoken.sort_unstable();
        assert_eq!(spoken, files);
        for texts in LANGUAGES.iter() {
            assert!(!texts.get("cardNumberEmpty").is_empty(), "{}", texts.tag);
        }
    }

    #[test]
    fn a_language_is_found_by_every_name_that_merchants_use() {
        for (asked, tag) in [
            ("de", "de"),
            ("de-AT", "de"),
            ("de_CH", "de"),
            ("de_DE.UTF-8", "de"),
            ("dk", "da"),
            ("cn", "zh"),
            ("pt-BR", "pt"),
            ("ar", "ar"),
            ("", "en"),
            ("tlh", "en"),
            ("../de", "en"),
        ] {
            assert_eq!(Texts::of(asked).tag, tag, "{asked}");
        }
        assert!(Texts::of("ar").rtl && !Texts::of("de").rtl);
    }
}
