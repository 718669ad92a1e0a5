#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn new_expiry(year: u16, month: u8) -> Expiry {
    Expiry { year, month }
}

#[test]
fn the_wire_has_two_digits_and_four() {
    assert_eq!(Expiry::parse("12", "2029"), Ok(new_expiry(2029, 12)));
    assert_eq!(Expiry::parse("01", "1999"), Ok(new_expiry(1999, 1)));
    for month in ["", "0", "00", "1", "13", "1a", "012", "+1"] {
        assert_eq!(Expiry::parse(month, "2029"), Err(ExpiryError::Month), "{month}");
    }
    for year in ["", "29", "1899", "2100", "20290", "202a", "+202"] {
        assert_eq!(Expiry::parse("12", year), Err(ExpiryError::Year), "{year}");
    }
}

#[test]
fn what_people_type_and_browsers_fill_in_is_understood() {
    for (text, month, year) in [
        ("12 / 29", 12, 2029),
        ("12/29", 12, 2029),
        ("12/2029", 12, 2029),
        ("12 - 2029", 12, 2029),
        ("1229", 12, 2029),
        ("122029", 12, 2029),
        ("2029-12", 12, 2029),
        ("2029-1", 1, 2029),
        ("202912", 12, 2029),
        ("29/12", 12, 2029),
        ("29 12", 12, 2029),
        ("2912", 12, 2029),
        ("1/29", 1, 2029),
        ("01/29", 1, 2029),
        ("929", 9, 2029),
        ("9/2029", 9, 2029),
        (" 11 / 12 ", 11, 2012),
        ("١٢/٢٩", 12, 2029),
        ("１２／２９", 12, 2029),
    ] {
        assert_eq!(Expiry::parse_text(text, 2026), Some(new_expiry(year, month)), "{text}");
    }
}

#[test]
fn what_is_unfinished_or_no_date_is_not() {
    for text in [
        "",
        "1",
        "12",
        "12 / ",
        "12 / 2",
        "129",
        "13/29",
        "00/29",
        "12/029",
        "12/29/01",
        "31.12.2029",
        "Dec 29",
        "2029-13",
        "1899-12",
    ] {
        assert_eq!(Expiry::parse_text(text, 2026), None, "{text}");
    }
}

#[test]
fn two_digits_of_a_year_lie_within_fifty_years() {
    for (text, this_year, year) in [
        ("12/75", 2026, 2075),
        ("12/76", 2026, 1976),
        ("12/99", 2026, 1999),
        ("12/01", 2099, 2101),
        ("12/26", 2026, 2026),
    ] {
        assert_eq!(Expiry::parse_text(text, this_year).unwrap().year, year, "{text} in {this_year}");
    }
}

#[test]
fn a_card_is_valid_through_its_month() {
    assert!(!new_expiry(2029, 12).is_past((2029, 12)));
    assert!(!new_expiry(2030, 1).is_past((2029, 12)));
    assert!(new_expiry(2029, 11).is_past((2029, 12)));
    assert!(new_expiry(2028, 12).is_past((2029, 1)));
    assert_eq!(
        (new_expiry(2029, 3).month_text(), new_expiry(2029, 3).year_text()),
        ("03".to_owned(), "2029".to_owned())
    );
}

#[test]
fn a_month_lasts_until_it_has_ended_in_the_last_time_zone() {
    for (seconds, month, moment) in [
        (1_796_083_200, (2026, 11), "2026-12-01T00:00:00Z"),
        (1_796_090_400, (2026, 11), "2026-12-01T02:00:00Z"),
        (1_796_126_399, (2026, 11), "2026-12-01T11:59:59Z"),
        (1_796_126_400, (2026, 12), "2026-12-01T12:00:00Z"),
        (1_798_761_600, (2026, 12), "2027-01-01T00:00:00Z"),
        (1_798_804_800, (2027, 1), "2027-01-01T12:00:00Z"),
        (1_835_438_400, (2028, 2), "2028-02-29T12:00:00Z"),
        (1_835_524_799, (2028, 2), "2028-03-01T11:59:59Z"),
        (1_835_524_800, (2028, 3), "2028-03-01T12:00:00Z"),
        (0, (1969, 12), "1970-01-01T00:00:00Z"),
        (4_107_585_600, (2100, 3), "2100-03-01T12:00:00Z"),
        (4_107_585_599, (2100, 2), "2100-03-01T11:59:59Z"),
    ] {
        assert_eq!(last_month(seconds), month, "{moment}");
    }
}

/// Returns the content of the field after each key. `<` is a deletion.
fn type_keys(keys: &str) -> Vec<String> {
    let mut text = String::new();
    keys.chars()
        .map(|key| {
            if key == '<' {
                text.pop();
            } else {
                text.push(key);
            }
            text = format_typed(&text).as_str().to_owned();
            text.clone()
        })
        .collect()
}

#[test]
fn typing_puts_the_slash_in_and_deleting_takes_it_out() {
    assert_eq!(type_keys("1229"), ["1", "12", "12 / 2", "12 / 29"]);
    assert_eq!(type_keys("12/29"), ["1", "12", "12 / ", "12 / 2", "12 / 29"]);
    assert_eq!(type_keys("529"), ["05", "05 / 2", "05 / 29"]);
    assert_eq!(type_keys("1/29"), ["1", "01 / ", "01 / 2", "01 / 29"]);
    // A typing error is shown as it is and is not a date. It must not become another date, which would be charged.
    assert_eq!(type_keys("1334"), ["1", "13", "13 / 3", "13 / 34"]);
    assert_eq!(Expiry::parse_text("13 / 34", 2026), None);
    assert_eq!(type_keys("122029"), ["1", "12", "12 / 2", "12 / 20", "12 / 202", "12 / 2029"]);
    assert_eq!(type_keys("12291"), ["1", "12", "12 / 2", "12 / 29", "12 / 29"]);
    assert_eq!(type_keys("122<<<<"), ["1", "12", "12 / 2", "12 / ", "12", "1", ""]);
    assert_eq!(type_keys("0a0"), ["0", "0", "0"]);
}

#[test]
fn what_is_filled_in_at_once_is_put_in_order() {
    for (text, shown) in [
        ("2029-12", "12 / 2029"),
        ("29/12", "12 / 29"),
        ("12/2029", "12 / 2029"),
        ("122029", "12 / 2029"),
        ("2912", "12 / 29"),
        ("", ""),
        ("/", ""),
        ("20-010", "01 / 20"),
    ] {
        assert_eq!(format_typed(text).as_str(), shown, "{text}");
    }
}

/// Returns all texts of up to `longest` of these characters.
fn all_texts(characters: &str, longest: usize) -> impl Iterator<Item = String> {
    let mut level = vec![String::new()];
    (0..=longest).flat_map(move |_| {
        let longer = level
            .iter()
            .flat_map(|text| characters.chars().map(move |character| format!("{text}{character}")))
            .collect();
        std::mem::replace(&mut level, longer)
    })
}

#[test]
fn whatever_is_typed_formatting_settles_at_once_and_keeps_the_date() {
    for text in all_texts("0123/ ", 6).chain(all_texts("0129", 8)) {
        let formatted = format_typed(&text);
        assert_eq!(format_typed(formatted.as_str()), formatted, "{text:?}");
        if let Some(expiry) = Expiry::parse_text(&text, 2026) {
            assert_eq!(Expiry::parse_text(formatted.as_str(), 2026), Some(expiry), "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn formatting_twice_changes_nothing_more(text in "[0-9/ -]{0,8}") {
        let formatted = format_typed(&text);
        prop_assert_eq!(format_typed(formatted.as_str()), formatted);
    }

    #[test]
    fn formatting_keeps_the_date(text in "[0-9/ -]{0,8}") {
        if let Some(expiry) = Expiry::parse_text(&text, 2026) {
            prop_assert_eq!(Expiry::parse_text(format_typed(&text).as_str(), 2026), Some(expiry));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        let _ = Expiry::parse_text(&text, 2026);
        prop_assert!(format_typed(&text).as_str().len() <= 9);
    }
}
