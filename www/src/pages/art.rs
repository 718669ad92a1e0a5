//! The pieces, drawn as SVG. Everything is presentation attributes: the shop's own policy forbids inline styles.

use maud::{Markup, PreEscaped, html};

use crate::catalogue::Item;

/// All drawings as symbols, once per page; [`show`] puts one in place.
pub fn definitions() -> Markup {
    PreEscaped(include_str!("../art.svg").to_owned())
}

/// The drawing of `item`.
pub fn show(item: &Item) -> Markup {
    html! {
        svg viewBox="0 0 480 480" preserveAspectRatio="xMidYMax meet" focusable="false" { use href={ "#art-" (item.key) } {} }
    }
}
