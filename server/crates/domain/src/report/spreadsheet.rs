//! Free text in files for spreadsheets.

use std::borrow::Cow;

/// Returns a text that a spreadsheet does not take for a formula: one that begins like a formula gets an apostrophe
/// before it. Spreadsheets and the tools before them drop blanks and invisible characters at the beginning, so a
/// formula is found behind these.
pub fn escape_formula(text: Cow<'_, str>) -> Cow<'_, str> {
    let visible = text.trim_start_matches(is_dropped);
    let is_formula = visible.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    // Some spreadsheets take a cell that begins with one of these for a formula of the next cell.
    if is_formula || text.starts_with(['\t', '\r', '\n']) { format!("'{text}").into() } else { text }
}

/// Returns true for characters that readers may drop at the beginning of a cell: blanks, control characters, soft
/// hyphens, characters without width, marks of direction, and byte order marks.
fn is_dropped(character: char) -> bool {
    let is_invisible = matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
    );
    is_invisible || character.is_whitespace() || character.is_control()
}

#[cfg(test)]
mod tests {
    use crate::report::spreadsheet::*;

    #[test]
    fn a_formula_behind_anything_that_nobody_sees_gets_an_apostrophe() {
        for before in [
            "",
            " ",
            "\t",
            "\u{a0}",
            "\u{200b}",
            "\u{feff}",
            "\u{2060}",
            "\u{3000}",
            "\u{202e}",
            "\0",
            "\u{ad} \u{200b}",
        ] {
            for begin in ["=", "+", "-", "@", "＝", "＠"] {
                let text = format!("{before}{begin}HYPERLINK(1)");
                assert_eq!(escape_formula(text.as_str().into()), format!("'{text}"), "{text:?}");
            }
        }
    }

    #[test]
    fn other_text_stays() {
        for text in ["", "order-7", "a=b", "\u{200b}order", " 9 + 1", "é", "'=1"] {
            assert_eq!(escape_formula(text.into()), text);
        }
    }
}
