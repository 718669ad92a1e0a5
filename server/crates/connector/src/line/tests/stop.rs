//! Lines that are shut down or dropped.

use std::time::Instant;

use super::*;

#[tokio::test]
async fn a_shutdown_waits_for_answers() {
    let host = PeerHost::listen().await;
    let protocol = WordProtocol { has_sign_off: true, ..WordProtocol::default() };
    let test = TestLine::start(plain_config(&host, patient()), protocol);
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    let line = Arc::clone(&test.line);
    let shut_down = tokio::spawn(async move { line.shut_down(HANG_LIMIT).await });
    reach(&test.line, LinePhase::Leaving).await;
    assert_eq!(send(&test.line, "2").await, Err(NotSentReason::Stopped.into()));
    assert!(!shut_down.is_finished());
    peer.write("A:1:ok").await;
    assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    assert!(peer.answer_next("00").await.starts_with("off-"));
    within(shut_down).await.unwrap();
    assert_eq!(test.line.read_state().phase, LinePhase::Stopped);
    test.line.put_back();
    assert_eq!(send(&test.line, "3").await, Err(NotSentReason::Stopped.into()));
}

#[tokio::test]
async fn a_shutdown_ends_requests_as_unknown_after_its_limit() {
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    let start = Instant::now();
    within(test.line.shut_down(ms(50))).await;
    assert!(start.elapsed() >= ms(50));
    assert_eq!(within(request).await.unwrap(), Err(UnknownReason::Stopped.into()));
    assert_eq!(test.line.read_state().phase, LinePhase::Stopped);
    assert!(peer.read_to_end().await.is_empty());
}

/// A sink that blocks the task of the connection until its sender is dropped.
struct BlockingSink(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

impl LateAnswers for BlockingSink {
    fn take_late_answer(&self, _: LateAnswer) {
        let _ = self.0.lock().unwrap().recv();
    }
}

/// Two runtimes, because the blocked one may keep its timers from running.
#[test]
fn a_shutdown_does_not_wait_for_a_sink_that_blocks() {
    let of_line = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let of_caller = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (release, blocked) = std::sync::mpsc::channel();
    of_caller.block_on(async {
        let host = PeerHost::listen().await;
        let sink = Arc::new(BlockingSink(std::sync::Mutex::new(blocked)));
        let line = {
            let _runtime = of_line.enter();
            HostLine::start(plain_config(&host, patient()), Arc::new(WordProtocol::default()), sink).unwrap()
        };
        let line = Arc::new(line);
        let mut peer = host.accept().await;
        reach(&line, LinePhase::Connected).await;
        let caller = Arc::clone(&line);
        let request = tokio::spawn(async move { send(&caller, "1").await });
        peer.read().await;
        peer.write("A:never sent:ok").await;
        observe(&line, |state| state.late == 1).await;
        within(line.shut_down(ms(20))).await;
        assert_eq!(within(request).await.unwrap(), Err(UnknownReason::Stopped.into()));
        assert_eq!(send(&line, "2").await, Err(NotSentReason::Stopped.into()));
    });
    drop(release);
    of_line.shutdown_background();
}

#[tokio::test]
async fn a_line_without_a_connection_shuts_down_at_once() {
    let host = PeerHost::listen().await;
    let day = Duration::from_secs(24 * 60 * 60);
    let test = TestLine::connect(&host, LineLimits { first_backoff: day, max_backoff: day, ..patient() });
    drop(host.accept().await);
    reach(&test.line, LinePhase::Waiting).await;
    within(test.line.shut_down(Duration::from_secs(3600))).await;
    let out = TestLine::connect(&host, patient());
    within(out.line.take_out()).await;
    within(out.line.shut_down(Duration::from_secs(3600))).await;
    assert_eq!(out.line.read_state().phase, LinePhase::Stopped);
}

#[tokio::test]
async fn a_dropped_line_closes_its_connection_and_leaves_no_task_behind() {
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let host = PeerHost::listen().await;
    let test = TestLine::connect(&host, patient());
    let mut peer = host.accept().await;
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    request.abort();
    let _ = request.await;
    drop(test);
    assert!(peer.read_to_end().await.is_empty());
    within(async {
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() > before {
            tokio::time::sleep(ms(2)).await;
        }
    })
    .await;
}

#[test]
fn requests_end_with_the_runtime_of_their_line() {
    let of_line = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let of_caller = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    of_caller.block_on(async {
        let host = PeerHost::listen().await;
        let test = {
            let _runtime = of_line.enter();
            TestLine::connect(&host, patient())
        };
        let mut peer = host.accept().await;
        reach(&test.line, LinePhase::Connected).await;
        let request = test.spawn("1");
        peer.read().await;
        of_line.shutdown_background();
        assert_eq!(within(request).await.unwrap(), Err(UnknownReason::Stopped.into()));
        assert_eq!(send(&test.line, "2").await, Err(NotSentReason::Stopped.into()));
        within(test.line.shut_down(HANG_LIMIT)).await;
        within(test.line.take_out()).await;
    });
}

#[test]
fn a_line_needs_a_runtime_and_valid_limits() {
    let config = LineConfig {
        name: "test/1".to_owned(),
        address: LineAddress { host: "127.0.0.1".to_owned(), port: 1 },
        security: LineSecurity::Plain,
        limits: patient(),
    };
    let start = |config: LineConfig| {
        let (sink, _) = mpsc::unbounded_channel();
        HostLine::start(config, Arc::new(WordProtocol::default()), Arc::new(LateChannel(sink)))
    };
    assert!(matches!(start(config.clone()).unwrap_err(), LineConfigError::NoRuntime));
    let limits = LineLimits { max_in_flight: 0, ..patient() };
    assert!(matches!(start(LineConfig { limits, ..config }).unwrap_err(), LineConfigError::Number("max_in_flight")));
}
