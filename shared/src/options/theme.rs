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
    new_property("--wpwl-accent", "#2456d6", Some("#9db8ff"), "The button, and the frame around the field in use."),
    new_property("--wpwl-on-accent", "#fff", Some("#0d1836"), "Text on the button."),
    new_property("--wpwl-error", "#b3261e", Some("#ff9d94"), "Hints, and the edge of fields that are wrong."),
    new_property(
        "--wpwl-height",
        "3rem",
        None,
        "The height of fields and buttons; at least 44 pixels are good for thumbs.",
    ),
    new_property("--wpwl-radius", "0.625rem", None, "Radius of their corners."),
    new_property("--wpwl-gap", "1rem", None, "The space between fields."),
];
