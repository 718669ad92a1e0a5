//! Row of a form: label, control, hint and error.

use maud::{Markup, html};

/// The largest value of an amount, which the script of the pages checks while it is typed.
pub struct Largest<'a> {
    /// The value, with a decimal point.
    pub number: &'a str,
    /// The text for a value above it.
    pub text: &'a str,
}

/// A control with its texts.
#[derive(Default)]
pub struct Field<'a> {
    /// Name in the form. Also the id of the control, with the prefix `f-`.
    pub name: &'a str,
    /// The label.
    pub label: &'a str,
    /// The current value.
    pub value: &'a str,
    /// An explanation below the control.
    pub hint: Option<&'a str>,
    /// The error of the value.
    pub error: Option<&'a str>,
    /// Keyboard of a phone: `numeric`, `decimal`.
    pub input_mode: Option<&'a str>,
    /// Maximum number of characters.
    pub max_length: Option<u16>,
    /// Key that moves the focus to the control, if the script runs.
    pub key: Option<&'a str>,
    /// Regular expression that the browser checks.
    pub pattern: Option<&'a str>,
    /// The largest amount.
    pub largest: Option<Largest<'a>>,
    /// True if the form cannot be sent without a value.
    pub is_required: bool,
}

/// An option of a list: value and text.
pub type Choice<'a> = (&'a str, &'a str);

impl Field<'_> {
    /// Renders an input. `kind` is its type: `text`, `date`, `search`.
    pub fn input(&self, kind: &str) -> Markup {
        self.row(&self.bare_input(kind))
    }

    /// Renders an input for a colour in digits, and a picker beside it, which needs the script. `shown` is the colour
    /// of the picker as `#rrggbb`, and `picker` its label.
    pub fn colour(&self, shown: &str, picker: &str) -> Markup {
        self.row(&html! {
            div.colour {
                (self.bare_input("text"))
                input type="color" value=(shown) aria-label=(picker) data-field={ "f-" (self.name) };
            }
        })
    }

    /// Renders an input without its label.
    fn bare_input(&self, kind: &str) -> Markup {
        html! {
            input id={ "f-" (self.name) } name=(self.name) type=(kind) value=(self.value) inputmode=[self.input_mode]
                maxlength=[self.max_length] pattern=[self.pattern] required[self.is_required] autocomplete="off"
                aria-keyshortcuts=[self.key]
                data-largest=[self.largest.as_ref().map(|largest| largest.number)]
                data-fault=[self.largest.as_ref().map(|largest| largest.text)] aria-invalid=[self.error.map(|_| "true")]
                aria-describedby=[self.description()];
        }
    }

    /// Renders an input of several lines.
    pub fn text_area(&self, lines: u8) -> Markup {
        self.row(&html! {
            textarea id={ "f-" (self.name) } name=(self.name) rows=(lines) maxlength=[self.max_length]
                required[self.is_required] aria-keyshortcuts=[self.key] aria-invalid=[self.error.map(|_| "true")]
                aria-describedby=[self.description()] {
                // A browser leaves out the first line break of the content.
                "\n" (self.value)
            }
        })
    }

    /// Renders a control that chooses a file. A file can also be dropped on it. `accepted` are the file types that the
    /// browser offers first.
    pub fn file(&self, accepted: &str) -> Markup {
        self.row(&html! {
            input id={ "f-" (self.name) } name=(self.name) type="file" accept=(accepted) required[self.is_required]
                aria-invalid=[self.error.map(|_| "true")] aria-describedby=[self.description()];
        })
    }

    /// Renders a list of options.
    pub fn select(&self, options: &[Choice<'_>]) -> Markup {
        self.row(&html! {
            select id={ "f-" (self.name) } name=(self.name) aria-describedby=[self.description()] {
                @for (value, text) in options {
                    option value=(value) selected[*value == self.value] { (text) }
                }
            }
        })
    }

    /// Returns the id of the hint and error. `None` if there is neither.
    fn description(&self) -> Option<String> {
        (self.hint.is_some() || self.error.is_some()).then(|| format!("f-{}-help", self.name))
    }

    /// Renders the label, a control and what is below it.
    fn row(&self, control: &Markup) -> Markup {
        html! {
            div.field {
                label for={ "f-" (self.name) } { (self.label) }
                (control)
                @if let Some(id) = self.description() {
                    div id=(id) {
                        @if let Some(error) = self.error { div.error { (error) } }
                        @if let Some(hint) = self.hint { div.hint { (hint) } }
                    }
                }
            }
        }
    }
}
