//! Authorizations, debits, credits and verifications.

use tillgate_connector::iso8583::{Datum, IsoRequestKind};
use tillgate_store::acquirer_host::entry::EntryKind;

use super::IsoTestHost;

#[tokio::test]
async fn each_payment_is_approved_and_booked_in_each_dialect() {
    let host = IsoTestHost::start().await;
    let mut expected = Vec::new();
    for mut client in host.connect_all().await {
        for (kind, entry, amount) in [
            (IsoRequestKind::Authorize, EntryKind::Authorization, 9200),
            (IsoRequestKind::Debit, EntryKind::Debit, 9200),
            (IsoRequestKind::Credit, EntryKind::Credit, 9200),
            (IsoRequestKind::Verify, EntryKind::Authorization, 0),
        ] {
            let mut request = client.request(kind);
            client.set(&mut request, Datum::SecurityCode, "123");
            client.set(&mut request, Datum::Address, "Kiln Lane 4");
            client.set(&mut request, Datum::Postcode, "12345");
            client.set(&mut request, Datum::Descriptor, "Kiln & Tide");
            client.set(&mut request, Datum::Instruction, "RECURRING/REPEATED/MIT/");
            client.set(&mut request, Datum::InitialTransactionId, "300000000000001");
            let response = client.exchange(&request).await;
            assert_eq!(client.code(&response), client.either("00", "000"), "{kind:?}");
            assert_eq!(client.get(&response, Datum::Amount), client.get(&request, Datum::Amount));
            assert_eq!(client.get(&response, Datum::AuthorizationCode).map(|code| code.len()), Some(6));
            assert!(client.get(&response, Datum::SchemeTransactionId).is_some());
            assert_eq!(client.get(&response, Datum::CvvResult).as_deref(), Some("M"));
            assert_eq!(client.get(&response, Datum::AvsResult).as_deref(), Some("F"));
            expected.push((entry, amount, client.get(&request, Datum::Reference).unwrap()));
        }
    }
    let entries = host.entries().await;
    let booked = entries.iter().map(|entry| (entry.entry.kind, entry.entry.amount, entry.entry.payment_id.clone()));
    assert_eq!(booked.collect::<Vec<_>>(), expected);
    for entry in entries {
        assert!(entry.is_effective() && entry.entry.merchant_id == "shop-1" && entry.entry.currency == "EUR");
        assert_eq!(entry.entry.account.as_deref(), Some("420000******0000"));
        assert_eq!(entry.entry.scheme_data.descriptor.as_deref(), Some("Kiln & Tide"));
        let instruction = entry.entry.scheme_data.standing_instruction.unwrap();
        let texts = [&instruction.kind, &instruction.mode, &instruction.source, &instruction.industry_practice];
        assert_eq!(texts.map(|text| text.as_deref()), [Some("RECURRING"), Some("REPEATED"), Some("MIT"), None]);
        assert_eq!(instruction.initial_transaction_id.as_deref(), Some("300000000000001"));
    }
}

#[tokio::test]
async fn the_currency_decides_about_the_decimals_of_an_amount() {
    let host = IsoTestHost::start().await;
    let mut client = host.connect(0).await;
    for (number, currency) in [("392", "JPY"), ("048", "BHD")] {
        let mut request = client.request_of(IsoRequestKind::Debit, 92);
        client.set(&mut request, Datum::Currency, number);
        assert_eq!(client.exchange_code(&request).await, "00");
        let entry = host.entries().await.pop().unwrap().entry;
        assert_eq!((entry.amount, entry.currency.as_str()), (92, currency));
    }
}

#[tokio::test]
async fn the_issuer_declines_with_the_codes_of_the_version() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let stolen = {
            let mut request = client.request(IsoRequestKind::Authorize);
            client.set(&mut request, Datum::Pan, "4200000000005561");
            request
        };
        assert_eq!(client.exchange_code(&stolen).await, client.either("43", "209"));
        let expired = {
            let mut request = client.request(IsoRequestKind::Authorize);
            client.set(&mut request, Datum::Expiry, "2001");
            request
        };
        assert_eq!(client.exchange_code(&expired).await, client.either("54", "101"));
        let unknown = {
            let mut request = client.request(IsoRequestKind::Authorize);
            client.set(&mut request, Datum::Pan, "4200000000005520");
            request
        };
        assert_eq!(client.exchange_code(&unknown).await, client.either("14", "111"));
        let request = client.request_of(IsoRequestKind::Debit, 100_051);
        let response = client.exchange(&request).await;
        assert_eq!(client.code(&response), client.either("51", "116"));
        assert_eq!(client.get(&response, Datum::AuthorizationCode), None);
        let late = client.request_of(IsoRequestKind::Debit, 100_068);
        assert_eq!(client.exchange_code(&late).await, client.either("68", "911"));
        assert!(host.entries().await.pop().unwrap().entry.approved, "the response does not show it");
    }
}

#[tokio::test]
async fn an_authenticated_cardholder_passes_a_soft_decline() {
    let host = IsoTestHost::start().await;
    let mut client = host.connect(0).await;
    for (eci, code) in [(None, "1A"), (Some("07"), "1A"), (Some("05"), "00"), (Some("06"), "00")] {
        let mut request = client.request(IsoRequestKind::Debit);
        client.set(&mut request, Datum::Pan, "4200000000000083");
        if let Some(eci) = eci {
            client.set(&mut request, Datum::Eci, eci);
        }
        assert_eq!(client.exchange_code(&request).await, code, "{eci:?}");
    }
}

#[tokio::test]
async fn a_part_is_approved_with_its_amount_whether_the_request_accepts_one_or_not() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        for accepts in ["0", "1"] {
            let mut request = client.request_of(IsoRequestKind::Debit, 100_010);
            client.set(&mut request, Datum::PartialApproval, accepts);
            let response = client.exchange(&request).await;
            assert_eq!(client.code(&response), client.either("10", "002"));
            assert_eq!(client.dialect.data().get_number(&response, Datum::Amount), Some(50_005));
            assert!(client.get(&response, Datum::AuthorizationCode).is_some());
            let entry = host.entries().await.pop().unwrap().entry;
            assert_eq!((entry.amount, entry.requested, entry.approved), (50_005, Some(100_010), true));
            // A reversed request keeps its response.
            assert_eq!(client.exchange_code(&client.reversal(&request)).await, client.either("00", "400"));
            assert_eq!(client.exchange(&request).await, response);
        }
        let request = client.request_of(IsoRequestKind::Debit, 100_010);
        client.exchange(&request).await;
        let mut reversal = client.reversal(&request);
        client.set(&mut reversal, Datum::Amount, "50005");
        assert_eq!(client.exchange_code(&reversal).await, client.either("00", "400"), "with the approved amount");
    }
}

#[tokio::test]
async fn a_repeat_gets_the_same_response_and_is_booked_once() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let before = host.entries().await.len();
        let request = client.request(IsoRequestKind::Debit);
        let response = client.exchange(&request).await;
        assert_eq!(client.exchange(&request).await, response);
        // Several at once, also on another connection with the same dialect.
        client.send(&request).await;
        client.send(&request).await;
        assert_eq!((client.receive().await, client.receive().await), (response.clone(), response));
        assert_eq!(host.entries().await.len(), before + 1);
        let mut other = request.clone();
        client.set(&mut other, Datum::Amount, "9300");
        assert_eq!(client.exchange_code(&other).await, client.either("94", "913"));
        assert_eq!(host.entries().await.len(), before + 1);
    }
}

#[tokio::test]
async fn a_request_that_lacks_a_datum_has_a_format_error_and_is_not_booked() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let time = client.either("7", "12").parse().unwrap();
        let data = [Datum::Pan, Datum::Expiry, Datum::Amount, Datum::Currency, Datum::MerchantId, Datum::Reference];
        let fields: Vec<u8> = data.iter().filter_map(|datum| client.dialect.data().field_of(*datum)).collect();
        for field in fields.into_iter().chain([time]) {
            let mut request = client.request(IsoRequestKind::Debit);
            request.remove_field(field);
            client.send(&request).await;
            let response = client.receive().await;
            assert_eq!(client.code(&response), client.either("30", "904"), "field {field}");
        }
        let unknown = client.request(IsoRequestKind::Debit).with_text(3, "310000");
        assert_eq!(client.exchange_code(&unknown).await, client.either("12", "902"));
    }
    assert_eq!(host.entries().await, []);
}
