//! The connector of the gateway against this host.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use tillgate_connector::http::{Deadlines, HostAddress, HostClient, HttpConnector, SharedKey};
use tillgate_connector::{
    AvsAddress, Capabilities, CaptureTerms, CardSource, Connector as _, ConnectorOutcome, EarlierPayment, FullAccount,
    FullCard, Inquiry, Modification, Order, OrderContext, OrderRequest,
};
use tillgate_domain::payment::{ConnectorTxIds, PaymentType};
use tillgate_os::clock::SystemClock;
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::result::codes;

use super::{AcquirerHost, HostOptions};

fn parse_euros(text: &str) -> Amount {
    Amount::parse(text, Currency::parse("EUR").unwrap()).unwrap()
}

/// Makes an order for a good Visa card, with the amount in euro.
fn card_order(payment_type: PaymentType, amount: &str) -> Order {
    Order {
        payment_type,
        amount: parse_euros(amount),
        brand: Brand::find("VISA").unwrap(),
        account: FullAccount::Card(FullCard {
            number: CardNumber::parse("4200000000000000").unwrap(),
            expiry: Expiry::parse("05", "2034").unwrap(),
            holder: None,
            security_code: None,
            cryptogram: None,
            source: CardSource::Keyed,
        }),
        address: AvsAddress::default(),
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

/// Makes the request of an order, without a page to return to.
fn order_request<'a>(reference: &'a str, order: &'a Order) -> OrderRequest<'a> {
    let merchant_id = "shop-1";
    let return_url = None;
    OrderRequest {
        reference,
        merchant_id,
        return_url,
        place: None,
        descriptor: "Kiln & Tide",
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
        order,
    }
}

/// Makes a modification of the payment `original_reference`, sent for the first time.
fn modification_of(reference: &str, original_reference: &str, ids: &ConnectorTxIds, amount: &str) -> Modification {
    Modification {
        reference: reference.to_owned(),
        original_reference: original_reference.to_owned(),
        earlier: EarlierPayment {
            payment_type: PaymentType::Debit,
            brand: "VISA".to_owned(),
            bin: None,
            amount: parse_euros(amount),
            merchant_country: None,
            place: None,
        },
        place: None,
        merchant_id: "shop-1".to_owned(),
        connector_tx_ids: ids.clone(),
        amount: parse_euros(amount),
        descriptor: None,
        capture: CaptureTerms::default(),
        forced_result_code: None,
        is_repeated: false,
    }
}

/// Makes an inquiry about a debit, with the amount in euro.
fn inquiry_about(reference: &str, amount: &str) -> Inquiry {
    let (merchant_id, payment_type) = ("shop-1".to_owned(), PaymentType::Debit);
    Inquiry { reference: reference.to_owned(), merchant_id, payment_type, amount: parse_euros(amount) }
}

fn result_code(outcome: &ConnectorOutcome) -> &'static str {
    outcome.result().map_or("unknown", |result| result.code.code())
}

fn inquiry_code(outcome: Option<&ConnectorOutcome>) -> &'static str {
    outcome.map_or("not found", result_code)
}

/// Starts a host in a folder, and creates a connector to it.
async fn start_host(folder: &std::path::Path) -> (AcquirerHost, HttpConnector) {
    let key = SharedKey::random().unwrap();
    let host = AcquirerHost::start(HostOptions::on_loopback(folder.join("host"), key.clone())).await.unwrap();
    let address = HostAddress::parse(&format!("http://{}", host.address())).unwrap();
    let client = HostClient::new(address, key, Deadlines::default(), Arc::new(SystemClock)).unwrap();
    (host, HttpConnector::new("acquirer-host", client, Capabilities::without_limits(true), codes::TEST_CONNECTOR))
}

#[tokio::test]
async fn a_payment_is_authorised_captured_refunded_and_reversed_at_a_host() {
    let folder = tempfile::tempdir().unwrap();
    let (_host, connector) = start_host(folder.path()).await;
    let no_ids = ConnectorTxIds::default();
    let order = card_order(PaymentType::Preauthorization, "92.00");
    let authorized = connector.authorize(&order_request("p1", &order)).await;
    assert_eq!(result_code(&authorized), "000.100.112");
    let ids = &authorized.result().unwrap().connector_tx_ids;
    assert!((0..3).all(|place| ids.get(place).is_some()), "{ids:?}");
    let captured = connector.capture(&modification_of("c1", "p1", ids, "90.00")).await;
    assert_eq!(result_code(&captured), "000.100.112");
    assert_eq!(result_code(&connector.capture(&modification_of("c2", "p1", ids, "2.01")).await), "800.100.174");
    let captured = &captured.result().unwrap().connector_tx_ids;
    assert_eq!(result_code(&connector.refund(&modification_of("r1", "c1", captured, "1.00")).await), "000.100.112");
    assert_eq!(result_code(&connector.reverse(&modification_of("v1", "p1", ids, "92.00")).await), "800.100.191");
    assert_eq!(result_code(&connector.reverse(&modification_of("v2", "r1", &no_ids, "1.00")).await), "000.100.112");
    assert_eq!(result_code(&connector.verify(&order_request("g1", &order)).await), "000.100.112");
    assert_eq!(inquiry_code(connector.inquire(&inquiry_about("p1", "92.00")).await.as_ref()), "000.100.112");
    assert_eq!(
        inquiry_code(connector.inquire(&inquiry_about("p1", "91.00")).await.as_ref()),
        "not found",
        "it is another amount"
    );
    let other = Modification { merchant_id: "shop-2".to_owned(), ..modification_of("r2", "c1", captured, "1.00") };
    assert_eq!(result_code(&connector.refund(&other).await), "800.100.167", "it is another merchant's");
}

#[tokio::test]
async fn what_is_given_up_before_it_arrives_is_declined_when_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let (_host, connector) = start_host(folder.path()).await;
    let no_ids = ConnectorTxIds::default();
    assert_eq!(connector.inquire(&inquiry_about("p1", "92.00")).await, None);
    assert_eq!(
        result_code(&connector.reverse(&modification_of("p1-reversal", "p1", &no_ids, "92.00")).await),
        "000.100.112"
    );
    assert_eq!(inquiry_code(connector.inquire(&inquiry_about("p1", "92.00")).await.as_ref()), "900.100.600");
    let order = card_order(PaymentType::Debit, "92.00");
    assert_eq!(result_code(&connector.authorize(&order_request("p1", &order)).await), "800.100.191");
}

#[tokio::test]
async fn a_host_that_is_gone_declines_a_payment_and_leaves_an_inquiry_open() {
    let folder = tempfile::tempdir().unwrap();
    let (host, connector) = start_host(folder.path()).await;
    host.stop().await;
    let order = card_order(PaymentType::Debit, "92.00");
    assert_eq!(result_code(&connector.authorize(&order_request("p1", &order)).await), "900.100.600");
    assert_eq!(inquiry_code(connector.inquire(&inquiry_about("p1", "92.00")).await.as_ref()), "unknown");
}
