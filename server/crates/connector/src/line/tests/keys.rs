//! Keys in use, and answers that no request waits for.

use super::*;

#[tokio::test]
async fn a_key_in_flight_or_used_a_short_while_ago_is_refused() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, LineLimits { key_keep_time: ms(300), ..patient() });
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let first = test.spawn("1");
    peer.read().await;
    assert_eq!(send(&test.line, "1").await, Err(NotSentReason::KeyInUse(key("1")).into()));
    peer.write("A:1:ok").await;
    assert_eq!(within(first).await.unwrap(), Ok("ok".to_owned()));
    assert!(is_not_sent(&send(&test.line, "1").await));
    within(async {
        while test.line.has_used_key(&key("1"), KeyUse::New) {
            tokio::time::sleep(ms(20)).await;
        }
    })
    .await;
    let again = test.spawn("1");
    peer.answer_next("again").await;
    assert_eq!(within(again).await.unwrap(), Ok("again".to_owned()));
}

#[tokio::test]
async fn a_time_out_is_unknown_and_its_late_answer_goes_to_the_sink_only() {
    let host = PeerHost::listen().await;
    let mut test =
        TestLine::connect(&host, LineLimits { answer_timeout: ms(100), write_timeout: ms(100), ..patient() });
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    assert_eq!(within(request).await.unwrap(), Err(UnknownReason::Timeout(100).into()));
    assert_eq!(send(&test.line, "1").await, Err(NotSentReason::KeyInUse(key("1")).into()));
    peer.write("A:1:late approval").await;
    let late = test.next_late().await;
    assert_eq!((late.key, late.reason), (key("1"), LateReason::GivenUp));
    assert_eq!(words::body(&late.message), "late approval");
    assert_eq!(&*late.line, "test/1");
    peer.write("A:1:once more").await;
    assert_eq!(test.next_late().await.reason, LateReason::Duplicate);
    assert_eq!(test.line.read_state().late, 2);
    assert_eq!(test.line.read_state().failed, 1);
}

#[tokio::test]
async fn a_duplicate_and_an_answer_to_nothing_go_to_the_sink() {
    let host = PeerHost::listen().await;
    let mut test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.answer_next("ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    peer.write("A:1:ok").await;
    assert_eq!(test.next_late().await.reason, LateReason::Duplicate);
    peer.write("A:never sent:ok").await;
    assert_eq!(test.next_late().await.reason, LateReason::Unmatched);
}

#[tokio::test]
async fn an_answer_from_before_a_new_connection_goes_to_the_sink() {
    let host = PeerHost::listen().await;
    let mut test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    drop(peer);
    assert!(is_unknown(&within(request).await.unwrap()));
    let mut peer = host.accept().await;
    peer.write("A:1:from before").await;
    let late = test.next_late().await;
    assert_eq!((late.reason, words::body(&late.message)), (LateReason::GivenUp, "from before".to_owned()));
    reach(&test.line, LinePhase::Connected).await;
    assert!(is_not_sent(&send(&test.line, "1").await));
}

#[tokio::test]
async fn the_answer_to_a_caller_that_has_gone_goes_to_the_sink() {
    let host = PeerHost::listen().await;
    let mut test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    request.abort();
    assert!(request.await.unwrap_err().is_cancelled());
    assert_eq!(test.line.read_state().in_flight, 1, "the host still works on it");
    peer.write("A:1:ok").await;
    assert_eq!(test.next_late().await.reason, LateReason::GivenUp);
    assert_eq!(test.line.read_state().in_flight, 0);
}

/// One thread, so that the caller cannot run between the arrival of its answer and its end.
#[tokio::test]
async fn an_answer_that_its_caller_has_not_read_goes_to_the_sink() {
    let host = PeerHost::listen().await;
    let mut test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let line = Arc::clone(&test.line);
    let mut request = Box::pin(line.send_request(key("1"), KeyUse::New, b"Q:1:"));
    assert!(futures_util::FutureExt::now_or_never(&mut request).is_none());
    peer.answer_next("ok").await;
    observe(&test.line, |state| state.answered == 1).await;
    drop(request);
    assert_eq!(test.next_late().await.reason, LateReason::GivenUp);
}

#[tokio::test]
async fn a_request_whose_caller_has_gone_before_its_turn_is_not_sent() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    // One thread: the task of the line cannot take the frame before the request is dropped.
    let mut request = Box::pin(test.line.send_request(key("1"), KeyUse::New, b"Q:1:"));
    assert!(futures_util::FutureExt::now_or_never(&mut request).is_none());
    drop(request);
    let other = test.spawn("2");
    assert_eq!(peer.answer_next("ok").await, "2");
    assert_eq!(within(other).await.unwrap(), Ok("ok".to_owned()));
    let state = test.line.read_state();
    assert_eq!((state.sent, state.in_flight), (1, 0));
}
