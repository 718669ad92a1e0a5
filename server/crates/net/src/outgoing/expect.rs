//! POST requests with `Expect: 100-continue` (RFC 9110, 10.1.1): the body is sent after the receiver's permission, or
//! after a second without one. The client library sends bodies at once, so this request is written to a connection of
//! its own, with the headers in a fixed order.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tower::ServiceExt as _;

use super::{OutgoingClient, OutgoingError, POST_LIMIT, ReceiverResponse, find_cause};

/// Maximum time to wait for the permission to send the body.
const CONTINUE_WAIT: Duration = Duration::from_secs(1);
/// Maximum size of the heads of all responses to one request.
const MAX_HEAD: usize = 16 * 1024;
/// Maximum number of headers of a response.
const MAX_HEADERS: usize = 100;

/// A form-encoded POST with `Expect: 100-continue`.
#[derive(Debug)]
pub struct ExpectingPost<'a> {
    /// The address.
    pub uri: &'a Uri,
    /// Names and values of the headers that follow the standard ones.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: &'a str,
}

impl OutgoingClient {
    /// Sends a request on a connection of its own, and waits at most 30 seconds for the status of the response. A
    /// receiver that refuses the expectation (417) gets the request once more without it. The response body is not
    /// read, and redirects are not followed.
    ///
    /// # Errors
    /// Same as [`OutgoingClient::send`], and [`OutgoingError::NoHttpResponse`].
    pub async fn send_expecting(&self, request: &ExpectingPost<'_>) -> Result<ReceiverResponse, OutgoingError> {
        self.check_target(request.uri)?;
        let exchanges = async {
            match self.exchange(request, true).await? {
                StatusCode::EXPECTATION_FAILED => self.exchange(request, false).await,
                status => Ok(status),
            }
        };
        let sent = tokio::time::timeout(POST_LIMIT, exchanges).await;
        let status = sent.map_err(|_| OutgoingError::Timeout(POST_LIMIT.as_secs()))??;
        Ok(ReceiverResponse { status, retry_after: None })
    }

    /// Connects, sends the request with or without the expectation, and returns the status of its response.
    async fn exchange(&self, request: &ExpectingPost<'_>, expects: bool) -> Result<StatusCode, OutgoingError> {
        let head = request.format_head(expects)?;
        let stream = self.connector.clone().oneshot(request.uri.clone()).await;
        let stream = TokioIo::new(stream.map_err(|error| find_cause(error.as_ref()))?);
        exchange_on(stream, head.as_bytes(), request.body.as_bytes(), expects.then_some(CONTINUE_WAIT)).await
    }
}

impl ExpectingPost<'_> {
    /// Returns the whole request as it is sent first, for people.
    ///
    /// # Errors
    /// If a header is not valid.
    pub fn describe(&self) -> Result<String, OutgoingError> {
        Ok(self.format_head(true)? + self.body)
    }

    /// Formats the request line and the headers, up to the empty line. Fails if a header is not valid.
    fn format_head(&self, expects: bool) -> Result<String, OutgoingError> {
        let path = self.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
        let host = self.uri.host().unwrap_or_default();
        let is_usual_port = matches!(
            (self.uri.scheme_str(), self.uri.port_u16()),
            (_, None) | (Some("https"), Some(443)) | (Some("http"), Some(80))
        );
        let port = self.uri.port_u16().filter(|_| !is_usual_port).map(|port| format!(":{port}")).unwrap_or_default();
        let expectation = if expects { "Expect: 100-continue\r\n" } else { "" };
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}{port}\r\nUser-Agent: Tillgate\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n{expectation}Connection: close\r\n",
            self.body.len()
        );
        for (name, value) in self.headers {
            // A line break would begin another header. Configurations are checked, so this is the second lock.
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| OutgoingError::Document)?;
            HeaderValue::from_str(value).map_err(|_| OutgoingError::Document)?;
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        Ok(head)
    }
}

/// Sends head and body on a connection, and returns the status of the response. With `wait`, the body follows the
/// response 100, or that much silence; a final status of 300 or more comes in its place.
async fn exchange_on<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    head: &[u8],
    body: &[u8],
    wait: Option<Duration>,
) -> Result<StatusCode, OutgoingError> {
    write_all(&mut stream, head).await?;
    let mut received = Vec::new();
    let mut early_status = None;
    if let Some(wait) = wait
        && let Ok(status) = tokio::time::timeout(wait, read_status(&mut stream, &mut received, true)).await
    {
        let status = status?;
        if status != StatusCode::CONTINUE {
            early_status = Some(status);
        }
        if early_status.is_some_and(|status| !status.is_success()) {
            return Ok(status);
        }
    }
    // A receiver may answer and close before it has read the body; then its answer counts.
    let written = write_all(&mut stream, body).await;
    match early_status {
        // The receiver has accepted before it had the body, which it got now.
        Some(status) => written.map(|()| status),
        None => read_status(&mut stream, &mut received, false).await.map_err(|fault| written.err().unwrap_or(fault)),
    }
}

/// Reads responses until one is final, or until 100 if `continues`, and returns its status. Bytes behind its head stay
/// in `received`, also if the call is cancelled.
async fn read_status<S: AsyncRead + Unpin>(
    stream: &mut S,
    received: &mut Vec<u8>,
    continues: bool,
) -> Result<StatusCode, OutgoingError> {
    let mut passed = 0;
    loop {
        while let Some((length, status)) = parse_head(received)? {
            received.drain(..length);
            passed += length;
            if !status.is_informational() || (continues && status == StatusCode::CONTINUE) {
                return Ok(status);
            }
        }
        if passed + received.len() > MAX_HEAD {
            return Err(OutgoingError::NoHttpResponse);
        }
        if read_some(stream, received).await? == 0 {
            return Err(OutgoingError::Connection("closed without an answer".to_owned()));
        }
    }
}

/// Parses the head of a response. Returns its length and status, or `None` if it is not complete yet.
fn parse_head(bytes: &[u8]) -> Result<Option<(usize, StatusCode)>, OutgoingError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(bytes) {
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(length)) => {
            let status = response.code.and_then(|code| StatusCode::from_u16(code).ok());
            status.map(|status| Some((length, status))).ok_or(OutgoingError::NoHttpResponse)
        }
        Err(_) => Err(OutgoingError::NoHttpResponse),
    }
}

/// Writes and flushes all bytes.
async fn write_all<S: AsyncWrite + Unpin>(stream: &mut S, mut bytes: &[u8]) -> Result<(), OutgoingError> {
    while !bytes.is_empty() {
        let written = poll_fn(|context| Pin::new(&mut *stream).poll_write(context, bytes)).await;
        match written.map_err(|error| connection_error(&error))? {
            0 => return Err(connection_error(&io::ErrorKind::WriteZero.into())),
            written => bytes = bytes.get(written..).unwrap_or_default(),
        }
    }
    let flushed = poll_fn(|context| Pin::new(&mut *stream).poll_flush(context)).await;
    flushed.map_err(|error| connection_error(&error))
}

/// Reads the next bytes to the end of `received`. Returns their number, zero at the end of the stream.
async fn read_some<S: AsyncRead + Unpin>(stream: &mut S, received: &mut Vec<u8>) -> Result<usize, OutgoingError> {
    let mut chunk = [0; 4096];
    let read = poll_fn(|context| {
        let mut buffer = ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
        Poll::Ready(Ok::<_, io::Error>(buffer.filled().len()))
    });
    let length = read.await.map_err(|error| connection_error(&error))?;
    received.extend(chunk.iter().take(length));
    Ok(length)
}

fn connection_error(error: &io::Error) -> OutgoingError {
    OutgoingError::Connection(error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    const LONG: Option<Duration> = Some(Duration::from_secs(600));
    const SHORT: Option<Duration> = Some(Duration::from_millis(20));

    /// Runs an exchange with a receiver that sends each of the texts once it has got that many bytes. Returns the
    /// outcome, and all that the receiver got.
    async fn exchange_with(
        replies: &[(usize, &str)],
        wait: Option<Duration>,
    ) -> (Result<StatusCode, OutgoingError>, String) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let replies: Vec<(usize, String)> =
            replies.iter().map(|(after, reply)| (*after, (*reply).to_owned())).collect();
        let receiver = tokio::task::spawn_blocking(move || {
            let (mut theirs, _) = listener.accept().unwrap();
            let mut got = Vec::new();
            for (after, reply) in replies {
                while got.len() < after {
                    let mut chunk = [0; 100];
                    let length = theirs.read(&mut chunk).unwrap();
                    assert!(length > 0, "closed early");
                    got.extend_from_slice(&chunk[..length]);
                }
                // The other end may have read enough and be gone.
                let _ = theirs.write_all(reply.as_bytes());
            }
            let _ = theirs.read_to_end(&mut got);
            String::from_utf8(got).unwrap()
        });
        let ours = tokio::net::TcpStream::connect(address).await.unwrap();
        let outcome = exchange_on(ours, b"HEAD\r\n\r\n", b"body", wait).await;
        (outcome, receiver.await.unwrap())
    }

    #[tokio::test]
    async fn the_body_follows_the_permission_or_silence() {
        const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
        const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
        const BOTH: &str = "HEAD\r\n\r\nbody";
        for (replies, wait, status, got) in [
            (&[(8, CONTINUE), (12, OK)][..], LONG, 200, BOTH),
            (&[(8, HINTS), (12, OK)], LONG, 200, BOTH),
            (&[(8, OK)], LONG, 200, BOTH),
            (&[(8, "HTTP/1.1 401 Unauthorized\r\n\r\n")], LONG, 401, "HEAD\r\n\r\n"),
            (&[(8, "HTTP/1.1 417 Expectation Failed\r\n\r\n")], LONG, 417, "HEAD\r\n\r\n"),
            (&[(8, "HTTP/1.0 302 Found\r\nLocation: http://evil.example/\r\n\r\n")], LONG, 302, "HEAD\r\n\r\n"),
            (&[(12, OK)], SHORT, 200, BOTH),
            (&[(8, "HTTP/1.1 "), (12, "404 Not Found\r\n\r\n")], SHORT, 404, BOTH),
            (&[(12, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")], SHORT, 204, BOTH),
            (&[(12, OK)], None, 200, BOTH),
        ] {
            let (outcome, received) = exchange_with(replies, wait).await;
            assert_eq!(outcome.map(|status| status.as_u16()), Ok(status), "{replies:?}");
            assert_eq!(received, got, "{replies:?}");
        }
    }

    #[tokio::test]
    async fn garbage_and_heads_without_end_are_no_responses() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(MAX_HEAD));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: 1\r\n".repeat(MAX_HEADERS + 1));
        let hints = "HTTP/1.1 103 Early Hints\r\nX: 12345678901234567890\r\n\r\n".repeat(400);
        for reply in ["SSH-2.0-OpenSSH_9.2\r\n", "\0\0\0", "HTTP/1.1 999999 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n"]
            .into_iter()
            .chain([long.as_str(), &many, &hints])
        {
            let (outcome, _) = exchange_with(&[(8, reply)], LONG).await;
            assert_eq!(outcome, Err(OutgoingError::NoHttpResponse), "{}", reply.get(..30).unwrap_or(reply));
        }
    }

    #[test]
    fn the_head_has_the_standard_headers_and_then_those_of_the_merchant() {
        let format = |address: &str, headers: &[(&str, &str)]| {
            let uri: Uri = address.parse().unwrap();
            ExpectingPost { uri: &uri, headers, body: "a=b" }.format_head(true)
        };
        assert_eq!(
            format("https://shop.example/decisions?a=b", &[("X-Shop", "kiln"), ("x-b", "1")]).unwrap(),
            "POST /decisions?a=b HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: Tillgate\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\
             Connection: close\r\nX-Shop: kiln\r\nx-b: 1\r\n\r\n"
        );
        let begins =
            |address: &str, start: &str| assert!(format(address, &[]).unwrap().starts_with(start), "{address}");
        begins("http://[2001:db8::1]:8080", "POST / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n");
        begins("https://shop.example:443?a", "POST /?a HTTP/1.1\r\nHost: shop.example\r\n");
        for (name, value) in [("X-A", "1\r\nHost: evil.example"), ("X-A: 1\r\nX-B", "1"), ("", "1"), ("X-A", "\u{7f}")]
        {
            assert_eq!(format("https://shop.example/", &[(name, value)]), Err(OutgoingError::Document), "{name}");
        }
    }
}
