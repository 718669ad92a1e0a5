#![allow(clippy::unwrap_used)]

use super::*;

/// The test cards of the contract, by brand.
#[rustfmt::skip] // rows of numbers
const TEST_CARDS: &[(&str, &[&str])] = &[
    (
        "VISA",
        &[
            "4200000000000000", "4111111111111111", "4242424242424242", "4711100000000000", "4012888888881881",
            "4200000000000091", "4200000000000109", "4200000000000026", "4200000000000059", "4012001037461114",
            "4012001037141112", "4532497088771651", "4200000000000042", "4200000000000067", "4200000000000018",
            "4200000000000075",
        ],
    ),
    (
        "MASTER",
        &[
            "5454545454545454", "5105105105105100", "5212345678901234", "5200000000000007", "5200000000000023",
            "5200000000000056", "5200000000000106", "5434580000000006", "5457350076543210", "5497260847316287",
            "5200000000000015", "5200000000000049", "5200000000000064", "5200000000000072", "2221000000000009",
            "2720990000000007",
        ],
    ),
    (
        "AMEX",
        &[
            "377777777777770", "375987000000005", "374500262001008", "377277081382243", "375987000000062",
            "373953192351004", "375987000169875", "375987000169883", "343923092050144", "343434343434343",
            "375987000000021", "375987000169867", "371449635398431",
        ],
    ),
    ("DINERS", &["36961903000009", "30082246403846"]),
    ("DISCOVER", &["6011587918359498"]),
    ("JCB", &["3541599999092431"]),
    ("MAESTRO", &["6799851000000032"]),
    ("VPAY", &["4822000000000000003"]),
    ("VISAELECTRON", &["4917300800000000"]),
    ("DANKORT", &["5019717010103742"]),
    ("HIPERCARD", &["6062825624254001"]),
];

fn brands(codes: &str) -> Vec<&'static Brand> {
    codes.split(' ').map(|code| Brand::find(code).unwrap()).collect()
}

fn detected(digits: &str, among: &str) -> Vec<&'static str> {
    detect(digits, &brands(among)).map(|brand| brand.code).collect()
}

#[test]
fn every_test_card_is_detected_as_its_brand_and_accepted_by_it() {
    let schemes: Vec<&'static Brand> = Brand::all().iter().filter(|brand| brand.scheme.is_some()).collect();
    for (code, numbers) in TEST_CARDS {
        let brand = Brand::find(code).unwrap();
        for number in *numbers {
            assert!(crate::format::card_number::luhn_valid(number), "{number}");
            assert!(brand.accepts(number), "{code} {number}");
            assert!(brand.number_lengths().contains(&(number.len() as u8)), "{code} {number}");
            assert!(detect(number, &schemes).any(|found| found == brand), "{code} {number}");
            assert!(Scheme::issues(number), "{number}");
        }
    }
}

#[test]
fn a_test_card_is_detected_first_as_its_own_brand_among_the_usual_ones() {
    let usual = "MAESTRO VISA MASTER AMEX DINERS DISCOVER JCB DANKORT HIPERCARD UNIONPAY VISAELECTRON";
    for (code, numbers) in TEST_CARDS.iter().filter(|(code, _)| *code != "VPAY") {
        for number in *numbers {
            assert_eq!(detected(number, usual).first(), Some(code), "{number}");
        }
    }
}

#[test]
fn numbers_of_another_scheme_are_refused_where_a_brand_has_ranges_of_its_own() {
    for (code, number) in [
        ("VISA", "5454545454545454"),
        ("MASTER", "4111111111111111"),
        ("AMEX", "4111111111111111"),
        ("MASTER", "2721000000000004"),
        ("DINERS", "371449635398431"),
        ("MAESTRO", "5454545454545454"),
        ("VPAY", "5454545454545454"),
        ("CARTEBANCAIRE", "371449635398431"),
    ] {
        assert!(!Brand::find(code).unwrap().accepts(number), "{code} {number}");
    }
    for (code, number) in [
        ("AXESS", "5454545454545454"),
        ("BONUS", "4111111111111111"),
        ("CARTEBLEUE", "4111111111111111"),
        ("CARTEBANCAIRE", "5454545454545454"),
        ("MADA", "4111111111111111"),
        ("VISADEBIT", "4111111111111111"),
    ] {
        assert!(Brand::find(code).unwrap().accepts(number), "{code} {number}");
    }
}

#[test]
fn a_co_badged_number_is_unionpays_and_discover_may_be_chosen() {
    for number in ["6221260000000000", "6229250000000003"] {
        assert_eq!(detected(number, "DISCOVER UNIONPAY"), ["UNIONPAY", "DISCOVER"], "{number}");
        assert!(Brand::find("DISCOVER").unwrap().accepts(number), "{number}");
    }
    assert!(!Brand::find("DISCOVER").unwrap().accepts("6221250000000000"));
    assert!(!Brand::find("DISCOVER").unwrap().accepts("6229260000000000"));
}

#[test]
fn regional_ranges_are_known() {
    for (code, number) in [
        ("HIPERCARD", "6373740000000000"),
        ("HIPERCARD", "6374330000000000"),
        ("NARANJA", "4029180000000000"),
        ("NARANJA", "5275720000000000"),
    ] {
        assert_eq!(detected(number, "MAESTRO VISA MASTER HIPERCARD NARANJA").first(), Some(&code), "{number}");
    }
    // Verve has no brand code; its numbers are masked like any card's.
    for number in ["5078650000000000", "507964000000000000", "5079640000000000000"] {
        assert!(Scheme::issues(number), "{number}");
    }
}

#[test]
fn detection_follows_the_typing_and_puts_the_most_specific_first() {
    let among = "VISA MASTER MAESTRO VISAELECTRON DISCOVER AMEX VPAY";
    assert!(detected("", among).is_empty());
    assert_eq!(detected("4", among), ["VISA", "VISAELECTRON", "VPAY"]);
    assert_eq!(detected("4917", among), ["VISAELECTRON", "VISA", "VPAY"]);
    assert_eq!(detected("4918", among), ["VISA", "VISAELECTRON", "VPAY"]);
    assert_eq!(detected("5", among), ["MASTER", "MAESTRO"]);
    assert_eq!(detected("55", among), ["MASTER"]);
    assert_eq!(detected("57", among), ["MAESTRO"]);
    assert_eq!(detected("60", among), ["MAESTRO", "DISCOVER"]);
    assert_eq!(detected("6011", among), ["DISCOVER", "MAESTRO"]);
    assert_eq!(detected("3", among), ["AMEX"]);
    assert!(detected("1", among).is_empty() && detected("4x", "AMEX").is_empty());
    assert!(detected("3714496353984310", "AMEX").is_empty(), "sixteen digits are too long");
}

#[test]
fn digits_are_grouped_as_on_the_card() {
    assert_eq!(groups("3714"), [4, 6, 5]);
    assert_eq!(groups("36961903000009"), [4, 6, 4]);
    assert_eq!(groups("36961903000009000"), [4, 4, 4, 4, 3]);
    assert_eq!(groups("4111"), [4, 4, 4, 4, 3]);
    assert_eq!(groups(""), [4, 4, 4, 4, 3]);
    assert_eq!(groups("3"), [4, 4, 4, 4, 3]);
}

#[test]
fn codes_are_as_long_as_the_brand_prints_them() {
    assert_eq!(Brand::find("AMEX").unwrap().code_lengths(), [4]);
    assert_eq!(Brand::find("VISA").unwrap().code_lengths(), [3]);
    assert!(Brand::find("MAESTRO").unwrap().code_optional() && !Brand::find("VISA").unwrap().code_optional());
}

#[test]
fn the_table_is_sorted_complete_and_of_valid_codes() {
    assert!(Brand::all().is_sorted_by(|a, b| a.code < b.code));
    let count = |kind| Brand::all().iter().filter(|brand| brand.kind == kind).count();
    assert_eq!((count(Kind::Card), count(Kind::Bank), count(Kind::Virtual), count(Kind::Wallet)), (50, 15, 101, 4));
    for brand in Brand::all() {
        assert_eq!(Brand::find(brand.code), Some(brand));
        assert_eq!(Brand::find_card(brand.code), (brand.kind == Kind::Card).then_some(brand));
        assert!(!brand.name.is_empty());
        assert!(brand.code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && brand.code.len() <= 32);
        assert!(!brand.number_lengths().is_empty() && brand.number_lengths().is_sorted());
        assert!(brand.scheme.is_none() || brand.kind == Kind::Card);
        for range in brand.scheme.map_or(&[][..], |scheme| scheme.ranges) {
            assert!(range.0 > 0 && range.0 <= range.1 && range.0.ilog10() == range.1.ilog10() && range.1 < 100_000_000);
        }
    }
    assert!(Brand::cards().iter().eq(Brand::all().iter().filter(|brand| brand.kind == Kind::Card)));
    assert_eq!(Brand::find("visa"), None);
    assert!(!Brand::find("PAYPAL").unwrap().synchronous() && Brand::find("SEPA").unwrap().synchronous());
}
