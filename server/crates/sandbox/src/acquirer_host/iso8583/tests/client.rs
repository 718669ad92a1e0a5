//! A client for tests.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::civil::date;
use tillgate_connector::iso8583::{
    Datum, Dialect, FrameReader, IsoMessage, IsoRequestKind, IsoVersion, MacKey, write_frame,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time limit for a message that is expected.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time after which no message is expected any more.
pub(super) const SILENCE: Duration = Duration::from_millis(400);
/// The number of the last request, for trace numbers and references.
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A connection to a host.
pub(super) struct IsoClient {
    pub(super) dialect: Dialect,
    pub(super) key: Option<MacKey>,
    pub(super) stream: TcpStream,
    frames: FrameReader,
}

impl IsoClient {
    pub(super) async fn connect(address: SocketAddr, dialect: Dialect, key: Option<MacKey>) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let frames = FrameReader::new(dialect.frames().clone());
        Self { dialect, key, stream, frames }
    }

    /// Makes a request with a new trace number, time, terminal and merchant. Payments also have a card, an amount of
    /// 92.00 EUR and a new reference.
    pub(super) fn request(&self, kind: IsoRequestKind) -> IsoMessage {
        let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
        let mut message = self.dialect.begin_request(kind).unwrap();
        let data = self.dialect.data();
        let time = date(2026, 12, 1).at(10, 11, 12, 0);
        self.set(&mut message, Datum::TraceNumber, &number.to_string());
        for datum in [Datum::Transmitted, Datum::LocalTime, Datum::LocalDate] {
            data.set_time(&mut message, datum, time).unwrap();
        }
        self.set(&mut message, Datum::Terminal, "T-1");
        if matches!(kind, IsoRequestKind::SignOn | IsoRequestKind::SignOff | IsoRequestKind::Echo) {
            return message;
        }
        self.set(&mut message, Datum::MerchantId, "shop-1");
        self.set(&mut message, Datum::Reference, &format!("R{number:011}"));
        self.set(&mut message, Datum::Currency, "978");
        self.set(&mut message, Datum::Acquirer, "123456");
        if kind != IsoRequestKind::Verify {
            self.set(&mut message, Datum::Amount, "9200");
        }
        use IsoRequestKind::{Authorize, Credit, Debit, Verify};
        if matches!(kind, Authorize | Debit | Credit | Verify) {
            self.set(&mut message, Datum::Pan, "4200000000000000");
            self.set(&mut message, Datum::Expiry, "3405");
        }
        message
    }

    /// Makes a request with another amount in minor units.
    pub(super) fn request_of(&self, kind: IsoRequestKind, amount: u64) -> IsoMessage {
        let mut message = self.request(kind);
        self.set(&mut message, Datum::Amount, &amount.to_string());
        message
    }

    /// Makes a capture or refund that names its original by the reference.
    pub(super) fn modification(&self, kind: IsoRequestKind, original: &IsoMessage, amount: u64) -> IsoMessage {
        let mut message = self.request_of(kind, amount);
        self.set(&mut message, Datum::Reference, &self.get(original, Datum::Reference).unwrap());
        message
    }

    /// Makes the reversal of a request, with its reference and amount.
    pub(super) fn reversal(&self, original: &IsoMessage) -> IsoMessage {
        let data = self.dialect.data();
        let amount = data.get_number(original, Datum::Amount).unwrap();
        let mut message = self.modification(IsoRequestKind::Reverse, original, amount);
        data.set_original(&mut message, &data.describe_original(original).unwrap()).unwrap();
        message
    }

    pub(super) fn set(&self, message: &mut IsoMessage, datum: Datum, text: &str) {
        self.dialect.data().set(message, datum, text).unwrap();
    }

    pub(super) fn get(&self, message: &IsoMessage, datum: Datum) -> Option<String> {
        self.dialect.data().get(message, datum).map(|text| text.into_owned())
    }

    /// Returns the response code of a message.
    pub(super) fn code<'a>(&self, message: &'a IsoMessage) -> &'a str {
        message.text(self.dialect.response_field()).unwrap()
    }

    /// Returns one of two codes: the first in dialects of 1987, the second in those of 1993.
    pub(super) fn either(&self, code: &'static str, action_code: &'static str) -> &'static str {
        if self.dialect.version() == IsoVersion::Iso1987 { code } else { action_code }
    }

    /// Returns the frame of a message, with its MAC.
    pub(super) fn frame(&self, message: &IsoMessage) -> Vec<u8> {
        let encoded = match &self.key {
            Some(key) => self.dialect.encode_with_mac(message, key).unwrap(),
            None => self.dialect.encode(message).unwrap(),
        };
        write_frame(self.dialect.frames(), &self.dialect.frames().frame_request(encoded)).unwrap()
    }

    pub(super) async fn send(&mut self, message: &IsoMessage) {
        let frame = self.frame(message);
        self.stream.write_all(&frame).await.unwrap();
    }

    /// Reads the next frame, without decoding it. `None` at the end of the connection, which may come within a frame.
    pub(super) async fn receive_bytes(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(frame) = self.frames.next_frame().unwrap() {
                let tpdu = self.dialect.frames().tpdu;
                assert_eq!(frame.tpdu, tpdu.map(|tpdu| tpdu.swapped()), "the response goes back to its sender");
                return Some(frame.message);
            }
            let mut buffer = [0; 4096];
            let read = timeout(PATIENCE, self.stream.read(&mut buffer)).await.expect("no message of the host");
            match read {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.frames.push_bytes(&buffer[..length]),
            }
        }
    }

    /// Returns true if a part of a frame has arrived.
    pub(super) fn has_partial_frame(&self) -> bool {
        self.frames.has_partial_frame()
    }

    /// Reads the next message, and verifies its MAC.
    pub(super) async fn receive(&mut self) -> IsoMessage {
        let bytes = self.receive_bytes().await.expect("the connection has ended");
        match &self.key {
            Some(key) => self.dialect.decode_with_mac(&bytes, key).unwrap(),
            None => self.dialect.decode(&bytes).unwrap(),
        }
    }

    /// Returns true if nothing arrives for a while.
    pub(super) async fn is_silent(&mut self) -> bool {
        timeout(SILENCE, self.receive_bytes()).await.is_err()
    }

    /// Sends a request, and returns its response after a check of the repeated data.
    pub(super) async fn exchange(&mut self, request: &IsoMessage) -> IsoMessage {
        self.send(request).await;
        let response = self.receive().await;
        self.check_repeated(request, &response);
        response
    }

    /// Sends a request, and returns the response code.
    pub(super) async fn exchange_code(&mut self, request: &IsoMessage) -> String {
        let response = self.exchange(request).await;
        self.code(&response).to_owned()
    }

    /// Checks the type of a response, and the data that every response repeats.
    pub(super) fn check_repeated(&self, request: &IsoMessage, response: &IsoMessage) {
        assert_eq!(Some(response.mti()), request.mti().response());
        assert_eq!(self.dialect.correlation_key(request), self.dialect.correlation_key(response));
        for datum in [Datum::TraceNumber, Datum::Currency, Datum::Terminal, Datum::MerchantId, Datum::Reference] {
            assert_eq!(self.get(request, datum), self.get(response, datum), "{datum:?}");
        }
        for datum in [Datum::Pan, Datum::Expiry, Datum::SecurityCode] {
            assert_eq!(self.get(response, datum), None, "{datum:?}");
        }
    }
}
