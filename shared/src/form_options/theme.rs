//! The custom properties of the form's look, which a page sets on `.wpwl-container`.

/// A custom property of the style `card`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThemeProperty {
    /// Its name, with both hyphens.
    pub name: &'static str,
    /// Its value if the page sets none.
    pub default: &'static str,
    /// Its value if the page's text is light and the page sets none; `None` if that makes no difference.
    pub on_dark: Option<&'static str>,
    /// Its meaning.
    pub meaning: &'static str,
}

const fn new_property(
    name: &'static str,
    default: &'static str,
    on_dark: Option<&'static str>,
    meaning: &'static str,
) -> ThemeProperty {
    ThemeProperty { name, default, on_dark, meaning }
}

/// All properties, in the order of the style sheet.
pub static THEME: &[ThemeProperty] = &[
    new_property(
        "--wpwl-accent",
        "#2456d6",
        Some("#9db8ff"),
        "Colour of the button, and of the outline of the focused field.",
    ),
    new_property("--wpwl-on-accent", "#fff", Some("#0d1836"), "Colour of the text on the button."),
    new_property("--wpwl-error", "#b3261e", Some("#ff9d94"), "Colour of hints, and of the border of invalid fields."),
    new_property(
        "--wpwl-height",
        "3rem",
        None,
        "Height of fields and buttons. At least 44 pixels are recommended for touch screens.",
    ),
    new_property("--wpwl-radius", "0.625rem", None, "Corner radius of fields and buttons."),
    new_property("--wpwl-gap", "1rem", None, "Space between fields."),
];
