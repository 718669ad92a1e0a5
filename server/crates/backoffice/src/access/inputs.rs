//! Inputs for credentials. Their names and `autocomplete` are those that password managers look for.

use maud::{Markup, html};

use crate::layout::texts::Texts;

/// An input with its texts.
#[derive(Clone, Copy, Default)]
pub(super) struct Input<'a> {
    /// The name in the form. Also the id, with the prefix `f-`.
    pub(super) name: &'a str,
    /// The label.
    pub(super) label: &'a str,
    /// The type: `text`, `email`, `password`.
    pub(super) kind: &'a str,
    /// The purpose for the browser, such as `current-password`.
    pub(super) autocomplete: &'a str,
    /// The value. Never a password.
    pub(super) value: &'a str,
    /// The explanation below.
    pub(super) hint: Option<&'a str>,
    /// The error of the value.
    pub(super) error: Option<&'a str>,
    /// True if it gets the focus.
    pub(super) has_focus: bool,
}

/// Makes the input of a code of the authenticator app, or of a recovery code.
pub(super) fn code_input(texts: &Texts) -> Input<'_> {
    Input {
        name: "code",
        label: texts.get("sign_in.code"),
        kind: "text",
        autocomplete: "one-time-code",
        hint: Some(texts.get("sign_in.code_hint")),
        has_focus: true,
        ..Input::default()
    }
}

impl Input<'_> {
    /// Renders the input with its label. It is required.
    pub(super) fn render(&self) -> Markup {
        let is_code = self.autocomplete == "one-time-code";
        let help = (self.hint.is_some() || self.error.is_some()).then(|| format!("f-{}-help", self.name));
        html! {
            div.field {
                label for={ "f-" (self.name) } { (self.label) }
                input id={ "f-" (self.name) } name=(self.name) type=(self.kind) value=[(!self.value.is_empty()).then_some(self.value)]
                    autocomplete=(self.autocomplete) maxlength="254" required autocapitalize="none" spellcheck="false"
                    inputmode=[is_code.then_some("text")] aria-invalid=[self.error.map(|_| "true")]
                    aria-describedby=[help.as_deref()] autofocus[self.has_focus];
                @if let Some(id) = &help {
                    div id=(id) {
                        @if let Some(error) = self.error { div.error { (error) } }
                        @if let Some(hint) = self.hint { div.hint { (hint) } }
                    }
                }
            }
        }
    }
}
