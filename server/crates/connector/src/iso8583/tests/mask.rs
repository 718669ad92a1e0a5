//! Masks: no description of a message has a card number or a secret.

use super::*;

/// Returns an authorization with every secret.
fn secret_message() -> IsoMessage {
    let code = IsoPart::text("92", "987");
    let mut message = empty_message()
        .with_text(2, "4111111111111111")
        .with_text(4, "000000009200")
        .with_text(35, "4111111111111111=25121010000012345678")
        .with_text(45, "B4111111111111111^DOE/JANE^2512101000")
        .with_text(44, "card 4111 1111 1111 1111")
        .with_parts(48, vec![IsoPart::text("42", "210"), code]);
    message.set_field(52, IsoValue::Bytes(vec![0xab; 8]));
    message.set_field(55, IsoValue::Bytes(vec![0xcd; 8]));
    message
}

#[test]
fn a_description_masks_card_numbers_and_secrets() {
    let dialect = shipped_dialect("iso87-ascii-4a");
    let message = secret_message();
    dialect.encode(&message).unwrap();
    let described = dialect.describe(&message);
    let value = |label: &str| described.iter().find(|element| element.label == label).unwrap().value.as_str();
    assert_eq!(value("0"), "0200");
    assert_eq!(value("2"), "411111******1111");
    assert_eq!(value("4"), "000000009200");
    assert_eq!((value("35"), value("45")), ("411111******1111", "411111******1111"));
    assert_eq!(value("44"), "card 411111******1111");
    assert_eq!((value("48"), value("48.42"), value("48.92")), ("2 parts", "210", "•••"));
    assert_eq!((value("52"), value("55")), ("•••", "•••"));
    let names: Vec<&str> = described.iter().map(|element| element.name.as_str()).collect();
    assert!(names.contains(&"card security code") && names.contains(&"message type"));
}

#[test]
fn debugging_shows_lengths_only() {
    let shown = format!("{:?}", secret_message());
    for secret in ["4111", "987", "9200", "171", "ab", "AB", "JANE"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert!(shown.starts_with("IsoMessage 0200 {2: Text(16 characters)"), "{shown}");
    let layout = shipped_dialect("iso87-ascii-4a").frames().clone();
    assert!(!format!("{:?}", layout.frame_request(b"4111111111111111".to_vec())).contains("4111"));
}

#[test]
fn a_number_of_another_length_and_undefined_fields_are_masked_entirely() {
    let dialect = shipped_dialect("iso87-ascii-4a");
    let message = empty_message().with_text(2, "411111111111").with_text(35, "é4111").with_text(192, "987");
    let values: Vec<String> = dialect.describe(&message).into_iter().map(|element| element.value).collect();
    assert_eq!(values, ["0200", "•••", "•••", "•••"]);
}

#[test]
fn errors_have_no_values() {
    let dialect = shipped_dialect("iso87-ascii-4a");
    for text in ["41111111111111111111", "411111111111111X"] {
        let error = dialect.encode(&empty_message().with_text(2, text)).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("4111"), "{error}");
    }
}
