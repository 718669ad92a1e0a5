//! Captures and refunds.

use tillgate_connector::iso8583::{Datum, IsoMessage, IsoRequestKind};
use tillgate_store::acquirer_host::entry::EntryKind;

use super::IsoTestHost;
use super::client::IsoClient;

/// Makes a capture or refund with a reference of its own, which names its original by the original data elements.
fn modification_by_elements(
    client: &IsoClient,
    kind: IsoRequestKind,
    original: &IsoMessage,
    amount: u64,
) -> IsoMessage {
    let data = client.dialect.data();
    let mut message = client.request_of(kind, amount);
    data.set_original(&mut message, &data.describe_original(original).unwrap()).unwrap();
    message
}

#[tokio::test]
async fn a_part_is_captured_and_a_part_of_it_refunded_in_each_dialect() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let approved = client.either("00", "000");
        let authorization = client.request(IsoRequestKind::Authorize);
        let response = client.exchange(&authorization).await;
        let code = client.get(&response, Datum::AuthorizationCode).unwrap();
        let mut capture = client.modification(IsoRequestKind::Capture, &authorization, 5000);
        client.set(&mut capture, Datum::AuthorizationCode, &code);
        let response = client.exchange(&capture).await;
        assert_eq!(client.code(&response), approved);
        assert_eq!(client.get(&response, Datum::AuthorizationCode), Some(code));
        let refund = client.modification(IsoRequestKind::Refund, &authorization, 1000);
        assert_eq!(client.exchange_code(&refund).await, approved);
        let mut entries = host.entries().await;
        let [authorized, captured, refunded] = entries.split_off(entries.len() - 3).try_into().unwrap();
        assert_eq!((authorized.used, captured.used, refunded.used), (5000, 1000, 0));
        assert_eq!((captured.entry.kind, captured.entry.original), (EntryKind::Capture, Some(authorized.number)));
        assert_eq!((refunded.entry.kind, refunded.entry.original), (EntryKind::Refund, Some(captured.number)));
    }
}

#[tokio::test]
async fn an_original_is_found_by_its_data_elements_although_the_reference_is_new() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let approved = client.either("00", "000");
        let authorization = client.request(IsoRequestKind::Authorize);
        client.exchange(&authorization).await;
        let capture = modification_by_elements(&client, IsoRequestKind::Capture, &authorization, 9200);
        assert_eq!(client.exchange_code(&capture).await, approved);
        let refund = modification_by_elements(&client, IsoRequestKind::Refund, &capture, 9200);
        assert_eq!(client.exchange_code(&refund).await, approved);
        let missing = client.request(IsoRequestKind::Debit);
        let refund = modification_by_elements(&client, IsoRequestKind::Refund, &missing, 9200);
        assert_eq!(client.exchange_code(&refund).await, client.either("25", "914"), "the debit was never sent");
        assert_eq!(host.entries().await.pop().unwrap().entry.kind, EntryKind::Refund);
    }
}

#[tokio::test]
async fn captures_never_exceed_the_authorization_and_refunds_never_exceed_the_amount_taken() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let (approved, too_much) = (client.either("00", "000"), client.either("13", "110"));
        let authorization = client.request(IsoRequestKind::Authorize);
        client.exchange(&authorization).await;
        for (kind, amount, code) in [
            (IsoRequestKind::Capture, 9201, too_much),
            (IsoRequestKind::Capture, 0, too_much),
            (IsoRequestKind::Capture, 9000, approved),
            (IsoRequestKind::Capture, 201, too_much),
            (IsoRequestKind::Capture, 200, approved),
            (IsoRequestKind::Refund, 9001, too_much),
            (IsoRequestKind::Refund, 200, approved),
            (IsoRequestKind::Refund, 8800, approved),
            // The first capture has no room, so the second one is refunded.
            (IsoRequestKind::Refund, 200, approved),
            (IsoRequestKind::Refund, 1, too_much),
        ] {
            let request = client.modification(kind, &authorization, amount);
            assert_eq!(client.exchange_code(&request).await, code, "{kind:?} {amount}");
        }
        let mut dollars = client.modification(IsoRequestKind::Capture, &authorization, 1);
        client.set(&mut dollars, Datum::Currency, "840");
        assert_eq!(client.exchange_code(&dollars).await, too_much);
        let debit = client.request(IsoRequestKind::Debit);
        client.exchange(&debit).await;
        let capture = client.modification(IsoRequestKind::Capture, &debit, 1);
        assert_eq!(client.exchange_code(&capture).await, client.either("12", "902"), "a debit is captured already");
    }
}

#[tokio::test]
async fn the_transactions_of_other_merchants_and_other_codes_are_not_found() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let debit = client.request(IsoRequestKind::Debit);
        client.exchange(&debit).await;
        let mut foreign = client.modification(IsoRequestKind::Refund, &debit, 100);
        client.set(&mut foreign, Datum::MerchantId, "shop-2");
        assert_eq!(client.exchange_code(&foreign).await, client.either("25", "914"));
        let mut foreign = modification_by_elements(&client, IsoRequestKind::Refund, &debit, 100);
        client.set(&mut foreign, Datum::MerchantId, "shop-2");
        assert_eq!(client.exchange_code(&foreign).await, client.either("25", "914"));
        let mut other = client.modification(IsoRequestKind::Refund, &debit, 100);
        client.set(&mut other, Datum::AuthorizationCode, "999999");
        assert_eq!(client.exchange_code(&other).await, client.either("25", "914"));
        let entries = host.entries().await;
        assert!(entries.iter().all(|entry| entry.used == 0), "{entries:?}");
    }
}

#[tokio::test]
async fn the_repeat_of_a_capture_advice_captures_once() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let authorization = client.request(IsoRequestKind::Authorize);
        client.exchange(&authorization).await;
        let capture = client.modification(IsoRequestKind::Capture, &authorization, 5000);
        let response = client.exchange(&capture).await;
        let text = format!("{}221", client.dialect.version().digit());
        let mut repeat = IsoMessage::new(tillgate_connector::iso8583::Mti::parse(&text).unwrap());
        for (number, value) in capture.fields() {
            repeat.set_field(number, value.clone());
        }
        assert_eq!(client.exchange(&repeat).await, response);
        let used: Vec<u64> = host.entries().await.iter().rev().take(2).map(|entry| entry.used).collect();
        assert_eq!(used, [0, 5000]);
    }
}
