//! Sign-on, echo and the host's own requests.

use std::time::Instant;

use super::*;

fn with_sign_on(host: &PeerHost, limits: LineLimits) -> TestLine {
    TestLine::start(plain_config(host, limits), WordProtocol { has_sign_on: true, ..WordProtocol::default() })
}

#[tokio::test]
async fn a_line_signs_on_before_the_first_request() {
    let host = PeerHost::listen().await;
    let test = with_sign_on(&host, patient());
    assert_eq!(send(&test.line, "early").await, Err(NotSentReason::NotConnected.into()));
    let mut peer = host.accept().await;
    let sign_on = peer.read_key("C").await;
    assert!(sign_on.starts_with("on-"));
    assert_eq!(test.line.read_state().phase, LinePhase::SigningOn);
    assert_eq!(send(&test.line, "early").await, Err(NotSentReason::NotConnected.into()));
    // The host may ask while it decides.
    peer.write("P:7:").await;
    assert_eq!(peer.read().await, "R:7:");
    peer.write(&format!("A:{sign_on}:00")).await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    assert_eq!(peer.answer_next("ok").await, "1");
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
}

#[tokio::test]
async fn a_refused_sign_on_ends_the_connection_and_is_repeated_later() {
    let host = PeerHost::listen().await;
    let test = with_sign_on(&host, patient());
    let mut peer = host.accept().await;
    peer.answer_next("58").await;
    assert!(peer.read_to_end().await.is_empty());
    let error = test.line.read_state().last_error.unwrap();
    assert_eq!(error, "the host has refused the sign-on: response code 58");
    let mut peer = host.accept().await;
    peer.answer_next("00").await;
    reach(&test.line, LinePhase::Connected).await;
}

#[tokio::test]
async fn a_sign_on_without_an_answer_ends_the_connection() {
    let host = PeerHost::listen().await;
    let test = with_sign_on(&host, LineLimits { answer_timeout: ms(50), write_timeout: ms(50), ..patient() });
    let mut peer = host.accept().await;
    assert_eq!(peer.read_to_end().await.len(), 1);
    assert_eq!(test.line.read_state().last_error.unwrap(), "no answer to the sign-on within 50 ms");
    host.accept().await;
}

#[tokio::test]
async fn the_echo_of_the_host_is_answered_while_requests_are_in_flight() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let requests: Vec<_> = (0..10).map(|number| test.spawn(&number.to_string())).collect();
    for _ in 0..10 {
        peer.read().await;
    }
    for echo in 0..100 {
        peer.write(&format!("P:{echo}:")).await;
        assert_eq!(peer.read().await, format!("R:{echo}:"));
    }
    for number in 0..10 {
        peer.write(&format!("A:{number}:ok")).await;
    }
    for request in requests {
        assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    }
}

#[tokio::test]
async fn an_idle_line_sends_echoes_and_survives() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, LineLimits { echo_interval: ms(30), ..patient() });
    let mut peer = host.accept().await;
    for _ in 0..5 {
        assert!(peer.answer_next("00").await.starts_with("echo-"));
    }
    let request = test.spawn("1");
    loop {
        if peer.answer_next("00").await == "1" {
            break;
        }
    }
    assert_eq!(within(request).await.unwrap(), Ok("00".to_owned()));
    assert_eq!(test.line.read_state().last_error, None);
}

#[tokio::test]
async fn an_idle_connection_is_not_ended_before_its_echo_is_due() {
    let host = PeerHost::listen().await;
    let limits = LineLimits { answer_timeout: ms(20), write_timeout: ms(20), echo_interval: ms(400), ..patient() };
    let test = TestLine::connect(&host, limits);
    let start = Instant::now();
    let mut peer = host.accept().await;
    assert!(peer.read_key("C").await.starts_with("echo-"));
    assert!(start.elapsed() >= ms(400));
    assert_eq!(test.line.read_state().phase, LinePhase::Connected);
}

#[tokio::test]
async fn a_missing_answer_to_an_echo_ends_the_connection() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, LineLimits { echo_interval: ms(100), echo_timeout: ms(50), ..patient() });
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    let messages = peer.read_to_end().await;
    assert!(messages.iter().any(|message| message.starts_with("C:echo-")), "{messages:?}");
    assert!(is_unknown(&within(request).await.unwrap()) || !messages.iter().any(|message| message == "Q:1:"));
    observe(&test.line, |state| state.last_error.as_deref() == Some("no answer to the echo within 50 ms")).await;
    host.accept().await;
}

#[tokio::test]
async fn bytes_that_never_become_a_message_do_not_replace_the_answer_to_an_echo() {
    let host = PeerHost::listen().await;
    let _test = TestLine::connect(&host, LineLimits { echo_interval: ms(50), echo_timeout: ms(200), ..patient() });
    let mut peer = host.accept().await;
    peer.read_key("C").await;
    peer.write_bytes(&1000_u32.to_be_bytes()).await;
    let (mut half, mut rest) = tokio::io::split(peer.stream);
    let dribble = async {
        while tokio::io::AsyncWriteExt::write_all(&mut rest, b"x").await.is_ok() {
            tokio::time::sleep(ms(10)).await;
        }
    };
    let ended = async { tokio::io::AsyncReadExt::read_u32(&mut half).await.is_err() };
    within(async {
        tokio::select! {
            () = dribble => {}
            is_ended = ended => assert!(is_ended),
        }
    })
    .await;
}

#[tokio::test]
async fn a_refused_echo_ends_the_connection() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, LineLimits { echo_interval: ms(30), ..patient() });
    let mut peer = host.accept().await;
    peer.answer_next("91").await;
    observe(&test.line, |state| state.last_error.is_some()).await;
    assert_eq!(test.line.read_state().last_error.unwrap(), "the host has refused the echo: response code 91");
    host.accept().await;
}
