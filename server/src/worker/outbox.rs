//! Delivers the messages of the outbox. Receivers that are down or slow do not delay others: each merchant has a share
//! of the slots, and each of its receivers a queue. A queue has a few concurrent attempts, or only one after a failed
//! attempt.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{Request, Uri};
use http_body_util::Full;
use jiff::{SignedDuration, Timestamp};
use tillgate_api::webhook_payload;
use tillgate_domain::delivery;
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::id::MessageId;
use tillgate_gateway::{App, Gateway, random_bytes};
use tillgate_message::webhook::{Secret, WebhookDelivery};
use tillgate_net::outgoing::{OutgoingError, ReceiverResponse};
use tillgate_store::cluster::background_work::BackgroundWork;
use tillgate_store::delivery::message::{DeliveryResult, Message, MessageContent, REMINDER};
use tillgate_store::delivery::message_selection::{SelectionCursor, SelectionLimits};
use tillgate_store::delivery::webhook::Webhook;
use tillgate_store::{Store, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::review_callback;

/// Maximum number of concurrent attempts.
const SLOTS: usize = 512;
/// Maximum for one owner, which is a merchant with its channels.
const OWNER_SLOTS: usize = 32;
/// Maximum for one receiver of an owner.
const QUEUE_SLOTS: usize = 8;
/// Interval of checks for due messages, besides those that this process has just written.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of failing receivers to track; cleared when exceeded.
const MAX_FAILING: usize = 10_000;

/// The attempts in progress, and the state that limits further ones.
#[derive(Default)]
struct DeliveryScheduler {
    attempts: JoinSet<FinishedAttempt>,
    selection_cursor: SelectionCursor,
    by_owner: HashMap<String, usize>,
    /// Attempts by the hash of owner and queue, because the name of a queue may be long.
    by_queue: HashMap<u64, usize>,
    /// Receivers whose last attempt failed.
    failing: HashSet<u64>,
    /// Random hash keys, so that collisions cannot be provoked.
    hash_keys: RandomState,
}

/// A finished attempt, with the owner of the message and the hash of its queue.
struct FinishedAttempt {
    owner: String,
    queue: u64,
    /// True if the receiver accepted the message.
    accepted: bool,
}

/// Releases the messages of this node's earlier process, and delivers messages until `stop` changes. Then waits for the
/// attempts in progress. Failures of the store are logged.
pub(super) async fn run_deliveries(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let node = app.gateway.options.node.clone();
    if let Err(error) = app.gateway.store.release_messages(node).await {
        tracing::warn!(%error, "releasing the messages of the last run failed");
    }
    let mut scheduler = DeliveryScheduler::default();
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
            () = app.gateway.store.wait_for_message() => {}
            Some(ended) = scheduler.attempts.join_next() => scheduler.finish_attempt(ended.ok()),
        }
        if app.gateway.store.may_work(BackgroundWork::Deliveries)
            && let Err(error) = scheduler.start_due(&app).await
        {
            tracing::warn!(%error, "claiming messages of the outbox failed");
        }
    }
    while scheduler.attempts.join_next().await.is_some() {}
}

impl DeliveryScheduler {
    /// Claims the due messages for which there are free slots, and starts an attempt for each.
    async fn start_due(&mut self, app: &Arc<App>) -> Result<(), StoreError> {
        let now = app.gateway.now();
        let due = self.select_due(&app.gateway.store, now)?;
        if due.is_empty() {
            return Ok(());
        }
        for message in app.gateway.store.claim_messages(due, app.gateway.options.node.clone(), now).await? {
            let owner = message.owner.clone();
            let queue = self.hash_keys.hash_one((owner.as_str(), message.queue.as_str()));
            *self.by_owner.entry(owner.clone()).or_default() += 1;
            *self.by_queue.entry(queue).or_default() += 1;
            let app = Arc::clone(app);
            self.attempts.spawn(async move {
                // Of a message that is left to another node, nothing is known about its receiver.
                let is_left = !app.gateway.store.may_work(BackgroundWork::Deliveries);
                FinishedAttempt { owner, queue, accepted: is_left || attempt_delivery(&app, message).await }
            });
        }
        Ok(())
    }

    /// Selects the due messages for which there are free slots in all, of their owner and of their receiver. A receiver
    /// whose last attempt failed has one slot. Claims nothing.
    fn select_due(&mut self, store: &Store, now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        let free = SLOTS - self.attempts.len().min(SLOTS);
        let Self { selection_cursor, by_owner, by_queue, failing, hash_keys, .. } = self;
        let limits = SelectionLimits {
            total: free,
            per_owner: &|owner, selected| {
                slots_for_owner(free.saturating_sub(selected), by_owner.get(owner).copied().unwrap_or_default())
            },
            per_queue: &|owner, queue| {
                let queue = hash_keys.hash_one((owner, queue));
                let limit = if failing.contains(&queue) { 1 } else { QUEUE_SLOTS };
                limit - by_queue.get(&queue).copied().unwrap_or_default().min(limit)
            },
        };
        store.select_due_messages(now, selection_cursor, &limits)
    }

    /// Frees the slots of a finished attempt, and records whether its receiver is failing. `None` is an attempt that
    /// panicked: its owner is unknown, so all slots are counted as free.
    fn finish_attempt(&mut self, ended: Option<FinishedAttempt>) {
        let Some(FinishedAttempt { owner, queue, accepted }) = ended else {
            self.by_owner.clear();
            return self.by_queue.clear();
        };
        decrement_count(&mut self.by_owner, owner);
        decrement_count(&mut self.by_queue, queue);
        if accepted {
            self.failing.remove(&queue);
        } else {
            if self.failing.len() >= MAX_FAILING {
                self.failing.clear();
            }
            self.failing.insert(queue);
        }
    }
}

/// Returns the number of further slots for an owner that already has `used`. The share is a sixteenth of the free
/// slots, at least 1 and at most [`OWNER_SLOTS`], so that owners who use their whole share leave slots for all others.
fn slots_for_owner(free: usize, used: usize) -> usize {
    let share = (free / 16).clamp(1, OWNER_SLOTS);
    share.saturating_sub(used).min(free)
}

/// Decrements a count, and removes it at zero. Does nothing without one.
fn decrement_count<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() = count.get().saturating_sub(1);
        if *count.get() == 0 {
            count.remove();
        }
    }
}

/// Outcome of a delivery attempt.
pub(super) struct SendOutcome {
    /// The response, or the reason why there is none.
    pub(super) response: Result<ReceiverResponse, OutgoingError>,
    /// True if the receiver accepted the message.
    pub(super) accepted: bool,
    /// The wait until the next attempt. `None` if there is no further attempt.
    pub(super) retry_after: Option<SignedDuration>,
}

/// Sends a message and records the attempt, with the delay before the next one. Returns true if the receiver accepted
/// the message. A failed write is logged; the message is then sent again after its lease.
async fn attempt_delivery(app: &App, message: Message) -> bool {
    let (at, began) = (Timestamp::now(), Instant::now());
    let outcome = match &message.content {
        MessageContent::ReviewCallback(callback, document) => {
            review_callback::attempt_callback(app, callback, document, message.failures).await
        }
        _ => send_message(app, &message, at).await,
    };
    let SendOutcome { response, accepted, retry_after } = outcome;
    let (status, fault) = match response {
        Ok(ReceiverResponse { status, .. }) => (Some(status.as_u16()), None),
        Err(fault) => (None, Some(fault.to_string())),
    };
    tracing::debug!(id = %message.id, what = message.kind, status, fault, "sent");
    let milliseconds = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
    let attempt = DeliveryResult { at, milliseconds, status, fault, retry_after, accepted };
    // The repeated message has the same id.
    if let Err(error) = app.gateway.store.record_delivery_attempt(&message, attempt).await {
        tracing::warn!(%error, id = %message.id, "recording a delivery attempt failed");
    }
    accepted
}

/// Sends a message that is no review callback. The receiver accepts it with a status 2xx, or with any response to a
/// reminder.
async fn send_message(app: &App, message: &Message, at: Timestamp) -> SendOutcome {
    let response = match build_request(app, message, at) {
        Ok(request) => app.outgoing.send(request).await,
        Err(fault) => Err(fault),
    };
    let accepted = match &response {
        // Any response to a reminder shows that the receiver got it.
        Ok(response) => response.status.is_success() || message.kind == REMINDER,
        Err(_) => false,
    };
    let requested_delay = response.as_ref().ok().and_then(|response| response.retry_after);
    let requested_delay = requested_delay.and_then(|wait| SignedDuration::try_from(wait).ok());
    let mut jitter = [128];
    // Without random bytes the delays have no jitter.
    let _ = getrandom::fill(&mut jitter);
    let retry_after =
        if accepted { None } else { delivery::retry::retry_delay(message.failures + 1, jitter[0], requested_delay) };
    SendOutcome { response, accepted, retry_after }
}

/// Builds the request of a message: a GET to its address, or the signed POST of its webhook.
///
/// # Errors
/// If the webhook or callback was deleted, its key cannot be opened, its document cannot be read, or the address is not
/// valid.
fn build_request(app: &App, message: &Message, now: Timestamp) -> Result<Request<Full<Bytes>>, OutgoingError> {
    let (webhook, document) = match &message.content {
        MessageContent::DeletedWebhook => return Err(OutgoingError::WebhookDeleted),
        MessageContent::RemovedCallback | MessageContent::ReviewCallback(..) => {
            return Err(OutgoingError::CallbackRemoved);
        }
        MessageContent::Get(address) => {
            let target = TargetUrl::parse(address).map_err(|_| OutgoingError::InvalidAddress)?;
            let request = Request::get(Uri::from(target)).header("webhook-id", message.id.as_str());
            return request.body(Full::default()).map_err(|_| OutgoingError::InvalidAddress);
        }
        MessageContent::Webhook(webhook, document) => (webhook, document),
    };
    let Gateway { directory, vault, .. } = &app.gateway;
    let record = Webhook::record_name(&webhook.entity, &webhook.url, &webhook.id);
    let key = vault.open(&record, &webhook.sealed).map_err(|_| OutgoingError::Key)?;
    let secret = Secret::from_bytes(&key).ok_or(OutgoingError::Key)?;
    let text = webhook_payload::build_message(&message.kind, document, webhook.without_customer, directory)
        .map_err(|_| OutgoingError::Document)?;
    let delivery =
        WebhookDelivery { url: &webhook.url, id: message.id.as_str(), now, text: &text, wrapped: webhook.wrapped };
    delivery
        .build_request(&secret, &random_bytes().map_err(|_| OutgoingError::Key)?)
        .ok_or(OutgoingError::InvalidAddress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_who_fill_their_shares_leave_slots_for_all_others() {
        let (mut free, mut owners) = (SLOTS, Vec::new());
        for _ in 0..60 {
            let slots = slots_for_owner(free, 0);
            assert!(slots >= 1);
            owners.push(slots);
            free -= slots;
        }
        assert_eq!(owners[0], OWNER_SLOTS);
        assert_eq!(slots_for_owner(free, OWNER_SLOTS), 0);
        assert_eq!(slots_for_owner(0, 0), 0);
    }
}
