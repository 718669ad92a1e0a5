//! The keys of the form's texts, read from the English language file: what stands there can be replaced.

use crate::language::LANGUAGES;

/// Kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Labels, placeholders, buttons and notes.
    Labels,
    /// Hints and messages about what is wrong.
    Errors,
}

impl Section {
    /// Keys that pages set and no form of ours shows: they are accepted.
    pub fn unused(self) -> &'static [&'static str] {
        match self {
            Self::Labels => &["pin", "applyNow", "nextStep", "learnMore", "ddmmyyyy", "cvvHelp"],
            Self::Errors => &["pinError", "pinEmptyError", "cardBinError"],
        }
    }

    /// The name of the type whose members are the keys.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Labels => "WpwlLabels",
            Self::Errors => "WpwlErrorMessages",
        }
    }

    /// Every key with its English text, as the file has it in quotes, in the file's order.
    pub fn keys(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let mut heading = "";
        // English is the first language, and has every key.
        LANGUAGES[0].texts().lines().filter_map(move |line| {
            if line.starts_with('[') {
                heading = line;
            }
            let (key, text) = line.split_once(" = ").filter(|_| !line.starts_with('#'))?;
            // Elsewhere their names tell.
            let is_error = heading == "[errors]" || heading != "[labels]" && key.contains("Error");
            (is_error == (self == Self::Errors)).then_some((key, text))
        })
    }
}
