//! The languages of the form, one row each. Their texts are in `widget/locales`, in files named after the tags.

/// A language of the form.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// Its BCP 47 tag, such as `da`. The files of its texts are named after it.
    pub tag: &'static str,
    /// Its name in the contract and in our documents, such as `dk`. Mostly equal to the tag.
    pub name: &'static str,
    /// Further names that pages use for it, in addition to `tag` and `name`.
    others: &'static [&'static str],
    /// True if it is written from right to left.
    pub right_to_left: bool,
}

/// The table, and separately the texts, so that a program without texts does not contain them.
macro_rules! languages {
    ($(($tag:literal, $name:literal, $others:expr, $right_to_left:literal),)*) => {
        /// All languages, in the order of our documents. The first is the default for unknown languages.
        pub static LANGUAGES: &[Language] = &[
            $(Language { tag: $tag, name: $name, others: &$others, right_to_left: $right_to_left },)*
        ];

        /// Tag and texts.
        static TEXTS: &[(&str, &str)] =
            &[$(($tag, include_str!(concat!("../../widget/locales/", $tag, ".toml"))),)*];
    };
}

// Columns: tag, name, further names, true for writing from right to left.
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
    /// Returns its names other than the tag, that of the contract first.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        let name = Some(self.name).filter(|name| *name != self.tag);
        name.into_iter().chain(self.others.iter().copied())
    }

    /// Finds the language for a page's locale, in any case, with hyphens or underscores: by the whole locale, or else
    /// by its language, so that `de-AT` is served by `de`. Unknown locales are served by English.
    pub fn for_locale(locale: &str) -> &'static Self {
        let normalized = locale.replace('_', "-").to_ascii_lowercase();
        let language = normalized.split('-').next().unwrap_or_default();
        Self::find(&normalized).or_else(|| Self::find(language)).unwrap_or(&LANGUAGES[0])
    }

    /// Finds a language by its tag or another name, in lower case.
    pub fn find(name: &str) -> Option<&'static Self> {
        LANGUAGES.iter().find(|language| language.tag == name || language.aliases().any(|alias| alias == name))
    }

    /// Returns its texts: TOML with the tables `loading`, `labels`, `errors`, `forms` and `later`.
    pub fn texts_toml(&self) -> &'static str {
        TEXTS.iter().find(|(tag, _)| *tag == self.tag).map_or("", |(_, texts)| texts)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Names of languages in the contract.
    const CONTRACT: &str = "ar be bg cn cz de da el en es fi fr gr hu it ja ko nl no pl pt ro ru sv sk sl tr";
    /// The codes of the specification.
    const SPECIFIED: &str = "en de fr es it nl dk fi se tr ja sl pt pl cz hu bg ro ru cn gr no sk ar ko";

    #[test]
    fn every_language_of_the_contract_is_known_by_each_of_its_names() {
        for name in CONTRACT.split(' ').chain(SPECIFIED.split(' ')) {
            // Belarusian has no texts, and its name means no other language, so it is served by English.
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
            assert!(language.texts_toml().contains("\n[labels]\n"), "{}", language.tag);
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
            assert_eq!(Language::for_locale(asked).tag, tag, "{asked}");
        }
    }
}
