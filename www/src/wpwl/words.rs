//! The keys of the form's texts, read from the English language file: what stands there can be replaced.

/// A section of the language file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Labels, placeholders and buttons.
    Labels,
    /// Hints and messages.
    Errors,
}

/// English, which has every key.
const ENGLISH: &str = include_str!("../../../widget/locales/en.toml");

impl Section {
    /// The name of the type whose members are the keys.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Labels => "WpwlLabels",
            Self::Errors => "WpwlErrorMessages",
        }
    }

    /// Every key with its English text, as the file has it in quotes, in the file's order.
    pub fn keys(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let heading = match self {
            Self::Labels => "[labels]",
            Self::Errors => "[errors]",
        };
        let section = ENGLISH.split_once(heading).map_or("", |(_, rest)| rest);
        let section = section.split_once("\n[").map_or(section, |(section, _)| section);
        section.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "))
    }
}
