//! Groups of lines.

use super::*;

/// A line of a group with its host.
struct Member {
    host: PeerHost,
    test: TestLine,
    priority: u8,
}

impl Member {
    async fn start(priority: u8, name: &str, limits: LineLimits) -> Self {
        let host = PeerHost::listen().await;
        let config = LineConfig { name: name.to_owned(), ..plain_config(&host, limits) };
        Self { test: TestLine::start(config, WordProtocol::default()), host, priority }
    }

    async fn connect(&self) -> host::HostConnection {
        let peer = self.host.accept().await;
        reach(&self.test.line, LinePhase::Connected).await;
        peer
    }
}

fn group(members: &[&Member]) -> Arc<LineGroup> {
    let lines = members
        .iter()
        .map(|member| GroupLine { priority: member.priority, line: Arc::clone(&member.test.line) })
        .collect();
    Arc::new(LineGroup::new(lines))
}

type GroupTask = tokio::task::JoinHandle<Result<GroupAnswer, GroupFault>>;

fn spawn(group: &Arc<LineGroup>, name: &str) -> GroupTask {
    let (group, name) = (Arc::clone(group), name.to_owned());
    tokio::spawn(async move { group.send_request(&key(&name), KeyUse::New, format!("Q:{name}:").as_bytes()).await })
}

#[tokio::test]
async fn the_next_line_is_used_after_not_sent_and_named_in_the_answer() {
    let (first, second) = (Member::start(0, "a", patient()).await, Member::start(1, "b", patient()).await);
    let (group, mut peer, mut other) = (group(&[&second, &first]), first.connect().await, second.connect().await);
    let request = spawn(&group, "1");
    peer.answer_next("ok").await;
    assert_eq!(&*within(request).await.unwrap().unwrap().line, "a");
    within(first.test.line.take_out()).await;
    let request = spawn(&group, "2");
    assert_eq!(other.answer_next("ok").await, "2");
    assert_eq!(&*within(request).await.unwrap().unwrap().line, "b");
    within(second.test.line.take_out()).await;
    let fault = within(spawn(&group, "3")).await.unwrap().unwrap_err();
    assert_eq!(fault.to_string(), "line a: the request was not sent: the line is taken out");
}

#[tokio::test]
async fn no_other_line_is_used_after_unknown() {
    let limits = LineLimits { answer_timeout: ms(50), write_timeout: ms(50), ..patient() };
    let (first, second) = (Member::start(0, "a", limits).await, Member::start(1, "b", patient()).await);
    let (group, mut peer, mut other) = (group(&[&first, &second]), first.connect().await, second.connect().await);
    let fault = within(spawn(&group, "1")).await.unwrap().unwrap_err();
    assert_eq!(fault.line.as_deref(), Some("a"));
    assert_eq!(fault.fault, UnknownReason::Timeout(50).into());
    let broken = spawn(&group, "2");
    peer.read().await;
    peer.read().await;
    drop(peer);
    assert!(matches!(within(broken).await.unwrap().unwrap_err().fault, SendFault::Unknown(_)));
    within(first.test.line.take_out()).await;
    let request = spawn(&group, "3");
    assert_eq!(other.answer_next("ok").await, "3", "the first request that the second line has got");
    assert!(within(request).await.unwrap().is_ok());
}

#[tokio::test]
async fn lines_of_the_same_priority_share_the_load() {
    let members = [Member::start(0, "a", patient()).await, Member::start(0, "b", patient()).await];
    let spare = Member::start(1, "spare", patient()).await;
    let group = group(&[&members[0], &members[1], &spare]);
    let mut peers = [members[0].connect().await, members[1].connect().await];
    let _spare = spare.connect().await;
    let requests: Vec<_> = (0..40).map(|number| spawn(&group, &number.to_string())).collect();
    for (peer, member) in peers.iter_mut().zip(&members) {
        for _ in 0..20 {
            peer.answer_next("ok").await;
        }
        observe(&member.test.line, |state| state.in_flight == 0).await;
    }
    for request in requests {
        assert!(within(request).await.unwrap().is_ok());
    }
    // One after the other: each line has nothing in flight, and still gets its share.
    for number in 40..50 {
        let request = spawn(&group, &number.to_string());
        let [first, second] = &mut peers;
        let message = tokio::select! { key = first.answer_next("ok") => key, key = second.answer_next("ok") => key };
        assert_eq!(message, number.to_string());
        assert!(within(request).await.unwrap().is_ok());
    }
    let sent: Vec<u64> = members.iter().map(|member| member.test.line.read_state().sent).collect();
    assert_eq!(sent, [25, 25]);
    assert_eq!(spare.test.line.read_state().sent, 0);
}

#[tokio::test]
async fn a_dead_line_of_a_pool_keeps_no_share() {
    let members = [Member::start(0, "a", patient()).await, Member::start(0, "b", patient()).await];
    let dead = Member::start(0, "dead", patient()).await;
    let group = group(&[&dead, &members[0], &members[1]]);
    let mut peers = [members[0].connect().await, members[1].connect().await];
    drop(dead.connect().await);
    let Member { host, test: dead, .. } = dead;
    drop(host);
    observe(&dead.line, |state| state.last_error.as_deref().is_some_and(|error| error.contains("connecting"))).await;
    let requests: Vec<_> = (0..40).map(|number| spawn(&group, &number.to_string())).collect();
    for peer in &mut peers {
        for _ in 0..20 {
            peer.answer_next("ok").await;
        }
    }
    for request in requests {
        assert!(within(request).await.unwrap().is_ok());
    }
    assert_eq!(dead.line.read_state().sent, 0);
    assert_eq!(group.read_states().len(), 3);
}

#[tokio::test]
async fn a_key_that_one_line_has_used_is_refused_by_the_whole_group() {
    let members = [Member::start(0, "a", patient()).await, Member::start(0, "b", patient()).await];
    let group = group(&[&members[0], &members[1]]);
    let mut peers = [members[0].connect().await, members[1].connect().await];
    let request = spawn(&group, "1");
    let [first, second] = &mut peers;
    tokio::select! { _ = first.read() => {}, _ = second.read() => {} }
    for _ in 0..4 {
        let fault = within(spawn(&group, "1")).await.unwrap().unwrap_err();
        assert_eq!(fault.fault, NotSentReason::KeyInUse(key("1")).into());
    }
    first.write("A:1:ok").await;
    second.write("A:1:ok").await;
    assert!(within(request).await.unwrap().is_ok());
    for _ in 0..4 {
        let fault = within(spawn(&group, "1")).await.unwrap().unwrap_err();
        assert_eq!(fault.fault, NotSentReason::KeyInUse(key("1")).into());
    }
}

#[tokio::test]
async fn a_full_line_passes_requests_on_to_the_next_priority() {
    let (first, second) = (
        Member::start(0, "a", LineLimits { max_in_flight: 1, ..patient() }).await,
        Member::start(1, "b", patient()).await,
    );
    let (group, mut peer, mut other) = (group(&[&first, &second]), first.connect().await, second.connect().await);
    let slow = spawn(&group, "1");
    peer.read().await;
    let quick = spawn(&group, "2");
    assert_eq!(other.answer_next("ok").await, "2");
    assert_eq!(&*within(quick).await.unwrap().unwrap().line, "b");
    peer.write("A:1:ok").await;
    assert_eq!(&*within(slow).await.unwrap().unwrap().line, "a");
}

#[tokio::test]
async fn an_empty_group_sends_nothing() {
    let fault = LineGroup::new(Vec::new()).send_request(&key("1"), KeyUse::New, b"Q:1:").await.unwrap_err();
    assert_eq!(fault.to_string(), "the request was not sent: no line is configured");
}
