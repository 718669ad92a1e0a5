//! Tables and lines of the command line.

/// Formats rows as lines: the first column and the last to the left, the others to the right.
pub(super) fn align_columns(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let format_row = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 || column + 1 == columns { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(format_row).collect()
}

/// Replaces characters that could change what the terminal shows: control characters, and those that reverse the order
/// of a line. Shoppers and pages of merchants choose some of the values.
pub(super) fn to_printable(line: &str) -> String {
    let is_harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    line.replace(is_harmful, "\u{fffd}")
}
