//! Valid bodies, broken at random: whatever arrives, the decoder and the catalogue say what is wrong, panic never, and
//! show no card number. As many cases as fit into a second or two.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::{
    Formats, Parameter, Requirements, catalogue, check_complete, check_formats, find, normalize, unknown,
};
use super::boundaries::concrete;
use super::operations::OPERATIONS;
use super::samples::samples;
use crate::form::decode;
use crate::format::card_number::luhn_valid;
use crate::format::iban;

/// What breaks things elsewhere.
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

/// A parameter with a value that its format takes.
fn pair() -> impl Strategy<Value = (String, String)> {
    let rows: Vec<&'static Parameter> = catalogue().collect();
    (select(rows), any::<Index>(), any::<Index>()).prop_map(|(row, name, value)| {
        let (names, values) = (concrete(row.name), samples(row.format).good);
        (name.get(&names).clone(), value.get(&values).clone())
    })
}

/// A body that a merchant could send, each name once.
fn body() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(pair(), 0..12).prop_map(|pairs| {
        let mut once: Vec<(String, String)> = Vec::new();
        for (name, value) in pairs {
            if value.len() < 4000 && !once.iter().any(|(known, _)| *known == name) {
                once.push((name, value));
            }
        }
        once
    })
}

fn encode(pairs: &[(String, String)]) -> Vec<u8> {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish().into_bytes()
}

/// One way to break a body.
#[derive(Debug, Clone)]
enum Break {
    Flip(Index, u8),
    Remove(Index, usize),
    Repeat(Index, usize),
    Insert(Index, &'static str),
    End(Index),
}

fn breaks() -> impl Strategy<Value = Vec<Break>> {
    let one = prop_oneof![
        (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Break::Flip(at, bit)),
        (any::<Index>(), 1..20_usize).prop_map(|(at, length)| Break::Remove(at, length)),
        (any::<Index>(), 1..60_usize).prop_map(|(at, length)| Break::Repeat(at, length)),
        (any::<Index>(), select(PIECES)).prop_map(|(at, piece)| Break::Insert(at, piece)),
        any::<Index>().prop_map(Break::End),
    ];
    prop::collection::vec(one, 0..5)
}

fn broken(mut body: Vec<u8>, breaks: &[Break]) -> Vec<u8> {
    for kind in breaks {
        let place = |at: &Index| at.index(body.len() + 1);
        match kind {
            Break::Flip(at, bit) => {
                let at = place(at);
                if let Some(byte) = body.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            Break::Remove(at, length) => {
                let at = place(at);
                body.drain(at..(at + length).min(body.len()));
            }
            Break::Repeat(at, length) => {
                let at = place(at);
                let again = body[at..(at + length).min(body.len())].to_vec();
                body.splice(at..at, again);
            }
            Break::Insert(at, piece) => {
                let at = place(at);
                body.splice(at..at, piece.bytes());
            }
            Break::End(at) => {
                let at = place(at);
                body.truncate(at);
            }
        }
    }
    body
}

/// A number with a right check digit, on a range that a scheme issues.
fn card_number() -> impl Strategy<Value = String> {
    (select(&["42", "51", "54", "37", "6011"][..]), prop::collection::vec(0..10_u8, 15)).prop_map(|(start, digits)| {
        let length = if start == "37" { 15 } else { 16 };
        let mut number = start.to_owned();
        number.extend(digits.iter().map(|digit| char::from(b'0' + digit)));
        number.truncate(length - 1);
        let last =
            (b'0'..=b'9').map(|digit| format!("{number}{}", char::from(digit))).find(|number| luhn_valid(number));
        last.unwrap()
    })
}

/// A number as people write it: in groups, with one separator.
fn written(number: &str, separator: &str, group: usize) -> String {
    let characters: Vec<char> = number.chars().collect();
    characters.chunks(group).map(|chunk| chunk.iter().collect::<String>()).collect::<Vec<_>>().join(separator)
}

/// Returns true if some of a text's letters and digits, without what stands between them, are an IBAN.
fn has_iban(text: &str) -> bool {
    let compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let starts = 0..compact.len();
    starts.into_iter().any(|start| (start + 15..=compact.len()).any(|end| iban::is_registered(&compact[start..end])))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_valid_body_is_read_back_and_nothing_is_wrong_with_it(pairs in body()) {
        let read = decode(&encode(&pairs)).unwrap().parameters;
        prop_assert!(read.iter().eq(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
        prop_assert_eq!(unknown(&read), Vec::<&str>::new());
        prop_assert_eq!(check_formats(&read, Formats::Specified), []);
    }

    #[test]
    fn a_broken_body_is_refused_or_judged_and_judging_twice_says_the_same(pairs in body(), breaks in breaks()) {
        let body = broken(encode(&pairs), &breaks);
        let (read, error) = match decode(&body) {
            Ok(decoded) => (Some(decoded.parameters), decoded.repeated),
            Err(error) => (None, Some(error)),
        };
        if let Some(error) = error {
            prop_assert!(!error.message().is_empty());
            prop_assert!(error.parameter().is_none_or(|name| !name.is_empty() && !name.chars().any(char::is_control)));
        }
        if let Some(mut read) = read {
            normalize(&mut read);
            let once = read.clone();
            normalize(&mut read);
            prop_assert_eq!(&read, &once, "what is normal stays as it is");
            let errors = check_formats(&read, Formats::Specified);
            prop_assert_eq!(&errors, &check_formats(&read, Formats::Specified));
            for error in &errors {
                prop_assert!(!error.message.is_empty() && !error.name.is_empty());
                if let Some(row) = find(&error.name) {
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
        let free: Vec<&Parameter> = catalogue().filter(|row| row.format.is_free_text() && !row.secret).collect();
        let row = place.get(&free);
        let text = format!("{before}{}{after}", written(&number, separator, group));
        // Two letters before it can make an IBAN of a card number, once in some hundred thousand, and IBANs are kept.
        prop_assume!(!has_iban(&text));
        let name = concrete(row.name).remove(0);
        let body = form_urlencoded::Serializer::new(String::new()).append_pair(&name, &text).finish();
        let mut read = decode(body.as_bytes()).unwrap().parameters;
        normalize(&mut read);
        let kept = read.get(&name).unwrap_or_default();
        let digits: String = kept.chars().filter(char::is_ascii_digit).collect();
        prop_assert!(!digits.contains(&number), "{name} keeps {kept}");
        let shown = format!("{:?} {:?}", read, check_formats(&read, Formats::Specified));
        prop_assert!(!shown.contains(&number), "{shown}");
    }
}

#[test]
fn unicode_is_counted_in_characters_and_kept_as_it_came() {
    // Two forms of one letter are two texts, surrogates are none, and what cannot be seen is a character all the same.
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
        let mut read = decode(body.as_bytes()).unwrap().parameters;
        normalize(&mut read);
        assert_eq!(read.get(row), Some(fits.as_str()));
        assert_eq!(check_formats(&read, Formats::Specified), [], "{text:?}");
        let long = super::parameters(&[(row, &text.repeat(most + 1))]);
        let over = length * (most + 1) > 255;
        assert_eq!(check_formats(&long, Formats::Specified).len(), usize::from(over), "{text:?}");
    }
}
