//! Broken connections, and hosts that do not follow the rules.

use std::time::Instant;

use super::host::frame;
use super::*;

/// Size of a request that fills the buffers of a connection together with a few others.
const LARGE: usize = 1 << 20;

/// Sends large requests in tasks, more than the buffers of a connection can hold.
fn spawn_large(test: &TestLine, first: usize, count: usize) -> Vec<tokio::task::JoinHandle<Result<String, SendFault>>> {
    let requests = (first..first + count).map(|number| {
        let line = Arc::clone(&test.line);
        tokio::spawn(async move {
            let start = format!("Q:{number}:");
            let message = format!("{start}{}", "x".repeat(LARGE - start.len()));
            let answer = line.send_request(key(&number.to_string()), KeyUse::New, message.as_bytes()).await?;
            Ok(words::body(&answer))
        })
    });
    requests.collect()
}

/// Awaits all results, and returns the number of those that were not sent.
async fn count_not_sent(requests: Vec<tokio::task::JoinHandle<Result<String, SendFault>>>) -> u64 {
    let mut not_sent = 0;
    for request in requests {
        let result = within(request).await.unwrap();
        assert!(is_not_sent(&result) || is_unknown(&result), "{result:?}");
        not_sent += u64::from(is_not_sent(&result));
    }
    not_sent
}

#[tokio::test]
async fn a_broken_connection_ends_all_requests_at_once_and_tells_sent_from_not_sent() {
    let host = PeerHost::listen().await;
    let limits = LineLimits { answer_timeout: Duration::from_secs(600), ..patient() };
    let test = TestLine::connect(&host, LineLimits { write_timeout: Duration::from_secs(600), ..limits });
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let requests = spawn_large(&test, 0, 64);
    peer.read().await;
    observe(&test.line, |state| state.in_flight == 64 && state.sent >= 2).await;
    drop(peer);
    let not_sent = count_not_sent(requests).await;
    let state = test.line.read_state();
    assert!(not_sent > 0, "the buffers have taken 64 MB");
    assert_eq!((state.sent + not_sent, state.failed), (64, state.sent));
    assert_eq!(state.in_flight, 0);
}

#[tokio::test]
async fn what_was_not_sent_can_use_its_key_again_and_what_is_unknown_cannot() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let requests = spawn_large(&test, 0, 64);
    peer.read().await;
    observe(&test.line, |state| state.in_flight == 64).await;
    drop(peer);
    for (number, request) in requests.into_iter().enumerate() {
        let result = within(request).await.unwrap();
        assert_eq!(
            is_unknown(&result),
            test.line.has_used_key(&key(&number.to_string()), KeyUse::New),
            "{number}: {result:?}"
        );
    }
}

#[tokio::test]
async fn a_host_that_does_not_read_loses_its_connection_and_not_the_gateway() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, LineLimits { write_timeout: ms(200), ..patient() });
    let peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    // On a busy machine, the limit can pass before the buffers are full. The connection is healthy until then.
    let mut first = 0;
    while test.line.read_state().last_error.is_none() {
        count_not_sent(spawn_large(&test, first, 64)).await;
        first += 64;
    }
    let error = test.line.read_state().last_error.unwrap();
    assert_eq!(error, "the host has accepted no byte within 200 ms");
    let mut next = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("after");
    next.answer_next("ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    drop(peer);
}

#[tokio::test]
async fn a_host_that_asks_and_never_reads_loses_its_connection() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, LineLimits { write_timeout: Duration::from_secs(30), ..patient() });
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let questions = frame(&format!("P:{}:", "x".repeat(100_000)));
    let ask = async {
        loop {
            if tokio::io::AsyncWriteExt::write_all(&mut peer.stream, &questions).await.is_err() {
                return;
            }
        }
    };
    within(ask).await;
    let error = test.line.read_state().last_error.unwrap();
    assert_eq!(error, "the host sends requests, but does not read the replies");
    host.accept().await;
}

#[tokio::test]
async fn garbage_ends_the_connection_after_the_answers_before_it() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let (answered, lost) = (test.spawn("1"), test.spawn("2"));
    peer.read().await;
    peer.read().await;
    peer.write_bytes(&[frame("A:1:ok"), b"\xff\xff\xff\xffHTTP/1.1 400 Bad Request".to_vec()].concat()).await;
    assert_eq!(within(answered).await.unwrap(), Ok("ok".to_owned()));
    let reason = "a frame has 4294967295 bytes".to_owned();
    assert_eq!(within(lost).await.unwrap(), Err(UnknownReason::ConnectionEnded(reason).into()));
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("3");
    peer.answer_next("ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
}

#[tokio::test]
async fn answers_behind_a_fault_in_the_same_segment_are_used() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    // More questions than replies can wait.
    peer.write_bytes(&[frame("P:1:").repeat(100), frame("A:1:ok")].concat()).await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    observe(&test.line, |state| state.last_error.is_some()).await;
    host.accept().await;
}

#[tokio::test]
async fn a_panic_of_the_protocol_ends_the_connection_and_not_the_line() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    peer.write("PANIC").await;
    assert!(is_unknown(&within(request).await.unwrap()));
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("2");
    peer.answer_next("ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
}

#[tokio::test]
async fn answers_that_arrive_with_the_end_of_a_connection_are_read() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let requests: Vec<_> = (0..10).map(|number| test.spawn(&number.to_string())).collect();
    for _ in 0..10 {
        peer.read().await;
    }
    peer.write_bytes(&(0..10).flat_map(|number| frame(&format!("A:{number}:ok"))).collect::<Vec<_>>()).await;
    drop(peer);
    for request in requests {
        assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    }
}

#[tokio::test]
async fn a_line_without_a_host_sends_nothing_and_says_why() {
    let host = PeerHost::listen().await;
    let config = plain_config(&host, patient());
    drop(host);
    let test = TestLine::start(config, WordProtocol::default());
    observe(&test.line, |state| state.last_error.is_some()).await;
    assert_eq!(send(&test.line, "1").await, Err(NotSentReason::NotConnected.into()));
    let error = test.line.read_state().last_error.unwrap();
    assert!(error.starts_with("connecting to 127.0.0.1:"), "{error}");
}

#[tokio::test]
async fn a_host_name_without_an_address_is_named_in_the_error() {
    let host = PeerHost::listen().await;
    let mut config = plain_config(&host, patient());
    config.address.host = "no-such-host.invalid".to_owned();
    let test = TestLine::start(config, WordProtocol::default());
    observe(&test.line, |state| state.last_error.is_some()).await;
    let error = test.line.read_state().last_error.unwrap();
    assert!(error.contains("no-such-host.invalid"), "{error}");
}

/// Returns the time from the end of a connection to the next one.
async fn measure_wait(host: &PeerHost) -> Duration {
    let start = Instant::now();
    drop(host.accept().await);
    start.elapsed()
}

#[tokio::test]
async fn the_wait_grows_with_each_fault_and_is_short_again_after_an_answer() {
    let host = PeerHost::listen().await;
    let limits = LineLimits { first_backoff: ms(20), max_backoff: Duration::from_secs(60), ..patient() };
    let test = TestLine::connect(&host, limits);
    drop(host.accept().await);
    // Each wait is at least a half of 20, 40, 80, 160, 320 ms.
    for shortest in [10, 20, 40, 80, 160] {
        let waited = measure_wait(&host).await;
        assert!(waited >= ms(shortest) - ms(5), "{waited:?} is less than {shortest} ms");
    }
    let mut peer = host.accept().await;
    let mut shortest = Duration::MAX;
    // Several rounds, because a busy machine may be slow in one of them.
    for round in 0..5 {
        reach(&test.line, LinePhase::Connected).await;
        let request = test.spawn(&round.to_string());
        peer.answer_next("ok").await;
        assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
        drop(peer);
        let start = Instant::now();
        peer = host.accept().await;
        shortest = shortest.min(start.elapsed());
    }
    assert!(shortest < ms(640), "{shortest:?}: without a reset, each of the waits is longer");
}
