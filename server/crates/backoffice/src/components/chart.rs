//! Small bar chart as SVG, without a script and without inline style.

use maud::{Markup, html};

/// Width and height of the picture in its own units. The style sheet stretches it to its place.
const SIZE: (u32, u32) = (280, 44);
/// Share of a bar's place that stays empty, in hundredths.
const GAP: u32 = 22;
/// Lowest number of places, so that a single value is a bar at the end and not a block.
const PLACES: u32 = 14;
/// Height of the bar of a value that is small but not zero.
const SMALLEST: u64 = 2;

/// Renders the values as bars, oldest first. The last bar is the current period. `label` describes the chart to screen
/// readers.
pub fn bars(values: &[u64], label: &str) -> Markup {
    let (width, height) = SIZE;
    let highest = values.iter().copied().max().unwrap_or(0).max(1);
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let empty = PLACES.saturating_sub(count);
    // Hundredths keep the bars of many values apart without floating-point numbers.
    let place = width * 100 / count.max(PLACES);
    let bar_width = place - place * GAP / 100;
    let last = values.len().saturating_sub(1);
    let bars = values.iter().enumerate().map(|(index, value)| {
        let scaled = u128::from(*value) * u128::from(height - 1) / u128::from(highest);
        let bar = u64::try_from(scaled).unwrap_or(0);
        let bar = if *value > 0 { bar.max(SMALLEST) } else { 0 };
        let x = (empty + u32::try_from(index).unwrap_or(0)) * place;
        (format_hundredths(x), u64::from(height) - 1 - bar, bar, index == last)
    });
    html! {
        svg.chart viewBox={ "0 0 " (width) " " (height) } preserveAspectRatio="none" role="img" aria-label=(label) {
            line.base x1="0" x2=(width) y1=(height) y2=(height) {}
            @for (x, y, bar, is_last) in bars {
                rect class={ "bar" @if is_last { " now" } } x=(x) y=(y) width=(format_hundredths(bar_width)) height=(bar) rx="1" {}
            }
        }
    }
}

/// Formats a number of hundredths with a decimal point.
fn format_hundredths(value: u32) -> String {
    format!("{}.{:02}", value / 100, value % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_value_fills_the_chart_and_zero_is_empty() {
        let drawn = bars(&[0, 1, 1000], "Payments").into_string();
        assert!(drawn.contains("height=\"43\"") && drawn.contains("height=\"0\""), "{drawn}");
        assert!(drawn.contains("height=\"2\""), "a small value is visible: {drawn}");
        assert_eq!(drawn.matches("bar now").count(), 1);
        assert!(bars(&[], "Payments").into_string().contains("role=\"img\""));
        assert!(bars(&[u64::MAX, 1], "Payments").into_string().contains("height=\"43\""));
    }
}
