//! Text that a button copies. Without the script there is no button, and the text can be selected.

use maud::{Markup, html};

use crate::layout::texts::Texts;

/// Renders an id or another exact text with its button.
pub fn copyable(texts: &Texts, text: &str) -> Markup {
    html! {
        code { (text) } " "
        button.quiet.copy type="button" data-copy=(text) data-done=(texts.get("copy.done"))
            aria-label=(texts.fill("copy.label", &[("text", text)])) { (texts.get("copy.button")) }
    }
}
