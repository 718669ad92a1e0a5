//! Pictures of the layout, drawn with the current colour. They have no meaning of their own.

use maud::{Markup, html};

/// Renders a picture of 16 pixels from its lines.
fn icon(lines: &str) -> Markup {
    html! {
        svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5"
            stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" { path d=(lines) {} }
    }
}

/// A magnifying glass.
pub fn search() -> Markup {
    icon("M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14")
}

/// A house.
pub fn home() -> Markup {
    icon("M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4Z")
}

/// A card.
pub fn card() -> Markup {
    icon("M2 4.5A1 1 0 0 1 3 3.5h10a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1Zm0 2h12M4.5 10h2")
}

/// Two coins.
pub fn coins() -> Markup {
    icon("M6 10a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm4.2-3.9A4 4 0 1 1 6.1 10.2")
}

/// A paper plane.
pub fn send() -> Markup {
    icon("M14 2 7 9m7-7-4.5 12L7 9 2 6.5Z")
}

/// A flag.
pub fn flag() -> Markup {
    icon("M3.5 14V2.5h8.5L10 5.75 12 9H3.5")
}

/// A person.
pub fn person() -> Markup {
    icon("M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-5 5.5a5 5 0 0 1 10 0")
}

/// The mark of the program: a gate with a coin.
pub fn mark() -> Markup {
    html! {
        svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"
            aria-hidden="true" {
            path d="M4 21V9a8 8 0 0 1 16 0v12M9 21v-9m6 9v-9M3 21h18" {}
            circle cx="12" cy="7" r="1.6" fill="currentColor" stroke="none" {}
        }
    }
}

/// Two sliders.
pub fn sliders() -> Markup {
    icon("M2.5 5h6m4 0h1M2.5 11h1m4 0h6M10.5 3.5v3M5.5 9.5v3")
}

/// A shield with a check mark.
pub fn shield() -> Markup {
    icon("M8 2 13 4v4c0 3-2 5-5 6.5C5 13 3 11 3 8V4Zm-2.2 5.8L7.3 9.3 10.3 6.3")
}
