//! Bar charts with labels as SVG, without a script and without inline style: bars over time, and bars by name.

use maud::{Markup, html};

/// Width of a picture in its own units, which are pixels in a column of a wide page.
const WIDTH: i64 = 480;
/// Height of the bars over time, and of the line of labels below them.
const HEIGHT: (i64, i64) = (150, 20);
/// Height of the place above the bars over time, for the largest value.
const HEAD: i64 = 18;
/// Height of a row of the bars by name, and of its bar.
const ROW: (i64, i64) = (26, 16);
/// Beginning and greatest length of the bars by name. The value follows the bar.
const BAR: (i64, i64) = (150, 210);
/// Largest number of letters of a name.
const MAX_LABEL: usize = 20;

/// A value with its name.
pub struct Point {
    /// The name, such as a day or a brand.
    pub label: String,
    /// The value as people read it.
    pub text: String,
    /// The value in any unit that all values of a chart share.
    pub value: i64,
}

/// Returns the length of a value if `most` has the length `longest`. A value that is not zero is visible.
fn scale(value: i64, most: i64, longest: i64) -> i64 {
    let length = i128::from(value.saturating_abs()) * i128::from(longest) / i128::from(most.max(1));
    i64::try_from(length).unwrap_or(longest).max(i64::from(value != 0))
}

fn largest(points: &[Point]) -> i64 {
    points.iter().map(|point| point.value.saturating_abs()).max().unwrap_or(0)
}

/// Renders values over time, oldest first. Values below zero hang below the line. `label` describes the chart to screen
/// readers.
pub fn over_time(points: &[Point], label: &str) -> Markup {
    let (height, foot) = HEIGHT;
    let highest = points.iter().map(|point| point.value).max().unwrap_or(0).max(0);
    let lowest = points.iter().map(|point| point.value).min().unwrap_or(0).min(0);
    let span = highest.saturating_sub(lowest);
    let zero = HEAD + scale(highest, span, height);
    let place = WIDTH / i64::try_from(points.len()).unwrap_or(1).clamp(1, WIDTH);
    // Few values have bars of a fixed width at the beginning, so that one value is no block.
    let place = place.min(40);
    let bar_width = (place * 4 / 5).max(1);
    let bars = (0..).zip(points).map(|(index, point): (i64, &Point)| {
        let length = scale(point.value, span, height);
        let y = if point.value < 0 { zero } else { zero - length };
        (index * place, y, length, point)
    });
    let total = HEAD + height + foot;
    let end = (i64::try_from(points.len()).unwrap_or(1) * place).min(WIDTH);
    let peak = points.iter().max_by_key(|point| point.value.saturating_abs());
    html! {
        svg.bars viewBox={ "0 0 " (WIDTH) " " (total) } role="img" aria-label=(label) {
            @if let Some(peak) = peak { text x="0" y="12" { (peak.text) } }
            @for (x, y, length, point) in bars {
                rect class={ "bar" @if point.value < 0 { " below" } } x=(x) y=(y) width=(bar_width) height=(length) {}
            }
            line.base x1="0" x2=(WIDTH) y1=(zero) y2=(zero) {}
            @if let Some(first) = points.first() { text x="0" y=(total - 5) { (first.label) } }
            @if points.len() > 4 {
                @if let Some(last) = points.last() {
                    text x=(end.max(200)) y=(total - 5) text-anchor="end" { (last.label) }
                }
            }
        }
    }
}

/// Renders values by name, in their order. The bar of a value below zero has another colour.
pub fn by_name(points: &[Point], label: &str) -> Markup {
    let ((row, bar), (begin, longest)) = (ROW, BAR);
    let most = largest(points);
    let height = row * i64::try_from(points.len()).unwrap_or(1).max(1);
    let rows = (0..).zip(points).map(|(index, point): (i64, &Point)| (index * row, point));
    html! {
        svg.bars viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label=(label) {
            @for (y, point) in rows {
                @let length = scale(point.value, most, longest);
                text x="0" y=(y + 17) { (cut(&point.label)) }
                rect class={ "bar" @if point.value < 0 { " below" } } x=(begin) y=(y + 4) width=(length) height=(bar) {}
                text x=(begin + length + 8) y=(y + 17) { (point.text) }
            }
        }
    }
}

/// Shortens a name that would reach its bar.
fn cut(label: &str) -> String {
    if label.chars().count() <= MAX_LABEL {
        return label.to_owned();
    }
    label.chars().take(MAX_LABEL - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[i64]) -> Vec<Point> {
        let point = |value: &i64| Point { label: "<b>".to_owned(), text: value.to_string(), value: *value };
        values.iter().map(point).collect()
    }

    #[test]
    fn bars_over_time_hang_below_the_line_if_their_value_does() {
        let drawn = over_time(&points(&[100, -100, 0]), "Paid out").into_string();
        assert_eq!(drawn.matches("height=\"75\"").count(), 2, "{drawn}");
        assert_eq!((drawn.matches("bar below").count(), drawn.matches("height=\"0\"").count()), (1, 1), "{drawn}");
        for values in [&[][..], &[0], &[i64::MAX, i64::MIN], &[1; 2000]] {
            let drawn = over_time(&points(values), "Paid out").into_string();
            assert!(drawn.contains("role=\"img\"") && !drawn.contains("\"-"), "{values:?}");
        }
    }

    #[test]
    fn bars_by_name_have_the_length_of_their_value_and_a_safe_name() {
        let drawn = by_name(&points(&[210, 105, 1, 0, -210]), "Brands").into_string();
        for width in ["width=\"210\"", "width=\"105\"", "width=\"1\"", "width=\"0\""] {
            assert!(drawn.contains(width), "{width} in {drawn}");
        }
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("<b>"), "{drawn}");
        assert!(by_name(&points(&[i64::MIN, i64::MAX]), "x").into_string().contains("width=\"210\""));
        assert_eq!(cut(&"é".repeat(40)).chars().count(), MAX_LABEL);
    }
}
