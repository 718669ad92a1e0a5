//! Several lines: failover and routing.

use super::*;
use crate::line::shut_down_lines;

#[tokio::test]
async fn a_payment_that_was_not_sent_takes_the_second_line() {
    let dialect = "iso87-ascii-4a";
    let (first, mut second) = (ScriptedHost::listen(dialect).await, ScriptedHost::listen(dialect).await);
    let connector = start(&config_text(dialect, "", &[&first, &second])).await;
    drop(first);
    wait_until_down(&connector, 0).await;
    approve_payment(&mut second, &connector, &id(1)).await;
}

#[tokio::test]
async fn a_payment_that_may_have_been_sent_is_sent_nowhere_else() {
    let dialect = "iso87-ascii-4a";
    let (mut first, mut second) = (ScriptedHost::listen(dialect).await, ScriptedHost::listen(dialect).await);
    let connector = start(&config_text(dialect, "", &[&first, &second])).await;
    let task = spawn_payment(&connector, &id(1));
    first.next().await.close();
    assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);
    assert!(second.is_idle() && first.is_idle());
    drop(first);
    wait_until_down(&connector, 0).await;
    let task = spawn_reversal(&connector, reversal(&id(1), PaymentType::Preauthorization));
    let received = second.next().await;
    assert_eq!(received.mti(), "0401");
    received.answer("25");
    assert_eq!(code(&outcome(task).await), "000.100.112");
    assert!(second.is_idle());
}

#[tokio::test]
async fn a_connector_that_shuts_down_waits_for_its_answers() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    let task = spawn_payment(&connector, &id(1));
    let received = host.next().await;
    let stopping = {
        let lines = connector.lines().map(|member| Arc::clone(&member.line)).collect();
        tokio::spawn(shut_down_lines(lines, HANG_LIMIT))
    };
    received.approve();
    assert_eq!(code(&outcome(task).await), "000.100.112");
    within(stopping).await.unwrap();
    assert!(read_states(&connector).iter().all(|state| state.phase == LinePhase::Stopped));
    assert_eq!(
        code(&connector.authorize(&request(&id(2), &order(PaymentType::Debit, amount("1.00", "EUR")))).await),
        "900.100.600"
    );
}

#[tokio::test]
async fn a_payment_takes_a_line_whose_rules_admit_it_and_its_reversal_the_same() {
    let dialect = "iso87-ascii-4a";
    let (mut first, mut second) = (ScriptedHost::listen(dialect).await, ScriptedHost::listen(dialect).await);
    let text = format!(
        "{}{}{}",
        config_text(dialect, "", &[]),
        line_text(
            "euro",
            0,
            &first,
            "brands = [\"VISA\"]\nbins = [\"4\"]\ncurrencies = [\"EUR\"]\nmax_amount = \"100.00\""
        ),
        line_text("yen", 0, &second, "currencies = [\"JPY\"]\ncountries = [\"JP\"]"),
    );
    let connector = start(&text).await;
    approve_payment(&mut first, &connector, &id(1)).await;
    let mut yen = order(PaymentType::Preauthorization, amount("92.00", "JPY"));
    let refused = connector.authorize(&request(&id(2), &yen)).await;
    assert_eq!(code(&refused), "600.200.201");
    assert_eq!(connector.known_decline(&request(&id(2), &yen)).unwrap().code(), "600.200.201");
    yen.context.merchant = vec![("merchant.country".to_owned(), "JP".to_owned())];
    assert_eq!(connector.known_decline(&request(&id(2), &yen)), None);
    let task = spawn_order(&connector, &id(2), yen);
    second.next().await.approve();
    assert_eq!(code(&outcome(task).await), "000.100.112");
    let large = order(PaymentType::Preauthorization, amount("100.01", "EUR"));
    assert_eq!(code(&connector.authorize(&request(&id(3), &large)).await), "600.200.201");

    let mut reversed = reversal(&id(2), PaymentType::Preauthorization);
    reversed.amount = amount("92.00", "JPY");
    reversed.earlier.amount = reversed.amount;
    assert_eq!(connector.reverse(&reversed).await, ConnectorOutcome::Unknown, "no line, but sent before");
    reversed.earlier.merchant_country = Some("JP".to_owned());
    let task = spawn_reversal(&connector, reversed);
    second.next().await.answer("00");
    assert_eq!(code(&outcome(task).await), "000.100.112");
    assert!(first.is_idle());
}
