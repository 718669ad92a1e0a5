//! The client of the baseline with a round trip to a bare TCP host: one connection, with any frames in flight.
//! The host answers in the order of the requests.

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, mpsc, oneshot};

/// Dialect of the line in the bench: frames have four digits with their length.
pub const LINE_DIALECT: &str = "iso87-ascii-4a";

type Waiting = Arc<Mutex<VecDeque<oneshot::Sender<Vec<u8>>>>>;

/// A client of the bare host.
#[derive(Debug)]
pub struct LineClient {
    queue: mpsc::UnboundedSender<(Vec<u8>, oneshot::Sender<Vec<u8>>)>,
}

impl LineClient {
    /// Connects to a host and port.
    ///
    /// # Errors
    /// If the host does not listen.
    pub async fn connect(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (mut reader, mut writer) = stream.into_split();
        let (queue, mut requests) = mpsc::unbounded_channel::<(Vec<u8>, oneshot::Sender<Vec<u8>>)>();
        let waiting = Waiting::default();
        let answered = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Some((frame, sender)) = requests.recv().await {
                waiting.lock().await.push_back(sender);
                writer.write_all(&frame).await?;
            }
            anyhow::Ok(())
        });
        tokio::spawn(async move {
            loop {
                let mut digits = [0; 4];
                reader.read_exact(&mut digits).await?;
                let mut message = vec![0; str::from_utf8(&digits)?.parse()?];
                reader.read_exact(&mut message).await?;
                let sender = answered.lock().await.pop_front().context("an answer without a request")?;
                let _ = sender.send(message);
            }
            #[allow(unreachable_code)]
            anyhow::Ok(())
        });
        Ok(Self { queue })
    }

    /// Sends a message, and returns its answer.
    ///
    /// # Errors
    /// If the connection has ended, or the message is too long.
    pub async fn exchange(&self, message: &[u8]) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(message.len() < 10_000, "the message is too long");
        let frame = [format!("{:04}", message.len()).as_bytes(), message].concat();
        let (sender, answer) = oneshot::channel();
        self.queue.send((frame, sender)).ok().context("the connection has ended")?;
        Ok(answer.await?)
    }
}
