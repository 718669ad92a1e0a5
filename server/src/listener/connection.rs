//! Serves the requests of one connection until it ends, its time is over, or it has to make room.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::{Service, ServiceExt as _};

use super::state::ConnectionState;
use super::stream::TrackedStream;
use super::table::Entry;

/// Maximum size of a request's head: as long as an address may be (64 KiB), and 16 KiB for the other headers.
const HEAD_LIMIT: usize = 80 * 1024;
/// Distance of the timer while no deadline runs.
const NO_DEADLINE: Duration = Duration::from_secs(60);

/// Serves a connection. `entry` is its place in the connection table.
pub(super) async fn serve<S>(stream: TcpStream, peer: SocketAddr, entry: Entry, service: S)
where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let state = Arc::clone(&entry.state);
    let of_request = Arc::clone(&state);
    let handle = service_fn(move |request: hyper::Request<Incoming>| {
        let (state, service) = (Arc::clone(&of_request), service.clone());
        async move { Ok::<_, Infallible>(answer(request, peer, state, service).await) }
    });
    let io = TokioIo::new(TrackedStream { stream, state: Arc::clone(&state) });
    let mut connection = pin!(http1::Builder::new().max_buf_size(HEAD_LIMIT).serve_connection(io, handle));
    let mut close = pin!(state.close.notified());
    let mut armed = state.deadline().unwrap_or_else(Instant::now);
    let mut timer = pin!(tokio::time::sleep_until(armed.into()));
    std::future::poll_fn(|cx| {
        // A connection that breaks is the client's affair.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while close.as_mut().poll(cx).is_ready() {
            if state.evicted.load(Relaxed) && state.eviction_order().is_some() {
                return Poll::Ready(());
            }
            connection.as_mut().graceful_shutdown();
            close.set(state.close.notified());
            // What has just changed is polled for.
            cx.waker().wake_by_ref();
        }
        // Between two requests the deadline only moves into the future, which costs the timer next to nothing.
        if let Some(deadline) = state.deadline().filter(|deadline| *deadline != armed) {
            armed = deadline;
            timer.as_mut().reset(armed.into());
        }
        while timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            match state.deadline() {
                Some(deadline) if deadline <= now => return Poll::Ready(()),
                deadline => armed = deadline.unwrap_or(now + NO_DEADLINE),
            }
            timer.as_mut().reset(armed.into());
        }
        Poll::Pending
    })
    .await;
}

/// Has a request answered by the service.
async fn answer<S>(
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
    state: Arc<ConnectionState>,
    service: S,
) -> Response<TrackedBody<Body>>
where
    S: Service<Request, Response = Response<Body>, Error = Infallible>,
{
    let has_body = !request.body().is_end_stream();
    state.begin_request(has_body);
    let body = |body| TrackedBody { body, state: Arc::clone(&state), end: ConnectionState::end_request };
    let mut request = request.map(|incoming| Body::new(body(incoming)));
    request.extensions_mut().insert(ConnectInfo(peer));
    let Ok(mut response) = service.oneshot(request).await;
    // See `stream.rs`: this body may stay in the read buffer until the connection is closed.
    if has_body && state.buffer_grown.load(Relaxed) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.map(|body| TrackedBody { body, state, end: ConnectionState::end_answer })
}

/// A body whose end, or its being given up, is told to the connection's state.
struct TrackedBody<B> {
    body: B,
    state: Arc<ConnectionState>,
    end: fn(&ConnectionState),
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for TrackedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if self.body.is_end_stream() || matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            (self.end)(&self.state);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for TrackedBody<B> {
    fn drop(&mut self) {
        (self.end)(&self.state);
    }
}
