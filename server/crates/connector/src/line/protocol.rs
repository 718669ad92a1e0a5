//! The messages of a line: how they are framed and matched is the business of an implementation of [`LineProtocol`].

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A whole message without its frame. It may hold card data, so its debug text shows only its length.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct LineMessage(Vec<u8>);

impl LineMessage {
    /// Wraps the bytes of a message.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl Deref for LineMessage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for LineMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LineMessage({} bytes)", self.0.len())
    }
}

/// The part of a request that its answer repeats, such as type, trace number and terminal. It is logged, so it must not
/// contain card data. Its clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(Arc<str>);

impl RequestKey {
    /// Wraps a key. Different kinds of requests need different keys, because an answer is matched by its key alone.
    pub fn new(key: &str) -> Self {
        Self(key.into())
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The use of a key by a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyUse {
    /// The key of a new request. No other request may have used it a short while ago.
    New,
    /// The key of a request that is sent again. An answer to the earlier one is as good as an answer to this one, so
    /// only the key of a request in flight is refused.
    Repeated,
}

/// A message of the line itself: a sign-on, an echo or a sign-off.
#[derive(Debug, Clone)]
pub struct ControlMessage {
    /// Key of the answer.
    pub key: RequestKey,
    /// The message, without its frame.
    pub message: LineMessage,
}

/// The meaning of a message that the host has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncomingMessage {
    /// The answer to a request or a control message with this key.
    Answer(RequestKey),
    /// A request of the host, such as its own echo, with the reply to it. The reply is sent before waiting requests.
    Request(LineMessage),
    /// A message that needs no reply.
    Ignored,
    /// A message that is not part of the protocol, with the reason in plain words and without card data. It is logged.
    Foreign(String),
}

/// Splits the bytes of one connection into messages.
pub trait FrameDecoder: Send {
    /// Reads the bytes that follow the earlier ones, and appends each message that is complete with them. It keeps the
    /// rest for the next call, at most the bytes of one message of the allowed size.
    ///
    /// # Errors
    /// The reason in plain words, without bytes of messages. The connection then ends, because the beginning of the
    /// next message is unknown. Messages that were appended before are still used.
    fn decode(&mut self, bytes: &[u8], messages: &mut Vec<LineMessage>) -> Result<(), String>;
}

/// The rules of a host's messages. It does no I/O and does not block.
pub trait LineProtocol: Send + Sync {
    /// Creates the decoder of a new connection.
    fn create_decoder(&self) -> Box<dyn FrameDecoder>;

    /// Appends a message in its frame to the bytes to send.
    ///
    /// # Errors
    /// The reason in plain words, such as a message that is too long for the frame. Nothing is sent then.
    fn frame_message(&self, message: &[u8], frame: &mut Vec<u8>) -> Result<(), String>;

    /// Determines the meaning of a message of the host.
    fn classify_message(&self, message: &LineMessage) -> IncomingMessage;

    /// Creates a sign-on, which is answered before the first request of a connection. `None` if the host needs none.
    fn create_sign_on(&self) -> Option<ControlMessage> {
        None
    }

    /// Creates an echo, with a different key each time. `None` if the host answers none; a dead connection is then
    /// noticed by its requests only.
    fn create_echo(&self) -> Option<ControlMessage>;

    /// Creates a sign-off, the last message of a connection that is closed on purpose. `None` if the host needs none.
    fn create_sign_off(&self) -> Option<ControlMessage> {
        None
    }

    /// Checks that an answer to a sign-on or an echo is positive.
    ///
    /// # Errors
    /// The refusal in plain words, such as the response code. The connection then ends.
    fn check_control_answer(&self, answer: &LineMessage) -> Result<(), String>;
}
