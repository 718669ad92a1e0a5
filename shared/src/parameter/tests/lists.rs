//! Indexes that lists omit.

use super::super::check_lists;
use super::*;

/// Returns the name in the error about omitted indexes, if there is one.
fn first_fault(names: &[String]) -> Option<String> {
    let set: Parameters = names.iter().map(|name| (name.as_str(), "x")).collect();
    check_lists(&set).map(|error| error.name)
}

fn leg_name(passenger: u16, leg: u16) -> String {
    format!("airline.passengers[{passenger}].legs[{leg}].fareBasis")
}

#[test]
fn a_list_by_itself_may_leave_out_whatever_its_highest_index_does() {
    for name in ["cart.items[999].name", "cart.payments[999].name", "airline.passengers[999].name"] {
        assert_eq!(first_fault(&[name.to_owned()]), None, "{name}");
    }
    assert_eq!(first_fault(&[leg_name(999, 999)]), None);
    let all = ["cart.items[999].name", "cart.payments[999].name", "registrations[999].id"].map(str::to_owned);
    assert_eq!(first_fault(&[&all[..], &[leg_name(999, 999)]].concat()), None);
}

#[test]
fn lists_inside_lists_leave_out_999_indexes_together() {
    assert_eq!(first_fault(&[leg_name(0, 500), leg_name(1, 499)]), None);
    assert_eq!(first_fault(&[leg_name(0, 500), leg_name(1, 500)]), Some(leg_name(1, 500)));
    // An index that is present is not omitted, however often it is sent.
    assert_eq!(first_fault(&[leg_name(0, 500), leg_name(1, 500), leg_name(1, 0)]), None);
    let other = "airline.passengers[1].legs[500].taxAmount".to_owned();
    assert_eq!(first_fault(&[leg_name(0, 500), leg_name(1, 500), other]), Some(leg_name(1, 500)));
    // Sent from the highest to the lowest, or in reverse.
    let down: Vec<String> = (0..1000).rev().map(|index| leg_name(0, index)).collect();
    assert_eq!((first_fault(&down), first_fault(&[&down[..], &[leg_name(1, 999)]].concat())), (None, None));
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
    assert_eq!(first_fault(&names.map(str::to_owned)), None);
}
