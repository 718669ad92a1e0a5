//! Links between the lists about money, which the navigation shows as one area.

use maud::Markup;

use crate::BASE;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::layout::texts::Texts;

/// The lists: path and key of the text.
const AREAS: [(&str, &str); 7] = [
    ("/money/disputes", "disputes.title"),
    ("/money/settlements", "settlements.title"),
    ("/money/ledger", "ledger.title"),
    ("/money/reports", "reports.title"),
    ("/money/files", "files.title"),
    ("/money/imports", "imports.title"),
    ("/money/unmatched", "unmatched.title"),
];

/// Renders the links. `current` is the path of the list that the page shows.
pub(super) fn render_areas(texts: &Texts, current: &str) -> Markup {
    let link = |(path, key): (&str, &'static str)| FilterLink {
        text: texts.get(key).to_owned(),
        address: format!("{BASE}{path}"),
        is_current: path == current,
    };
    tabs(texts.get("money.title"), &AREAS.map(link))
}
