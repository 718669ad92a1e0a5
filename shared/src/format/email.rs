//! Mail addresses, in the spellings in which people and programs send them.

use std::borrow::Cow;

use super::text;

/// Format of an email address. Its at sign may be full-width.
pub const PATTERN: &str = "^.+[@\u{ff20}].+$";
/// Characters that separate addresses or begin a comment. In a local part they need quotes.
const SPECIAL: &str = "()<>[]:;,\\\"@";
/// Difference between a full-width character and the ASCII character that it stands for.
const FULL_WIDTH: u32 = 0xFEE0;

/// The one mailbox that an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    /// The part before the at sign, without quotes.
    pub local: String,
    /// The domain, without a dot at its end.
    pub domain: String,
}

impl Mailbox {
    /// Parses an address: `jo@shop.example`, also with the name of a person (`Jo <jo@shop.example>`), quotes
    /// (`"jo"@shop.example`), a dot at the end, or full-width characters. Returns `None` if the text is no address of
    /// one mailbox.
    pub fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().map(narrow).collect();
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return None;
        }
        let address = match text.strip_suffix('>') {
            Some(named) => named.rsplit_once('<')?.1.trim(),
            None => text,
        };
        let (local, domain) = match address.strip_prefix('"') {
            Some(quoted) => split_quoted(quoted)?,
            None => {
                let (local, domain) = address.split_once('@')?;
                let is_atom = !local.is_empty() && !local.contains(|c: char| c.is_whitespace() || SPECIAL.contains(c));
                (is_atom.then(|| local.to_owned())?, domain)
            }
        };
        let domain = domain.strip_suffix('.').unwrap_or(domain);
        is_domain(domain).then(|| Self { local, domain: domain.to_owned() })
    }
}

/// Returns the ASCII character that a full-width one stands for. Other characters stay.
fn narrow(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - FULL_WIDTH).unwrap_or(character),
        '\u{3002}' | '\u{ff61}' => '.',
        '\u{3000}' => ' ',
        other => other,
    }
}

/// Splits an address behind its first quote into the text of the quotes, which may escape characters, and the domain.
fn split_quoted(quoted: &str) -> Option<(String, &str)> {
    let (mut local, mut characters) = (String::new(), quoted.chars());
    loop {
        match characters.next()? {
            '"' => break,
            '\\' => local.push(characters.next()?),
            other => local.push(other),
        }
    }
    let domain = characters.as_str().strip_prefix('@')?;
    (!local.trim().is_empty()).then_some((local, domain))
}

/// Returns true for a domain, or an IP address in brackets (RFC 5321, 4.1.3). The labels are not checked further.
fn is_domain(text: &str) -> bool {
    if let Some(literal) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return !literal.is_empty()
            && literal.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:".contains(&byte));
    }
    let is_part =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || (!c.is_ascii() && !c.is_whitespace());
    text.split('.').all(|label| !label.is_empty() && label.chars().all(is_part))
}

/// Checks an email address.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    text::check_line(value, min, max)?;
    match Mailbox::parse(value) {
        Some(_) => Ok(()),
        None => Err(Cow::Borrowed("must be an email address, such as jo@shop.example")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_mailbox_has_many_spellings() {
        for text in [
            "jo@shop.example",
            " jo@shop.example ",
            "jo@shop.example.",
            "\"jo\"@shop.example",
            "\"j\\o\"@shop.example",
            "Jo <jo@shop.example>",
            "\"Doe, Jo <x@y>\" <jo@shop.example>",
            "<jo@shop.example>",
            "Jo < jo@shop.example. >",
            "ｊｏ＠ｓｈｏｐ．ｅｘａｍｐｌｅ",
            "jo@shop。example",
        ] {
            let mailbox = Mailbox::parse(text).unwrap();
            assert_eq!((mailbox.local.as_str(), mailbox.domain.as_str()), ("jo", "shop.example"), "{text}");
        }
        for (text, local, domain) in [
            ("jo.doe+shop@müll.example", "jo.doe+shop", "müll.example"),
            ("jo.@docomo.example", "jo.", "docomo.example"),
            ("\"jo doe\"@shop.example", "jo doe", "shop.example"),
            ("\"a@b\"@shop.example", "a@b", "shop.example"),
            ("root@localhost", "root", "localhost"),
            ("jo@[203.0.113.7]", "jo", "[203.0.113.7]"),
            ("411111******1111@shop.example", "411111******1111", "shop.example"),
        ] {
            let mailbox = Mailbox::parse(text).unwrap();
            assert_eq!((mailbox.local.as_str(), mailbox.domain.as_str()), (local, domain), "{text}");
        }
    }

    #[test]
    fn what_names_no_mailbox_or_several_is_no_address() {
        for text in [
            "",
            "jo",
            "@shop.example",
            "jo@",
            "jo@.",
            "jo@shop..example",
            "jo@.example",
            "jo@shop.example..",
            "jo@shop.example, x@evil.example",
            "jo@shop.example;x@evil.example",
            "jo@shop.example x@evil.example",
            "jo@x@shop.example",
            "jo doe@shop.example",
            "jo(x)@shop.example",
            "jo@shop.example(x)",
            "jo@shop .example",
            "\"jo@shop.example",
            "\"jo\"x@shop.example",
            "\"\"@shop.example",
            "Jo <jo@shop.example",
            "Jo jo@shop.example>",
            "jo@shop.example\u{0}",
            "jo@[]",
            "https://shop.example",
        ] {
            assert_eq!(Mailbox::parse(text), None, "{text}");
        }
    }
}
