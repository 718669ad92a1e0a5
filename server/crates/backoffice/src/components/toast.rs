//! Toast: the result of an act, above the page to which the act has led. It stays until somebody closes it, because a
//! text that disappears by itself is lost on whoever reads slowly. Screen readers announce it.

use maud::{Markup, html};

use super::badge::Tone;

/// Renders a toast. With the script it keeps in sight and has a button that closes it, which is named `close`.
pub fn toast(tone: Tone, content: &Markup, close: &str) -> Markup {
    html! {
        div class={ "toast notice " (tone.class()) } role="status" {
            div { (content) }
            button.quiet type="button" data-close aria-label=(close) { "×" }
        }
    }
}
