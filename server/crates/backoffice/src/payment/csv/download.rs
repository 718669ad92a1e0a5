//! The running downloads of users, at most one of each user, and a body that notices when its client disconnects.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use http_body_util::channel::Channel;
use tillgate_domain::id::UserId;
use tillgate_gateway::Failure;
use tokio::sync::oneshot;

/// Users who have a running download.
#[derive(Debug, Clone, Default)]
pub struct RunningDownloads(Arc<Mutex<HashSet<UserId>>>);

impl RunningDownloads {
    /// Starts a download of a user. Returns `None` if another download of the user is running, because several at once
    /// would fill the user's queue of long reads.
    pub(crate) fn start(&self, user: &UserId) -> Option<Download> {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(user.clone());
        is_new.then(|| Download { running: self.clone(), user: user.clone() })
    }
}

/// A running download, which ends when it is dropped.
pub(crate) struct Download {
    running: RunningDownloads,
    user: UserId,
}

impl Drop for Download {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.user);
    }
}

/// Builds a body whose receiver resolves when the body is dropped, which also happens when the client disconnects.
pub(crate) fn watch_body(channel: Channel<Bytes, Failure>) -> (Body, oneshot::Receiver<Infallible>) {
    let (guard, dropped) = oneshot::channel();
    // The guard belongs to the closure, and the closure to the body.
    let body = channel.map_frame(move |frame| {
        let _guard = &guard;
        frame
    });
    (Body::new(body), dropped)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_one_download_at_a_time_and_delays_no_other_user() {
        let user = |number| UserId::new(jiff::Timestamp::UNIX_EPOCH, [number; 9]);
        let running = RunningDownloads::default();
        let first = running.start(&user(1)).unwrap();
        assert!(running.start(&user(1)).is_none());
        assert!(running.start(&user(2)).is_some());
        drop(first);
        assert!(running.start(&user(1)).is_some());
    }

    #[tokio::test]
    async fn a_dropped_body_is_noticed_although_nothing_is_sent() {
        let (_sender, channel) = Channel::new(1);
        let (body, disconnected) = watch_body(channel);
        drop(body);
        disconnected.await.unwrap_err();
    }
}
