//! Valid bodies, broken at random: the decoder and the catalogue report the faults, never panic, and show no card
//! number. There are as many cases as fit into a second or two.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::{
    FormatSet, Parameter, Requirements, all_parameters, check_complete, check_formats, find_parameter,
    normalize_parameters, unknown_names,
};
use super::boundaries::concrete_names;
use super::operations::OPERATIONS;
use super::samples::format_samples;
use crate::format::card_number::is_luhn_valid;
use crate::format::iban;
use crate::urlencoded::decode_body;

/// Pieces that often break parsers.
const PIECES: &[&str] = &[
    "%",
    "%00",
    "%0A",
    "%FF",
    "%E2%82",
    "%ED%A0%80",
    "%C0%AF",
    "%uD83D",
    "+",
    "&",
    "&&",
    "=",
    "[",
    "]",
    "[0]",
    "[1000]",
    "[-1]",
    "[999999999999]",
    "[٣]",
    ".",
    "\u{202e}",
    "\u{feff}",
    "é",
    "e\u{301}",
    "💳",
    "\u{10ffff}",
    "４２００００００００００００００",
    "4200000000000000",
    "card.number=4111111111111111&",
    "amount=-1",
    "entityId=",
    "\r\n",
    "\0",
    "{\"a\":1}",
    "${7*7}",
];

/// Generates a parameter with a valid value.
fn valid_pair() -> impl Strategy<Value = (String, String)> {
    let rows: Vec<&'static Parameter> = all_parameters().collect();
    (select(rows), any::<Index>(), any::<Index>()).prop_map(|(row, name, value)| {
        let (names, values) = (concrete_names(row.name), format_samples(row.format).good);
        (name.get(&names).clone(), value.get(&values).clone())
    })
}

/// Generates a body that a merchant could send, each name once.
fn valid_body() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(valid_pair(), 0..12).prop_map(|pairs| {
        let mut unique: Vec<(String, String)> = Vec::new();
        for (name, value) in pairs {
            if value.len() < 4000 && !unique.iter().any(|(known, _)| *known == name) {
                unique.push((name, value));
            }
        }
        unique
    })
}

fn encode_body(pairs: &[(String, String)]) -> Vec<u8> {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish().into_bytes()
}

/// One way to break a body.
#[derive(Debug, Clone)]
enum BodyDamage {
    Flip(Index, u8),
    Remove(Index, usize),
    Repeat(Index, usize),
    Insert(Index, &'static str),
    End(Index),
}

/// Generates up to four ways to break a body, applied one after the other.
fn random_damages() -> impl Strategy<Value = Vec<BodyDamage>> {
    let one = prop_oneof![
        (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| BodyDamage::Flip(at, bit)),
        (any::<Index>(), 1..20_usize).prop_map(|(at, length)| BodyDamage::Remove(at, length)),
        (any::<Index>(), 1..60_usize).prop_map(|(at, length)| BodyDamage::Repeat(at, length)),
        (any::<Index>(), select(PIECES)).prop_map(|(at, piece)| BodyDamage::Insert(at, piece)),
        any::<Index>().prop_map(BodyDamage::End),
    ];
    prop::collection::vec(one, 0..5)
}

/// Breaks a body in these ways, each at its place in the body as it then is.
fn damage_body(mut body: Vec<u8>, damages: &[BodyDamage]) -> Vec<u8> {
    for damage in damages {
        let place = |at: &Index| at.index(body.len() + 1);
        match damage {
            BodyDamage::Flip(at, bit) => {
                let at = place(at);
                if let Some(byte) = body.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            BodyDamage::Remove(at, length) => {
                let at = place(at);
                body.drain(at..(at + length).min(body.len()));
            }
            BodyDamage::Repeat(at, length) => {
                let at = place(at);
                let repeated = body[at..(at + length).min(body.len())].to_vec();
                body.splice(at..at, repeated);
            }
            BodyDamage::Insert(at, piece) => {
                let at = place(at);
                body.splice(at..at, piece.bytes());
            }
            BodyDamage::End(at) => {
                let at = place(at);
                body.truncate(at);
            }
        }
    }
    body
}

/// Generates a number with a correct check digit, in a range that a scheme issues.
fn card_number() -> impl Strategy<Value = String> {
    (select(&["42", "51", "54", "37", "6011"][..]), prop::collection::vec(0..10_u8, 15)).prop_map(|(start, digits)| {
        let length = if start == "37" { 15 } else { 16 };
        let mut number = start.to_owned();
        number.extend(digits.iter().map(|digit| char::from(b'0' + digit)));
        number.truncate(length - 1);
        let last =
            (b'0'..=b'9').map(|digit| format!("{number}{}", char::from(digit))).find(|number| is_luhn_valid(number));
        last.unwrap()
    })
}

/// Returns a number as people write it: in groups, with one separator.
fn write_in_groups(number: &str, separator: &str, group: usize) -> String {
    let characters: Vec<char> = number.chars().collect();
    characters.chunks(group).map(|chunk| chunk.iter().collect::<String>()).collect::<Vec<_>>().join(separator)
}

/// Returns true if the letters and digits of a text, without separators, contain an IBAN.
fn has_iban(text: &str) -> bool {
    let compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let starts = 0..compact.len();
    starts.into_iter().any(|start| (start + 15..=compact.len()).any(|end| iban::is_registered(&compact[start..end])))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_valid_body_is_read_back_and_nothing_is_wrong_with_it(pairs in valid_body()) {
        let read = decode_body(&encode_body(&pairs)).unwrap().parameters;
        prop_assert!(read.iter().eq(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
        prop_assert_eq!(unknown_names(&read), Vec::<&str>::new());
        prop_assert_eq!(check_formats(&read, FormatSet::Specified), []);
    }

    #[test]
    fn a_broken_body_is_refused_or_judged_and_judging_twice_says_the_same(pairs in valid_body(), damages in random_damages()) {
        let body = damage_body(encode_body(&pairs), &damages);
        let (read, error) = match decode_body(&body) {
            Ok(decoded) => (Some(decoded.parameters), decoded.repeated),
            Err(error) => (None, Some(error)),
        };
        if let Some(error) = error {
            prop_assert!(!error.message().is_empty());
            prop_assert!(error.parameter().is_none_or(|name| !name.is_empty() && !name.chars().any(char::is_control)));
        }
        if let Some(mut read) = read {
            normalize_parameters(&mut read);
            let first = read.clone();
            normalize_parameters(&mut read);
            prop_assert_eq!(&read, &first, "what is normal stays as it is");
            let errors = check_formats(&read, FormatSet::Specified);
            prop_assert_eq!(&errors, &check_formats(&read, FormatSet::Specified));
            for error in &errors {
                prop_assert!(!error.message.is_empty() && !error.name.is_empty());
                if let Some(row) = find_parameter(&error.name) {
                    prop_assert!(!row.secret || error.value.is_none(), "{}", error.name);
                }
                prop_assert!(error.value.as_ref().is_none_or(|value| value.chars().count() <= 255));
            }
            for operation in OPERATIONS {
                for error in check_complete(&read, operation, &Requirements::default()) {
                    prop_assert!(!error.message.is_empty() && !error.name.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_card_number_in_free_text_is_masked_however_it_is_written(
        number in card_number(),
        separator in select(&["", " ", "-"][..]),
        group in 3..6_usize,
        before in "[a-zA-Z ,:é💳]{0,8}",
        after in "[a-zA-Z ,:é💳]{0,8}",
        place in any::<Index>(),
    ) {
        let free: Vec<&Parameter> = all_parameters().filter(|row| row.format.is_free_text() && !row.secret).collect();
        let row = place.get(&free);
        let text = format!("{before}{}{after}", write_in_groups(&number, separator, group));
        // Two letters before it can make an IBAN of a card number, about once in 100,000 cases, and IBANs are kept.
        prop_assume!(!has_iban(&text));
        let name = concrete_names(row.name).remove(0);
        let body = form_urlencoded::Serializer::new(String::new()).append_pair(&name, &text).finish();
        let mut read = decode_body(body.as_bytes()).unwrap().parameters;
        normalize_parameters(&mut read);
        let masked = read.get(&name).unwrap_or_default();
        let digits: String = masked.chars().filter(char::is_ascii_digit).collect();
        prop_assert!(!digits.contains(&number), "{name} keeps {masked}");
        let shown = format!("{:?} {:?}", read, check_formats(&read, FormatSet::Specified));
        prop_assert!(!shown.contains(&number), "{shown}");
    }
}

#[test]
fn unicode_is_counted_in_characters_and_kept_as_it_came() {
    // Two encodings of one letter are two texts, surrogates are not valid, and invisible characters count.
    for (text, length) in [
        ("é", 1),
        ("e\u{301}", 2),
        ("💳", 1),
        ("👩‍👩‍👧", 5),
        ("\u{10ffff}", 1),
        ("\u{200b}", 1),
        ("ﬃ", 1),
        ("İ", 1),
        ("ß", 1),
    ] {
        let most = 255 / length;
        let row = "cart.items[0].name";
        let fits = text.repeat(most);
        let body = form_urlencoded::Serializer::new(String::new()).append_pair(row, &fits).finish();
        let mut read = decode_body(body.as_bytes()).unwrap().parameters;
        normalize_parameters(&mut read);
        assert_eq!(read.get(row), Some(fits.as_str()));
        assert_eq!(check_formats(&read, FormatSet::Specified), [], "{text:?}");
        let long = super::build_parameters(&[(row, &text.repeat(most + 1))]);
        let over = length * (most + 1) > 255;
        assert_eq!(check_formats(&long, FormatSet::Specified).len(), usize::from(over), "{text:?}");
    }
}
