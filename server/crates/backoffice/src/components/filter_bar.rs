//! Filter bar: links for the frequent filters, and a form for all of them. Both write the address.

use maud::{Markup, html};

/// A link of the filter bar.
pub struct FilterLink {
    /// The text.
    pub text: String,
    /// The address with the filter.
    pub address: String,
    /// True if the page shows this filter.
    pub is_current: bool,
}

/// Renders links of which at most one is current.
pub fn tabs(label: &str, links: &[FilterLink]) -> Markup {
    html! {
        nav aria-label=(label) {
            ul.tabs {
                @for link in links {
                    li { a href=(link.address) aria-current=[link.is_current.then_some("true")] { (link.text) } }
                }
            }
        }
    }
}

/// The form with all filters.
pub struct FilterForm<'a> {
    /// Text that opens the form.
    pub title: &'a str,
    /// Number of filters in effect. The form is open if there is one, and no chip says so.
    pub active: usize,
    /// The filters in effect, each with the address without it.
    pub chips: Vec<FilterLink>,
    /// True if a field has an error, which opens the form as well.
    pub has_error: bool,
    /// The address of the list.
    pub action: &'a str,
    /// The rows of the form.
    pub fields: Markup,
    /// Text of the button.
    pub apply: &'a str,
    /// Text of the link that removes all filters.
    pub clear: &'a str,
}

impl FilterForm<'_> {
    /// Renders the form.
    pub fn render(&self) -> Markup {
        html! {
            details open[(self.active > 0 && self.chips.is_empty()) || self.has_error] {
                summary {
                    (self.title)
                    @if self.active > 0 { " " span.count { (self.active) } }
                }
                form method="get" action=(self.action) {
                    div.fields { (self.fields) }
                    div.send {
                        button.primary type="submit" { (self.apply) }
                        a.button.quiet href=(self.action) { (self.clear) }
                    }
                }
            }
            @if !self.chips.is_empty() {
                ul.chips aria-label=(self.title) {
                    @for chip in &self.chips { li { a href=(chip.address) { (chip.text) " " span aria-hidden="true" { "×" } } } }
                }
            }
        }
    }
}
