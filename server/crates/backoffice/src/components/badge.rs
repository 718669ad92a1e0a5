//! Badge of a state, and count of open work.

use maud::{Markup, html};

/// Meaning of a state, which decides its colour. The text of a badge always names the state too, so that the colour is
/// never the only difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Done as wanted.
    Good,
    /// Failed or refused.
    Bad,
    /// Somebody has to look at it, or its deadline is near.
    Warn,
    /// Held for a decision.
    Held,
    /// Anything else.
    Calm,
}

impl Tone {
    /// Returns the class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warn => "warn",
            Self::Held => "held",
            Self::Calm => "calm",
        }
    }
}

/// Renders a badge.
pub fn badge(tone: Tone, text: &str) -> Markup {
    html! { span class={ "badge " (tone.class()) } { (text) } }
}

/// Renders the count of open things.
pub fn count(number: u64) -> Markup {
    html! { span.count { (number) } }
}
