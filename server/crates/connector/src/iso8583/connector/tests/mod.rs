//! Tests of the connector against a scripted host in this process.

mod answers;
mod card_data;
mod chaos;
mod config;
mod follow_ups;
mod host;
mod lines;
mod network;
mod numbers;
mod orders;
mod places;
mod reversals;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::{ConnectorTxIds, PaymentType};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::security_code::SecurityCode;
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::result::codes;

use super::*;
use crate::line::{LinePhase, LineState};
use crate::{
    AvsAddress, CaptureTerms, CardSource, Connector as _, ConnectorOutcome, EarlierPayment, FullAccount, FullCard,
    Modification, Order, OrderContext, OrderRequest,
};
use host::{HostRequest, ScriptedHost};

/// Time after which a test counts as hanging.
const HANG_LIMIT: Duration = Duration::from_secs(60);
/// Card number of the tests.
const PAN: &str = "4111111111111111";
/// Keys of the MACs, by the name of the dialect.
const MAC_KEYS: [(&str, Option<&str>); 3] = [
    ("iso87-ascii-4a", None),
    ("iso87-bcd-tpdu-2b", Some("0123456789ABCDEFFEDCBA9876543210")),
    ("iso93-ebcdic-2b", Some("2B7E151628AED2A6ABF7158809CF4F3C")),
];

/// Waits for something that has to happen.
async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG_LIMIT, wait).await.expect("nothing happened")
}

/// Returns the key of a dialect's MACs.
fn mac_key(dialect: &str) -> Option<&'static str> {
    MAC_KEYS.iter().find(|(name, _)| *name == dialect).unwrap().1
}

/// Returns a configuration with a line to each host. `more` stands before the lines.
fn config_text(dialect: &str, more: &str, hosts: &[&ScriptedHost]) -> String {
    let mut text = format!("dialect = {dialect:?}\nacquirer = \"12345\"\nterminal = \"TILL0001\"\n{more}\n");
    for (place, host) in hosts.iter().enumerate() {
        text += &line_text(&format!("line-{place}"), place, host, "");
    }
    text
}

/// Returns a line of a configuration.
fn line_text(name: &str, priority: usize, host: &ScriptedHost, rules: &str) -> String {
    format!(
        "[[lines]]\nname = {name:?}\naddress = \"{}\"\npriority = {priority}\nsecurity = \"plain\"\n{rules}\n\
         limits = {{ first_backoff_ms = 5, max_backoff_ms = 20, max_in_flight = 64, circuit_failures = 100 }}\n",
        host.address()
    )
}

/// Returns a snapshot of each line.
fn read_states(connector: &Iso8583Connector) -> Vec<LineState> {
    connector.lines().map(|member| member.line.read_state()).collect()
}

/// Waits until a line is no longer connected.
async fn wait_until_down(connector: &Iso8583Connector, line: usize) {
    let line = &connector.lines().nth(line).unwrap().line;
    within(line.watch_phase().wait_for(|phase| *phase != LinePhase::Connected)).await.unwrap();
}

/// Starts a connector, and waits until all its lines are signed on.
async fn start(text: &str) -> Arc<Iso8583Connector> {
    let config = Iso8583Config::parse(text, None).unwrap();
    let key = mac_key(config.dialect().name());
    let connector = Iso8583Connector::start("acquirer", config, key, codes::TEST_CONNECTOR).unwrap();
    for member in connector.lines() {
        within(member.line.watch_phase().wait_for(|phase| *phase == LinePhase::Connected)).await.unwrap();
    }
    Arc::new(connector)
}

/// Starts a connector to one host.
async fn start_single(dialect: &str, more: &str) -> (ScriptedHost, Arc<Iso8583Connector>) {
    let host = ScriptedHost::listen(dialect).await;
    let connector = start(&config_text(dialect, more, &[&host])).await;
    (host, connector)
}

/// Returns the id of a payment that was created at a time.
fn payment_id(time: &str, number: u8) -> String {
    let time: Timestamp = time.parse().unwrap();
    PaymentId::new(time, [number; 9]).as_str().to_owned()
}

/// Returns the id of a payment of an ordinary day.
fn id(number: u8) -> String {
    payment_id("2026-11-23T10:20:30Z", number)
}

fn amount(text: &str, currency: &str) -> Amount {
    Amount::parse(text, Currency::parse(currency).unwrap()).unwrap()
}

/// Makes an order with a card.
fn order(payment_type: PaymentType, amount: Amount) -> Order {
    Order {
        payment_type,
        amount,
        brand: Brand::find("VISA").unwrap(),
        account: FullAccount::Card(FullCard {
            number: CardNumber::parse(PAN).unwrap(),
            expiry: Expiry::parse("05", "2034").unwrap(),
            holder: Some("Jane Jones".to_owned()),
            security_code: Some(SecurityCode::parse("987").unwrap()),
            cryptogram: None,
            source: CardSource::Keyed,
        }),
        address: AvsAddress { street: Some("Main Street 1".to_owned()), postcode: Some("0150".to_owned()) },
        mandate_signed: None,
        creditor_id: None,
        shopper_present: true,
        proof: None,
        accepts_partial_approval: false,
        accepts_any_number: false,
        forced_result_code: None,
        forced_advice_code: None,
        context: OrderContext::default(),
    }
}

/// Makes the request of an order.
fn request<'a>(reference: &'a str, order: &'a Order) -> OrderRequest<'a> {
    OrderRequest {
        reference,
        merchant_id: "shop-1",
        place: None,
        return_url: None,
        descriptor: "Kiln & Tide",
        now: "2026-11-23T10:20:30Z".parse().unwrap(),
        order,
    }
}

/// Makes a modification of a payment of 92.00 euro.
fn modification(reference: &str, original: &str, payment_type: PaymentType, ids: &ConnectorTxIds) -> Modification {
    let amount = amount("92.00", "EUR");
    Modification {
        reference: reference.to_owned(),
        original_reference: original.to_owned(),
        earlier: EarlierPayment {
            payment_type,
            brand: "VISA".to_owned(),
            bin: Some("411111".to_owned()),
            amount,
            merchant_country: None,
            place: None,
        },
        place: None,
        merchant_id: "shop-1".to_owned(),
        connector_tx_ids: ids.clone(),
        amount,
        descriptor: None,
        capture: CaptureTerms::default(),
        forced_result_code: None,
        is_repeated: false,
    }
}

/// Makes the reversal of a payment without an outcome, as the gateway makes it.
fn reversal(original: &str, payment_type: PaymentType) -> Modification {
    let reference = format!("{original}-reversal");
    Modification { is_repeated: true, ..modification(&reference, original, payment_type, &ConnectorTxIds::default()) }
}

/// Starts an authorization of a card in a task.
fn spawn_order(
    connector: &Arc<Iso8583Connector>,
    reference: &str,
    order: Order,
) -> tokio::task::JoinHandle<ConnectorOutcome> {
    let (connector, reference) = (Arc::clone(connector), reference.to_owned());
    tokio::spawn(async move { connector.authorize(&request(&reference, &order)).await })
}

/// Starts a preauthorization of 92.00 euro in a task.
fn spawn_payment(connector: &Arc<Iso8583Connector>, reference: &str) -> tokio::task::JoinHandle<ConnectorOutcome> {
    spawn_order(connector, reference, order(PaymentType::Preauthorization, amount("92.00", "EUR")))
}

/// Starts a reversal in a task.
fn spawn_reversal(
    connector: &Arc<Iso8583Connector>,
    modification: Modification,
) -> tokio::task::JoinHandle<ConnectorOutcome> {
    let connector = Arc::clone(connector);
    tokio::spawn(async move { connector.reverse(&modification).await })
}

async fn outcome(task: tokio::task::JoinHandle<ConnectorOutcome>) -> ConnectorOutcome {
    within(task).await.unwrap()
}

fn code(outcome: &ConnectorOutcome) -> &'static str {
    outcome.result().map_or("unknown", |result| result.code.code())
}

/// Returns the ids of a payment that the host has approved.
async fn approve_payment(
    host: &mut ScriptedHost,
    connector: &Arc<Iso8583Connector>,
    reference: &str,
) -> ConnectorTxIds {
    let task = spawn_payment(connector, reference);
    host.next().await.approve();
    let outcome = outcome(task).await;
    assert_eq!(code(&outcome), "000.100.112");
    outcome.result().unwrap().connector_tx_ids.clone()
}

/// Returns the original data elements in a reversal, capture or refund.
fn original_of(request: &HostRequest) -> String {
    let is_1993 = request.message.mti().version() == '1';
    request.text(if is_1993 { 56 } else { 90 })
}
