//! Reversals.

use tillgate_connector::iso8583::{Datum, IsoMessage, IsoRequestKind};
use tillgate_store::acquirer_host::entry::EntryKind;

use super::IsoTestHost;
use super::client::IsoClient;

/// Makes the repeat of a reversal.
fn repeat_of(client: &IsoClient, reversal: &IsoMessage) -> IsoMessage {
    let mut repeat = IsoMessage::new(client.dialect.request(IsoRequestKind::ReverseRepeat).unwrap().mti);
    for (number, value) in reversal.fields() {
        repeat.set_field(number, value.clone());
    }
    repeat
}

#[tokio::test]
async fn a_reversal_and_its_repeat_reverse_once_with_the_same_response() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let before = host.entries().await.len();
        let debit = client.request(IsoRequestKind::Debit);
        client.exchange(&debit).await;
        let reversal = client.reversal(&debit);
        let response = client.exchange(&reversal).await;
        assert_eq!(client.code(&response), client.either("00", "400"));
        assert_eq!(client.get(&response, Datum::AuthorizationCode), None);
        assert_eq!(client.exchange(&repeat_of(&client, &reversal)).await, response);
        // A further reversal with its own trace number changes nothing.
        assert_eq!(client.exchange_code(&client.reversal(&debit)).await, client.either("00", "400"));
        let kinds: Vec<_> = host.entries().await.split_off(before).into_iter().map(|entry| entry.entry).collect();
        let kinds: Vec<_> = kinds.iter().map(|entry| (entry.kind, entry.reversed)).collect();
        let reversals = (EntryKind::Reversal, false);
        assert_eq!(kinds, [(EntryKind::Debit, true), reversals, reversals]);
    }
}

#[tokio::test]
async fn a_request_that_arrives_after_its_reversal_is_declined() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        for kind in [IsoRequestKind::Authorize, IsoRequestKind::Debit, IsoRequestKind::Credit] {
            let request = client.request(kind);
            let reversal = client.reversal(&request);
            assert_eq!(client.exchange_code(&reversal).await, client.either("00", "400"));
            let response = client.exchange(&request).await;
            assert_eq!(client.code(&response), client.either("21", "902"));
            assert_eq!(client.get(&response, Datum::AuthorizationCode), None);
            assert_eq!(client.exchange_code(&reversal).await, client.either("00", "400"));
            let entries = host.entries().await;
            let kinds: Vec<_> = entries.iter().rev().take(2).map(|entry| entry.entry.kind).collect();
            assert_eq!(kinds, [EntryKind::Reversal, EntryKind::Unseen]);
        }
    }
    assert!(!host.entries().await.iter().any(|entry| entry.is_effective() && entry.entry.kind != EntryKind::Reversal));
}

#[tokio::test]
async fn a_reversed_capture_or_refund_gives_its_amount_back() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let authorization = client.request(IsoRequestKind::Authorize);
        client.exchange(&authorization).await;
        let capture = client.modification(IsoRequestKind::Capture, &authorization, 9200);
        client.exchange(&capture).await;
        let refund = client.modification(IsoRequestKind::Refund, &authorization, 9200);
        client.exchange(&refund).await;
        // A code of "nothing is left to reverse" would be wrong here.
        let in_use = client.exchange_code(&client.reversal(&capture)).await;
        assert_eq!(in_use, client.either("12", "902"));
        assert!(!client.dialect.is_already_reversed(&in_use));
        for request in [refund, capture, authorization] {
            assert_eq!(client.exchange_code(&client.reversal(&request)).await, client.either("00", "400"));
        }
        assert!(host.entries().await.iter().all(|entry| entry.used == 0));
    }
}

#[tokio::test]
async fn an_increment_is_reversed_alone_unless_a_capture_takes_it_and_with_its_authorization() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let (approved, reversed) = (client.either("00", "000"), client.either("00", "400"));
        let authorization = client.request(IsoRequestKind::Authorize);
        let response = client.exchange(&authorization).await;
        let code = client.get(&response, Datum::AuthorizationCode).unwrap();
        let mut increments = Vec::new();
        for _ in 0..2 {
            let mut increment = client.modification(IsoRequestKind::Increment, &authorization, 800);
            client.set(&mut increment, Datum::AuthorizationCode, &code);
            assert_eq!(client.exchange_code(&increment).await, approved);
            increments.push(increment);
        }
        assert_eq!(client.exchange_code(&client.reversal(&increments[0])).await, reversed);
        let capture = client.modification(IsoRequestKind::Capture, &authorization, 10_000);
        assert_eq!(client.exchange_code(&capture).await, approved);
        assert_eq!(client.exchange_code(&client.reversal(&increments[1])).await, client.either("12", "902"));
        for request in [capture, authorization] {
            assert_eq!(client.exchange_code(&client.reversal(&request)).await, reversed);
        }
        assert!(
            host.entries()
                .await
                .iter()
                .all(|entry| { entry.entry.kind == EntryKind::Reversal || !entry.is_effective() })
        );
    }
}

#[tokio::test]
async fn a_reversal_with_other_data_than_its_original_is_declined() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let debit = client.request(IsoRequestKind::Debit);
        client.exchange(&debit).await;
        let mut amount = client.reversal(&debit);
        client.set(&mut amount, Datum::Amount, "9199");
        assert_eq!(client.exchange_code(&amount).await, client.either("13", "110"));
        let mut reference = client.reversal(&debit);
        client.set(&mut reference, Datum::Reference, "999999999999");
        assert_eq!(client.exchange_code(&reference).await, client.either("12", "902"));
        let mut acquirer = client.reversal(&debit);
        client.set(&mut acquirer, Datum::Acquirer, "654321");
        assert_eq!(client.exchange_code(&acquirer).await, client.either("30", "904"));
        let reversal = client.reversal(&debit);
        assert_eq!(client.exchange_code(&client.reversal(&reversal)).await, client.either("12", "902"));
        let nameless = client.modification(IsoRequestKind::Reverse, &debit, 9200);
        assert_eq!(client.exchange_code(&nameless).await, client.either("30", "904"));
        // For another merchant the request has not arrived, so the debit stays.
        let mut foreign = client.reversal(&debit);
        client.set(&mut foreign, Datum::MerchantId, "shop-2");
        assert_eq!(client.exchange_code(&foreign).await, client.either("00", "400"));
        let debits = host.entries().await;
        assert!(debits.iter().filter(|entry| entry.entry.kind == EntryKind::Debit).all(|entry| entry.is_effective()));
    }
}
