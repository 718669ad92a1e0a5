//! Normalizing parameters before they are checked.

use super::super::{FormatSet, all_parameters, check_card_numbers, check_formats, normalize_parameters};
use super::build_parameters;
use crate::format::Format;

/// Returns a value after normalization, `None` if the parameter was dropped.
fn normalize_value(name: &str, value: &str) -> Option<String> {
    let mut set = build_parameters(&[(name, value)]);
    normalize_parameters(&mut set);
    set.get(name).map(str::to_owned)
}

#[test]
fn an_empty_value_counts_as_absent_except_where_it_is_a_value() {
    for name in ["card.cvv", "card.number", "amount", "customer.givenName", "shopperResultUrl", "createRegistration"] {
        assert_eq!(normalize_value(name, ""), None, "{name}");
    }
    assert_eq!(normalize_value("customParameters[empty]", "").as_deref(), Some(""));
    assert_eq!(normalize_value("stranger", "").as_deref(), Some(""));
}

#[test]
fn names_are_cut_after_48_characters_not_bytes() {
    assert_eq!(normalize_value("customer.givenName", &"é".repeat(60)), Some("é".repeat(48)));
    assert_eq!(normalize_value("customer.surname", &"x".repeat(48)), Some("x".repeat(48)));
    assert_eq!(
        normalize_value("customer.middleName", &"x".repeat(60)),
        Some("x".repeat(60)),
        "this one is refused instead"
    );
}

#[test]
fn a_checkbox_without_a_value_means_yes() {
    assert_eq!(normalize_value("createRegistration", "on").as_deref(), Some("true"));
    assert_eq!(normalize_value("createRegistration", "false").as_deref(), Some("false"));
    assert_eq!(normalize_value("overrideHolder", "on").as_deref(), Some("on"));
}

#[test]
fn a_boolean_is_read_as_any_language_spells_it() {
    for (sent, kept) in [
        ("true", "true"),
        ("True", "true"),
        ("TRUE", "true"),
        ("1", "true"),
        ("false", "false"),
        ("False", "false"),
        ("0", "false"),
        ("yes", "yes"),
    ] {
        for row in all_parameters().filter(|row| row.format == Format::Flag) {
            let name = row.name.replace("[n]", "[0]");
            assert_eq!(normalize_value(&name, sent).as_deref(), Some(kept), "{name}={sent}");
        }
    }
}

#[test]
fn blanks_around_a_value_are_taken_off_whatever_the_parameter() {
    for name in
        ["amount", "customer.phone", "merchantTransactionId", "card.holder", "card.number", "customParameters[x]"]
    {
        assert_eq!(normalize_value(name, " 49 151\t ").as_deref(), Some("49 151"), "{name}");
    }
    assert_eq!(normalize_value("amount", "  \t"), None, "nothing but blanks is nothing");
    assert_eq!(normalize_value("customParameters[empty]", " ").as_deref(), Some(""));
}

#[test]
fn technical_fields_of_the_form_are_dropped() {
    assert_eq!(
        (normalize_value("shopOrigin", "https://shop.example"), normalize_value("forceUtf8", "✓")),
        (None, None)
    );
}

#[test]
fn card_numbers_in_free_text_are_masked_and_the_cards_own_stays() {
    let number = "4111111111111111";
    for name in [
        "card.holder",
        "merchantMemo",
        "customParameters[SHOPPER_x]",
        "customer.surname",
        "billing.street1",
        "stranger",
    ] {
        assert_eq!(normalize_value(name, number).as_deref(), Some("411111******1111"), "{name}");
    }
    for name in ["card.number", "merchantTransactionId", "customer.phone"] {
        assert_eq!(normalize_value(name, number).as_deref(), Some(number), "{name}");
    }
}

#[test]
fn the_requests_own_card_number_is_masked_everywhere_else() {
    let mut set = build_parameters(&[
        ("card.number", "4200000000000001"),
        ("merchantTransactionId", "order-4200 0000 0000 0001"),
        ("customer.ip", "4200000000000001"),
        ("merchantInvoiceId", "4111111111111111"),
    ]);
    normalize_parameters(&mut set);
    assert_eq!(set.get("card.number"), Some("4200000000000001"));
    assert_eq!(set.get("merchantTransactionId"), Some("order-420000******0001"));
    assert_eq!(set.get("customer.ip"), Some("420000******0001"));
    assert_eq!(set.get("merchantInvoiceId"), Some("4111111111111111"));
}

#[test]
fn a_card_number_in_a_value_kept_to_the_letter_is_named_with_its_parameter() {
    let number = "4111 1111 1111 1111";
    let mut set = build_parameters(&[
        ("merchantTransactionId", number),
        ("customer.ip", "4111.1111.1111.1111"),
        ("customer.phone", "4111-1111-1111-1111"),
        ("shopperResultUrl", "https://shop.example/?order=4111%201111%201111%201111"),
        ("merchantMemo", number),
        ("customer.browser.userAgent", number),
        ("merchantInvoiceId", "order 4111a111111111111"),
    ]);
    normalize_parameters(&mut set);
    let errors = check_card_numbers(&set);
    let names: Vec<&str> = errors.iter().map(|error| error.name.as_str()).collect();
    assert_eq!(names, ["merchantTransactionId", "customer.ip", "customer.phone", "shopperResultUrl"]);
    assert!(errors.iter().all(|error| !error.value.as_deref().unwrap_or_default().contains("1111 1111")));
    for name in ["merchantMemo", "customer.browser.userAgent"] {
        assert_eq!(set.get(name), Some("411111******1111"), "{name}");
    }
}

#[test]
fn normalizing_twice_changes_nothing_more() {
    let mut set = build_parameters(&[
        ("customer.givenName", &"ab ".repeat(40)),
        ("merchantMemo", "card 5454 5454 5454 5454 please"),
        ("createRegistration", "on"),
        ("card.cvv", ""),
    ]);
    normalize_parameters(&mut set);
    let first = set.clone();
    normalize_parameters(&mut set);
    assert_eq!(set, first);
    assert_eq!(check_formats(&set, FormatSet::Specified), []);
}

#[test]
fn a_number_that_begins_in_the_end_of_its_own_mask_is_masked_too() {
    let number = "4242424242424242";
    let mut set = build_parameters(&[("card.number", number), ("merchantTransactionId", &"42".repeat(14))]);
    normalize_parameters(&mut set);
    let masked = set.get("merchantTransactionId").unwrap();
    assert!(!masked.contains(number), "{masked}");
    assert_eq!(masked, "424242******424242******4242");
}

#[test]
fn money_is_read_with_no_or_two_decimals_and_kept_with_two_whatever_the_parameter() {
    let rows: Vec<_> = all_parameters()
        .filter(|row| matches!(row.format, Format::Amount | Format::Decimal { min: 2, max: 2, .. }))
        .collect();
    assert!(rows.len() > 20, "{}", rows.len());
    for row in rows {
        let name = row.name.replace("[n]", "[0]");
        for (sent, kept) in [
            ("5", "5.00"),
            ("5.00", "5.00"),
            ("0", "0.00"),
            (" 12.50 ", "12.50"),
            ("5.0", "5.0"),
            ("5.", "5."),
            ("x", "x"),
        ] {
            assert_eq!(normalize_value(&name, sent).as_deref(), Some(kept), "{name}={sent}");
        }
    }
    // A quantity has up to three decimals and is no money.
    assert_eq!(normalize_value("cart.items[0].quantity", "5").as_deref(), Some("5"));
}

#[test]
fn numbers_of_a_schedule_have_all_their_digits() {
    for row in all_parameters() {
        let Format::Schedule { digits, min, max } = row.format else { continue };
        let width = usize::from(digits);
        for number in [min, 1, 7, max].into_iter().filter(|number| digits < 4 && *number >= min) {
            let kept = format!("{number:0width$}");
            for sent in [number.to_string(), format!("{number:02}"), format!(" {number} ")] {
                assert_eq!(normalize_value(row.name, &sent), Some(kept.clone()), "{}={sent}", row.name);
            }
        }
    }
    for (name, sent, kept) in [
        ("job.hour", "6,18", "06,18"),
        ("job.minute", "*", "*"),
        ("job.year", "26", "26"),
        ("job.month", "006", "006"),
        ("job.dayOfMonth", "32", "32"),
        ("customer.browser.challengeWindow", "5", "05"),
        ("shipping.customer.browser.challengeWindow", "05", "05"),
        ("customer.browser.challengeWindow", "x", "x"),
    ] {
        assert_eq!(normalize_value(name, sent).as_deref(), Some(kept), "{name}={sent}");
    }
}

#[test]
fn a_question_mark_for_one_of_the_two_days_counts_as_not_sent() {
    let normalize = |of_month: &str, of_week: &str| {
        let mut set = build_parameters(&[("job.dayOfMonth", of_month), ("job.dayOfWeek", of_week)]);
        normalize_parameters(&mut set);
        let faults = check_formats(&set, FormatSet::Specified).len();
        (set.get("job.dayOfMonth").map(str::to_owned), set.get("job.dayOfWeek").map(str::to_owned), faults)
    };
    assert_eq!(normalize("?", "1"), (None, Some("1".to_owned()), 0));
    assert_eq!(normalize("15", "?"), (Some("15".to_owned()), None, 0));
    assert_eq!(normalize("?", "").0, None);
    assert_eq!(normalize("?", "?").2, 2, "a day has to be known");
    assert_eq!(normalize_value("job.hour", "?").as_deref(), Some("?"), "an hour is no day");
}
