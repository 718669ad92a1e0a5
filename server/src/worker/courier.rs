//! Sends the messages of the outbox. Receivers that are down or slow delay nobody else: each merchant has a share of the slots,
//! and each of its receivers a queue, of which a few messages are under way at once, and only one where the last attempt failed.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash, RandomState};
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
use crate::domain::id::MessageId;
use crate::gateway::{Gateway, random};
use crate::outgoing::{Answered, Fault};
use crate::store::due::{Room, Wheel};
use crate::store::message::{Attempt, Content, Message, REMINDER};
use crate::store::webhook::Webhook;
use crate::store::{Store, StoreError};
use crate::webhook::{Letter, Secret};

/// Attempts under way at once.
const SLOTS: usize = 512;
/// Maximum for one owner: a merchant with its channels.
const OF_OWNER: usize = 32;
/// Maximum for one receiver of an owner.
const OF_QUEUE: usize = 8;
/// How often due messages are looked for beside those that this process has just written.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum number of failing receivers to track; cleared when exceeded.
const REMEMBERED: usize = 10_000;

/// Attempts under way, and what limits the next ones.
#[derive(Default)]
struct Courier {
    attempts: JoinSet<Ended>,
    wheel: Wheel,
    of_owner: HashMap<String, usize>,
    /// By the hash of owner and queue, as below: the name of a queue may be long.
    of_queue: HashMap<u64, usize>,
    /// Receivers whose last attempt failed.
    failing: HashSet<u64>,
    /// Random hash keys, so that collisions cannot be provoked.
    names: RandomState,
}

/// An attempt that has ended.
struct Ended {
    owner: String,
    queue: u64,
    /// True if the receiver took the message.
    taken: bool,
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
        let now = edge.gateway.now();
        let due = self.select(&edge.gateway.store, now)?;
        if due.is_empty() {
            return Ok(());
        }
        for message in edge.gateway.store.claim_messages(due, edge.gateway.options.node.clone(), now).await? {
            let owner = message.owner.clone();
            let queue = self.names.hash_one((owner.as_str(), message.queue.as_str()));
            *self.of_owner.entry(owner.clone()).or_default() += 1;
            *self.of_queue.entry(queue).or_default() += 1;
            let edge = Arc::clone(edge);
            self.attempts.spawn(async move { Ended { owner, queue, taken: attempt(&edge, message).await } });
        }
        Ok(())
    }

    /// Selects what is due and for which there is room.
    fn select(&mut self, store: &Store, now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        let free = SLOTS - self.attempts.len().min(SLOTS);
        let Self { wheel, of_owner, of_queue, failing, names, .. } = self;
        let room = Room {
            total: free,
            of_owner: &|owner, selected| {
                share(free.saturating_sub(selected), of_owner.get(owner).copied().unwrap_or_default())
            },
            of_queue: &|owner, queue| {
                let queue = names.hash_one((owner, queue));
                let most = if failing.contains(&queue) { 1 } else { OF_QUEUE };
                most - of_queue.get(&queue).copied().unwrap_or_default().min(most)
            },
        };
        store.messages_due(now, wheel, &room)
    }

    fn ended(&mut self, ended: Option<Ended>) {
        let Some(Ended { owner, queue, taken }) = ended else {
            // The owner of an attempt that panicked is unknown, so everything is counted anew.
            self.of_owner.clear();
            return self.of_queue.clear();
        };
        give_back(&mut self.of_owner, owner);
        give_back(&mut self.of_queue, queue);
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

/// Returns how many more slots an owner may take that has `used` already. Its share shrinks with what is free, so that owners
/// who fill their shares leave some for all others.
fn share(free: usize, used: usize) -> usize {
    let most = (free / 16).clamp(1, OF_OWNER);
    most.saturating_sub(used).min(free)
}

fn give_back<K: Hash + Eq>(counts: &mut HashMap<K, usize>, name: K) {
    if let Entry::Occupied(mut count) = counts.entry(name) {
        *count.get_mut() = count.get().saturating_sub(1);
        if *count.get() == 0 {
            count.remove();
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
    let secret = Secret::read(&key).ok_or(Fault::Key)?;
    let text =
        event::text(&message.what, document, webhook.without_customer, directory).map_err(|_| Fault::Document)?;
    let letter = Letter { url: &webhook.url, id: message.id.as_str(), now, text: &text, wrapped: webhook.wrapped };
    letter.request(&secret, &random().map_err(|_| Fault::Key)?).ok_or(Fault::Address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_who_fill_their_shares_leave_slots_for_all_others() {
        let (mut free, mut owners) = (SLOTS, Vec::new());
        for _ in 0..60 {
            let taken = share(free, 0);
            assert!(taken >= 1);
            owners.push(taken);
            free -= taken;
        }
        assert_eq!(owners[0], OF_OWNER);
        assert_eq!(share(free, OF_OWNER), 0);
        assert_eq!(share(0, 0), 0);
    }
}
