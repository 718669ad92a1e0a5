//! Payments without an answer, and their reversals.

use super::*;

#[tokio::test]
async fn a_payment_without_an_answer_is_reversed_and_its_late_approval_changes_nothing() {
    for (dialect, reversed, types) in [
        ("iso87-ascii-4a", "00", ["0100", "0401"]),
        ("iso87-bcd-tpdu-2b", "00", ["0100", "0401"]),
        ("iso93-ebcdic-2b", "400", ["1100", "1421"]),
    ] {
        let (mut host, connector) = start_single(dialect, "answer_timeout_ms = 300").await;
        let task = spawn_payment(&connector, &id(1));
        let lost = host.next().await;
        assert_eq!(lost.mti(), types[0]);
        assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);

        let task = spawn_reversal(&connector, reversal(&id(1), PaymentType::Preauthorization));
        let received = host.next().await;
        assert_eq!(received.mti(), types[1]);
        let time = if dialect.starts_with("iso93") { lost.text(12) } else { lost.text(7) };
        let original = original_of(&received);
        assert!(original.starts_with(&format!("{}{}{time}", types[0], lost.text(11))), "{dialect} {original}");
        assert!(original.contains("12345"));
        assert_eq!((received.text(37), received.text(4)), (lost.text(37), lost.text(4)));
        // The host approves the payment while its reversal is under way.
        lost.approve();
        received.answer(reversed);
        assert_eq!(code(&outcome(task).await), "000.100.112");
        within(async {
            while read_states(&connector)[0].late == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
        assert!(host.is_idle(), "a late answer sends nothing");
    }
}

#[tokio::test]
async fn a_restarted_connector_reverses_the_same_original() {
    let host_name = "iso87-ascii-4a";
    let mut host = ScriptedHost::listen(host_name).await;
    let text = config_text(host_name, "time_zone = \"Europe/Oslo\"", &[&host]);
    let connector = start(&text).await;
    let task = spawn_order(&connector, &id(1), order(PaymentType::Debit, amount("92.00", "EUR")));
    let lost = host.next().await;
    task.abort();
    drop(connector);
    let connector = start(&text).await;
    let task = spawn_reversal(&connector, reversal(&id(1), PaymentType::Debit));
    let received = host.next().await;
    let expected = format!("0200{}{}0000001234500000000000", lost.text(11), lost.text(7));
    assert_eq!(original_of(&received), expected);
    received.answer("00");
    assert_eq!(code(&outcome(task).await), "000.100.112");
}

#[tokio::test]
async fn a_reversal_of_an_unknown_or_reversed_original_is_confirmed() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    for (number, response, expected) in
        [(1, "25", "000.100.112"), (2, "21", "000.100.112"), (3, "12", "800.100.154"), (4, "96", "unknown")]
    {
        let task = spawn_reversal(&connector, reversal(&id(number), PaymentType::Preauthorization));
        host.next().await.answer(response);
        assert_eq!(code(&outcome(task).await), expected, "{response}");
        // The same codes decline a payment.
        let task = spawn_payment(&connector, &id(number));
        host.next().await.answer(response);
        assert!(matches!(outcome(task).await, ConnectorOutcome::Declined(_)));
    }
}

#[tokio::test]
async fn the_first_reversal_of_an_approved_payment_is_declined_if_the_host_does_not_find_it() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    let connector_tx_ids = ConnectorTxIds::new([Some("123456".to_owned()), None, None]);
    for (number, response, is_repeated, expected) in [
        (1, "25", false, "800.100.100"),
        (2, "21", false, "800.100.100"),
        // An earlier try may have reversed it.
        (3, "21", true, "000.100.112"),
        (4, "00", false, "000.100.112"),
    ] {
        let reversal = reversal(&id(number), PaymentType::Debit);
        let known = Modification { connector_tx_ids: connector_tx_ids.clone(), is_repeated, ..reversal };
        let task = spawn_reversal(&connector, known);
        host.next().await.answer(response);
        assert_eq!(code(&outcome(task).await), expected, "{response} {is_repeated}");
    }
}

#[tokio::test]
async fn a_reversal_is_repeated_with_the_same_original_until_it_is_answered() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "answer_timeout_ms = 300").await;
    let first = Modification { is_repeated: false, ..reversal(&id(1), PaymentType::Debit) };
    let task = spawn_reversal(&connector, first);
    let unanswered = host.next().await;
    assert_eq!(unanswered.mti(), "0400");
    assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);
    for _ in 0..3 {
        let task = spawn_reversal(&connector, reversal(&id(1), PaymentType::Debit));
        let received = host.next().await;
        assert_eq!(received.mti(), "0401");
        assert_eq!(original_of(&received), original_of(&unanswered));
        assert_eq!(received.text(11), unanswered.text(11), "a repetition has the number of the first");
        assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);
    }
    let task = spawn_reversal(&connector, reversal(&id(1), PaymentType::Debit));
    host.next().await.answer("00");
    assert_eq!(code(&outcome(task).await), "000.100.112");
}

#[tokio::test]
async fn a_reversal_that_cannot_be_sent_again_stays_unknown() {
    let (host, connector) = start_single("iso87-ascii-4a", "").await;
    drop(host);
    wait_until_down(&connector, 0).await;
    let repeated = reversal(&id(1), PaymentType::Debit);
    assert_eq!(connector.reverse(&repeated).await, ConnectorOutcome::Unknown);
    let first = Modification { is_repeated: false, ..repeated };
    assert_eq!(code(&connector.reverse(&first).await), "900.100.600");
    let inquiry = crate::Inquiry {
        reference: id(1),
        merchant_id: "shop-1".to_owned(),
        payment_type: PaymentType::Debit,
        amount: amount("92.00", "EUR"),
    };
    assert_eq!(connector.inquire(&inquiry).await, None);
}
