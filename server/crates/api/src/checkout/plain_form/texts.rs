//! Texts of the plain form, read from the language files of the hosted form.

use std::sync::LazyLock;

use tillgate_shared::language::{self, Language};
use toml::Table;

static LANGUAGES: LazyLock<Vec<FormTexts>> =
    LazyLock::new(|| language::LANGUAGES.iter().map(FormTexts::parse).collect());

/// The texts of one language.
#[derive(Debug)]
pub(super) struct FormTexts {
    pub(super) language: &'static Language,
    tables: Table,
}

impl FormTexts {
    /// Parses all texts of a language, which are part of the program. They would be empty if they were not valid TOML;
    /// the test below excludes this.
    fn parse(language: &'static Language) -> Self {
        Self { language, tables: language.texts_toml().parse().unwrap_or_default() }
    }

    /// Returns the texts of the language that a page requests, English if there are none in it.
    pub(super) fn for_locale(locale: &str) -> &'static Self {
        let language = Language::for_locale(locale);
        LANGUAGES.iter().find(|texts| texts.language == language).unwrap_or(&LANGUAGES[0])
    }

    /// Returns a label, an error message, or one of the other texts; the first group that has the key wins. An
    /// unknown key gives an empty text.
    pub(super) fn get(&self, key: &str) -> &str {
        let groups = ["labels", "errors", "forms", "later"];
        groups.iter().find_map(|group| self.tables.get(*group)?.get(key)?.as_str()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::checkout::plain_form::texts::*;

    #[test]
    fn every_language_of_the_form_is_spoken_here_too() {
        for language in language::LANGUAGES {
            let texts = FormTexts::for_locale(language.name);
            assert_eq!(texts.language, language);
            assert!(!texts.get("cardNumberEmpty").is_empty() && !texts.get("payWith").is_empty(), "{}", language.tag);
        }
        assert_eq!(FormTexts::for_locale("tlh").language.tag, "en");
    }
}
