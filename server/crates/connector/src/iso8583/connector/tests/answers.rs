//! Answers that must not be trusted.

use super::*;

#[tokio::test]
async fn an_answer_that_differs_from_its_request_never_decides() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    // Field 11 is a part of the correlation: an answer with another one is no answer at all.
    for (number, field, text) in [
        (1, 4, "000000009201"),
        (2, 4, "000000000092"),
        (3, 49, "840"),
        (4, 37, "ABCDEFGHJKMN"),
        (5, 41, "TILL0002"),
        (6, 42, "shop-2"),
    ] {
        for response in ["00", "51"] {
            let task = spawn_payment(
                &connector,
                &payment_id(&format!("2026-11-23T10:20:{}Z", 10 + u8::from(response == "00")), number),
            );
            let received = host.next().await;
            received.send(&received.response(response).with_text(field, text));
            assert_eq!(outcome(task).await, ConnectorOutcome::Unknown, "{field} {response}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_a_code_or_that_cannot_be_read_is_unknown() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "answer_timeout_ms = 300").await;
    let task = spawn_payment(&connector, &id(1));
    let received = host.next().await;
    let mut response = received.response("00");
    response.remove_field(39);
    received.send(&response);
    assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);

    let task = spawn_payment(&connector, &id(2));
    let received = host.next().await;
    let mut bytes = received.encode(&received.response("00"));
    bytes.truncate(bytes.len() - 1);
    received.send_bytes(bytes);
    assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);
}

#[tokio::test]
async fn a_wrong_or_missing_mac_is_unknown() {
    for dialect in ["iso87-bcd-tpdu-2b", "iso93-ebcdic-2b"] {
        let (mut host, connector) = start_single(dialect, "").await;
        let approval = if dialect.starts_with("iso93") { "000" } else { "00" };
        let task = spawn_payment(&connector, &id(1));
        let received = host.next().await;
        let mut bytes = received.encode(&received.response(approval));
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        received.send_bytes(bytes);
        assert_eq!(outcome(task).await, ConnectorOutcome::Unknown, "{dialect}");

        let task = spawn_payment(&connector, &id(2));
        let received = host.next().await;
        received.send_bytes(received.dialect().encode(&received.response(approval)).unwrap());
        assert_eq!(outcome(task).await, ConnectorOutcome::Unknown, "{dialect}");
    }
}

#[tokio::test]
async fn an_answer_of_another_type_answers_nothing() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "answer_timeout_ms = 300").await;
    let task = spawn_payment(&connector, &id(1));
    let received = host.next().await;
    let wrong = received.response("00");
    let mut other = crate::iso8583::IsoMessage::new(crate::iso8583::Mti::parse("0210").unwrap());
    for (number, value) in wrong.fields() {
        other.set_field(number, value.clone());
    }
    received.send(&other);
    assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);
}
