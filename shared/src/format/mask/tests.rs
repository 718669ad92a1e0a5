//! Card numbers are found in all spellings, and other numbers stay.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

#[test]
fn card_numbers_in_text_are_masked() {
    for (text, masked) in [
        ("4111111111111111", "411111******1111"),
        ("my card 4111 1111 1111 1111, thanks", "my card 411111******1111, thanks"),
        ("5454-5454-5454-5454 12/29", "545454******5454 12/29"),
        ("4111 1111 1111 1111 12 29", "411111******1111 12 29"),
        ("3777 777777 77770", "377777*****7770"),
        ("a 4111111111111111 b 371449635398431", "a 411111******1111 b 371449*****8431"),
        ("1 4111111111111111", "1 411111******1111"),
        ("٤١١١١١١١١١١١١١١١", "411111******1111"),
        ("4111 1111  1111 1111", "411111******1111"),
        ("4111.1111/1111_1111", "411111******1111"),
        ("4111 - 1111 - 1111 - 1111", "411111******1111"),
        ("4111%201111%201111%201111", "411111******1111"),
        ("4111+1111+1111+1111", "411111******1111"),
        ("4111x1111x1111x1111", "411111******1111"),
        ("3782abc822463abc10005", "378282*****0005"),
        ("4\u{200b}1\u{200b}1\u{200b}1 1111 1111 1111", "411111******1111"),
        ("card4111111111111111x", "card411111******1111x"),
        ("+4111111111111111", "+411111******1111"),
        ("2026-11-30 4111 1111 1111 1111", "2026-11-30 411111******1111"),
        ("41111111111111111229", "411111******1111****"),
        ("41111111111111112912", "411111******1111****"),
        ("41111111111111111229123", "411111******1111*******"),
        ("4111111111111111122029", "411111******1111******"),
        ("4111111111111111202912", "411111******1111******"),
        ("4111111111111111123", "411111******1111***"),
        ("41111111111111111234", "411111******1111****"),
        ("3714496353984311229", "371449*****8431****"),
        ("202612314111111111111111", "********411111******1111"),
        ("12294111111111111111", "****411111******1111"),
        (";4111111111111111=29121011234567890?", ";411111******1111=29121011234567890?"),
        ("4111111111111111D29121011234567890F", "411111******1111D29121011234567890F"),
        ("%B4111111111111111^DOE/JANE^2912101", "%B411111******1111^DOE/JANE^2912101"),
        ("4242 4242 4242 4242 4242 4242 4242", "424242******424242******4242"),
    ] {
        assert_eq!(mask_card_numbers(text), masked, "{text}");
    }
}

#[test]
fn other_numbers_stay() {
    for text in [
        "",
        "order 4111111111111112",
        "1111111111111117",
        "+49 151 23456781",
        "411111111111111100000",
        "4111111111111111000000",
        "4111    1111    1111    1111",
        "2026-11-21 12:00:00+0000",
        "8a0123456789abcdef0123456789abcdef",
        "4111111111111111abcdefab",
        "01A206997FC3431E0E69776E52B2698C.tx01",
        "INV41111a111111111111",
    ] {
        assert!(matches!(mask_card_numbers(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn values_kept_to_the_letter_may_hold_other_numbers_with_a_check_digit() {
    // A product code of Germany, a South African and a Chinese identity number, a scheme's transaction id.
    for (number, what) in [
        ("4006381333931", "EAN"),
        ("5001015009087", "identity number"),
        ("510105198001010018", "identity number"),
        ("632612345678909", "transaction id"),
    ] {
        assert!(!has_card_number(number, Strictness::InUse), "{what}");
    }
    for number in ["39372452167878", "4006381333931", "30569309025904"] {
        assert!(!has_card_number(number, Strictness::InUse), "{number} may be a product's");
    }
    for number in ["3056 930902 5904", "378282246310005", "4111 1111 1111 1111", "order 5555555555554444"] {
        assert!(has_card_number(number, Strictness::InUse), "{number}");
    }
    // A date beside a number says that it is a card's, three or four other digits do not.
    assert!(has_card_number("41111111111111111229", Strictness::InUse));
    for number in ["41111111111111110000", "4111111111111111123", "41111111111111111399"] {
        assert!(!has_card_number(number, Strictness::InUse), "{number}");
    }
}

#[test]
fn lists_of_numbers_and_versions_stay() {
    for text in [
        "items 452,118,9301,22111,4",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.86 Safari/537.36",
        "Instagram 361.0.0.35.82 (iPhone15,3; iOS 18_2; scale=3.00; 1290x2796; 674117118)",
        "10.0.0.1, 203.0.113.9, 2001:db8::1",
        "(DE) 0151/234.56.78-9, 0049 (0) 30 / 123 456 78",
    ] {
        assert_eq!(mask_card_numbers(text), text);
    }
}

#[test]
fn a_known_number_is_masked_wherever_it_stands() {
    let number = "4111111111111112";
    for (text, masked) in [
        ("x-4111111111111112-y", "x-411111******1112-y"),
        ("order-4111 1111 1111 1112", "order-411111******1112"),
        ("0041111111111111129", "00411111******11129"),
        ("4a1b1c1d1e1f1g1h1i1j1k1l1m1n1o2", "411111******1112"),
        ("order-1", "order-1"),
    ] {
        assert_eq!(mask_known_number(text, number), masked, "{text}");
    }
}

/// Generates numbers of known schemes with correct check digits.
fn card_number() -> impl Strategy<Value = String> {
    let start = select(&["4", "51", "2221", "34", "36", "6011", "3528", "62", "50"][..]);
    (start, proptest::collection::vec(0_u8..10, 19)).prop_map(|(start, tail)| {
        let length = match start {
            "34" => 15,
            "36" => 14,
            _ => 16,
        };
        let mut number: String = start.chars().chain(tail.iter().map(|digit| char::from(b'0' + digit))).collect();
        number.truncate(length - 1);
        let check = ('0'..='9').find(|digit| is_luhn_valid(&format!("{number}{digit}")));
        number.extend(check);
        number
    })
}

proptest! {
    #[test]
    fn no_text_makes_masking_panic_and_short_text_stays(text in "[0-9 \\-+a%٣:.é]{0,60}|\\PC*") {
        let digits = text.chars().filter_map(digits::digit_value).count();
        prop_assert!(digits >= 12 || mask_card_numbers(&text) == text);
    }

    #[test]
    fn masking_twice_is_masking_once(text in "[0-9 \\-]{0,60}") {
        let masked = mask_card_numbers(&text).into_owned();
        prop_assert_eq!(mask_card_numbers(&masked), masked.as_str());
    }

    #[test]
    fn a_card_number_never_survives(
        number in card_number(),
        separator in "[ .,;:/_|*#~()\\-\u{a0}\u{200b}]{0,3}",
        group in 1..9_usize,
        before in "[a-z ]{0,5}",
        after in "[a-z ]{0,5}",
    ) {
        let digits: Vec<char> = number.chars().collect();
        let groups: Vec<String> = digits.chunks(group).map(|group| group.iter().collect()).collect();
        let text = format!("{before}{}{after}", groups.join(&separator));
        let remaining: String = mask_card_numbers(&text).chars().filter(char::is_ascii_digit).collect();
        prop_assert!(!remaining.contains(&number), "{}", text);
        prop_assert!(number.len() == 14 || has_card_number(&text, Strictness::InUse), "{}", text);
    }

    #[test]
    fn what_is_no_card_number_is_left_alone(
        milliseconds in 0_i64..4_000_000_000_000,
        hexadecimal in "[0-9a-f]{31}[a-f]",
        uuid in "[a-f][0-9a-f]{7}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        (day, hour) in (1..29_u8, 0..24_u8),
    ) {
        let time = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
        for text in [
            time.to_string(),
            time.strftime("%Y-%m-%d %H:%M:%S%.6f").to_string(),
            time.strftime("%d.%m.%Y %H:%M:%S").to_string(),
            format!("on {day:02}/11/2026 {hour:02}:30:00"),
            hexadecimal,
            uuid,
            "DE89 3704 0044 0532 0130 00".to_owned(),
            "NL91 ABNA 0417 1643 00".to_owned(),
        ] {
            prop_assert_eq!(mask_card_numbers(&text), text.as_str());
        }
    }
}
