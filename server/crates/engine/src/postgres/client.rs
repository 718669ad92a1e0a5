//! A connection whose answers are awaited for a limited time. It notices commits that no standby has confirmed.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Config, Error as ClientError, Socket};

use crate::{Error, ErrorKind, Result};

/// Maximum time for the last words of a connection, and for the request to cancel a statement.
const GOODBYE: Duration = Duration::from_secs(1);

/// Lets the connection read and write. Returns the messages that answer no question.
type PollConnection = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage, ClientError>>> + Send>;

/// A connection to a server. It reads and writes only while an answer is awaited.
pub(super) struct TimedClient {
    runtime: Runtime,
    /// `None` while the connection is being closed.
    client: Option<Client>,
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
            client: Some(client),
            poll_connection: Box::new(move |context| connection.poll_message(context)),
            cancel: Box::new(cancel),
            state: ConnectionState::default(),
        })
    }

    /// Asks, and waits for the answer. Without a limit, waits for as long as the connection lasts.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if the answer does not come in time. The connection cannot be used any more then.
    pub(super) fn ask<T>(
        &mut self,
        limit: Option<Duration>,
        question: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T> {
        let Self { runtime, client, poll_connection, state, .. } = self;
        let Some(client) = client.as_ref().filter(|_| !state.has_timed_out) else {
            return Err(Error::new(ErrorKind::Unavailable, "the session has ended"));
        };
        state.is_unconfirmed = false;
        let answer = async {
            let mut answer = pin!(question(client));
            poll_fn(|context| match state.read_messages(poll_connection, context) {
                Some(error) => Poll::Ready(Err(error)),
                None => answer.as_mut().poll(context),
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
        self.state.has_timed_out || self.state.has_ended || self.client.as_ref().is_none_or(Client::is_closed)
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
        // Without the client, the connection says goodbye and ends.
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

fn no_answer() -> Error {
    Error::new(ErrorKind::Unavailable, "the database does not answer in time")
}
