//! Indexes that lists leave out.

use super::super::check_lists;
use super::*;

fn fault(names: &[String]) -> Option<String> {
    let set: Parameters = names.iter().map(|name| (name.as_str(), "x")).collect();
    check_lists(&set).map(|error| error.name)
}

fn leg(passenger: u16, leg: u16) -> String {
    format!("airline.passengers[{passenger}].legs[{leg}].fareBasis")
}

#[test]
fn a_list_by_itself_may_leave_out_whatever_its_highest_index_does() {
    for name in ["cart.items[999].name", "cart.payments[999].name", "airline.passengers[999].name"] {
        assert_eq!(fault(&[name.to_owned()]), None, "{name}");
    }
    assert_eq!(fault(&[leg(999, 999)]), None);
    let all = ["cart.items[999].name", "cart.payments[999].name", "registrations[999].id"].map(str::to_owned);
    assert_eq!(fault(&[&all[..], &[leg(999, 999)]].concat()), None);
}

#[test]
fn lists_inside_lists_leave_out_999_indexes_together() {
    assert_eq!(fault(&[leg(0, 500), leg(1, 499)]), None);
    assert_eq!(fault(&[leg(0, 500), leg(1, 500)]), Some(leg(1, 500)));
    // An index that is there is not left out, however often it is named.
    assert_eq!(fault(&[leg(0, 500), leg(1, 500), leg(1, 0)]), None);
    let other = "airline.passengers[1].legs[500].taxAmount".to_owned();
    assert_eq!(fault(&[leg(0, 500), leg(1, 500), other]), Some(leg(1, 500)));
    // Sent from the highest to the lowest, or the other way round.
    let down: Vec<String> = (0..1000).rev().map(|index| leg(0, index)).collect();
    assert_eq!((fault(&down), fault(&[&down[..], &[leg(1, 999)]].concat())), (None, None));
}

#[test]
fn keys_and_names_of_nobody_are_no_lists() {
    let names = [
        "customParameters[a[0].b[999].c]",
        "risk.parameters[999]",
        "cart.items[0].name[999",
        "cart.items[0]][999]",
        "a[0][999][999].b[999].c[999]",
        "airline.passengers[1].legs[01].fareBasis",
        "airline.passengers[1].legs[-1].fareBasis",
        "[][[]]",
    ];
    assert_eq!(fault(&names.map(str::to_owned)), None);
}
