//! A text with the numbers of its lines, in pages, because a rules file may have a megabyte.

use maud::{Markup, html};
use tillgate_shared::format::text::truncate_text;

/// Maximum size of the lines of a page, in bytes of markup.
const PAGE_BYTES: usize = 14_000;
/// Longest line on a page, in characters. The rest is left out.
const LINE_LENGTH: usize = 1_000;
/// Bytes of markup around a line.
const MARKUP_BYTES: usize = 12;

/// Returns the size of a text as markup, in bytes.
pub(super) fn markup_size(text: &str) -> usize {
    text.bytes().map(|byte| if matches!(byte, b'<' | b'>' | b'&' | b'"') { 6 } else { 1 }).sum()
}

/// A page of a text.
pub(super) struct NumberedText<'a> {
    /// Number of its first line, from 1.
    pub(super) first: usize,
    /// The lines.
    pub(super) lines: Vec<&'a str>,
    /// Number of the first line after the page.
    pub(super) next: Option<usize>,
    /// Number of lines of the whole text.
    pub(super) count: usize,
}

impl<'a> NumberedText<'a> {
    /// Takes the page that begins with a line, or the first one if there is no such line.
    pub(super) fn read(text: &'a str, first: usize) -> Self {
        let count = text.lines().count();
        let first = if (1..=count).contains(&first) { first } else { 1 };
        let (mut size, mut lines) = (0, Vec::new());
        for line in text.lines().skip(first - 1) {
            let line = truncate_text(line, LINE_LENGTH);
            size += markup_size(line) + MARKUP_BYTES;
            if size > PAGE_BYTES && !lines.is_empty() {
                break;
            }
            lines.push(line);
        }
        let next = first + lines.len();
        Self { first, lines, next: (next <= count).then_some(next), count }
    }

    /// Renders the lines.
    pub(super) fn render(&self) -> Markup {
        html! { ol.code start=(self.first) { @for line in &self.lines { li { (line) } } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_text_have_every_line_once_and_are_small() {
        let text = (1..=5_000).map(|number| format!("line \"{number}\" <&>")).collect::<Vec<_>>().join("\n");
        let (mut first, mut lines) = (1, Vec::new());
        loop {
            let page = NumberedText::read(&text, first);
            assert!(page.render().into_string().len() < PAGE_BYTES + 100);
            lines.extend(page.lines.iter().map(|line| (*line).to_owned()));
            let Some(next) = page.next else { break };
            assert_eq!(next, lines.len() + 1);
            first = next;
        }
        assert_eq!(lines.join("\n"), text);
        assert_eq!((NumberedText::read("", 7).lines.len(), NumberedText::read("a\nb", 7).first), (0, 1));
        let long = "\"".repeat(1 << 20);
        assert!(NumberedText::read(&long, 1).render().into_string().len() < PAGE_BYTES);
    }
}
