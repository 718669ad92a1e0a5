//! The protocol of a line: sign-on, echo and sign-off, and the host's own requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::tz::TimeZone;
use tillgate_os::clock::{Clock as _, SystemClock};

use super::connection::HostMessages;
use super::message_key::{answer_key, request_key};
use crate::iso8583::{Datum, IsoMessage, IsoRequestKind};
use crate::line::{ControlMessage, FrameDecoder, IncomingMessage, LineMessage, LineProtocol};

/// Requests of a line that a host may send as well.
const NETWORK_REQUESTS: [IsoRequestKind; 3] = [IsoRequestKind::SignOn, IsoRequestKind::SignOff, IsoRequestKind::Echo];

/// The messages of a line in a dialect.
pub(super) struct IsoLineProtocol {
    messages: HostMessages,
    terminal: String,
    acquirer: String,
    time_zone: TimeZone,
    /// Trace number of the next control message. They are in a class of their own, so no payment has the same key.
    next_trace: AtomicU32,
}

impl IsoLineProtocol {
    /// Makes the protocol of a connector's lines.
    pub(super) fn new(messages: HostMessages, terminal: &str, acquirer: &str, time_zone: TimeZone) -> Arc<Self> {
        // Begins at the second of the day, so that a restart does not use the numbers of a minute ago again.
        let second = SystemClock.now().as_second().rem_euclid(86_400);
        let next_trace = AtomicU32::new(u32::try_from(second).unwrap_or_default());
        Arc::new(Self { messages, terminal: terminal.to_owned(), acquirer: acquirer.to_owned(), time_zone, next_trace })
    }

    fn create_control(&self, kind: IsoRequestKind) -> Option<ControlMessage> {
        let dialect = self.messages.dialect();
        let (data, mut message) = (dialect.data(), dialect.begin_request(kind)?);
        // Only uniqueness counts, so no other memory has to be ordered with it.
        let trace = self.next_trace.fetch_add(1, Ordering::Relaxed) % 999_999 + 1;
        let now = SystemClock.now();
        let mut fill = || {
            data.set_time(&mut message, Datum::Transmitted, now.to_zoned(TimeZone::UTC).datetime())?;
            data.set(&mut message, Datum::TraceNumber, &trace.to_string())?;
            // Hosts refuse unexpected fields in these messages, so the others are sent only if answers repeat them.
            let is_repeated =
                |datum| data.field_of(datum).is_some_and(|number| dialect.correlation_fields().contains(&number));
            if is_repeated(Datum::LocalTime) {
                let local = now.to_zoned(self.time_zone.clone()).datetime();
                data.set_time(&mut message, Datum::LocalTime, local)?;
            }
            for (datum, text) in [(Datum::Terminal, &self.terminal), (Datum::Acquirer, &self.acquirer)] {
                if is_repeated(datum) {
                    data.set(&mut message, datum, text)?;
                }
            }
            Ok(())
        };
        let filled = fill().and_then(|()| self.messages.encode(&message));
        match filled {
            Ok(bytes) => {
                Some(ControlMessage { key: request_key(dialect, &message)?, message: LineMessage::new(bytes) })
            }
            Err(error) => {
                tracing::error!(?kind, %error, "encoding a control message failed");
                None
            }
        }
    }

    /// Makes the reply to a request of the host: positive for a sign-on, a sign-off and an echo, negative for any other
    /// request about the network, such as a change of keys. `None` for a request about a payment.
    fn reply_to(&self, request: &IsoMessage) -> Option<IsoMessage> {
        let dialect = self.messages.dialect();
        let kinds = NETWORK_REQUESTS.iter().filter_map(|kind| dialect.request(*kind));
        let mut same_class = kinds.filter(|own| own.mti.response() == request.mti().response()).peekable();
        same_class.peek()?;
        let is_known =
            same_class.any(|own| own.fields.iter().all(|(number, text)| request.text(*number) == Some(text)));
        let code = if is_known { dialect.network_approval() } else { dialect.unsupported_code() }?;
        let mut reply = IsoMessage::new(request.mti().response()?);
        for (number, value) in request.fields() {
            reply.set_field(number, value.clone());
        }
        Some(reply.with_text(dialect.response_field(), code))
    }
}

impl LineProtocol for IsoLineProtocol {
    fn create_decoder(&self) -> Box<dyn FrameDecoder> {
        self.messages.create_decoder()
    }

    fn frame_message(&self, message: &[u8], frame: &mut Vec<u8>) -> Result<(), String> {
        self.messages.frame_request(message, frame)
    }

    fn classify_message(&self, message: &LineMessage) -> IncomingMessage {
        let decoded = match self.messages.decode_unverified(message) {
            Ok(decoded) => decoded,
            Err(error) => return IncomingMessage::Foreign(error.to_string()),
        };
        if let Some(key) = answer_key(self.messages.dialect(), &decoded) {
            return IncomingMessage::Answer(key);
        }
        let mti = decoded.mti();
        if let Err(error) = self.messages.decode(message) {
            return IncomingMessage::Foreign(format!("type {mti}: {error}"));
        }
        let reply = self.reply_to(&decoded).map(|reply| self.messages.encode(&reply));
        match reply {
            Some(Ok(reply)) => IncomingMessage::Request(LineMessage::new(reply)),
            Some(Err(error)) => IncomingMessage::Foreign(format!("type {mti} cannot be answered: {error}")),
            None => IncomingMessage::Foreign(format!("type {mti} is not expected from a host")),
        }
    }

    fn create_sign_on(&self) -> Option<ControlMessage> {
        self.create_control(IsoRequestKind::SignOn)
    }

    fn create_echo(&self) -> Option<ControlMessage> {
        self.create_control(IsoRequestKind::Echo)
    }

    fn create_sign_off(&self) -> Option<ControlMessage> {
        self.create_control(IsoRequestKind::SignOff)
    }

    fn check_control_answer(&self, answer: &LineMessage) -> Result<(), String> {
        let dialect = self.messages.dialect();
        let answer = self.messages.decode(answer).map_err(|error| error.to_string())?;
        match answer.text(dialect.response_field()) {
            Some(code) if dialect.is_network_accepted(code) => Ok(()),
            Some(code) => Err(format!("the host refuses with response code {code}")),
            None => Err("the answer of the host has no response code".to_owned()),
        }
    }
}
