//! Key figure with a small chart.

use maud::{Markup, html};

use super::chart;

/// A number with its development.
pub struct KeyFigure<'a> {
    /// Name of the number.
    pub label: &'a str,
    /// The number as text.
    pub value: String,
    /// Unit after the number.
    pub unit: String,
    /// Comparison below the number.
    pub note: String,
    /// Values of the chart, oldest first. The last one is the current period.
    pub values: Vec<u64>,
    /// Description of the chart for screen readers.
    pub chart_label: String,
}

/// Renders figures beside each other.
pub fn figures(figures: &[KeyFigure<'_>]) -> Markup {
    html! {
        div.figures {
            @for figure in figures {
                dl.card.figure {
                    dt { (figure.label) }
                    dd {
                        div.value { (figure.value) " " small { (figure.unit) } }
                        div.note { (figure.note) }
                        (chart::bars(&figure.values, &figure.chart_label))
                    }
                }
            }
        }
    }
}
