//! Captures, increments and refunds, from the stored ids alone.

use super::*;

#[tokio::test]
async fn a_restarted_connector_captures_and_refunds_from_the_ids_alone() {
    for (dialect, approval, types) in [
        ("iso87-ascii-4a", "00", ["0100", "0220", "0200"]),
        ("iso87-bcd-tpdu-2b", "00", ["0100", "0220", "0200"]),
        ("iso93-ebcdic-2b", "000", ["1100", "1220", "1200"]),
    ] {
        let mut host = ScriptedHost::listen(dialect).await;
        let text = config_text(dialect, "", &[&host]);
        let connector = start(&text).await;
        let ids = approve_payment(&mut host, &connector, &id(1)).await;
        drop(connector);
        let connector = start(&text).await;

        let capture = modification(&id(2), &id(1), PaymentType::Preauthorization, &ids);
        let (captured, received) = tokio::join!(connector.capture(&capture), async {
            let received = host.next().await;
            received.answer(approval);
            received
        });
        assert_eq!((code(&captured), received.mti().as_str()), ("000.100.112", types[1]), "{dialect}");
        assert!(original_of(&received).starts_with(&format!("{}{}", types[0], ids.get(0).unwrap())));
        assert_eq!((Some(&received.text(37)), received.text(38).as_str()), (ids.get(1), "A1B2C3"));
        let capture_ids = captured.result().unwrap().connector_tx_ids.clone();
        assert_eq!(capture_ids.get(2).map(String::as_str), Some("A1B2C3"));

        let mut refund = modification(&id(3), &id(2), PaymentType::Capture, &capture_ids);
        refund.amount = amount("1.00", "EUR");
        let (refunded, received) = tokio::join!(connector.refund(&refund), async {
            let received = host.next().await;
            received.answer(approval);
            received
        });
        assert_eq!((code(&refunded), received.mti().as_str()), ("000.100.112", types[2]), "{dialect}");
        assert_eq!((received.text(3).as_str(), received.text(4).as_str()), ("200000", "000000000100"));
        assert!(original_of(&received).starts_with(&format!("{}{}", types[1], capture_ids.get(0).unwrap())));
        assert_eq!(Some(&received.text(37)), ids.get(1));
    }
}

#[tokio::test]
async fn an_increment_is_an_authorization_that_names_the_first_one_and_no_card() {
    for (dialect, approval, message_type, function) in [
        ("iso87-ascii-4a", "00", "0100", None),
        ("iso87-bcd-tpdu-2b", "00", "0100", None),
        ("iso93-ebcdic-2b", "000", "1100", Some("106")),
    ] {
        let mut host = ScriptedHost::listen(dialect).await;
        let connector = start(&config_text(dialect, "", &[&host])).await;
        assert!(connector.capabilities().increments);
        let ids = approve_payment(&mut host, &connector, &id(1)).await;
        let mut increment = modification(&id(2), &id(1), PaymentType::Preauthorization, &ids);
        increment.amount = amount("8.00", "EUR");
        let (raised, received) = tokio::join!(connector.increment(&increment), async {
            let received = host.next().await;
            received.answer(approval);
            received
        });
        assert_eq!((code(&raised), received.mti().as_str()), ("000.100.112", message_type), "{dialect}");
        assert_eq!((received.text(4).as_str(), received.has(2)), ("000000000800", false), "{dialect}");
        assert!(original_of(&received).starts_with(&format!("{message_type}{}", ids.get(0).unwrap())));
        assert_eq!((Some(&received.text(37)), received.text(38).as_str()), (ids.get(1), "A1B2C3"));
        assert!(function.is_none_or(|function| received.text(24) == function), "{dialect}");
    }
}

#[tokio::test]
async fn a_capture_is_repeated_with_the_same_number_until_the_host_decides() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "answer_timeout_ms = 300").await;
    let ids = approve_payment(&mut host, &connector, &id(1)).await;
    let first = modification(&id(2), &id(1), PaymentType::Preauthorization, &ids);
    assert_eq!(connector.capture(&first).await, ConnectorOutcome::Unknown);
    let unanswered = host.next().await;
    let repeated = Modification { is_repeated: true, ..first };
    for (response, expected) in [("94", "unknown"), ("91", "unknown"), ("00", "000.100.112")] {
        let (outcome, received) = tokio::join!(connector.capture(&repeated), async {
            let received = host.next().await;
            received.answer(response);
            received
        });
        assert_eq!((code(&outcome), received.text(11)), (expected, unanswered.text(11)), "{response}");
        assert_eq!(received.text(7), unanswered.text(7));
    }
}

#[tokio::test]
async fn a_follow_up_payment_without_ids_is_not_sent() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    let without = modification(&id(2), &id(1), PaymentType::Preauthorization, &ConnectorTxIds::default());
    assert_eq!(code(&connector.capture(&without).await), "700.100.100");
    assert_eq!(code(&connector.refund(&without).await), "700.100.100");
    assert_eq!(code(&connector.increment(&without).await), "700.100.100");
    assert!(host.is_idle());
}

#[tokio::test]
async fn the_capture_of_a_debit_in_two_steps_is_reversed_by_its_own_reference() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    let ids = approve_payment(&mut host, &connector, &id(1)).await;
    let capture_reference = format!("{}-capture", id(1));
    let capture = modification(&capture_reference, &id(1), PaymentType::Preauthorization, &ids);
    let (_, captured) = tokio::join!(connector.capture(&capture), async {
        let received = host.next().await;
        received.answer("00");
        received
    });
    let reversed = modification(&format!("{}-capture", id(2)), &capture_reference, PaymentType::Capture, &ids);
    let task = spawn_reversal(&connector, reversed);
    let received = host.next().await;
    assert!(original_of(&received).starts_with(&format!("0220{}{}", captured.text(11), captured.text(7))));
    assert_eq!(received.text(37), captured.text(37));
    received.answer("00");
    assert_eq!(code(&outcome(task).await), "000.100.112");
}
