//! Numbers, times and amounts in messages.

use super::*;

#[tokio::test]
async fn sixty_four_payments_in_flight_are_answered_in_reverse_order() {
    for dialect in ["iso87-ascii-4a", "iso87-bcd-tpdu-2b", "iso93-ebcdic-2b"] {
        let (mut host, connector) = start_single(dialect, "").await;
        let mut tasks = Vec::new();
        for number in 1..=64 {
            let paid = order(PaymentType::Debit, amount(&format!("{number}.00"), "EUR"));
            tasks.push(spawn_order(&connector, &id(number), paid));
        }
        let mut received = Vec::new();
        for _ in 0..64 {
            received.push(host.next().await);
        }
        for request in received.iter().rev() {
            let code = if request.text(4).as_str() > "000000003200" { "51" } else { "00" };
            match (code, dialect.starts_with("iso93")) {
                ("00", _) => request.approve(),
                (_, true) => request.answer("116"),
                _ => request.answer(code),
            }
        }
        for (task, number) in tasks.into_iter().zip(1..) {
            let expected = if number > 32 { "800.100.155" } else { "000.100.112" };
            assert_eq!(code(&outcome(task).await), expected, "{dialect} {number}");
        }
    }
}

#[tokio::test]
async fn a_new_year_begins_at_different_times_in_utc_and_at_the_terminal() {
    let zone = "time_zone = \"Europe/Oslo\"";
    let newest = payment_id("2026-12-31T23:59:59.999Z", 7);
    let (mut host, connector) = start_single("iso87-ascii-4a", zone).await;
    let task = spawn_payment(&connector, &newest);
    let received = host.next().await;
    assert_eq!((received.text(7).as_str(), received.text(12).as_str()), ("1231235959", "005959"));
    assert_eq!(received.text(13), "0101");
    received.approve();
    assert_eq!(code(&outcome(task).await), "000.100.112");

    let (mut host, connector) = start_single("iso93-ebcdic-2b", zone).await;
    let task = spawn_payment(&connector, &newest);
    let received = host.next().await;
    assert_eq!((received.text(7).as_str(), received.text(12).as_str()), ("1231235959", "270101005959"));
    received.approve();
    assert_eq!(code(&outcome(task).await), "000.100.112");
    let task = spawn_reversal(&connector, reversal(&newest, PaymentType::Preauthorization));
    let received = host.next().await;
    assert!(original_of(&received).ends_with("2701010059590512345"));
    received.answer("400");
    assert_eq!(code(&outcome(task).await), "000.100.112");
}

#[tokio::test]
async fn an_amount_has_the_minor_units_of_its_currency() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    for (number, text, currency, digits, numeric) in [
        (1, "92.00", "EUR", "000000009200", "978"),
        (2, "92.00", "JPY", "000000000092", "392"),
        (3, "1.25", "KWD", "000000001250", "414"),
        (4, "9999999999.99", "USD", "999999999999", "840"),
    ] {
        let task = spawn_order(&connector, &id(number), order(PaymentType::Debit, amount(text, currency)));
        let received = host.next().await;
        assert_eq!((received.text(4).as_str(), received.text(49).as_str()), (digits, numeric));
        received.approve();
        assert_eq!(code(&outcome(task).await), "000.100.112");
    }
    let task = connector.authorize(&request(&id(5), &order(PaymentType::Debit, amount("9999999999.99", "KWD")))).await;
    assert_eq!(code(&task), "900.100.600", "13 digits do not fit");
    assert!(host.is_idle());
    let part = Order { accepts_partial_approval: true, ..order(PaymentType::Debit, amount("92.00", "JPY")) };
    let task = spawn_order(&connector, &id(6), part);
    let received = host.next().await;
    received.send(&received.response("10").with_text(4, "000000000050"));
    assert_eq!(outcome(task).await.result().unwrap().approved_amount, Some(amount("50.00", "JPY")));
}

#[tokio::test]
async fn a_payment_whose_numbers_are_in_use_is_declined_and_not_sent() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "answer_timeout_ms = 300").await;
    let first = spawn_payment(&connector, &id(1));
    let received = host.next().await;
    let second = spawn_payment(&connector, &id(1));
    received.approve();
    assert_eq!(code(&outcome(first).await), "000.100.112");
    // The key is remembered for minutes, so the second one ends without being sent.
    assert_eq!(code(&outcome(second).await), "900.100.600");
    assert!(host.is_idle());
}
