//! Stored places of requests: trace numbers and systems. And approvals that arrive after their payment has ended.

use tillgate_domain::payment::{Payment, RequestPlace};

use super::*;

const DIALECT: &str = "iso87-ascii-4a";

fn place(system: &str, number: u32) -> RequestPlace {
    RequestPlace { system: system.to_owned(), number: Some(number) }
}

/// Starts a connector with a line to each of two systems, east and west. East is used first.
async fn start_two_systems(more: [&str; 2]) -> (ScriptedHost, ScriptedHost, Arc<Iso8583Connector>) {
    let (east, west) = (ScriptedHost::listen(DIALECT).await, ScriptedHost::listen(DIALECT).await);
    let text = format!(
        "{}{}{}",
        config_text(DIALECT, "", &[]),
        line_text("east", 0, &east, &format!("system = \"east\"\n{}", more[0])),
        line_text("west", 1, &west, &format!("system = \"west\"\n{}", more[1])),
    );
    let connector = start(&text).await;
    (east, west, connector)
}

/// Sends a preauthorization of 92.00 euro with this place in a task.
fn spawn_placed(
    connector: &Arc<Iso8583Connector>,
    reference: &str,
    place: RequestPlace,
) -> tokio::task::JoinHandle<ConnectorOutcome> {
    let (connector, reference) = (Arc::clone(connector), reference.to_owned());
    tokio::spawn(async move {
        let order = order(PaymentType::Preauthorization, amount("92.00", "EUR"));
        connector.authorize(&OrderRequest { place: Some(&place), ..request(&reference, &order) }).await
    })
}

#[tokio::test]
async fn a_request_has_its_stored_number_and_its_follow_ups_refer_to_it() {
    let (mut host, connector) = start_single(DIALECT, "trace_numbers = \"500000-599999\"").await;
    let paid = order(PaymentType::Preauthorization, amount("92.00", "EUR"));
    let chosen = connector.place_order(&paid, None).unwrap();
    assert_eq!(chosen.system, "acquirer");
    let number = chosen.number.unwrap();
    assert!((500_000..=599_999).contains(&number));
    let task = spawn_placed(&connector, &id(1), chosen.clone());
    let received = host.next().await;
    assert_eq!(received.text(11), number.to_string());
    received.approve();
    let ids = outcome(task).await.result().unwrap().connector_tx_ids.clone();
    let mut capture = modification(&id(2), &id(1), PaymentType::Preauthorization, &ids);
    capture.earlier.place = Some(chosen);
    capture.place = Some(place("acquirer", 7));
    let (_, received) = tokio::join!(connector.capture(&capture), async {
        let received = host.next().await;
        received.approve();
        received
    });
    assert_eq!(received.text(11), "000007");
    assert!(original_of(&received).starts_with(&format!("0100{number}")));
}

#[tokio::test]
async fn two_payments_of_one_moment_have_different_numbers() {
    let (_host, connector) = start_single(DIALECT, "").await;
    let paid = order(PaymentType::Preauthorization, amount("92.00", "EUR"));
    let numbers: std::collections::BTreeSet<u32> =
        (0..5000).map(|_| connector.place_order(&paid, None).unwrap().number.unwrap()).collect();
    assert_eq!(numbers.len(), 5000);
}

#[tokio::test]
async fn a_follow_up_goes_to_the_system_that_knows_its_payment() {
    // The rules have changed since: west takes no new payments in euro.
    let (mut east, mut west, connector) = start_two_systems(["", "currencies = [\"JPY\"]"]).await;
    let mut reversal = reversal(&id(1), PaymentType::Preauthorization);
    reversal.earlier.place = Some(place("west", 7));
    let task = spawn_reversal(&connector, reversal.clone());
    let received = west.next().await;
    assert!(original_of(&received).starts_with("0100000007"));
    received.answer("25");
    assert_eq!(code(&outcome(task).await), "000.100.112");
    // Another host does not know the payment, so its word must not end it.
    reversal.earlier.place = Some(place("south", 7));
    assert_eq!(connector.reverse(&reversal).await, ConnectorOutcome::Unknown);
    assert!(east.is_idle() && west.is_idle());
}

#[tokio::test]
async fn a_payment_is_placed_at_a_system_that_is_connected() {
    let (east, mut west, connector) = start_two_systems(["", ""]).await;
    let paid = order(PaymentType::Preauthorization, amount("92.00", "EUR"));
    assert_eq!(connector.place_order(&paid, None).unwrap().system, "east");
    let stored = place("west", 9);
    assert_eq!(connector.place_order(&paid, Some(&stored)), Some(stored), "a system that can be reached");
    drop(east);
    wait_until_down(&connector, 0).await;
    assert_eq!(connector.place_order(&paid, Some(&place("east", 9))).unwrap().system, "west");
    let chosen = connector.place_order(&paid, None).unwrap();
    assert_eq!(chosen.system, "west");
    let task = spawn_placed(&connector, &id(1), chosen.clone());
    west.next().await.approve();
    assert_eq!(code(&outcome(task).await), "000.100.112");
    let mut earlier = Payment::draft(
        PaymentId::parse(&id(1)).unwrap(),
        tillgate_domain::id::EntityId::parse("8a0196f3a1b2c3d4e5f60718293a4b5c").unwrap(),
        Timestamp::UNIX_EPOCH,
        PaymentType::Preauthorization,
        "VISA",
        amount("92.00", "EUR"),
        codes::TEST_CONNECTOR,
    );
    assert_eq!(connector.place_follow_up(&earlier), None, "a payment from before places were stored");
    earlier.place = Some(chosen.clone());
    let follow_up = connector.place_follow_up(&earlier).unwrap();
    assert!(follow_up.system == "west" && follow_up.number != chosen.number);
}

#[tokio::test]
async fn a_line_for_live_entities_takes_no_test_payment() {
    let (mut east, mut west, connector) = start_two_systems(["entities = \"live\"", "entities = \"sandbox\""]).await;
    let live = Arc::new(connector.with_approval_code(codes::SUCCESS_LIVE));
    let paid = order(PaymentType::Preauthorization, amount("92.00", "EUR"));
    assert_eq!(connector.place_order(&paid, None).unwrap().system, "west");
    assert_eq!(live.place_order(&paid, None).unwrap().system, "east");
    // A stored place decides no more than the configuration permits.
    let wrong = connector.authorize(&OrderRequest { place: Some(&place("east", 7)), ..request(&id(1), &paid) }).await;
    assert_eq!(code(&wrong), "600.200.201");
    let mut reversal = reversal(&id(1), PaymentType::Preauthorization);
    reversal.earlier.place = Some(place("east", 7));
    assert_eq!(connector.reverse(&reversal).await, ConnectorOutcome::Unknown);
    assert!(east.is_idle() && west.is_idle());
    let task = spawn_placed(&live, &id(2), place("east", 8));
    east.next().await.approve();
    assert_eq!(code(&outcome(task).await), "000.000.000");
}

#[tokio::test]
async fn an_approval_that_arrives_too_late_is_reported_once() {
    let (mut host, connector) = start_single(DIALECT, "answer_timeout_ms = 300").await;
    let mut late = Vec::new();
    for number in 1..=3 {
        let task = spawn_payment(&connector, &id(number));
        late.push(host.next().await);
        assert_eq!(outcome(task).await, ConnectorOutcome::Unknown);
    }
    let [declined, part, approved] = late.try_into().ok().unwrap();
    declined.answer("51");
    part.send(&part.response("10").with_text(4, "000000005000"));
    approved.approve();
    approved.approve();
    assert_eq!(within(connector.next_late_approval()).await, id(2));
    assert_eq!(within(connector.next_late_approval()).await, id(3));
    // A caller that gives up at once leaves its request in flight.
    let task = spawn_payment(&connector, &id(4));
    let received = host.next().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    received.approve();
    assert_eq!(within(connector.next_late_approval()).await, id(4), "the second answer to the third is a duplicate");
    // Answers in time, at a connector that waits longer.
    let (mut host, connector) = start_single(DIALECT, "").await;
    let answered = spawn_payment(&connector, &id(5));
    let received = host.next().await;
    received.approve();
    assert_eq!(code(&outcome(answered).await), "000.100.112");
    received.approve();
    approve_payment(&mut host, &connector, &id(6)).await;
    let waiting = tokio::time::timeout(Duration::ZERO, connector.next_late_approval()).await;
    assert!(waiting.is_err(), "an answer in time is not late");
}
