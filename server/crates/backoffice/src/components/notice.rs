//! Notice: the result of an act, or a warning about the page. Screen readers announce it.

use maud::{Markup, html};

use super::badge::Tone;

/// Renders a notice.
pub fn notice(tone: Tone, content: &Markup) -> Markup {
    let role = if tone == Tone::Bad { "alert" } else { "status" };
    html! { div class={ "notice " (tone.class()) } role=(role) { div { (content) } } }
}
