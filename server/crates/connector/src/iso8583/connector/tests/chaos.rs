//! Hosts that approve, decline, stay silent, answer wrongly and break connections at random.

use std::collections::{HashMap, HashSet};

use super::*;

/// Behavior of a host for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behavior {
    Approve,
    Decline,
    StaySilent,
    OtherAmount,
    Close,
}

/// Returns the behavior for a number.
fn choose_behavior(number: usize) -> Behavior {
    let choices = [
        Behavior::Approve,
        Behavior::Decline,
        Behavior::Approve,
        Behavior::StaySilent,
        Behavior::Approve,
        Behavior::OtherAmount,
        Behavior::Approve,
    ];
    if number % 23 == 11 { Behavior::Close } else { choices[number % choices.len()] }
}

/// Answers the requests of two hosts until the payments are done. Returns the behavior by retrieval reference number.
async fn misbehave(
    hosts: [ScriptedHost; 2],
    mut done: tokio::sync::oneshot::Receiver<()>,
) -> HashMap<String, Behavior> {
    let [mut first, mut second] = hosts;
    let mut seen = HashMap::new();
    loop {
        let received = tokio::select! {
            received = first.next() => received,
            received = second.next() => received,
            _ = &mut done => return seen,
        };
        let behavior = choose_behavior(seen.len());
        let is_new = seen.insert(received.text(37), behavior).is_none();
        assert!(is_new, "a payment was sent twice");
        match behavior {
            Behavior::Approve => received.approve(),
            Behavior::Decline => received.answer("51"),
            Behavior::StaySilent => {}
            Behavior::OtherAmount => received.send(&received.response("00").with_text(4, "000000000001")),
            Behavior::Close => received.close(),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_outcome_claims_more_than_the_hosts_have_said() {
    let dialect = "iso87-ascii-4a";
    let hosts = [ScriptedHost::listen(dialect).await, ScriptedHost::listen(dialect).await];
    let text = config_text(dialect, "answer_timeout_ms = 500", &[&hosts[0], &hosts[1]]);
    // Both lines share the load.
    let connector = start(&text.replace("priority = 1", "priority = 0")).await;
    let (finish, done) = tokio::sync::oneshot::channel();
    let behaving = tokio::spawn(misbehave(hosts, done));
    let mut tasks = Vec::new();
    for number in 0..250_u16 {
        let second = number % 60;
        let reference = payment_id(&format!("2026-11-23T10:{:02}:{second:02}Z", number / 60), 1);
        tasks.push((reference.clone(), spawn_payment(&connector, &reference)));
        if number % 8 == 0 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    }
    let mut outcomes = Vec::new();
    for (reference, task) in tasks {
        outcomes.push((numbering::derive_reference(&reference, false), outcome(task).await));
    }
    finish.send(()).unwrap();
    let seen = within(behaving).await.unwrap();
    let mut kinds = HashSet::new();
    for (reference, outcome) in outcomes {
        let behavior = seen.get(&reference).copied();
        let is_possible = match code(&outcome) {
            "000.100.112" => behavior == Some(Behavior::Approve),
            "800.100.155" => behavior == Some(Behavior::Decline),
            "900.100.600" => behavior.is_none(),
            "unknown" => true,
            _ => false,
        };
        assert!(is_possible, "{outcome:?} after {behavior:?}");
        kinds.insert(code(&outcome));
    }
    assert!(kinds.len() >= 3, "{kinds:?}");
}
