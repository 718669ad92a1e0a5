//! Options and callbacks of `wpwlOptions`, one row each: name, type, default, meaning. The TypeScript declarations, the
//! playground's controls and a section of the gateway's reference are made from the table. A test compares it with the
//! names that the form's sources read.

mod declarations;
pub mod rows;
mod text_keys;
mod theme;

pub use declarations::{DECLARATIONS, ERROR_NAMES, render_declarations};
pub use rows::OPTIONS;
pub use text_keys::TextKind;
pub use theme::{THEME, ThemeProperty};

use crate::language::LANGUAGES;

/// Subject of an option, and a heading of the reference and the playground. Both use this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionGroup {
    /// Language, look and layout.
    Appearance,
    /// The card form's behaviour.
    Card,
    /// Name and address in the form.
    Billing,
    /// Stored payment data.
    Registrations,
    /// Redirects of the shopper: result, authentication, other pages.
    Redirects,
    /// The merchant's functions that the form calls.
    Callbacks,
}

impl OptionGroup {
    /// All groups, in order.
    pub const ALL: [Self; 6] =
        [Self::Appearance, Self::Card, Self::Billing, Self::Registrations, Self::Redirects, Self::Callbacks];

    /// Returns its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Appearance => "Appearance and language",
            Self::Card => "Card form",
            Self::Billing => "Name and address",
            Self::Registrations => "Stored payment data",
            Self::Redirects => "3-D Secure and result",
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
pub enum OptionType {
    /// `true` or `false`, with the default.
    Boolean(bool),
    /// Any text.
    Text,
    /// One of these words; the first is the default.
    OneOf(&'static [&'static str]),
    /// These words and others of their kind. The first is the default; if it is empty, there is no default.
    Suggested(&'static [&'static str]),
    /// The name of a language, alone or with a country.
    Locale,
    /// A list of brand codes.
    Brands,
    /// Texts by key, for the keys of the form's own texts.
    Texts(TextKind),
    /// An object: its TypeScript type, and an example in JSON.
    Object(&'static str, &'static str),
    /// A function, see [`Callback`].
    Function(Callback),
}

/// Signature of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The type of `this`.
    pub this: &'static str,
    /// Arguments in TypeScript.
    pub arguments: &'static str,
    /// Type of its return value.
    pub returns: &'static str,
    /// True if its return value decides whether the form continues.
    pub decides: bool,
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormOption {
    /// Its name. A dot leads into an object: `registrations.requireCvv`.
    pub name: &'static str,
    /// Its subject.
    pub group: OptionGroup,
    /// Its type and default.
    pub kind: OptionType,
    /// Its meaning, in a sentence or two. Text between backquotes is code.
    pub meaning: &'static str,
}

impl FormOption {
    /// Returns its type in TypeScript: words as a union, which allows any other string if they are only suggestions,
    /// and callbacks as a function type.
    pub fn type_name(&self) -> String {
        let union = |values: &[&str]| values.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(" | ");
        // The second half keeps the words as suggestions.
        let open = |values: &[&str]| format!("{} | (string & {{}})", union(values));
        match self.kind {
            OptionType::Boolean(_) => "boolean".to_owned(),
            OptionType::Text => "string".to_owned(),
            OptionType::OneOf(values) => union(values),
            OptionType::Suggested(values) => {
                open(&values.iter().copied().filter(|it| !it.is_empty()).collect::<Vec<_>>())
            }
            OptionType::Locale => open(&LANGUAGES.iter().map(|language| language.name).collect::<Vec<_>>()),
            OptionType::Brands => "string[]".to_owned(),
            OptionType::Texts(kind) => kind.type_name().to_owned(),
            OptionType::Object(type_name, _) => type_name.to_owned(),
            OptionType::Function(it) => {
                let comma = if it.arguments.is_empty() { "" } else { ", " };
                format!("(this: {}{comma}{}) => {}", it.this, it.arguments, it.returns)
            }
        }
    }

    /// Returns its default as a JavaScript literal. `None` for texts, lists, objects and functions, and for suggestions
    /// whose first word is empty.
    pub fn default_literal(&self) -> Option<String> {
        match self.kind {
            OptionType::Boolean(on) => Some(on.to_string()),
            OptionType::OneOf(values) | OptionType::Suggested(values) => {
                values.first().filter(|it| !it.is_empty()).map(|it| format!("\"{it}\""))
            }
            OptionType::Locale => Some(format!("\"{}\"", LANGUAGES[0].name)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
