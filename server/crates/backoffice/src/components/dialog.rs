//! Dialog without a script: it is open while the address ends with its name.

use maud::{Markup, html};

/// A question with its buttons.
pub struct Dialog<'a> {
    /// Name in the address after `#`.
    pub name: &'a str,
    /// The question.
    pub title: &'a str,
    /// The content, with the form of the act.
    pub content: Markup,
    /// Text of the link that closes it.
    pub close: &'a str,
}

impl Dialog<'_> {
    /// Renders the link that opens the dialog.
    pub fn opener(&self, class: &str, text: &str) -> Markup {
        html! { a class={ "button " (class) } href={ "#" (self.name) } { (text) } }
    }

    /// Renders the dialog. `act` is the button that carries out the act.
    pub fn render(&self, act: &Markup) -> Markup {
        let title = format!("{}-title", self.name);
        html! {
            div.dialog id=(self.name) role="dialog" aria-labelledby=(title) {
                div {
                    h2 id=(title) { (self.title) }
                    (self.content)
                    div.actions { a.button href="#_" { (self.close) } (act) }
                }
            }
        }
    }
}
