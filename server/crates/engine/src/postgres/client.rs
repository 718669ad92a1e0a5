//! A connection whose answers are awaited for a limited time. It notices commits that no standby has confirmed.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Error as ClientError, Socket, Statement};

use super::values::Kept;
use crate::{Error, ErrorKind, Result};

/// Maximum time for the last words of a connection, and for the request to cancel a statement.
const GOODBYE: Duration = Duration::from_secs(1);

/// Lets the connection read and write. Returns the messages that answer no question.
type PollConnection = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage, ClientError>>> + Send>;

/// The answer to a statement.
type Answer = Pin<Box<dyn Future<Output = Result<(), ClientError>> + Send>>;

/// A connection to a server. It reads and writes only while an answer is awaited.
pub(super) struct TimedClient {
    runtime: Runtime,
    /// `None` while the connection is being closed.
    client: Option<Arc<Client>>,
    /// The answers to the statements that were sent and not awaited, in their order.
    unanswered: VecDeque<Answer>,
    poll_connection: PollConnection,
    /// Asks the server to cancel the statement under way, over another connection.
    cancel: Box<dyn Fn(&Runtime) + Send>,
    state: ConnectionState,
}

/// State of a connection, as its messages tell it.
#[derive(Debug, Default)]
struct ConnectionState {
    /// True once the connection has ended, after which it may not be polled.
    has_ended: bool,
    /// True once an answer was not awaited any longer. The connection cannot be used then.
    has_timed_out: bool,
    /// True if the server has warned since the last question that a commit is not confirmed by a standby.
    is_unconfirmed: bool,
}

impl TimedClient {
    /// Connects, within a limit for everything that belongs to it.
    pub(super) fn connect<T>(config: &Config, tls: T, limit: Duration) -> Result<Self>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + 'static,
        T::TlsConnect: Send,
        T::Stream: Send + 'static,
        <T::TlsConnect as tokio_postgres::tls::TlsConnect<Socket>>::Future: Send,
    {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::new(ErrorKind::Other, error.to_string()))?;
        let connected = runtime.block_on(async { timeout(limit, config.connect(tls.clone())).await });
        let (client, mut connection) = connected.map_err(|_| no_answer())??;
        let token = client.cancel_token();
        let cancel = move |runtime: &Runtime| {
            // A statement that cannot be cancelled ends by itself, or with the server.
            let _ = runtime.block_on(async { timeout(GOODBYE, token.cancel_query(tls.clone())).await });
        };
        Ok(Self {
            runtime,
            client: Some(Arc::new(client)),
            unanswered: VecDeque::new(),
            poll_connection: Box::new(move |context| connection.poll_message(context)),
            cancel: Box::new(cancel),
            state: ConnectionState::default(),
        })
    }

    /// Sends a statement with the next question, and does not wait for its answer. Returns the number of statements
    /// whose answers are not known.
    ///
    /// # Errors
    /// If the connection is gone, or a value does not fit a parameter.
    pub(super) fn send(&mut self, statement: &Statement, values: Vec<Kept>) -> Result<usize> {
        let client = self.client.as_ref().filter(|_| !self.state.has_timed_out).ok_or_else(has_ended)?;
        let (client, statement) = (Arc::clone(client), statement.clone());
        let mut answer: Answer = Box::pin(async move {
            let parameters: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
            client.execute(&statement, &parameters).await.map(drop)
        });
        // The first look puts the statement into the order of those that the connection sends.
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answered) => answered?,
            Poll::Pending => self.unanswered.push_back(answer),
        }
        Ok(self.unanswered.len())
    }

    /// Returns the number of statements that were sent and whose answers are not known.
    pub(super) fn count_unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Gives up the answers to what was sent: whatever they are, it will be undone.
    pub(super) fn forget_sent(&mut self) {
        self.unanswered.clear();
    }

    /// Asks, and waits for the answer, and for those to all that was sent before. Without a limit, waits for as long as
    /// the connection lasts.
    ///
    /// # Errors
    /// That of the first statement that has failed. [`ErrorKind::Unavailable`] if the answer does not come in time. The
    /// connection cannot be used any more then.
    pub(super) fn ask<T>(
        &mut self,
        limit: Option<Duration>,
        question: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T> {
        let Self { runtime, client, unanswered, poll_connection, state, .. } = self;
        let client = client.as_ref().filter(|_| !state.has_timed_out).ok_or_else(has_ended)?;
        state.is_unconfirmed = false;
        let answer = async {
            let mut answer = pin!(question(client));
            let mut answered = None;
            let mut failure = None;
            poll_fn(|context| {
                if let Some(error) = state.read_messages(poll_connection, context) {
                    return Poll::Ready(Err(error));
                }
                // Looked at first, because the first look sends the question together with what was sent before.
                if answered.is_none()
                    && let Poll::Ready(outcome) = answer.as_mut().poll(context)
                {
                    answered = Some(outcome);
                }
                while let Some(earlier) = unanswered.front_mut() {
                    let Poll::Ready(outcome) = earlier.as_mut().poll(context) else { return Poll::Pending };
                    unanswered.pop_front();
                    failure = failure.take().or(outcome.err());
                }
                match answered.take() {
                    // After a failure the database refuses what follows, which says less.
                    Some(outcome) => Poll::Ready(failure.take().map_or(outcome, Err)),
                    None => Poll::Pending,
                }
            })
            .await
        };
        let answered = runtime.block_on(async {
            match limit {
                Some(limit) => timeout(limit, answer).await.ok(),
                None => Some(answer.await),
            }
        });
        match answered {
            Some(answer) => Ok(answer?),
            None => {
                self.state.has_timed_out = true;
                Err(no_answer())
            }
        }
    }

    /// Reads all that has arrived without a question, and does not wait. Returns true if the connection has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        let Self { runtime, poll_connection, state, .. } = self;
        runtime.block_on(async {
            // The runtime looks at the network when nothing else can be done, so the second look sees what is there.
            for _ in 0..2 {
                poll_fn(|context| Poll::Ready(state.read_messages(poll_connection, context))).await;
                yield_now().await;
            }
        });
        self.is_closed()
    }

    /// Asks the server to cancel the statement whose answer was not awaited any longer, so that it does not keep a
    /// connection of the server for ever. Does nothing if there is none.
    pub(super) fn cancel_timed_out(&self) {
        if self.state.has_timed_out {
            (self.cancel)(&self.runtime);
        }
    }

    /// Returns true if the last answer was that of a commit that is not confirmed by a standby.
    pub(super) fn is_unconfirmed(&self) -> bool {
        self.state.is_unconfirmed
    }

    /// Returns true if the connection has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.state.has_timed_out || self.state.has_ended || self.client.as_deref().is_none_or(Client::is_closed)
    }
}

impl ConnectionState {
    /// Reads all messages that have arrived. Returns the failure of the connection, if there is one.
    fn read_messages(&mut self, poll: &mut PollConnection, context: &mut Context<'_>) -> Option<ClientError> {
        while !self.has_ended {
            match poll(context) {
                Poll::Pending => break,
                Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) => {
                    self.is_unconfirmed |= is_cancelled_wait(&notice)
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(None) => self.has_ended = true,
                Poll::Ready(Some(Err(error))) => {
                    self.has_ended = true;
                    return Some(error);
                }
            }
        }
        None
    }
}

impl Drop for TimedClient {
    fn drop(&mut self) {
        // Without the client, which each answer keeps, the connection says goodbye and ends.
        self.unanswered.clear();
        self.client = None;
        let Self { runtime, poll_connection, state, .. } = self;
        if state.has_timed_out {
            return;
        }
        let goodbye = poll_fn(|context| {
            let _ = state.read_messages(poll_connection, context);
            if state.has_ended { Poll::Ready(()) } else { Poll::Pending }
        });
        let _ = runtime.block_on(async { timeout(GOODBYE, goodbye).await });
    }
}

/// Returns true if a notice may say that the wait of a commit for a standby was cancelled: the transaction is committed
/// on this server, and lost if another one becomes the primary. The notice has no code of its own, and its text is in
/// the language of the server, so each warning without a code counts. Sent by `SyncRepWaitForLSN`.
fn is_cancelled_wait(notice: &DbError) -> bool {
    notice.parsed_severity() == Some(Severity::Warning) && ["01000", "57P01"].contains(&notice.code().code())
}

fn has_ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the session has ended")
}

fn no_answer() -> Error {
    Error::new(ErrorKind::Unavailable, "the database does not answer in time")
}
