//! The state of a listener: dialect, MAC key, limits, and the host's ledger.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tillgate_connector::iso8583::{
    DecodeError, Dialect, EncodeError, Frame, IsoFault, IsoMessage, IsoVersion, MacKey, Mti, write_frame,
};
use tokio::sync::Semaphore;

use super::IsoServerOptions;
use crate::acquirer_host::routes::HostState;

/// Maximum number of requests in flight on all connections of a listener. Late bookings continue after the end of their
/// connection, so a limit of each connection would not bound them.
const MAX_REQUESTS: usize = 4096;

/// The state of a listener, shared by its connections.
pub(super) struct IsoHost {
    /// Ledger, faults, clock and delays.
    pub(super) state: Arc<HostState>,
    /// The dialect.
    pub(super) dialect: Dialect,
    /// Time without a message after which an echo is sent.
    pub(super) echo_after: Duration,
    /// Time limit for the answer to an echo.
    pub(super) echo_timeout: Duration,
    /// Time limit for writing a message.
    pub(super) write_timeout: Duration,
    /// Slots of requests in flight.
    pub(super) request_slots: Arc<Semaphore>,
    mac_key: Option<MacKey>,
}

/// A message of a client.
pub(super) struct ReceivedMessage {
    /// The message.
    pub(super) message: IsoMessage,
    /// False if its MAC is missing or wrong.
    pub(super) is_verified: bool,
}

impl IsoHost {
    /// Makes the state of a listener.
    ///
    /// # Errors
    /// If the dialect cannot be served, or the MAC key does not belong to it.
    pub(super) fn new(options: IsoServerOptions, state: Arc<HostState>) -> anyhow::Result<Self> {
        let IsoServerOptions { dialect, mac_key, echo_after, echo_timeout, write_timeout, .. } = options;
        let request_slots = Arc::new(Semaphore::new(MAX_REQUESTS));
        let host = Self { state, dialect, echo_after, echo_timeout, write_timeout, request_slots, mac_key };
        host.check_dialect()?;
        Ok(host)
    }

    /// Checks that requests of the dialect can be booked, and that its responses can be written.
    fn check_dialect(&self) -> anyhow::Result<()> {
        let dialect = &self.dialect;
        if dialect.data().is_empty() {
            bail!("it has no table `data`, so its messages have no payments");
        }
        // The action codes of 2003 have four digits, and no acquirer's list of them is at hand.
        if dialect.version() == IsoVersion::Iso2003 {
            bail!("the host has no action codes of ISO 8583:2003");
        }
        match (dialect.mac(), &self.mac_key) {
            (Some(_), None) => bail!("its messages have MACs: a MAC key is needed"),
            (None, Some(_)) => bail!("its messages have no MACs: a MAC key has no effect"),
            _ => {}
        }
        let mti = Mti::parse(&format!("{}110", dialect.version().digit())).context("the message type is wrong")?;
        let code = if dialect.version() == IsoVersion::Iso1987 { "00" } else { "000" };
        let sample = IsoMessage::new(mti).with_text(dialect.response_field(), code);
        self.encode_message(&sample).context("the host's responses do not fit")?;
        Ok(())
    }

    /// Decodes a message, and verifies its MAC if the dialect has MACs.
    ///
    /// # Errors
    /// The bytes are no message of the dialect. The error has no value of the message.
    pub(super) fn decode_message(&self, bytes: &[u8]) -> Result<ReceivedMessage, DecodeError> {
        let Some(key) = &self.mac_key else {
            return Ok(ReceivedMessage { message: self.dialect.decode(bytes)?, is_verified: true });
        };
        match self.dialect.decode_with_mac(bytes, key) {
            Ok(message) => Ok(ReceivedMessage { message, is_verified: true }),
            Err(DecodeError { fault: IsoFault::MacMissing | IsoFault::MacMismatch, .. }) => {
                Ok(ReceivedMessage { message: self.dialect.decode(bytes)?, is_verified: false })
            }
            Err(error) => Err(error),
        }
    }

    /// Encodes a message, with its MAC if the dialect has MACs.
    fn encode_message(&self, message: &IsoMessage) -> Result<Vec<u8>, EncodeError> {
        match &self.mac_key {
            Some(key) => self.dialect.encode_with_mac(message, key),
            None => self.dialect.encode(message),
        }
    }

    /// Encodes a message with the MAC of another key. Returns `None` if the dialect has no MACs.
    pub(super) fn encode_with_wrong_mac(&self, message: &IsoMessage) -> Option<Vec<u8>> {
        // The key is public. It equals no secret key, except by an accident with a probability of 2^-112.
        let key = MacKey::new(self.dialect.mac()?.algorithm, b"not the real key")?;
        self.dialect.encode_with_mac(message, &key).ok()
    }

    /// Writes the frame of a response. Logs the error and returns `None` if the response does not fit.
    pub(super) fn frame_response(&self, request: &Frame, response: &IsoMessage) -> Option<Vec<u8>> {
        match self.encode_message(response) {
            Ok(message) => self.frame_bytes(request, message),
            Err(error) => {
                tracing::error!(%error, dialect = self.dialect.name(), "encoding an ISO 8583 message failed");
                None
            }
        }
    }

    /// Writes the frame of a response, whose message may be any bytes. Logs the error and returns `None` if they do not
    /// fit.
    pub(super) fn frame_bytes(&self, request: &Frame, message: Vec<u8>) -> Option<Vec<u8>> {
        match write_frame(self.dialect.frames(), &request.frame_response(message)) {
            Ok(frame) => Some(frame),
            Err(error) => {
                tracing::error!(%error, dialect = self.dialect.name(), "framing an ISO 8583 message failed");
                None
            }
        }
    }
}
