//! Drawings of the pieces in SVG. They use presentation attributes only, because the shop's policy forbids inline
//! styles.

use maud::{Markup, PreEscaped, html};

use crate::catalogue::Item;

/// Returns all drawings as symbols, once for each page; [`draw_item`] inserts one.
pub fn symbol_definitions() -> Markup {
    PreEscaped(include_str!("../art.svg").to_owned())
}

/// Returns the drawing of `item`. The page also has to contain [`symbol_definitions`].
pub fn draw_item(item: &Item) -> Markup {
    html! {
        svg viewBox="0 0 480 480" preserveAspectRatio="xMidYMax meet" focusable="false" { use href={ "#art-" (item.key) } {} }
    }
}
