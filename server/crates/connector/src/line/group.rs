//! The lines of a channel. A request that was certainly not sent on one line is sent on the next.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::fault::{NotSentReason, SendFault};
use super::handle::HostLine;
use super::protocol::{KeyUse, LineMessage, RequestKey};
use super::state::LineState;

/// A line of a group.
#[derive(Debug, Clone)]
pub struct GroupLine {
    /// Priority of the line: 0 is used first. Lines of the same priority share the load.
    pub priority: u8,
    /// The line.
    pub line: Arc<HostLine>,
}

/// The answer to a request of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupAnswer {
    /// Name of the line that has answered.
    pub line: Arc<str>,
    /// The answer.
    pub message: LineMessage,
}

/// A request of a group without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{fault}", line.as_ref().map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct GroupFault {
    /// Name of the line. If no line has sent the request, the line that was tried first. `None` without any line.
    pub line: Option<Arc<str>>,
    /// The fault of that line.
    pub fault: SendFault,
}

/// The lines of a channel, in the order of their priority.
#[derive(Debug, Default)]
pub struct LineGroup {
    lines: Vec<GroupLine>,
    /// Turn at which each line was tried last, in the order of the lines.
    last_turns: Vec<AtomicU64>,
    next_turn: AtomicU64,
    /// Keys of the requests that are being sent. Locked for a few instructions.
    keys: Mutex<HashSet<RequestKey>>,
}

impl LineGroup {
    /// Creates a group of these lines.
    pub fn new(lines: Vec<GroupLine>) -> Self {
        let last_turns = lines.iter().map(|_| AtomicU64::new(0)).collect();
        Self { lines, last_turns, next_turn: AtomicU64::new(1), keys: Mutex::default() }
    }

    /// Returns the lines of the group.
    pub fn lines(&self) -> &[GroupLine] {
        &self.lines
    }

    /// Returns a snapshot of each line.
    pub fn read_states(&self) -> Vec<LineState> {
        self.lines.iter().map(|member| member.line.read_state()).collect()
    }

    /// Sends a request on the first line that takes it. The next line is tried only if no byte was sent.
    ///
    /// # Errors
    /// The fault of the line that has sent the request, or of the first one if no line has.
    pub async fn send_request(
        &self,
        key: &RequestKey,
        key_use: KeyUse,
        message: &[u8],
    ) -> Result<GroupAnswer, GroupFault> {
        let _held_key = self.hold_key(key, key_use)?;
        let mut first_fault = None;
        for (line, last_turn) in self.order_lines() {
            // Only the balance depends on the turns, so no other memory has to be ordered with them.
            last_turn.store(self.next_turn.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
            let fault = match line.send_request(key.clone(), key_use, message).await {
                Ok(message) => return Ok(GroupAnswer { line: Arc::clone(line.name()), message }),
                Err(fault) => GroupFault { line: Some(Arc::clone(line.name())), fault },
            };
            // A request that may have been executed must never be sent again. A key in use is in use for all lines.
            if matches!(fault.fault, SendFault::Unknown(_) | SendFault::NotSent(NotSentReason::KeyInUse(_))) {
                return Err(fault);
            }
            first_fault.get_or_insert(fault);
        }
        Err(first_fault.unwrap_or(GroupFault { line: None, fault: NotSentReason::NoLine.into() }))
    }

    /// Holds a key for one request.
    ///
    /// # Errors
    /// [`NotSentReason::KeyInUse`] if any line of the group has used the key: some hosts answer on any of their lines.
    fn hold_key(&self, key: &RequestKey, key_use: KeyUse) -> Result<HeldKey<'_>, GroupFault> {
        let refuse = |line| GroupFault { line, fault: NotSentReason::KeyInUse(key.clone()).into() };
        // The key is held before the lines are asked, so that two requests cannot pass the check at the same time.
        if !self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
            return Err(refuse(None));
        }
        let held = HeldKey { group: self, key: key.clone() };
        match self.lines.iter().find(|member| member.line.has_used_key(key, key_use)) {
            Some(member) => Err(refuse(Some(Arc::clone(member.line.name())))),
            None => Ok(held),
        }
    }

    /// Returns the lines with their turns, in the order of the attempts: by priority, then by requests in flight. An
    /// unusable line refuses at once, so it keeps no share.
    fn order_lines(&self) -> Vec<(&HostLine, &AtomicU64)> {
        let mut order: Vec<_> = self.lines.iter().zip(&self.last_turns).collect();
        // Of lines with the same load, the one that was tried longest ago comes first. Otherwise the first line would
        // get all requests that come one after the other.
        order.sort_by_cached_key(|(member, last_turn)| {
            (member.priority, member.line.count_in_flight(), last_turn.load(Ordering::Relaxed))
        });
        order.into_iter().map(|(member, last_turn)| (&*member.line, last_turn)).collect()
    }
}

/// A key that is being used for a request.
struct HeldKey<'a> {
    group: &'a LineGroup,
    key: RequestKey,
}

impl Drop for HeldKey<'_> {
    fn drop(&mut self) {
        self.group.keys.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
