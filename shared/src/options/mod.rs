//! Options and callbacks of `wpwlOptions`, one row each: name, type, default, meaning. The TypeScript declarations, the
//! playground's controls and a section of the gateway's reference are made of the table. A test compares it with the
//! names that the form's sources read.

mod declarations;
mod rows;
mod theme;
mod words;

pub use declarations::{DECLARATIONS, ERROR_NAMES, declarations};
pub use rows::OPTIONS;
pub use theme::{Property, THEME};
pub use words::Section;

use crate::language::LANGUAGES;

/// Subject of an option, and a heading of the reference and the playground. Both have them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Language, look and layout.
    Appearance,
    /// The card form's behaviour.
    Card,
    /// Name and address that the form asks for.
    Billing,
    /// Stored payment data.
    Registrations,
    /// Where the shopper goes: result, authentication, other pages.
    Ways,
    /// Functions of the merchant's that the form calls.
    Callbacks,
}

impl Group {
    /// Every group, in order.
    pub const ALL: [Self; 6] =
        [Self::Appearance, Self::Card, Self::Billing, Self::Registrations, Self::Ways, Self::Callbacks];

    /// Returns its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Appearance => "Appearance and language",
            Self::Card => "Card form",
            Self::Billing => "Name and address",
            Self::Registrations => "Stored payment data",
            Self::Ways => "3D authentication and result",
            Self::Callbacks => "Callbacks",
        }
    }

    /// Returns the options of the group, in the table's order.
    pub fn options(self) -> impl Iterator<Item = &'static FormOption> {
        OPTIONS.iter().filter(move |option| option.group == self)
    }
}

/// Type and default of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`, with the default.
    Switch(bool),
    /// Any text.
    Text,
    /// One of these words; the first is the default.
    OneOf(&'static [&'static str]),
    /// These words and others of their kind; the first is the default, an empty one says that there is none.
    Open(&'static [&'static str]),
    /// The name of a language, alone or with a country.
    Locale,
    /// A list of brand codes.
    Brands,
    /// Texts by key, one for each of the form's own.
    Words(Section),
    /// An object: its type in TypeScript, and an example in JSON.
    Object(&'static str, &'static str),
    /// A function: see [`Callback`].
    Function(Callback),
}

/// Signature of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The type of `this`.
    pub this: &'static str,
    /// Arguments as TypeScript declares them.
    pub arguments: &'static str,
    /// Type of its return value.
    pub returns: &'static str,
    /// True if its return value decides whether the form goes on.
    pub decides: bool,
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormOption {
    /// Its name; a dot leads into an object: `registrations.requireCvv`.
    pub name: &'static str,
    /// Its subject.
    pub group: Group,
    /// Its type and default.
    pub kind: Kind,
    /// Its meaning, in a sentence or two. Text between backquotes is code.
    pub meaning: &'static str,
}

impl FormOption {
    /// Returns its type in TypeScript.
    pub fn type_name(&self) -> String {
        let union = |values: &[&str]| values.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(" | ");
        // The second half keeps the words as suggestions.
        let open = |values: &[&str]| format!("{} | (string & {{}})", union(values));
        match self.kind {
            Kind::Switch(_) => "boolean".to_owned(),
            Kind::Text => "string".to_owned(),
            Kind::OneOf(values) => union(values),
            Kind::Open(values) => open(&values.iter().copied().filter(|it| !it.is_empty()).collect::<Vec<_>>()),
            Kind::Locale => open(&LANGUAGES.iter().map(|language| language.name).collect::<Vec<_>>()),
            Kind::Brands => "string[]".to_owned(),
            Kind::Words(section) => section.type_name().to_owned(),
            Kind::Object(type_name, _) => type_name.to_owned(),
            Kind::Function(it) => {
                let comma = if it.arguments.is_empty() { "" } else { ", " };
                format!("(this: {}{comma}{}) => {}", it.this, it.arguments, it.returns)
            }
        }
    }

    /// Returns its default as a JavaScript literal, or `None` if it has none.
    pub fn default(&self) -> Option<String> {
        match self.kind {
            Kind::Switch(on) => Some(on.to_string()),
            Kind::OneOf(values) | Kind::Open(values) => {
                values.first().filter(|it| !it.is_empty()).map(|it| format!("\"{it}\""))
            }
            Kind::Locale => Some(format!("\"{}\"", LANGUAGES[0].name)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
