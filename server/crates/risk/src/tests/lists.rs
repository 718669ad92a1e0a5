//! The operator's lists: networks with their countries, and domains.

use super::*;
use proptest::prelude::*;

use crate::{BinTable, CardFunding, DomainList, NetworkTable};

#[test]
fn the_longest_prefix_decides_the_country() {
    let table = NetworkTable::parse(
        "# networks\n0.0.0.0/0,ZZ\n10.0.0.0/8,US\n10.1.0.0/16,de\n10.1.2.3,FR\n\n2001:db8::/32,AT\n\"2001:db8:1::/48\",\"CH\"\n",
    )
    .unwrap();
    for (address, country) in [
        ("10.1.2.3", Some("FR")),
        ("10.1.2.4", Some("DE")),
        ("10.2.0.1", Some("US")),
        ("11.0.0.1", Some("ZZ")),
        ("::ffff:10.1.2.3", Some("FR")),
        ("2001:db8:1::7", Some("CH")),
        ("2001:db8:2::7", Some("AT")),
        ("2001:db9::1", None),
    ] {
        assert_eq!(table.find_country(address.parse().unwrap()), country, "{address}");
    }
    assert_eq!(NetworkTable::default().find_country("10.1.2.3".parse().unwrap()), None);
}

#[test]
fn a_wrong_line_of_a_list_is_named() {
    for (text, line, message) in [
        ("10.0.0.0/8,DE\n10.0.0.1/8,DE\n", 2, "write 10.0.0.0/8"),
        ("10.0.0.0/33,DE\n", 1, "not a network"),
        ("\n10.0.0.0/8\n", 2, "a network and a country"),
        ("10.0.0.0/8,Germany\n", 1, "two letters"),
        ("10.0.0.0/8,DE\n9.0.0.0/8,DE\n10.0.0.0/8,FR\n", 3, "twice"),
    ] {
        let error = NetworkTable::parse(text).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(message), "{error}");
    }
    let error = DomainList::parse("mail.example\nnot a domain\n").unwrap_err();
    assert_eq!(error.line, 2);
}

#[test]
fn a_domain_stands_for_its_subdomains() {
    let list = DomainList::parse("Trash.Example # note\n\nmail.test\n").unwrap();
    assert!(list.contains("trash.example") && list.contains("a.b.TRASH.example") && list.contains("mail.test"));
    assert!(!list.contains("nottrash.example") && !list.contains("example") && !list.contains(""));
    assert!(find_errors("").is_empty());
}

/// Returns the country of a number by the smallest range with it. `Err` if there are two.
fn find_plainly(ranges: &[(u64, u64, usize)], number: u64) -> Result<Option<usize>, ()> {
    let mut holding: Vec<(u64, usize)> = ranges
        .iter()
        .filter(|(first, last, _)| (first * 1_000..last * 1_000 + 1_000).contains(&number))
        .map(|(first, last, country)| (last - first, *country))
        .collect();
    holding.sort_unstable();
    match holding.as_slice() {
        [one, other, ..] if one.0 == other.0 => Err(()),
        [one, ..] => Ok(Some(one.1)),
        [] => Ok(None),
    }
}

proptest! {
    #[test]
    fn the_smallest_range_of_bins_decides(
        ranges in prop::collection::vec((42_000_000_u64..42_000_030, 0_u64..12, 0_usize..4), 0..12),
        digits in 42_000_000_000_u64..42_000_042_000,
    ) {
        let countries = ["AT", "CH", "DE", "FR"];
        let ranges: Vec<_> = ranges.into_iter().map(|(first, length, country)| (first, first + length, country)).collect();
        let lines: String =
            ranges.iter().map(|(first, last, country)| format!("{first}-{last},{},\n", countries[*country])).collect();
        let all = || (42_000_000_000_u64..42_000_042_000).step_by(250);
        match BinTable::parse(&lines) {
            Ok(table) => {
                let found = table.find_facts(&format!("{digits}00007"));
                let expected = find_plainly(&ranges, digits).unwrap().map(|country| countries[country]);
                prop_assert_eq!(found.country(), expected);
                // Fewer digits are known if all numbers that begin with them are the same.
                let short = digits / 10_000;
                let numbers = (0..40).map(|number| find_plainly(&ranges, short * 10_000 + number * 250).unwrap());
                let found: std::collections::BTreeSet<_> = numbers.collect();
                let only = if found.len() == 1 { found.first().copied().flatten() } else { None };
                let short_facts = table.find_facts(&short.to_string());
                prop_assert_eq!(short_facts.country(), only.map(|country| countries[country]));
            }
            Err(error) => prop_assert!(all().any(|number| find_plainly(&ranges, number).is_err()), "{error}"),
        }
    }
}

#[test]
fn a_table_of_bins_knows_nothing_about_other_texts() {
    let table = BinTable::parse("420000,DE,debit\n999999,AT,charge\n").unwrap();
    assert_eq!(table.find_facts("4200001").funding, Some(CardFunding::Debit));
    assert_eq!(table.find_facts("99999999999999999").country(), Some("AT"));
    for digits in ["", "4", "41999999999", "42000100000", "420 00", "४२००००", "99999"] {
        assert_eq!(table.find_facts(digits), BinTable::default().find_facts(digits), "{digits}");
        assert_eq!(table.find_facts(digits).country(), None, "{digits}");
    }
}
