//! Faults by amount, and planned ones.

use tillgate_connector::http::signature::{DATE, IDEMPOTENCY_KEY, SIGNATURE, SignedRequest, format_date};
use tillgate_connector::iso8583::{Datum, IsoRequestKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::IsoTestHost;

/// Plans a fault with the control route of the HTTP server.
async fn plan_fault(host: &IsoTestHost, operation: &str, fault: &str) {
    let body = format!(r#"{{"operation":"{operation}","fault":"{fault}","times":1}}"#);
    let date = format_date(jiff::Timestamp::now());
    let path = "/control/faults";
    let signed = SignedRequest { method: "POST", path, date: &date, idempotency_key: "k", body: body.as_bytes() };
    let signature = signed.sign(&host.key);
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{DATE}: {date}\r\n{IDEMPOTENCY_KEY}: k\r\n\
         {SIGNATURE}: {}\r\ncontent-length: {}\r\n\r\n{body}",
        signature.as_str(),
        body.len()
    );
    let mut stream = TcpStream::connect(host.host.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    assert!(response.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&response));
}

#[tokio::test]
async fn slow_and_late_responses_come_after_their_delay() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        for amount in [200_001, 200_005] {
            let request = client.request_of(IsoRequestKind::Debit, amount);
            let start = Instant::now();
            assert_eq!(client.exchange_code(&request).await, client.either("00", "000"));
            assert!(start.elapsed().as_millis() >= 150);
        }
    }
}

#[tokio::test]
async fn a_late_request_is_booked_although_its_client_has_gone() {
    let host = IsoTestHost::start().await;
    let mut client = host.connect(0).await;
    let request = client.request_of(IsoRequestKind::Debit, 200_005);
    client.send(&request).await;
    drop(client);
    let start = Instant::now();
    while host.entries().await.is_empty() {
        assert!(start.elapsed().as_secs() < 20, "it was not booked");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_silent_request_is_booked_and_its_connection_answers_others() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let request = client.request_of(IsoRequestKind::Debit, 200_002);
        client.send(&request).await;
        assert!(client.is_silent().await);
        assert!(host.entries().await.pop().unwrap().is_effective());
        assert_eq!(client.exchange_code(&client.request(IsoRequestKind::Echo)).await, client.either("00", "800"));
        assert_eq!(client.exchange_code(&client.reversal(&request)).await, client.either("00", "400"));
    }
}

#[tokio::test]
async fn a_cut_response_ends_within_its_frame_and_a_dropped_request_is_not_booked() {
    let host = IsoTestHost::start().await;
    for index in 0..3 {
        let before = host.entries().await.len();
        let mut client = host.connect(index).await;
        client.send(&client.request_of(IsoRequestKind::Debit, 200_003)).await;
        assert_eq!(client.receive_bytes().await, None);
        assert!(client.has_partial_frame());
        assert_eq!(host.entries().await.len(), before + 1);
        let mut client = host.connect(index).await;
        client.send(&client.request_of(IsoRequestKind::Debit, 200_007)).await;
        assert_eq!(client.receive_bytes().await, None);
        assert!(!client.has_partial_frame());
        assert_eq!(host.entries().await.len(), before + 1);
    }
}

#[tokio::test]
async fn a_response_comes_twice_or_is_garbage() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let request = client.request_of(IsoRequestKind::Debit, 200_004);
        let response = client.exchange(&request).await;
        assert_eq!(client.receive().await, response);
        client.send(&client.request_of(IsoRequestKind::Debit, 200_006)).await;
        let garbage = client.receive_bytes().await.unwrap();
        assert!(client.dialect.decode(&garbage).is_err());
        assert!(host.entries().await.pop().unwrap().is_effective());
        assert_eq!(client.exchange_code(&client.request(IsoRequestKind::Debit)).await, client.either("00", "000"));
    }
}

#[tokio::test]
async fn a_forged_response_has_a_wrong_mac_or_without_macs_a_wrong_reference() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let request = client.request_of(IsoRequestKind::Debit, 200_008);
        client.send(&request).await;
        let bytes = client.receive_bytes().await.unwrap();
        let forged = client.dialect.decode(&bytes).unwrap();
        let is_same_reference = client.get(&forged, Datum::Reference) == client.get(&request, Datum::Reference);
        match &client.key {
            Some(key) => assert!(client.dialect.decode_with_mac(&bytes, key).is_err() && is_same_reference),
            None => assert!(!is_same_reference),
        }
        assert!(host.entries().await.pop().unwrap().is_effective());
    }
}

#[tokio::test]
async fn a_mismatched_response_has_another_amount() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let response = client.exchange(&client.request_of(IsoRequestKind::Debit, 200_009)).await;
        assert_eq!(client.dialect.data().get_number(&response, Datum::Amount), Some(200_010));
    }
}

#[tokio::test]
async fn a_planned_fault_meets_a_reversal_once() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let debit = client.request_of(IsoRequestKind::Debit, 200_004);
        client.exchange(&debit).await;
        client.receive().await;
        plan_fault(&host, "reverse", "silent").await;
        let reversal = client.reversal(&debit);
        client.send(&reversal).await;
        assert!(client.is_silent().await);
        // The amount of the debit has no effect on the reversal.
        assert_eq!(client.exchange_code(&reversal).await, client.either("00", "400"));
        assert!(client.is_silent().await);
        plan_fault(&host, "authorize", "mismatched").await;
        let response = client.exchange(&client.request(IsoRequestKind::Authorize)).await;
        assert_eq!(client.dialect.data().get_number(&response, Datum::Amount), Some(9201));
    }
}
