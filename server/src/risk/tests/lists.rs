//! The operator's lists: networks with their countries, and domains.

use super::*;
use crate::risk::{DomainList, NetworkTable};

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
