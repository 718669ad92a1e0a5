//! Connections: network messages, many requests in flight, and clients that break the rules.

use std::collections::HashMap;
use std::time::Duration;

use tillgate_connector::iso8583::{Datum, IsoRequestKind, write_frame};
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;

use super::client::IsoClient;
use super::{IsoServerOptions, IsoTestHost, host_options};
use crate::acquirer_host::{AcquirerHost, HostOptions};

/// Shortens the times of all listeners: an echo after 300 ms, with an answer within 300 ms.
fn with_short_times(options: HostOptions) -> HostOptions {
    let time = Duration::from_millis(300);
    let shorten = |options| IsoServerOptions { echo_after: time, echo_timeout: time, ..options };
    HostOptions { iso_servers: options.iso_servers.into_iter().map(shorten).collect(), ..options }
}

/// Checks that a client can still use the host.
async fn assert_served(client: &mut IsoClient) {
    let request = client.request(IsoRequestKind::Echo);
    assert_eq!(client.exchange_code(&request).await, client.either("00", "800"));
}

#[tokio::test]
async fn sign_on_echo_and_sign_off_are_accepted_in_each_dialect() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        for kind in [IsoRequestKind::SignOn, IsoRequestKind::Echo, IsoRequestKind::SignOff] {
            let request = client.request(kind);
            let response = client.exchange(&request).await;
            assert!(client.dialect.is_network_accepted(client.code(&response)));
            let field = if request.text(70).is_some() { 70 } else { 24 };
            assert_eq!(response.text(field), request.text(field));
        }
    }
}

#[tokio::test]
async fn an_idle_client_gets_an_echo_and_stays_connected_while_it_answers() {
    let host = IsoTestHost::start_with(with_short_times).await;
    for index in 0..3 {
        let mut client = host.connect(index).await;
        let mut last = None;
        for _ in 0..3 {
            let echo = client.receive().await;
            assert_eq!(echo.mti(), client.request(IsoRequestKind::Echo).mti());
            assert!(client.dialect.correlation_key(&echo).is_some());
            assert_ne!(client.get(&echo, Datum::TraceNumber), last);
            last = client.get(&echo, Datum::TraceNumber);
            let mut answer = tillgate_connector::iso8583::IsoMessage::new(echo.mti().response().unwrap());
            for (number, value) in echo.fields().filter(|(number, _)| ![64, 128].contains(number)) {
                answer.set_field(number, value.clone());
            }
            client.send(&answer.with_text(39, client.either("00", "800"))).await;
        }
        assert_served(&mut client).await;
    }
}

#[tokio::test]
async fn a_client_that_answers_no_echo_is_disconnected_although_it_sends_requests() {
    let host = IsoTestHost::start_with(with_short_times).await;
    let mut client = host.connect(0).await;
    let start = Instant::now();
    let echo = client.receive().await;
    client.send(&client.request(IsoRequestKind::Debit)).await;
    assert!(echo.mti().response().is_some() && client.receive().await.mti().is_response());
    assert_eq!(client.receive_bytes().await, None);
    assert!(start.elapsed() >= Duration::from_millis(600));
    // A half frame does not count as a message.
    let mut client = host.connect(0).await;
    client.stream.write_all(b"00").await.unwrap();
    client.receive().await;
    assert_eq!(client.receive_bytes().await, None);
}

#[tokio::test]
async fn sixty_four_requests_in_flight_are_answered_in_any_order() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let before = host.entries().await.len();
        // Every eighth one is slow, so that it is overtaken.
        let requests: Vec<_> = (0..64)
            .map(|index| client.request_of(IsoRequestKind::Debit, if index % 8 == 0 { 200_001 } else { 9200 }))
            .collect();
        let frames: Vec<u8> = requests.iter().flat_map(|request| client.frame(request)).collect();
        client.stream.write_all(&frames).await.unwrap();
        let mut awaited: HashMap<_, _> =
            requests.iter().map(|request| (client.get(request, Datum::Reference), request)).collect();
        let first = requests.first().and_then(|request| client.get(request, Datum::Reference));
        for index in 0..64 {
            let response = client.receive().await;
            let reference = client.get(&response, Datum::Reference);
            assert!(index > 0 || reference != first, "the slow request is overtaken");
            client.check_repeated(awaited.remove(&reference).unwrap(), &response);
            assert_eq!(client.code(&response), client.either("00", "000"));
        }
        assert_eq!(host.entries().await.len(), before + 64);
    }
}

#[tokio::test]
async fn more_requests_than_the_limit_wait_and_are_all_answered() {
    let host = IsoTestHost::start().await;
    let mut client = host.connect(0).await;
    let requests: Vec<_> = (0..600).map(|_| client.request(IsoRequestKind::Echo)).collect();
    let frames: Vec<u8> = requests.iter().flat_map(|request| client.frame(request)).collect();
    client.stream.write_all(&frames).await.unwrap();
    for _ in 0..600 {
        client.receive().await;
    }
}

#[tokio::test]
async fn garbage_and_half_frames_end_only_their_connection() {
    let host = IsoTestHost::start().await;
    for index in 0..3 {
        let mut other = host.connect(index).await;
        let frames = other.dialect.frames().clone();
        let debit = other.frame(&other.request(IsoRequestKind::Debit));
        let mut cut = other.dialect.encode(&other.request(IsoRequestKind::Debit)).unwrap();
        cut.pop();
        let cut = write_frame(&frames, &frames.frame_request(cut)).unwrap();
        let garbage = write_frame(&frames, &frames.frame_request(b"\xff\x00garbage".to_vec())).unwrap();
        for bytes in [b"GET / HTTP/1.1\r\n\r\n".repeat(8), vec![0xff; 9000], garbage, cut] {
            let mut client = host.connect(index).await;
            // The host may close before all bytes are written.
            let _ = client.stream.write_all(&bytes).await;
            let _ = client.stream.shutdown().await;
            assert_eq!(client.receive_bytes().await, None);
        }
        let mut half = host.connect(index).await;
        half.stream.write_all(&debit[..debit.len() / 2]).await.unwrap();
        half.stream.shutdown().await.unwrap();
        assert_eq!(half.receive_bytes().await, None);
        assert_served(&mut other).await;
    }
    assert_eq!(host.entries().await, []);
}

#[tokio::test]
async fn a_message_with_a_changed_byte_gets_an_answer_or_ends_its_connection() {
    let host = IsoTestHost::start().await;
    for index in 0..3 {
        let mut client = host.connect(index).await;
        let frames = client.dialect.frames().clone();
        let debit = client.request(IsoRequestKind::Debit);
        for message in [&client.reversal(&debit), &debit] {
            let encoded = client.dialect.encode(message).unwrap();
            // Another message type may be a response, which gets no answer.
            for position in 4..encoded.len() {
                let mut changed = encoded.clone();
                // Some bytes keep the message readable, others do not.
                changed[position] = if position % 2 == 0 { b'0' } else { 0xff };
                let frame = write_frame(&frames, &frames.frame_request(changed)).unwrap();
                client.stream.write_all(&frame).await.unwrap();
                if client.receive_bytes().await.is_none() {
                    client = host.connect(index).await;
                }
            }
        }
        assert_served(&mut client).await;
    }
}

#[tokio::test]
async fn a_frame_may_arrive_in_single_bytes() {
    let host = IsoTestHost::start().await;
    for mut client in host.connect_all().await {
        let request = client.request(IsoRequestKind::Debit);
        for byte in client.frame(&request) {
            client.stream.write_all(&[byte]).await.unwrap();
        }
        let response = client.receive().await;
        client.check_repeated(&request, &response);
    }
}

#[tokio::test]
async fn a_client_that_closes_its_side_still_gets_its_answers() {
    let host = IsoTestHost::start().await;
    let mut client = host.connect(0).await;
    client.send(&client.request_of(IsoRequestKind::Debit, 200_001)).await;
    client.stream.shutdown().await.unwrap();
    let response = client.receive().await;
    assert_eq!(client.code(&response), "00");
    assert_eq!(client.receive_bytes().await, None);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let host = IsoTestHost::start().await;
    let mut client = host.connect(0).await;
    let frames: Vec<u8> = (0..200).flat_map(|_| client.frame(&client.request(IsoRequestKind::Echo))).collect();
    // The buffers of both sides fill, and the host then waits for the time limit of a write.
    let writing = async { while client.stream.write_all(&frames).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(60), writing).await.unwrap();
    assert_served(&mut host.connect(0).await).await;
}

#[tokio::test]
async fn a_host_that_stops_answers_the_requests_in_flight() {
    let host = IsoTestHost::start().await;
    let mut client = host.connect(0).await;
    client.send(&client.request_of(IsoRequestKind::Debit, 200_001)).await;
    while host.entries().await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let IsoTestHost { host, folder: _folder, .. } = host;
    host.stop().await;
    let response = client.receive().await;
    assert_eq!(client.code(&response), "00");
    assert_eq!(client.receive_bytes().await, None);
}

#[tokio::test]
async fn a_dialect_without_its_key_or_with_a_useless_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let key = tillgate_connector::http::SharedKey::random().unwrap();
    for (index, reason) in [(0, "has no effect"), (1, "is needed")] {
        let mut options = host_options(folder.path(), &key);
        let mac_key = options.iso_servers[1].mac_key.clone();
        options.iso_servers[index].mac_key = if index == 0 { mac_key } else { None };
        let error = AcquirerHost::start(options).await.map(|_| ()).unwrap_err();
        assert!(format!("{error:#}").contains(reason), "{error:#}");
    }
}
