//! A host that decodes with the dialect, and makes its answers by the numbers of the standard's fields.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{mac_key, within};
use crate::iso8583::{DIALECTS, Dialect, Frame, FrameReader, IsoMessage, IsoValue, MacKey, Mti, write_frame};

/// Fields of a request that its response repeats in the standard. Field 13 and 49 have no other meaning in 1993.
const REPEATED: [u8; 12] = [3, 4, 7, 11, 12, 24, 32, 37, 41, 42, 49, 70];

/// Bytes to write, or the end of the connection.
type Outgoing = Option<Vec<u8>>;

/// A host that passes each request about a payment to the test, and accepts each request about the network.
pub(super) struct ScriptedHost {
    address: String,
    requests: mpsc::UnboundedReceiver<HostRequest>,
    /// Connections, in the order of their beginning.
    connections: mpsc::UnboundedReceiver<mpsc::UnboundedSender<Outgoing>>,
    /// Messages about the network, with the answers to the host's own ones.
    pub(super) network: mpsc::UnboundedReceiver<IsoMessage>,
    pub(super) dialect: Arc<Dialect>,
    pub(super) key: Option<MacKey>,
    task: JoinHandle<()>,
}

/// A request that the host has received.
pub(super) struct HostRequest {
    pub(super) message: IsoMessage,
    frame: Frame,
    dialect: Arc<Dialect>,
    key: Option<MacKey>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
}

impl Drop for ScriptedHost {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedHost {
    /// Listens on a free port.
    pub(super) async fn listen(dialect: &str) -> Self {
        let text = DIALECTS.iter().find(|(name, _)| *name == dialect).unwrap().1;
        let dialect = Arc::new(Dialect::parse(text).unwrap());
        let key = mac_key(dialect.name()).map(|key| MacKey::parse(dialect.mac().unwrap().algorithm, key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (request_sink, requests) = mpsc::unbounded_channel();
        let (connection_sink, connections) = mpsc::unbounded_channel();
        let (network_sink, network) = mpsc::unbounded_channel();
        let (shared, host_key) = (Arc::clone(&dialect), key.clone());
        let task = tokio::spawn(async move {
            let mut readers = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (outgoing, queue) = mpsc::unbounded_channel();
                let _ = connection_sink.send(outgoing.clone());
                let (dialect, key) = (Arc::clone(&shared), host_key.clone());
                let connection = HostConnection {
                    dialect,
                    key,
                    outgoing,
                    requests: request_sink.clone(),
                    network: network_sink.clone(),
                };
                readers.spawn(connection.run(stream, queue));
            }
        });
        Self { address, requests, connections, network, dialect, key, task }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the next request about a payment.
    pub(super) async fn next(&mut self) -> HostRequest {
        within(self.requests.recv()).await.unwrap()
    }

    /// Returns true if no request about a payment waits.
    pub(super) fn is_idle(&mut self) -> bool {
        self.requests.try_recv().is_err()
    }

    /// Returns the next connection.
    pub(super) async fn next_connection(&mut self) -> mpsc::UnboundedSender<Outgoing> {
        within(self.connections.recv()).await.unwrap()
    }

    /// Frames a message of the host.
    pub(super) fn frame(&self, message: &IsoMessage) -> Vec<u8> {
        let bytes = encode(&self.dialect, self.key.as_ref(), message);
        write_frame(self.dialect.frames(), &self.dialect.frames().frame_request(bytes)).unwrap()
    }
}

/// A connection of the host.
struct HostConnection {
    dialect: Arc<Dialect>,
    key: Option<MacKey>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    requests: mpsc::UnboundedSender<HostRequest>,
    network: mpsc::UnboundedSender<IsoMessage>,
}

impl HostConnection {
    async fn run(self, mut stream: TcpStream, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
        stream.set_nodelay(true).unwrap();
        let mut frames = FrameReader::new(self.dialect.frames().clone());
        let mut bytes = [0; 4096];
        loop {
            tokio::select! {
                read = stream.read(&mut bytes) => match read {
                    Ok(count) if count > 0 => {
                        frames.push_bytes(&bytes[..count]);
                        while let Some(frame) = frames.next_frame().unwrap() {
                            self.take_frame(frame);
                        }
                    }
                    _ => return,
                },
                next = queue.recv() => match next {
                    Some(Some(bytes)) => {
                        // The line may be gone.
                        let _ = stream.write_all(&bytes).await;
                    }
                    _ => return,
                },
            }
        }
    }

    fn take_frame(&self, frame: Frame) {
        let message = match &self.key {
            Some(key) => self.dialect.decode_with_mac(&frame.message, key).unwrap(),
            None => self.dialect.decode(&frame.message).unwrap(),
        };
        let class = message.mti().to_string();
        let (dialect, key, outgoing) = (Arc::clone(&self.dialect), self.key.clone(), self.outgoing.clone());
        let request = HostRequest { message, frame, dialect, key, outgoing };
        if !class.starts_with("08") && !class.starts_with("18") {
            let _ = self.requests.send(request);
            return;
        }
        let _ = self.network.send(request.message.clone());
        if !request.message.mti().is_response() {
            let code = if class.starts_with('1') { "800" } else { "00" };
            request.send(&request.response(code));
        }
    }
}

impl HostRequest {
    /// Returns the text of a field, of a composite one the texts of its parts.
    pub(super) fn text(&self, number: u8) -> String {
        match self.message.field(number) {
            Some(IsoValue::Text(text)) => text.clone(),
            Some(IsoValue::Composite(parts)) => {
                let texts = parts.iter().map(|part| match &part.value {
                    IsoValue::Text(text) => text.as_str(),
                    _ => "",
                });
                texts.collect()
            }
            _ => panic!("no field {number} in {:?}", self.message),
        }
    }

    /// Returns true if the message has a field.
    pub(super) fn has(&self, number: u8) -> bool {
        self.message.field(number).is_some()
    }

    /// Returns the text of a tag in field 48. Empty if it is absent.
    pub(super) fn tag(&self, tag: &str) -> String {
        match self.message.part(48, tag) {
            Some(IsoValue::Text(text)) => text.clone(),
            _ => String::new(),
        }
    }

    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(super) fn mti(&self) -> String {
        self.message.mti().to_string()
    }

    /// Makes the response with a code, by the standard: the third digit is the next one, and a repetition gets the
    /// response of the first request.
    pub(super) fn response(&self, code: &str) -> IsoMessage {
        let mti = self.mti().into_bytes();
        let digits = [mti[0], mti[1], mti[2] + 1, mti[3] - (mti[3] - b'0') % 2];
        let mut response = IsoMessage::new(Mti::parse(str::from_utf8(&digits).unwrap()).unwrap());
        for number in REPEATED {
            if let Some(value) = self.message.field(number) {
                response.set_field(number, value.clone());
            }
        }
        response.with_text(39, code)
    }

    /// Sends a response.
    pub(super) fn send(&self, response: &IsoMessage) {
        self.send_bytes(encode(&self.dialect, self.key.as_ref(), response));
    }

    /// Sends the bytes of a response.
    pub(super) fn send_bytes(&self, message: Vec<u8>) {
        let frame = write_frame(self.dialect.frames(), &self.frame.frame_response(message)).unwrap();
        let _ = self.outgoing.send(Some(frame));
    }

    /// Returns the bytes of a response, with its MAC.
    pub(super) fn encode(&self, response: &IsoMessage) -> Vec<u8> {
        encode(&self.dialect, self.key.as_ref(), response)
    }

    /// Approves the request with the authorization code `A1B2C3`.
    pub(super) fn approve(&self) {
        let code = if self.mti().starts_with('1') { "000" } else { "00" };
        self.send(&self.response(code).with_text(38, "A1B2C3"));
    }

    /// Answers the request with a code.
    pub(super) fn answer(&self, code: &str) {
        self.send(&self.response(code));
    }

    /// Closes the connection without an answer.
    pub(super) fn close(&self) {
        let _ = self.outgoing.send(None);
    }
}

fn encode(dialect: &Dialect, key: Option<&MacKey>, message: &IsoMessage) -> Vec<u8> {
    match key {
        Some(key) => dialect.encode_with_mac(message, key).unwrap(),
        None => dialect.encode(message).unwrap(),
    }
}
