//! The circuit breaker of a connected line.

use super::*;

fn with_circuit() -> LineLimits {
    LineLimits {
        answer_timeout: ms(60),
        write_timeout: ms(60),
        circuit_failures: 2,
        circuit_open_time: ms(150),
        ..patient()
    }
}

/// Sends requests until one is allowed as the probe, and returns its task.
async fn spawn_probe(test: &TestLine, peer: &mut host::HostConnection, name: &str) -> ProbeTask {
    for attempt in 0.. {
        let probe = test.spawn(&format!("{name}-{attempt}"));
        tokio::select! {
            message = peer.try_read() => return (probe, host::parse(&message.unwrap()).1),
            () = tokio::time::sleep(ms(20)) => {}
        }
        if !probe.is_finished() {
            return (probe, peer.read_key("Q").await);
        }
        assert_eq!(probe.await.unwrap(), Err(NotSentReason::CircuitOpen.into()));
    }
    unreachable!()
}

type ProbeTask = (tokio::task::JoinHandle<Result<String, SendFault>>, String);

#[tokio::test]
async fn requests_without_answers_open_the_circuit_and_an_answered_probe_closes_it() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, with_circuit());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    for number in ["1", "2"] {
        assert!(is_unknown(&send(&test.line, number).await));
        peer.read().await;
    }
    assert_eq!(test.line.read_state().phase, LinePhase::CircuitOpen);
    assert_eq!(send(&test.line, "3").await, Err(NotSentReason::CircuitOpen.into()));

    let (probe, _) = within(spawn_probe(&test, &mut peer, "silent")).await;
    assert_eq!(send(&test.line, "during the probe").await, Err(NotSentReason::CircuitOpen.into()));
    assert!(is_unknown(&within(probe).await.unwrap()));
    assert_eq!(send(&test.line, "after the probe").await, Err(NotSentReason::CircuitOpen.into()));

    // The answer can come too late on a busy machine; the next probe decides then.
    within(async {
        for round in 0.. {
            let (probe, key) = spawn_probe(&test, &mut peer, &format!("answered-{round}")).await;
            peer.write(&format!("A:{key}:ok")).await;
            if probe.await.unwrap() == Ok("ok".to_owned()) {
                return;
            }
        }
    })
    .await;
    assert_eq!(test.line.read_state().phase, LinePhase::Connected);
}

#[tokio::test]
async fn connections_that_break_under_requests_open_the_circuit() {
    let host = PeerHost::listen().await;
    let limits = LineLimits { circuit_failures: 2, circuit_open_time: Duration::from_secs(600), ..patient() };
    let test = TestLine::connect(&host, limits);
    for round in 0..2 {
        let mut peer = host.accept().await;
        reach(&test.line, LinePhase::Connected).await;
        let requests: Vec<_> = (0..5).map(|number| test.spawn(&format!("{round}-{number}"))).collect();
        for _ in 0..5 {
            peer.read().await;
        }
        drop(peer);
        for request in requests {
            assert!(is_unknown(&within(request).await.unwrap()));
        }
    }
    let _peer = host.accept().await;
    reach(&test.line, LinePhase::CircuitOpen).await;
    assert_eq!(send(&test.line, "next").await, Err(NotSentReason::CircuitOpen.into()));
}
