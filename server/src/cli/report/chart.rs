//! Charts of reports: bars beside the rows of a table, and as a picture (SVG).

use std::fmt::Write as _;

use tillgate_domain::report::table::ReportTable;

use crate::cli::table::align_columns;

/// Length of the longest bar in the terminal, in characters.
const BAR: usize = 30;
/// Sizes in the picture, in pixels.
const LABEL_WIDTH: usize = 320;
const BAR_WIDTH: usize = 400;
const ROW_HEIGHT: usize = 22;

/// Formats a report as a table. Its last column has a bar for each row.
pub(in crate::cli) fn format_table(table: &ReportTable) -> String {
    if table.rows.is_empty() {
        return "no payments in this period".to_owned();
    }
    let header = table.header.iter().map(|name| (*name).to_owned()).chain([String::new()]).collect();
    let bars = scale_values(table, BAR * 2);
    let rows = table.rows.iter().zip(bars).map(|(row, halves)| {
        let bar = "━".repeat(halves / 2) + if halves % 2 == 1 { "╸" } else { "" };
        row.iter().cloned().chain([bar]).collect()
    });
    align_columns(&std::iter::once(header).chain(rows).collect::<Vec<_>>()).join("\n")
}

/// Draws a report as bars with labels. Cells are codes, days and numbers, so nothing has to be escaped.
pub(in crate::cli) fn draw_svg(table: &ReportTable) -> String {
    let (width, height) = (LABEL_WIDTH + BAR_WIDTH + 120, (table.rows.len() + 2) * ROW_HEIGHT);
    let title = table.header.get(table.charted).copied().unwrap_or_default();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LABEL_WIDTH}\" y=\"16\" font-weight=\"bold\">{title}</text>\n"
    );
    for (number, (row, bar)) in table.rows.iter().zip(scale_values(table, BAR_WIDTH)).enumerate() {
        let top = (number + 1) * ROW_HEIGHT;
        let label: Vec<&str> =
            row.iter().take(table.labels).map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        let value = row.get(table.charted).map_or("", String::as_str);
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LABEL_WIDTH}\" y=\"{}\" width=\"{bar}\" height=\"14\" fill=\"#2f6f8f\"/>\
             <text x=\"{}\" y=\"{}\">{value}</text>",
            LABEL_WIDTH - 8,
            top + 15,
            label.join(" "),
            top + 4,
            LABEL_WIDTH + bar + 6,
            top + 15,
        );
    }
    svg + "</svg>\n"
}

/// Scales the charted values of all rows so that the largest is `longest`. A value above 0 is at least 1.
fn scale_values(table: &ReportTable, longest: usize) -> Vec<usize> {
    let value = |row: &Vec<String>| row.get(table.charted).and_then(|cell| cell.parse::<u128>().ok()).unwrap_or(0);
    let most = table.rows.iter().map(value).max().unwrap_or(0).max(1);
    let scale = |value: u128| {
        let length = value * u128::try_from(longest).unwrap_or(0) / most;
        usize::try_from(length).unwrap_or(longest).max(usize::from(value > 0))
    };
    table.rows.iter().map(value).map(scale).collect()
}
