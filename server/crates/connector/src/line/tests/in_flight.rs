//! Requests in flight, and the segments of answers.

use super::host::frame;
use super::*;

#[tokio::test]
async fn sixty_four_requests_in_flight_are_answered_in_reverse_order() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let requests: Vec<_> = (0..64).map(|number| test.spawn(&number.to_string())).collect();
    let mut keys = Vec::new();
    for _ in 0..64 {
        keys.push(peer.read_key("Q").await);
    }
    assert_eq!(test.line.read_state().in_flight, 64);
    let refused = send(&test.line, "65").await;
    assert_eq!(refused, Err(NotSentReason::QueueFull(64).into()));
    for key in keys.iter().rev() {
        peer.write(&format!("A:{key}:for {key}")).await;
    }
    for (number, request) in requests.into_iter().enumerate() {
        assert_eq!(within(request).await.unwrap(), Ok(format!("for {number}")));
    }
    let state = test.line.read_state();
    assert_eq!((state.sent, state.answered, state.late, state.failed, state.in_flight), (64, 64, 0, 0, 0));
    assert!(state.last_answer.is_some() && state.last_error.is_none());
}

#[tokio::test]
async fn an_answer_in_two_segments_and_two_answers_in_one_are_read() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let requests = [test.spawn("1"), test.spawn("2"), test.spawn("3")];
    for _ in 0..3 {
        peer.read().await;
    }
    let answer = frame("A:1:first");
    peer.write_bytes(&answer[..3]).await;
    // No event shows that the line has read a part. If it has not, the test checks less, and does not fail.
    tokio::time::sleep(ms(20)).await;
    peer.write_bytes(&answer[3..7]).await;
    tokio::time::sleep(ms(20)).await;
    peer.write_bytes(&answer[7..]).await;
    peer.write_bytes(&[frame("A:3:third"), frame("A:2:second")].concat()).await;
    let [first, second, third] = requests;
    assert_eq!(within(first).await.unwrap(), Ok("first".to_owned()));
    assert_eq!(within(second).await.unwrap(), Ok("second".to_owned()));
    assert_eq!(within(third).await.unwrap(), Ok("third".to_owned()));
}

#[tokio::test]
async fn a_slow_request_does_not_hold_up_others() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let slow = test.spawn("slow");
    assert_eq!(peer.read_key("Q").await, "slow");
    for number in 0..200 {
        let quick = test.spawn(&number.to_string());
        peer.answer_next("ok").await;
        assert_eq!(within(quick).await.unwrap(), Ok("ok".to_owned()));
    }
    peer.write("A:slow:at last").await;
    assert_eq!(within(slow).await.unwrap(), Ok("at last".to_owned()));
}

#[tokio::test]
async fn an_answer_larger_than_a_read_is_whole() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    let body = "x".repeat(500_000);
    peer.answer_next(&body).await;
    assert_eq!(within(request).await.unwrap(), Ok(body));
}

#[tokio::test]
async fn a_message_that_cannot_be_framed_is_not_sent() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let fault = test.line.send_request(key("1"), KeyUse::New, &vec![0; 2 << 20]).await.unwrap_err();
    assert_eq!(fault.to_string(), "the request was not sent: the message cannot be framed: the message is too long");
    let request = test.spawn("1");
    peer.answer_next("ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
}

#[tokio::test]
async fn messages_that_are_no_answers_disturb_nothing() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    for message in ["I", "unknown words", "", "unknown again"] {
        peer.write(message).await;
    }
    peer.answer_next("ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
}
