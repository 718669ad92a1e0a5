//! Many requests on lines whose hosts answer late, twice, in any order or never, and break connections.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use tokio::io::AsyncWriteExt as _;

use super::host::{HostConnection, frame, parse};
use super::*;

/// Everything that the hosts of a test have seen and done.
#[derive(Default)]
struct HostRecord {
    /// Requests that have arrived, by their unique bodies.
    arrived: Mutex<Vec<String>>,
    numbers: Mutex<u64>,
}

impl HostRecord {
    /// Returns a number below a limit, from a simple generator with a fixed seed.
    fn draw(&self, limit: u64) -> u64 {
        let mut state = self.numbers.lock().unwrap();
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % limit
    }
}

/// Accepts connections for ever, and treats each badly.
async fn run_bad_host(host: PeerHost, record: Arc<HostRecord>) {
    loop {
        let HostConnection { stream } = host.accept_next().await;
        let (reader, mut writer) = stream.into_split();
        let mut reader = HostConnection { stream: tokio::io::join(reader, tokio::io::sink()) };
        let (answers, mut waiting) = mpsc::unbounded_channel::<Vec<u8>>();
        let writing = tokio::spawn(async move {
            while let Some(bytes) = waiting.recv().await {
                let _ = writer.write_all(&bytes).await;
            }
        });
        let life = 20 + record.draw(200);
        for _ in 0..life {
            let Some(message) = reader.try_read().await else { break };
            let (kind, key) = parse(&message);
            let body = message.splitn(3, ':').nth(2).unwrap().to_owned();
            if kind == "C" {
                let _ = answers.send(frame(&format!("A:{key}:00")));
                continue;
            }
            record.arrived.lock().unwrap().push(body.clone());
            let (delay, copies) = (record.draw(45), [0, 1, 1, 1, 1, 2][usize::try_from(record.draw(6)).unwrap()]);
            let answers = answers.clone();
            tokio::spawn(async move {
                tokio::time::sleep(ms(delay)).await;
                for _ in 0..copies {
                    let _ = answers.send(frame(&format!("A:{key}:{body}")));
                }
            });
        }
        if record.draw(2) == 0 {
            let _ = answers.send(b"\xff\xff\xff\xffgarbage".to_vec());
        }
        writing.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_meets_another_request_and_nothing_not_sent_arrives() {
    let record = Arc::new(HostRecord::default());
    let limits = LineLimits {
        answer_timeout: ms(35),
        write_timeout: ms(35),
        echo_interval: ms(50),
        echo_timeout: ms(200),
        circuit_open_time: ms(10),
        // Longer than any answer of the hosts is late, although the machine may be busy.
        key_keep_time: Duration::from_secs(20),
        ..patient()
    };
    let (mut lines, mut late, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2 {
        let host = PeerHost::listen().await;
        let protocol = WordProtocol { has_sign_on: true, has_sign_off: true, ..WordProtocol::default() };
        let test = TestLine::start(plain_config(&host, limits), protocol);
        lines.push(GroupLine { priority: 0, line: test.line });
        late.push(test.late);
        hosts.push(tokio::spawn(run_bad_host(host, Arc::clone(&record))));
    }
    let group = Arc::new(LineGroup::new(lines));
    let senders: Vec<_> = (0..32).map(|sender| tokio::spawn(send_many(Arc::clone(&group), sender))).collect();
    let mut results = HashMap::new();
    for sender in senders {
        results.extend(within(sender).await.unwrap());
    }
    for member in group.lines() {
        within(member.line.shut_down(HANG_LIMIT)).await;
        assert_eq!(member.line.read_state().in_flight, 0);
    }
    for host in hosts {
        host.abort();
    }
    check_results(&results, &record.arrived.lock().unwrap());
}

/// Sends requests with keys that other senders use as well. Returns the results by the unique bodies.
async fn send_many(group: Arc<LineGroup>, sender: usize) -> Vec<(String, Result<String, SendFault>)> {
    let mut results = Vec::new();
    for number in 0..60_usize {
        let body = format!("{sender}/{number}");
        let name = format!("{}-{number}", sender / 2);
        let message = format!("Q:{name}:{body}");
        let sent = group.send_request(&key(&name), KeyUse::New, message.as_bytes()).await;
        if is_refused(&sent) {
            tokio::time::sleep(ms(2)).await;
        }
        results.push((body, sent.map(|answer| words::body(&answer.message)).map_err(|fault| fault.fault)));
    }
    results
}

fn is_refused(sent: &Result<GroupAnswer, GroupFault>) -> bool {
    matches!(sent, Err(GroupFault { fault: SendFault::NotSent(_), .. }))
}

fn check_results(results: &HashMap<String, Result<String, SendFault>>, arrived: &[String]) {
    let unique: HashSet<&String> = arrived.iter().collect();
    assert_eq!(unique.len(), arrived.len(), "a request has arrived twice");
    let mut counts = [0; 3];
    for (body, result) in results {
        match result {
            Ok(answer) => {
                assert_eq!(answer, body, "an answer has met another request");
                assert!(unique.contains(body));
                counts[0] += 1;
            }
            Err(SendFault::NotSent(reason)) => {
                assert!(!unique.contains(body), "{body} has arrived, although {reason}");
                counts[1] += 1;
            }
            Err(SendFault::Unknown(_)) => counts[2] += 1,
        }
    }
    // Each kind has to occur, or the test checks nothing. A busy machine may answer few requests in time.
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    let keys_in_use =
        results.values().filter(|result| matches!(result, Err(SendFault::NotSent(NotSentReason::KeyInUse(_)))));
    assert!(keys_in_use.count() > 0);
}
