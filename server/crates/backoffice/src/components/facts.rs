//! Names with their values: a list of facts, and the row of the most important ones under a title.

use maud::{Markup, html};

/// Renders facts below each other. Facts without a value are left out.
pub fn facts(rows: &[(&str, Option<Markup>)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in rows {
                @if let Some(value) = value { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Renders a few facts beside each other.
pub fn summary(rows: &[(&str, Option<Markup>)]) -> Markup {
    html! {
        dl.card.summary {
            @for (name, value) in rows {
                @if let Some(value) = value { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

/// Renders details that open without a script.
pub fn drawer(title: &str, open: bool, content: &Markup) -> Markup {
    html! {
        details.card.drawer open[open] { summary { (title) } div.body { (content) } }
    }
}
