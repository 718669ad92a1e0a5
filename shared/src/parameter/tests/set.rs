//! Parameters as a collection.

use super::super::Parameters;
use super::build_parameters;

#[test]
fn order_is_that_of_arrival_and_a_change_keeps_the_place() {
    let mut set = build_parameters(&[("b", "1"), ("a", "2"), ("c.x", "3"), ("c.y", "4")]);
    set.set("b", "5");
    assert_eq!(set.remove("a").as_deref(), Some("2"));
    assert_eq!(set.iter().collect::<Vec<_>>(), [("b", "5"), ("c.x", "3"), ("c.y", "4")]);
    assert_eq!(set.with_prefix("c.").count(), 2);
    set.retain(|name, value| name != "c.x" && value != "5");
    assert_eq!((set.len(), set.contains("c.y"), set.is_empty(), set.get("b")), (1, true, false, None));
}

#[test]
fn what_is_missing_is_taken_over_and_what_is_there_stays() {
    let mut merchant = build_parameters(&[("amount", "92.00"), ("card.holder", "Jane")]);
    merchant.extend_missing(&build_parameters(&[("amount", "0.01"), ("card.cvv", "123")]));
    let expected = [("amount", "92.00"), ("card.holder", "Jane"), ("card.cvv", "123")];
    assert_eq!(merchant.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn debugging_shows_neither_secrets_nor_card_numbers() {
    let set = build_parameters(&[
        ("card.number", "4111111111111111"),
        ("card.cvv", "7391"),
        ("card.holder", "Jane 5454545454545454"),
        ("4111111111111111", "x"),
        ("authentication.password", "hush"),
    ]);
    let shown = format!("{set:?}");
    for hidden in ["4111111111111111", "7391", "5454545454545454", "hush"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
    assert!(shown.contains("Jane 545454******5454"));
}

#[test]
fn documents_keep_the_order() {
    let set = build_parameters(&[("z", "1"), ("a", "é\"\n"), ("m", "")]);
    let json = serde_json::to_string(&set).unwrap();
    assert_eq!(json, r#"{"z":"1","a":"é\"\n","m":""}"#);
    let read: Parameters = serde_json::from_str(&json).unwrap();
    assert!(read.iter().eq(set.iter()));
    assert!(serde_json::from_str::<Parameters>(r#"{"a":1}"#).is_err());
    assert!(serde_json::from_str::<Parameters>("[]").is_err());
}
