#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn parse_currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

#[test]
fn amounts_print_as_they_were_sent_with_two_decimals() {
    for (sent, printed) in [("92.00", "92.00"), ("92", "92.00"), ("0.01", "0.01"), ("007.50", "7.50"), ("0", "0.00")] {
        assert_eq!(Amount::parse(sent, parse_currency("EUR")).unwrap().to_string(), printed);
    }
    let most = Amount::parse("9999999999.99", parse_currency("EUR")).unwrap();
    assert_eq!((most.hundredths(), most.to_string().as_str()), (999_999_999_999, "9999999999.99"));
}

#[test]
fn other_shapes_are_refused() {
    for text in ["", " 1", "1 ", "1.", ".50", "1.5", "1.500", "1,50", "-1", "+1", "1e3", "10000000000", "١"] {
        assert_eq!(Amount::parse(text, parse_currency("EUR")), Err(AmountError::Pattern), "{text:?}");
    }
}

#[test]
fn an_amount_that_the_currency_cannot_express_is_refused() {
    assert_eq!(Amount::parse("12.50", parse_currency("JPY")), Err(AmountError::Precision(parse_currency("JPY"))));
    assert_eq!(Amount::parse("12.00", parse_currency("JPY")).unwrap().to_string(), "12.00");
    assert_eq!(Amount::parse("12.55", parse_currency("KWD")).unwrap().to_string(), "12.55");
    assert!(AmountError::Precision(parse_currency("JPY")).message().starts_with("JPY has no decimals"));
    assert_eq!(Amount::from_hundredths(-1, parse_currency("EUR")), None);
}

#[test]
fn currencies_are_those_in_use_today() {
    for (code, decimals) in [("EUR", 2), ("JPY", 0), ("KWD", 3), ("XCG", 2), ("ZWG", 2), ("SLE", 2), ("CLF", 4)] {
        assert_eq!(parse_currency(code).decimals(), decimals, "{code}");
        assert_eq!(parse_currency(code).code(), code);
    }
    for code in ["", "eur", "EURO", "HRK", "BGN", "CUC", "SLL", "ZWL", "ANG", "XXX", "XTS", "XAU", "XDR", "DEM"] {
        assert_eq!(Currency::parse(code), None, "{code}");
    }
}

#[test]
fn amounts_of_different_currencies_neither_compare_nor_add_up() {
    let euro = Amount::from_hundredths(100, parse_currency("EUR")).unwrap();
    let dollar = Amount::from_hundredths(100, parse_currency("USD")).unwrap();
    assert_eq!(euro.partial_cmp(&dollar), None);
    assert_eq!((euro.checked_add(dollar), euro.checked_sub(dollar)), (None, None));
    assert_ne!(euro, dollar);
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(hundredths in 0..=999_999_999_999_i64) {
        let amount = Amount::from_hundredths(hundredths, parse_currency("EUR")).unwrap();
        prop_assert_eq!(Amount::parse(&amount.to_string(), parse_currency("EUR")), Ok(amount));
    }

    #[test]
    fn sums_and_differences_undo_each_other_and_nothing_goes_below_zero(a in 0..=i64::MAX, b in 0..=i64::MAX) {
        let (a, b) = (Amount::from_hundredths(a, parse_currency("EUR")).unwrap(), Amount::from_hundredths(b, parse_currency("EUR")).unwrap());
        if let Some(sum) = a.checked_add(b) {
            prop_assert_eq!(sum.checked_sub(b), Some(a));
            prop_assert!(sum >= a && sum >= b);
        } else {
            prop_assert!(a.hundredths().checked_add(b.hundredths()).is_none());
        }
        prop_assert_eq!(a.checked_sub(b).is_some(), a >= b);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", code in prop::sample::select(vec!["EUR", "JPY", "KWD"])) {
        if let Ok(amount) = Amount::parse(&text, parse_currency(code)) {
            prop_assert!(amount.hundredths() >= 0);
        }
    }
}
