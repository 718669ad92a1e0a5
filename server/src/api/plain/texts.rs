//! What the plain form says, in the languages of the hosted form: its files are the source.

use std::sync::LazyLock;

use tillgate_shared::language::{self, Language};
use toml::Table;

static LANGUAGES: LazyLock<Vec<Texts>> = LazyLock::new(|| language::LANGUAGES.iter().map(Texts::read).collect());

/// A language's texts.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) language: &'static Language,
    tables: Table,
}

impl Texts {
    fn read(language: &'static Language) -> Self {
        Self { language, tables: language.texts().parse().unwrap_or_default() }
    }

    /// The texts of the language that a page asks for.
    pub(super) fn of(locale: &str) -> &'static Self {
        let language = Language::of_locale(locale);
        LANGUAGES.iter().find(|texts| texts.language == language).unwrap_or(&LANGUAGES[0])
    }

    /// A label, an error, or what forms of other brands say.
    pub(super) fn get(&self, key: &str) -> &str {
        let groups = ["labels", "errors", "forms"];
        groups.iter().find_map(|group| self.tables.get(*group)?.get(key)?.as_str()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_of_the_form_is_spoken_here_too() {
        for language in language::LANGUAGES {
            let texts = Texts::of(language.name);
            assert_eq!(texts.language, language);
            assert!(!texts.get("cardNumberEmpty").is_empty() && !texts.get("payWith").is_empty(), "{}", language.tag);
        }
        assert_eq!(Texts::of("tlh").language.tag, "en");
    }
}
