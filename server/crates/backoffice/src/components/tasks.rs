//! List of open work: one line for each kind or thing, with its deadline.

use maud::{Markup, html};

/// A line of the list.
pub struct Task {
    /// The text.
    pub text: String,
    /// The address that it leads to. `None` if there is no page for it.
    pub address: Option<String>,
    /// A badge before the text.
    pub badge: Markup,
    /// The deadline or another detail at the end of the line.
    pub end: Markup,
}

/// Renders the list.
pub fn tasks(list: &[Task]) -> Markup {
    html! {
        ul.tasks {
            @for task in list {
                li {
                    (task.badge)
                    @if let Some(address) = &task.address { a href=(address) { (task.text) } } @else { span { (task.text) } }
                    span.end { (task.end) }
                }
            }
        }
    }
}
