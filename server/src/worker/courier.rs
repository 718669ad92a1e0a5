//! Sends what stands in the outbox. However many receivers are down or slow, none of them delays another: each has a queue of
//! its own, of which a few messages are under way at once, and only one where the last attempt failed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::Request;
use http_body_util::Full;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::api::{Edge, event};
use crate::domain::delivery;
use crate::gateway::{Gateway, random};
use crate::outgoing::{Answered, Fault};
use crate::store::StoreError;
use crate::store::message::{Attempt, Content, Message, REMINDER};
use crate::store::webhook::Webhook;
use crate::webhook::{Key, Letter};

/// Attempts under way at once.
const MOST: usize = 256;
/// … to one receiver.
const OF_ONE: usize = 8;
/// How often due messages are looked for beside those that this process has just written.
const LOOK: Duration = Duration::from_secs(1);
/// So many receivers that fail are remembered; it is enough to begin anew where there are more.
const REMEMBERED: usize = 10_000;

/// What is under way.
#[derive(Default)]
struct Courier {
    attempts: JoinSet<(String, bool)>,
    of_queue: HashMap<String, usize>,
    failing: HashSet<String>,
}

/// Sends until it is asked to stop, then ends what is under way.
pub(super) async fn run(edge: Arc<Edge>, mut stop: watch::Receiver<bool>) {
    let node = edge.gateway.options.node.clone();
    if let Err(error) = edge.gateway.store.release_messages(node).await {
        tracing::warn!(%error, "taking up messages again");
    }
    let mut courier = Courier::default();
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
            () = edge.gateway.store.message_written() => {}
            Some(ended) = courier.attempts.join_next() => courier.ended(ended.ok()),
        }
        if let Err(error) = courier.start(&edge).await {
            tracing::warn!(%error, "taking messages from the outbox");
        }
    }
    while courier.attempts.join_next().await.is_some() {}
}

impl Courier {
    /// Starts everything that is due and for which there is room.
    async fn start(&mut self, edge: &Arc<Edge>) -> Result<(), StoreError> {
        let store = &edge.gateway.store;
        let room = MOST - self.attempts.len().min(MOST);
        let now = edge.gateway.now();
        let due = store.messages_due(now, room, |queue| {
            let most = if self.failing.contains(queue) { 1 } else { OF_ONE };
            most - self.of_queue.get(queue).copied().unwrap_or_default().min(most)
        })?;
        if due.is_empty() {
            return Ok(());
        }
        for message in store.claim_messages(due, edge.gateway.options.node.clone(), now).await? {
            *self.of_queue.entry(message.queue.clone()).or_default() += 1;
            let edge = Arc::clone(edge);
            self.attempts.spawn(async move {
                let queue = message.queue.clone();
                let taken = attempt(&edge, message).await;
                (queue, taken)
            });
        }
        Ok(())
    }

    fn ended(&mut self, ended: Option<(String, bool)>) {
        // Of an attempt that panicked it is not known whose it was; all is counted anew.
        let Some((queue, taken)) = ended else { return self.of_queue.clear() };
        if let Some(count) = self.of_queue.get_mut(&queue) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.of_queue.remove(&queue);
            }
        }
        if taken {
            self.failing.remove(&queue);
        } else {
            if self.failing.len() >= REMEMBERED {
                self.failing.clear();
            }
            self.failing.insert(queue);
        }
    }
}

/// Sends a message and writes how it went. Returns whether it was taken.
async fn attempt(edge: &Edge, message: Message) -> bool {
    let (at, began) = (Timestamp::now(), Instant::now());
    let answered = match request(edge, &message, at) {
        Ok(request) => edge.outgoing.send(request).await,
        Err(fault) => Err(fault),
    };
    let taken = match &answered {
        // Whoever answers a reminder has got it.
        Ok(answered) => answered.status.is_success() || message.what == REMINDER,
        Err(_) => false,
    };
    let asked = answered.as_ref().ok().and_then(|answered| answered.retry_after);
    let asked = asked.and_then(|wait| SignedDuration::try_from(wait).ok());
    let mut chance = [128];
    // Without randomness the waits are exact.
    let _ = getrandom::fill(&mut chance);
    let again = if taken { None } else { delivery::wait(message.failures + 1, chance[0], asked) };
    let (status, fault) = match answered {
        Ok(Answered { status, .. }) => (Some(status.as_u16()), None),
        Err(fault) => (None, Some(fault.to_string())),
    };
    tracing::debug!(id = %message.id, what = message.what, status, fault, "sent");
    let milliseconds = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
    let attempt = Attempt { at, milliseconds, status, fault, again };
    let id = message.id.clone();
    // What cannot be written is sent again when its lease is over, with the same id.
    if let Err(error) = edge.gateway.store.message_tried(message.id, attempt).await {
        tracing::warn!(%error, %id, "writing how a message was taken");
    }
    taken
}

fn request(edge: &Edge, message: &Message, now: Timestamp) -> Result<Request<Full<Bytes>>, Fault> {
    let (webhook, document) = match &message.content {
        Content::Nothing => return Err(Fault::Unwanted),
        Content::Get(address) => {
            let request = Request::get(address).header("webhook-id", message.id.as_str());
            return request.body(Full::default()).map_err(|_| Fault::Address);
        }
        Content::Webhook(webhook, document) => (webhook, document),
    };
    let Gateway { directory, vault, .. } = &edge.gateway;
    let key = vault.open(&Webhook::record(&webhook.id), &webhook.sealed).map_err(|_| Fault::Key)?;
    let key: &Key = key.as_slice().try_into().map_err(|_| Fault::Key)?;
    let text =
        event::text(&message.what, document, webhook.without_customer, directory).map_err(|_| Fault::Document)?;
    let letter = Letter { url: &webhook.url, id: message.id.as_str(), now, text: &text, wrapped: webhook.wrapped };
    letter.request(key, &random().map_err(|_| Fault::Key)?).ok_or(Fault::Address)
}
