//! The parts of a page that concern the form, in the order of the source. Browsers may change a page by scripts, which
//! this command does not run.

use std::collections::BTreeMap;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

/// An element with its attributes, whose names have small letters.
#[derive(Debug, Default, Clone)]
pub(super) struct Element {
    /// Name, with small letters.
    pub(super) name: String,
    attributes: BTreeMap<String, String>,
    /// Text of a script; empty for every other element.
    pub(super) text: String,
    /// Number of parsed elements before it.
    pub(super) position: usize,
    /// True for a form inside another form, which browsers leave out.
    pub(super) is_nested: bool,
}

impl Element {
    /// Returns the value of an attribute, or `None` if the element does not have it.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Returns the names of the attributes.
    pub(super) fn attribute_names(&self) -> impl Iterator<Item = &str> {
        self.attributes.keys().map(String::as_str)
    }

    /// Returns the words of the attribute `class`.
    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        self.attribute("class").unwrap_or_default().split_ascii_whitespace()
    }
}

/// A parsed page.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// True if the page begins with a doctype that gives it the standards mode.
    pub(super) has_doctype: bool,
    /// The elements except those in templates, whose content browsers neither run nor show.
    pub(super) elements: Vec<Element>,
}

impl Document {
    /// Parses a page. Every input is a page; bytes that are no UTF-8 are replaced.
    pub(super) fn parse(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let mut emitter = DefaultEmitter::default();
        // Markup in a script, a style or a text area is text.
        emitter.naively_switch_states(true);
        let mut parser = Parser::default();
        for token in Tokenizer::new_with_emitter(text.as_ref(), emitter) {
            let Ok(token) = token;
            parser.take(token);
        }
        parser.document
    }

    /// Returns the elements with this name.
    pub(super) fn elements<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.elements.iter().filter(move |element| element.name == name)
    }

    /// Returns the value of the last `meta` with this name.
    pub(super) fn meta(&self, name: &str) -> Option<&str> {
        let is_named = |element: &&Element| element.attribute("name").is_some_and(|it| it.eq_ignore_ascii_case(name));
        self.elements("meta").filter(is_named).filter_map(|element| element.attribute("content")).last()
    }
}

/// The document so far.
#[derive(Default)]
struct Parser {
    document: Document,
    open_templates: usize,
    is_in_form: bool,
    is_in_script: bool,
    has_begun: bool,
}

impl Parser {
    fn take(&mut self, token: Token) {
        match token {
            Token::Doctype(doctype) if !self.has_begun => {
                let is_html = doctype.name.eq_ignore_ascii_case(b"html") && !doctype.force_quirks;
                // The public identifiers of older versions of HTML stand for other modes.
                self.document.has_doctype = is_html && doctype.public_identifier.is_none();
                self.has_begun = true;
            }
            Token::StartTag(tag) => self.open(&tag),
            Token::EndTag(tag) => match &tag.name[..] {
                b"template" => self.open_templates = self.open_templates.saturating_sub(1),
                b"form" if self.open_templates == 0 => self.is_in_form = false,
                b"script" => self.is_in_script = false,
                _ => {}
            },
            Token::String(text) if self.is_in_script => {
                if let Some(script) = self.document.elements.last_mut() {
                    script.text.push_str(&String::from_utf8_lossy(&text));
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, tag: &StartTag<()>) {
        self.has_begun = true;
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        if name == "template" {
            self.open_templates += 1;
        }
        if self.open_templates > 0 {
            return;
        }
        let read = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let attributes = tag.attributes.iter().map(|(name, value)| (read(name), read(value)));
        let is_form = name == "form";
        self.is_in_script = name == "script";
        let position = self.document.elements.len();
        self.document.elements.push(Element {
            is_nested: is_form && self.is_in_form,
            name,
            attributes: attributes.collect(),
            text: String::new(),
            position,
        });
        self.is_in_form |= is_form;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_markup_that_a_browser_would_use_counts() {
        let document = Document::parse(
            b"<!doctype html><!-- <script src=a></script> --><template><script src=b></script><form></form></template>
              <textarea><script src=c></script></textarea><noscript><script src=d></script></noscript>
              <script>var text = '<script src=e>'; x < 1</script><SCRIPT SRC='f&amp;g' src=h></SCRIPT>",
        );
        let scripts: Vec<&Element> = document.elements("script").collect();
        assert_eq!(scripts.len(), 2, "{scripts:?}");
        assert_eq!(scripts[0].text, "var text = '<script src=e>'; x < 1");
        assert_eq!(scripts[1].attribute("src"), Some("f&g"), "browsers use the first of two attributes");
        assert!(document.has_doctype);
        assert_eq!(document.elements("form").count(), 0);
    }

    #[test]
    fn a_form_in_a_form_is_nested_and_the_one_after_it_is_not() {
        let document = Document::parse(b"<form><div><form class=paymentWidgets></form></div><form>");
        let nested: Vec<bool> = document.elements("form").map(|form| form.is_nested).collect();
        assert_eq!(nested, [false, true, false]);
    }

    #[test]
    fn the_standards_mode_needs_the_short_doctype_before_everything_else() {
        for (page, expected) in [
            ("<!DOCTYPE html><p>", true),
            ("<!-- x --><!doctype HTML>", true),
            ("<p><!doctype html>", false),
            ("<html>", false),
            ("<!doctype html public '-//W3C//DTD HTML 4.01 Transitional//EN'>", false),
            ("<!doctype>", false),
        ] {
            assert_eq!(Document::parse(page.as_bytes()).has_doctype, expected, "{page}");
        }
    }

    #[test]
    fn no_input_is_too_broken_to_be_read() {
        for page in [&b""[..], b"<", b"\xff\xfe<\0script \0=\x01", b"</template></template><form></form></form>"] {
            let _ = Document::parse(page);
        }
        // Depth costs nothing, as no tree is built.
        let deep = "<template>".repeat(100_000);
        assert!(Document::parse(deep.as_bytes()).elements.is_empty());
    }
}
