//! Table with a caption. The first cell of a row is its header, and a link in it covers the row.

use maud::{Markup, html};

/// Width from which a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// At every width.
    Always,
    /// From the width of a tablet.
    Medium,
    /// From the width of a notebook.
    Wide,
}

/// A column.
pub struct Column<'a> {
    /// The header.
    pub title: &'a str,
    /// True for numbers, which end at the same line.
    pub is_number: bool,
    /// Width from which the column is shown.
    pub shown: Shown,
}

impl<'a> Column<'a> {
    /// Makes a column of texts that is always shown.
    pub fn new(title: &'a str) -> Self {
        Self { title, is_number: false, shown: Shown::Always }
    }

    /// Makes a column of numbers that is always shown.
    pub fn number(title: &'a str) -> Self {
        Self { is_number: true, ..Self::new(title) }
    }

    /// Hides the column below a width.
    #[must_use]
    pub fn from(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    fn class(&self) -> Option<&'static str> {
        match (self.is_number, self.shown) {
            (false, Shown::Always) => None,
            (true, Shown::Always) => Some("number"),
            (false, Shown::Medium) => Some("least"),
            (true, Shown::Medium) => Some("number least"),
            (false, Shown::Wide) => Some("less"),
            (true, Shown::Wide) => Some("number less"),
        }
    }
}

/// A table.
pub struct Table<'a> {
    /// The caption, also the name of the region that scrolls.
    pub caption: &'a str,
    /// True if the caption is only for screen readers, because a heading says the same.
    pub hides_caption: bool,
    /// True if the header of each row is a link.
    pub is_linked: bool,
    /// The columns.
    pub columns: Vec<Column<'a>>,
    /// The cells of each row, as many as columns.
    pub rows: Vec<Vec<Markup>>,
}

impl Table<'_> {
    /// Renders the table. It scrolls inside its place if it is too wide, and keyboards can scroll it.
    pub fn render(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label=(self.caption) {
                table class=[self.is_linked.then_some("linked")] {
                    caption class=[self.hides_caption.then_some("hidden-text")] { (self.caption) }
                    thead { tr {
                        @for column in &self.columns { th scope="col" class=[column.class()] { (column.title) } }
                    } }
                    tbody {
                        @for row in &self.rows { tr {
                            @for (index, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                                @if index == 0 {
                                    th scope="row" class=[column.class()] { (cell) }
                                } @else {
                                    td class=[column.class()] { (cell) }
                                }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// Renders the place of a list that is empty.
pub fn empty(title: &str, advice: &str) -> Markup {
    html! { div.empty { strong { (title) } p { (advice) } } }
}
