//! Timeline: the steps of a thing, oldest first.

use maud::{Markup, html};

use super::badge::Tone;

/// A step.
pub struct Step {
    /// Meaning of the step.
    pub tone: Tone,
    /// The title.
    pub title: Markup,
    /// The time as shown.
    pub time: String,
    /// The time for programs (RFC 3339).
    pub date_time: String,
    /// One line below the title.
    pub text: Option<Markup>,
    /// Further details in a box.
    pub detail: Option<Markup>,
}

/// Renders the steps.
pub fn timeline(steps: &[Step]) -> Markup {
    html! {
        ol.timeline {
            @for step in steps {
                li class=(step.tone.class()) {
                    div.line { h3 { (step.title) } time datetime=(step.date_time) { (step.time) } }
                    @if let Some(text) = &step.text { p { (text) } }
                    @if let Some(detail) = &step.detail { div.detail { (detail) } }
                }
            }
        }
    }
}
