#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn the_table_has_every_code_once_each_with_words_and_the_group_that_follows_from_the_code() {
    let text = include_str!("../../resultcodes.csv");
    assert_eq!(text.lines().next(), Some("code;group;description"));
    assert_eq!(ResultCode::all().count(), 671);
    assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
    for line in text.lines().skip(1) {
        let (code, rest) = line.split_once(';').unwrap();
        let (named_group, description) = rest.split_once(';').unwrap();
        let found = ResultCode::find(code).unwrap();
        assert_eq!((found.code(), found.description()), (code, description));
        assert_eq!(found.group().as_str(), named_group, "{code}");
        assert!((1..=255).contains(&description.chars().count()), "{code}");
        assert!((2..=11).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_digit() || b == b'.'), "{code}");
    }
}

#[test]
fn the_codes_with_names_are_documented_ones() {
    for code in codes::NAMED {
        assert_eq!(ResultCode::find(code.code()), Some(*code));
        assert!(!code.description().is_empty());
    }
    assert_eq!(ResultCode::find("123.456.789"), None);
    let other = ResultCode::find("000.100.250").unwrap();
    assert_eq!((other.code(), other.group()), ("000.100.250", ResultGroup::Chargeback));
    assert!(!other.description().is_empty() && ResultCode::all().all(|code| code != other));
    assert_eq!(ResultCode::find(""), None);
}

#[test]
fn success_pending_and_review_are_told_apart() {
    let classes_of = |code: &str| {
        let code = ResultCode::find(code).unwrap();
        (code.is_success(), code.is_pending(), code.is_review())
    };
    assert_eq!(classes_of("000.000.000"), (true, false, false));
    assert_eq!(classes_of("000.100.110"), (true, false, false));
    assert_eq!(classes_of("000.400.110"), (true, false, false));
    assert_eq!(classes_of("000.400.020"), (true, false, true));
    assert_eq!(classes_of("000.400.100"), (true, false, true));
    assert_eq!(classes_of("000.200.103"), (false, true, false));
    assert_eq!(classes_of("100.400.500"), (false, true, false));
    for code in ["000.400.030", "000.400.101", "100.100.101", "800.100.151", "000.100.201", "999.999.999"] {
        assert_eq!(classes_of(code), (false, false, false), "{code}");
    }
}

#[test]
fn codes_nobody_has_documented_have_a_group_all_the_same_and_no_text_panics() {
    assert_eq!(classify_code("800.100.999"), ResultGroup::RejectedBank);
    assert_eq!(classify_code("800.150.100"), ResultGroup::RejectedRiskValidation);
    assert_eq!(classify_code("000.400.03"), ResultGroup::Other);
    for text in ["", "0", "000.400.0", "800.1", "700.", "äöü", "123.456.789"] {
        assert_eq!(classify_code(text), ResultGroup::Other, "{text}");
    }
}
