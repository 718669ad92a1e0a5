//! Serves the requests of one connection until it ends, a deadline passes, or the connection is evicted.

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

use super::deadline::ConnectionState;
use super::stream::TrackedStream;
use super::table::ConnectionEntry;

/// Maximum size of a request's head: 64 KiB for the address, and 16 KiB for the other headers.
const HEAD_LIMIT: usize = 80 * 1024;
/// Interval of the timer while there is no deadline.
const NO_DEADLINE: Duration = Duration::from_secs(60);

/// Serves a connection until it ends, its deadline passes, or it is evicted. If it is only requested to close, the
/// request in flight is answered first. Errors of the connection are ignored. `entry` is its entry in the connection
/// table, which is removed at the end.
pub(super) async fn serve_connection<S>(stream: TcpStream, peer: SocketAddr, entry: ConnectionEntry, service: S)
where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let state = Arc::clone(&entry.state);
    let request_state = Arc::clone(&state);
    let handle = service_fn(move |request: hyper::Request<Incoming>| {
        let (state, service) = (Arc::clone(&request_state), service.clone());
        async move { Ok::<_, Infallible>(handle_request(request, peer, state, service).await) }
    });
    let io = TokioIo::new(TrackedStream::new(stream, Arc::clone(&state)));
    let mut connection = pin!(http1::Builder::new().max_buf_size(HEAD_LIMIT).serve_connection(io, handle));
    let mut close = pin!(state.close.notified());
    let mut timer_end = state.deadline().unwrap_or_else(Instant::now);
    let mut timer = pin!(tokio::time::sleep_until(timer_end.into()));
    std::future::poll_fn(|cx| {
        // A broken connection is not an error of the server.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while close.as_mut().poll(cx).is_ready() {
            // A request may have reached the service since the eviction. It gets its response before the connection
            // closes.
            if state.evicted.load(Relaxed) && state.eviction_order().is_some() {
                return Poll::Ready(());
            }
            connection.as_mut().graceful_shutdown();
            close.set(state.close.notified());
            // Polls again to process the change.
            cx.waker().wake_by_ref();
        }
        // Between two requests the deadline only moves into the future, which costs the timer next to nothing.
        if let Some(deadline) = state.deadline().filter(|deadline| *deadline != timer_end) {
            timer_end = deadline;
            timer.as_mut().reset(timer_end.into());
        }
        while timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            match state.deadline() {
                Some(deadline) if deadline <= now => return Poll::Ready(()),
                deadline => timer_end = deadline.unwrap_or(now + NO_DEADLINE),
            }
            // A timer that has ended wakes no task again, so it is always set to a later time.
            timer.as_mut().reset(timer_end.into());
        }
        Poll::Pending
    })
    .await;
}

/// Passes a request to the service, with the peer's address, and tracks the bodies of the request and of its response.
/// Closes the connection after the response if the request's body was not read, or may have stayed in the read buffer.
async fn handle_request<S>(
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
    let track = |body| TrackedBody { body, state: Arc::clone(&state), on_end: ConnectionState::end_request };
    let mut request = request.map(|incoming| Body::new(track(incoming)));
    request.extensions_mut().insert(ConnectInfo(peer));
    let Ok(mut response) = service.oneshot(request).await;
    // See `stream.rs`: this body may stay in the read buffer until the connection is closed. After a body that was not
    // read, the connection cannot be used again, and the client has to know that before its next request.
    if has_body && (state.buffer_grown.load(Relaxed) || state.is_body_unread()) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    // A dropped response counts as complete as well, because no more of it will be sent.
    response.map(|body| TrackedBody { body, state, on_end: |state, _| state.end_response() })
}

/// A body that reports its end, or that it was dropped, to the connection's state.
struct TrackedBody<B> {
    body: B,
    state: Arc<ConnectionState>,
    /// Called with true at the end of the body, and with false after an error and when the body is dropped.
    on_end: fn(&ConnectionState, bool),
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for TrackedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Err(_))) => (self.on_end)(&self.state, false),
            // hyper stops polling a body that says it has ended, so the end is not always a `None`.
            _ if self.body.is_end_stream() || matches!(polled, Poll::Ready(None)) => (self.on_end)(&self.state, true),
            _ => {}
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
        // The service may drop a body before its end. Otherwise the connection could be evicted while the service is
        // working on its request.
        (self.on_end)(&self.state, false);
    }
}
