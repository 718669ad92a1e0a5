//! MACs, and card data in ledger and log.

use std::sync::{Arc, LazyLock, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use tillgate_connector::iso8583::{Datum, IsoRequestKind, MacKey, write_frame};
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::IsoTestHost;

/// A subscriber that keeps the fields of all events as text, with the thread of each.
#[derive(Clone, Default)]
struct LogText(Arc<Mutex<Vec<(ThreadId, String)>>>);

impl LogText {
    /// Returns the log of all tests.
    fn global() -> Self {
        static LOG: LazyLock<LogText> = LazyLock::new(|| {
            let log = LogText::default();
            // A subscriber of one thread would miss events that another thread was the first to reach.
            tracing::subscriber::set_global_default(log.clone()).unwrap();
            log
        });
        LOG.clone()
    }

    /// Returns the text of this thread. A test and its host run in one.
    fn text(&self) -> String {
        let own = std::thread::current().id();
        let events = self.0.lock().unwrap();
        events.iter().filter(|(thread, _)| *thread == own).map(|(_, text)| text.as_str()).collect()
    }
}

impl Visit for LogText {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // A port may have the digits of the security code by chance.
        if field.name() != "peer" {
            self.0.lock().unwrap().push((std::thread::current().id(), format!("{field}={value:?}\n")));
        }
    }
}

impl Subscriber for LogText {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tillgate")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_missing_or_wrong_mac_is_answered_with_its_code_and_nothing_is_booked() {
    let host = IsoTestHost::start().await;
    for index in [1, 2] {
        let mut client = host.connect(index).await;
        let algorithm = client.dialect.mac().unwrap().algorithm;
        let wrong_key = MacKey::new(algorithm, b"fedcba9876543210").unwrap();
        let frames = client.dialect.frames().clone();
        for key in [None, Some(wrong_key)] {
            let request = client.request(IsoRequestKind::Debit);
            let encoded = match &key {
                Some(key) => client.dialect.encode_with_mac(&request, key).unwrap(),
                None => client.dialect.encode(&request).unwrap(),
            };
            let frame = write_frame(&frames, &frames.frame_request(encoded)).unwrap();
            client.stream.write_all(&frame).await.unwrap();
            let response = client.receive().await;
            client.check_repeated(&request, &response);
            assert_eq!(client.code(&response), client.either("63", "916"));
            assert_eq!(host.entries().await, []);
        }
    }
}

#[tokio::test]
async fn neither_ledger_nor_log_has_a_whole_card_number_or_a_security_code() {
    const NUMBER: &str = "4200000000000000";
    const CODE: &str = "8352";
    let log = LogText::global();
    let host = IsoTestHost::start().await;
    for index in 0..3 {
        let mut client = host.connect(index).await;
        let mut request = client.request(IsoRequestKind::Debit);
        client.set(&mut request, Datum::SecurityCode, CODE);
        client.set(&mut request, Datum::Cavv, "AAABBBCCCDDDEEEFFF8352==");
        client.exchange(&request).await;
        client.exchange_code(&client.reversal(&request)).await;
        // An unexpected response, and a message that ends too early: both are logged.
        let mut response = client.request(IsoRequestKind::Echo);
        response = tillgate_connector::iso8583::IsoMessage::new(response.mti().response().unwrap());
        client.set(&mut response, Datum::Pan, NUMBER);
        client.send(&response).await;
        let mut encoded = client.dialect.encode(&request).unwrap();
        encoded.truncate(encoded.len() - 1);
        let frames = client.dialect.frames().clone();
        let frame = write_frame(&frames, &frames.frame_request(encoded)).unwrap();
        client.stream.write_all(&frame).await.unwrap();
        assert_eq!(client.receive_bytes().await, None);
    }
    // A connection is logged after its end.
    let start = Instant::now();
    while log.text().matches("a message is malformed").count() < 3 {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", log.text());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let text = log.text();
    assert_eq!(text.matches("failed to match an echo").count(), 3, "{text}");
    let IsoTestHost { host, folder, .. } = host;
    host.stop().await;
    let mut files = 0;
    for file in std::fs::read_dir(folder.path().join("host")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let has = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        assert!(!has(NUMBER) && !has(CODE));
        files += 1;
    }
    assert!(files > 0 && !text.contains(NUMBER) && !text.contains(CODE), "{text}");
}
