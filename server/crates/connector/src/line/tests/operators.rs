//! Lines that are taken out and put back.

use super::*;

#[tokio::test]
async fn a_line_that_is_taken_out_finishes_its_requests_and_signs_off() {
    let host = PeerHost::listen().await;
    let protocol = WordProtocol { has_sign_on: true, has_sign_off: true, ..WordProtocol::default() };
    let test = TestLine::start(plain_config(&host, patient()), protocol);
    let mut peer = host.accept().await;
    peer.answer_next("00").await;
    reach(&test.line, LinePhase::Connected).await;
    let requests = [test.spawn("1"), test.spawn("2")];
    peer.read().await;
    peer.read().await;
    let line = Arc::clone(&test.line);
    let taken_out = tokio::spawn(async move { line.take_out().await });
    reach(&test.line, LinePhase::Leaving).await;
    assert_eq!(send(&test.line, "3").await, Err(NotSentReason::TakenOut.into()));
    for number in ["2", "1"] {
        assert!(!taken_out.is_finished());
        peer.write(&format!("A:{number}:ok")).await;
    }
    for request in requests {
        assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    }
    assert!(peer.answer_next("00").await.starts_with("off-"));
    within(taken_out).await.unwrap();
    assert_eq!(test.line.read_state().phase, LinePhase::TakenOut);
    assert!(peer.read_to_end().await.is_empty());
    assert_eq!(send(&test.line, "4").await, Err(NotSentReason::TakenOut.into()));

    test.line.put_back();
    let mut peer = host.accept().await;
    assert!(peer.answer_next("00").await.starts_with("on-"));
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("5");
    peer.answer_next("ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
}

#[tokio::test]
async fn a_line_that_is_put_back_in_time_keeps_its_connection() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let first = test.spawn("1");
    peer.read().await;
    let line = Arc::clone(&test.line);
    let taken_out = tokio::spawn(async move { line.take_out().await });
    reach(&test.line, LinePhase::Leaving).await;
    test.line.put_back();
    reach(&test.line, LinePhase::Connected).await;
    within(taken_out).await.unwrap();
    let second = test.spawn("2");
    peer.answer_next("ok").await;
    peer.write("A:1:ok").await;
    assert_eq!(within(first).await.unwrap(), Ok("ok".to_owned()));
    assert_eq!(within(second).await.unwrap(), Ok("ok".to_owned()));
}

#[tokio::test]
async fn a_host_that_does_not_answer_a_sign_off_holds_nothing_up() {
    let host = PeerHost::listen().await;
    let protocol = WordProtocol { has_sign_off: true, ..WordProtocol::default() };
    let test = TestLine::start(plain_config(&host, LineLimits { echo_timeout: ms(50), ..patient() }), protocol);
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    within(test.line.take_out()).await;
    assert!(peer.read_key("C").await.starts_with("off-"));
    assert!(peer.read_to_end().await.is_empty());
}

#[tokio::test]
async fn a_line_that_waits_for_its_host_is_taken_out_and_put_back_at_once() {
    let host = PeerHost::listen().await;
    let day = Duration::from_secs(24 * 60 * 60);
    let test = TestLine::connect(&host, LineLimits { first_backoff: day, max_backoff: day, ..patient() });
    drop(host.accept().await);
    reach(&test.line, LinePhase::Waiting).await;
    within(test.line.take_out()).await;
    assert_eq!(test.line.read_state().phase, LinePhase::TakenOut);
    test.line.put_back();
    let _peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_lost_while_a_line_is_taken_out_and_put_back() {
    let host = PeerHost::listen().await;
    let protocol = WordProtocol { has_sign_on: true, has_sign_off: true, ..WordProtocol::default() };
    let test = TestLine::start(plain_config(&host, patient()), protocol);
    let host = tokio::spawn(async move { host.answer_all().await });
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let line = Arc::clone(&test.line);
            tokio::spawn(async move {
                let mut answered = 0;
                for number in 0.. {
                    match send(&line, &format!("{sender}-{number}")).await {
                        Ok(_) => answered += 1,
                        Err(SendFault::NotSent(NotSentReason::Stopped)) => return answered,
                        Err(SendFault::NotSent(_)) => tokio::time::sleep(ms(1)).await,
                        Err(fault) => panic!("{fault}"),
                    }
                }
                answered
            })
        })
        .collect();
    for _ in 0..20 {
        reach(&test.line, LinePhase::Connected).await;
        tokio::time::sleep(ms(5)).await;
        within(test.line.take_out()).await;
        test.line.put_back();
    }
    within(test.line.shut_down(HANG_LIMIT)).await;
    let mut answered = 0;
    for sender in senders {
        answered += within(sender).await.unwrap();
    }
    let state = test.line.read_state();
    assert_eq!((state.answered, state.sent, state.failed, state.late), (answered, answered, 0, 0));
    host.abort();
}
