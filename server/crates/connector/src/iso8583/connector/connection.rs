//! Messages of a connection: bytes with their MAC, and the frames of a line.

use std::sync::Arc;

use crate::iso8583::{DecodeError, Dialect, EncodeError, FrameReader, IsoMessage, MacKey, write_frame};
use crate::line::{FrameDecoder, LineMessage};

/// A dialect with the key of its MACs.
#[derive(Debug, Clone)]
pub(super) struct HostMessages {
    dialect: Arc<Dialect>,
    mac_key: Option<MacKey>,
}

impl HostMessages {
    /// Joins a dialect and a key. With a key, all messages have a MAC in both directions.
    pub(super) fn new(dialect: Arc<Dialect>, mac_key: Option<MacKey>) -> Self {
        Self { dialect, mac_key }
    }

    /// Returns the dialect.
    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Encodes a message, with its MAC if there is a key.
    pub(super) fn encode(&self, message: &IsoMessage) -> Result<Vec<u8>, EncodeError> {
        match &self.mac_key {
            Some(key) => self.dialect.encode_with_mac(message, key),
            None => self.dialect.encode(message),
        }
    }

    /// Decodes a message, and verifies its MAC if there is a key.
    pub(super) fn decode(&self, bytes: &[u8]) -> Result<IsoMessage, DecodeError> {
        match &self.mac_key {
            Some(key) => self.dialect.decode_with_mac(bytes, key),
            None => self.dialect.decode(bytes),
        }
    }

    /// Decodes a message to find its request. Its MAC is not verified: a wrong one must end its own request, and not
    /// let it wait for its time-out.
    pub(super) fn decode_unverified(&self, bytes: &[u8]) -> Result<IsoMessage, DecodeError> {
        self.dialect.decode(bytes)
    }

    /// Appends the frame of a message of this side.
    pub(super) fn frame_request(&self, message: &[u8], frame: &mut Vec<u8>) -> Result<(), String> {
        let layout = self.dialect.frames();
        let bytes = write_frame(layout, &layout.frame_request(message.to_vec())).map_err(|error| error.to_string())?;
        frame.extend(bytes);
        Ok(())
    }

    /// Creates the decoder of a connection's frames.
    pub(super) fn create_decoder(&self) -> Box<dyn FrameDecoder> {
        Box::new(IsoFrameDecoder(FrameReader::new(self.dialect.frames().clone())))
    }
}

/// A decoder of frames.
struct IsoFrameDecoder(FrameReader);

impl FrameDecoder for IsoFrameDecoder {
    fn decode(&mut self, bytes: &[u8], messages: &mut Vec<LineMessage>) -> Result<(), String> {
        self.0.push_bytes(bytes);
        while let Some(frame) = self.0.next_frame().map_err(|error| error.to_string())? {
            messages.push(LineMessage::new(frame.message));
        }
        Ok(())
    }
}
