//! One spelling for texts that mean the same: names, mail addresses, telephone numbers. Lists, counters and rules
//! compare these, so that a shopper cannot pass by with another spelling.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use tillgate_shared::format::email::Mailbox;

/// Prefix of a label in IDNA form.
const IDNA_PREFIX: &str = "xn--";

/// Returns a text in lowercase letters, with composed and full-width characters in one form (NFKC), without invisible
/// characters.
pub fn fold_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let normalizer = ComposingNormalizerBorrowed::new_nfkc();
    let visible: String = text.chars().filter(|character| !is_invisible(*character)).collect();
    // Letters may be composed differently after their case has changed.
    let lower = normalizer.normalize(&visible).to_lowercase();
    normalizer.normalize(&lower).into_owned()
}

/// Returns true for a character without a width or a meaning of its own.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

/// Returns the spelling of a mail address that stands for its mailbox. `None` if the text is no address.
pub fn fold_mail_address(text: &str) -> Option<String> {
    let Mailbox { local, domain } = Mailbox::parse(text)?;
    Some([fold_text(&local).as_str(), "@", &fold_domain(&domain)].concat())
}

/// Returns the domain of a mail address in one spelling. `None` if the text is no address.
pub fn domain_of_mail(text: &str) -> Option<String> {
    Mailbox::parse(text).map(|mailbox| fold_domain(&mailbox.domain))
}

/// Returns a domain, or a part of one, in one spelling: lowercase letters of its own script, also if it is in IDNA
/// form.
pub fn fold_domain(text: &str) -> String {
    let is_plain = text.is_ascii() && !text.to_ascii_lowercase().contains(IDNA_PREFIX);
    if is_plain {
        return text.to_ascii_lowercase();
    }
    match idna::domain_to_unicode(text) {
        (domain, Ok(())) => domain,
        // No mail server has such a domain. It still has one spelling.
        (_, Err(_)) => fold_text(text),
    }
}

/// Returns a part of a mail address that a rule compares with in one spelling: an address, the beginning or end of one,
/// or a domain.
pub fn fold_mail_part(text: &str) -> String {
    fold_mail_address(text).unwrap_or_else(|| match text.rsplit_once('@') {
        Some((local, domain)) => [fold_text(local).as_str(), "@", &fold_domain(domain)].concat(),
        None => fold_domain(text),
    })
}

/// Returns a telephone number as digits, with a plus sign in front of a country code: `0049 (0)89/12-3` is `+4989123`.
/// Letters stay, in lower case.
pub fn fold_phone(text: &str) -> String {
    let text = fold_text(text);
    let mut number: Cow<'_, str> = text.trim().into();
    if let Some(rest) = number.strip_prefix("00") {
        number = format!("+{rest}").into();
    }
    if number.starts_with('+') {
        // The trunk prefix is dialled inside of the country only.
        number = number.replace("(0)", "").into();
    }
    let folded: String = number.chars().filter(|character| character.is_alphanumeric() || *character == '+').collect();
    if folded.is_empty() { text } else { folded }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_mailbox_has_one_spelling() {
        for text in [
            "jo@müll.example",
            "JO@MÜLL.EXAMPLE.",
            "jo@mu\u{308}ll.example",
            "jo@xn--mll-hoa.example",
            "Jo Doe <jo@XN--MLL-HOA.example>",
            "\"jo\"@müll。example",
            "ｊｏ＠müll．example",
            "j\u{200b}o@müll.example",
            "jo@mü\u{ad}ll.example",
        ] {
            assert_eq!(fold_mail_address(text).as_deref(), Some("jo@müll.example"), "{text}");
            assert_eq!(domain_of_mail(text).as_deref(), Some("müll.example"), "{text}");
        }
        assert_eq!(fold_mail_address("J\u{d6}RG@shop.example"), fold_mail_address("jo\u{308}rg@shop.example"));
        assert_eq!(fold_mail_address("jo+a@shop.example").unwrap(), "jo+a@shop.example", "another mailbox");
        assert_eq!(fold_mail_address("jo@xn--a.example").unwrap(), "jo@xn--a.example", "no domain of IDNA");
        assert_eq!(fold_mail_address("jo"), None);
    }

    #[test]
    fn parts_of_addresses_are_spelled_like_addresses() {
        for (text, folded) in [
            ("@MÜLL.example", "@müll.example"),
            (".xn--mll-hoa.example", ".müll.example"),
            ("Jo.", "jo."),
            ("\"Jo\"@shop.example", "jo@shop.example"),
            ("Müll", "müll"),
        ] {
            assert_eq!(fold_mail_part(text), folded, "{text}");
        }
    }

    #[test]
    fn names_and_numbers_have_one_spelling() {
        assert_eq!(fold_text("A\u{30a}NNE"), "ånne");
        assert_eq!(fold_text("ＪＯ　Ｄｏｅ"), "jo doe");
        assert_eq!(fold_text("J\u{200d}o"), "jo");
        for text in ["+49 (0)89/123-45", "0049 89 12345", "+49.89.12345", "＋４９ 8912345"] {
            assert_eq!(fold_phone(text), "+498912345", "{text}");
        }
        assert_eq!(fold_phone("(089) 123"), "089123");
        assert_eq!(fold_phone("()"), "()", "an empty text would be contained in every number");
    }
}
