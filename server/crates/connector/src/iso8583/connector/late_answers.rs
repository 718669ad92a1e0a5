//! Answers that no request waits for. An approval among them is passed to the gateway, which reverses the payment if it
//! has ended otherwise meanwhile.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::iso8583::connector::connection::HostMessages;
use crate::iso8583::{IsoMessage, IsoRequestKind};
use crate::line::{LateAnswer, LateAnswers, LateReason, RequestKey};

/// Maximum number of requests without an answer that are remembered. The oldest are forgotten first.
const MAX_REQUESTS: usize = 16_384;
/// Maximum number of approvals that wait for the gateway.
const MAX_APPROVALS: usize = 16_384;
/// Number of late answers of a process that are logged one by one. A host can send any number of them.
const MAX_LOGGED: u64 = 1000;

/// The requests of a connector whose answers have not arrived, and the approvals among their late answers.
#[derive(Debug)]
pub(super) struct LateApprovals {
    messages: HostMessages,
    open: Mutex<OpenRequests>,
    sender: mpsc::Sender<String>,
    receiver: tokio::sync::Mutex<mpsc::Receiver<String>>,
    logged: AtomicU64,
}

/// References of requests by their keys.
#[derive(Debug, Default)]
struct OpenRequests {
    references: HashMap<RequestKey, Arc<str>>,
    /// Keys in the order in which their requests were sent. Some are answered.
    order: VecDeque<RequestKey>,
}

impl LateApprovals {
    /// Makes the sink of a connector's lines.
    pub(super) fn new(messages: HostMessages) -> Self {
        let (sender, receiver) = mpsc::channel(MAX_APPROVALS);
        let (open, receiver) = (Mutex::default(), tokio::sync::Mutex::new(receiver));
        Self { messages, open, sender, receiver, logged: AtomicU64::new(0) }
    }

    fn lock_open(&self) -> MutexGuard<'_, OpenRequests> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a request that is about to be sent, if its approval moves or reserves money.
    pub(super) fn remember_request(&self, kind: IsoRequestKind, key: &RequestKey, reference: &str) {
        let is_remembered = matches!(
            kind,
            IsoRequestKind::Authorize | IsoRequestKind::Debit | IsoRequestKind::Credit | IsoRequestKind::Increment
        );
        if is_remembered {
            self.lock_open().add(key, reference);
        }
    }

    /// Forgets a request that was answered, or was certainly not sent.
    pub(super) fn forget_request(&self, key: &RequestKey) {
        self.lock_open().references.remove(key);
    }

    /// Waits for the next late approval, and returns the reference of its request.
    pub(super) async fn next_approval(&self) -> String {
        match self.receiver.lock().await.recv().await {
            Some(reference) => reference,
            // The sender lives as long as this value.
            None => std::future::pending().await,
        }
    }

    /// Returns true if an answer approves its request, or a part of it.
    fn is_approval(&self, answer: &IsoMessage) -> bool {
        let dialect = self.messages.dialect();
        answer.text(dialect.response_field()).is_some_and(|code| {
            dialect.is_partial_approval(code) || dialect.result_code(code).is_some_and(|result| result.is_success())
        })
    }
}

impl OpenRequests {
    /// Adds a request, unless another one has its key: that one is in flight, and this one is not sent.
    fn add(&mut self, key: &RequestKey, reference: &str) {
        if self.references.contains_key(key) {
            return;
        }
        // Answered requests keep their place in the order until there are as many of them as of the others.
        if self.order.len() >= 2 * MAX_REQUESTS {
            self.order.retain(|key| self.references.contains_key(key));
        }
        while self.references.len() >= MAX_REQUESTS
            && let Some(oldest) = self.order.pop_front()
        {
            if self.references.remove(&oldest).is_some() {
                tracing::warn!(key = %oldest, "a request without an answer is forgotten, because there are too many");
            }
        }
        self.references.insert(key.clone(), reference.into());
        self.order.push_back(key.clone());
    }
}

impl LateAnswers for LateApprovals {
    fn take_late_answer(&self, answer: LateAnswer) {
        let message = self.messages.decode(&answer.message).ok();
        let code = message.as_ref().and_then(|message| message.text(self.messages.dialect().response_field()));
        // Only the count matters, so no other memory has to be ordered with it.
        if self.logged.fetch_add(1, Ordering::Relaxed) < MAX_LOGGED {
            let (line, key, reason) = (&answer.line, &answer.key, answer.reason);
            tracing::warn!(%line, %key, ?reason, code, "an answer of the acquirer's host failed to arrive in time");
        }
        let is_approval = message.as_ref().is_some_and(|message| self.is_approval(message));
        if answer.reason == LateReason::Duplicate || !is_approval {
            return;
        }
        let Some(reference) = self.lock_open().references.remove(&answer.key) else { return };
        if self.sender.try_send(reference.to_string()).is_err() {
            tracing::error!(key = %answer.key, "a late approval was dropped, because too many wait; look it up there");
        }
    }
}
