//! A protocol of words: four bytes of length, a letter for the kind, a key and a body.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::*;

/// Maximum size of a message.
const MAX_MESSAGE: usize = 1 << 20;

/// The protocol of the tests.
#[derive(Default)]
pub(super) struct WordProtocol {
    pub(super) has_sign_on: bool,
    pub(super) has_sign_off: bool,
    pub(super) count: AtomicU64,
}

impl WordProtocol {
    fn create_control(&self, kind: &str) -> ControlMessage {
        let key = format!("{kind}-{}", self.count.fetch_add(1, Ordering::Relaxed));
        ControlMessage { message: LineMessage::new(format!("C:{key}:").into_bytes()), key: RequestKey::new(&key) }
    }
}

impl LineProtocol for WordProtocol {
    fn create_decoder(&self) -> Box<dyn FrameDecoder> {
        Box::new(WordDecoder(Vec::new()))
    }

    fn frame_message(&self, message: &[u8], frame: &mut Vec<u8>) -> Result<(), String> {
        if message.len() > MAX_MESSAGE {
            return Err("the message is too long".to_owned());
        }
        frame.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        frame.extend_from_slice(message);
        Ok(())
    }

    fn classify_message(&self, message: &LineMessage) -> IncomingMessage {
        let text = String::from_utf8_lossy(message);
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        match parts[..] {
            ["A", key, _] => IncomingMessage::Answer(RequestKey::new(key)),
            ["P", key, _] => IncomingMessage::Request(LineMessage::new(format!("R:{key}:").into_bytes())),
            ["I", ..] => IncomingMessage::Ignored,
            ["PANIC", ..] => panic!("a panic of the protocol, which this test expects"),
            _ => IncomingMessage::Foreign("its kind is not known".to_owned()),
        }
    }

    fn create_sign_on(&self) -> Option<ControlMessage> {
        self.has_sign_on.then(|| self.create_control("on"))
    }

    fn create_echo(&self) -> Option<ControlMessage> {
        Some(self.create_control("echo"))
    }

    fn create_sign_off(&self) -> Option<ControlMessage> {
        self.has_sign_off.then(|| self.create_control("off"))
    }

    fn check_control_answer(&self, answer: &LineMessage) -> Result<(), String> {
        match body(answer).as_str() {
            "00" => Ok(()),
            code => Err(format!("response code {code}")),
        }
    }
}

/// Returns the body of an answer.
pub(super) fn body(message: &LineMessage) -> String {
    String::from_utf8_lossy(message).splitn(3, ':').nth(2).unwrap().to_owned()
}

struct WordDecoder(Vec<u8>);

impl FrameDecoder for WordDecoder {
    fn decode(&mut self, bytes: &[u8], messages: &mut Vec<LineMessage>) -> Result<(), String> {
        self.0.extend_from_slice(bytes);
        while let Some(header) = self.0.first_chunk::<4>() {
            let length = usize::try_from(u32::from_be_bytes(*header)).unwrap();
            if length > MAX_MESSAGE {
                return Err(format!("a frame has {length} bytes"));
            }
            if self.0.len() < 4 + length {
                return Ok(());
            }
            messages.push(LineMessage::new(self.0[4..4 + length].to_vec()));
            self.0.drain(..4 + length);
        }
        Ok(())
    }
}
