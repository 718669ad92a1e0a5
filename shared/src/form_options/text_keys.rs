//! The keys of the form's texts, read from the English language file: each of these texts can be replaced.

use crate::language::LANGUAGES;

/// Kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Labels, placeholders, buttons and notes.
    Labels,
    /// Hints and error messages.
    Errors,
}

impl TextKind {
    /// Returns keys that pages may set, although the form never shows these texts.
    pub fn unused_keys(self) -> &'static [&'static str] {
        match self {
            Self::Labels => &["pin", "applyNow", "nextStep", "learnMore", "ddmmyyyy", "cvvHelp"],
            Self::Errors => &["pinError", "pinEmptyError", "cardBinError"],
        }
    }

    /// Returns the name of the TypeScript type with these keys.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Labels => "WpwlLabels",
            Self::Errors => "WpwlErrorMessages",
        }
    }

    /// Returns every key of this kind with its English text, in quotes as in the file, in the file's order. The tables
    /// `[labels]` and `[errors]` decide the kind; in other tables a key that contains `Error` is that of an error.
    pub fn keys_and_texts(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let mut heading = "";
        // English is the first language, and has every key.
        LANGUAGES[0].texts_toml().lines().filter_map(move |line| {
            if line.starts_with('[') {
                heading = line;
            }
            let (key, text) = line.split_once(" = ").filter(|_| !line.starts_with('#'))?;
            // Elsewhere the key decides.
            let is_error = heading == "[errors]" || heading != "[labels]" && key.contains("Error");
            (is_error == (self == Self::Errors)).then_some((key, text))
        })
    }
}
