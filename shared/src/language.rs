//! The languages of the form: one row each. Their texts lie in `widget/locales`, a file with the name of the tag each.

/// A language that the form speaks.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// Its BCP 47 tag: `da`. It names the files of its texts.
    pub tag: &'static str,
    /// The name that the contract gives it, and our documents: `dk`. Mostly the tag.
    pub name: &'static str,
    /// Further names that pages use for it, beside `tag` and `name`.
    others: &'static [&'static str],
    /// True if it is written from right to left.
    pub right_to_left: bool,
}

/// The table, and beside it the texts, so that a program that asks for no texts carries none.
macro_rules! languages {
    ($(($tag:literal, $name:literal, $others:expr, $right_to_left:literal),)*) => {
        /// Every language, in the order of our documents. The first is spoken where no known one is asked for.
        pub static LANGUAGES: &[Language] = &[
            $(Language { tag: $tag, name: $name, others: &$others, right_to_left: $right_to_left },)*
        ];

        /// Tag and texts.
        static TEXTS: &[(&str, &str)] =
            &[$(($tag, include_str!(concat!("../../widget/locales/", $tag, ".toml"))),)*];
    };
}

// Tag, name, further names, whether it is written from right to left.
languages! {
    ("en", "en", [], false),
    ("de", "de", [], false),
    ("fr", "fr", [], false),
    ("es", "es", [], false),
    ("it", "it", [], false),
    ("nl", "nl", [], false),
    ("da", "dk", [], false),
    ("fi", "fi", [], false),
    ("sv", "se", [], false),
    ("tr", "tr", [], false),
    ("ja", "ja", ["jp"], false),
    ("sl", "sl", [], false),
    ("pt", "pt", [], false),
    ("pl", "pl", [], false),
    ("cs", "cz", [], false),
    ("hu", "hu", [], false),
    ("bg", "bg", [], false),
    ("ro", "ro", ["mo"], false),
    ("ru", "ru", [], false),
    ("zh", "cn", [], false),
    ("el", "gr", [], false),
    ("nb", "no", ["nn"], false),
    ("sk", "sk", [], false),
    ("ar", "ar", [], true),
    ("ko", "ko", [], false),
}

impl Language {
    /// Returns the names that it is found by beside its tag, the contract's first.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        let name = Some(self.name).filter(|name| *name != self.tag);
        name.into_iter().chain(self.others.iter().copied())
    }

    /// Finds the language that a page asks for: `de-AT` is served by `de` where it has no texts of its own, and English
    /// stands for what nobody knows.
    pub fn of_locale(locale: &str) -> &'static Self {
        let asked = locale.replace('_', "-").to_ascii_lowercase();
        let language = asked.split('-').next().unwrap_or_default();
        Self::find(&asked).or_else(|| Self::find(language)).unwrap_or(&LANGUAGES[0])
    }

    /// Finds a language by its tag or another of its names, in small letters.
    pub fn find(name: &str) -> Option<&'static Self> {
        LANGUAGES.iter().find(|language| language.tag == name || language.aliases().any(|alias| alias == name))
    }

    /// Returns its texts: TOML with the tables `loading`, `labels`, `errors` and `forms`.
    pub fn texts(&self) -> &'static str {
        TEXTS.iter().find(|(tag, _)| *tag == self.tag).map_or("", |(_, texts)| texts)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What merchants may ask for according to the contract.
    const CONTRACT: &str = "ar be bg cn cz de da el en es fi fr gr hu it ja ko nl no pl pt ro ru sv sk sl tr";
    /// The codes of the specification.
    const SPECIFIED: &str = "en de fr es it nl dk fi se tr ja sl pt pl cz hu bg ro ru cn gr no sk ar ko";

    #[test]
    fn every_language_of_the_contract_is_known_by_each_of_its_names() {
        for name in CONTRACT.split(' ').chain(SPECIFIED.split(' ')) {
            // Belarusian has no texts and is nobody else's name: English.
            assert_eq!(Language::find(name).is_some(), name != "be", "{name}");
        }
        assert!(LANGUAGES.iter().map(|language| language.name).eq(SPECIFIED.split(' ')));
    }

    #[test]
    fn no_name_leads_to_two_languages() {
        let mut names = BTreeSet::new();
        for language in LANGUAGES {
            for name in std::iter::once(language.tag).chain(language.aliases()) {
                assert!(names.insert(name), "{name} comes twice");
                assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
                assert_eq!(Language::find(name), Some(language));
            }
        }
    }

    #[test]
    fn every_language_has_texts_and_there_are_no_others() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../widget/locales");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        let known: BTreeSet<String> = LANGUAGES.iter().map(|language| format!("{}.toml", language.tag)).collect();
        assert_eq!(known, files);
        for language in LANGUAGES {
            assert!(language.texts().contains("\n[labels]\n"), "{}", language.tag);
        }
    }

    #[test]
    fn a_language_is_found_by_what_pages_say() {
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
            assert_eq!(Language::of_locale(asked).tag, tag, "{asked}");
        }
    }
}
