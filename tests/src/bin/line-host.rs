//! The bare TCP host of `cargo xtask bench --only lines`: it approves each ISO 8583 message of a line, and returns each
//! other frame as it came. It stores nothing, so that both sides of the comparison pay for a round trip and no more.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
// Brings the allocator of the gateway.
use tillgate as _;
use tillgate_connector::iso8583::{DIALECTS, Dialect, Frame, FrameReader, IsoMessage, write_frame};
use tillgate_tests::bench::line_client::LINE_DIALECT;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Fields that a response repeats.
const REPEATED: [u8; 11] = [3, 4, 7, 11, 12, 32, 37, 41, 42, 49, 70];

/// Serves on a free port until the process is killed. Prints `listening on …` when it is ready.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let text = DIALECTS.iter().find(|(name, _)| *name == LINE_DIALECT).context("no dialect")?.1;
    let dialect = Arc::new(Dialect::parse(text)?);
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve_connection(Arc::clone(&dialect), stream));
    }
}

/// Answers the frames of a connection in their order, until it ends.
async fn serve_connection(dialect: Arc<Dialect>, mut stream: TcpStream) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut frames = FrameReader::new(dialect.frames().clone());
    let mut bytes = vec![0; 64 << 10];
    let mut answers = Vec::new();
    loop {
        let length = stream.read(&mut bytes).await?;
        if length == 0 {
            return Ok(());
        }
        frames.push_bytes(&bytes[..length]);
        answers.clear();
        while let Some(frame) = frames.next_frame()? {
            answers.extend(write_frame(dialect.frames(), &answer_frame(&dialect, frame)?)?);
        }
        stream.write_all(&answers).await?;
    }
}

/// Approves a message, or returns a frame that is none.
fn answer_frame(dialect: &Dialect, frame: Frame) -> anyhow::Result<Frame> {
    let Ok(message) = dialect.decode(&frame.message) else { return Ok(frame) };
    let mut answer = IsoMessage::new(message.mti().response().context("not a request")?);
    for number in REPEATED {
        if let Some(value) = message.field(number) {
            answer.set_field(number, value.clone());
        }
    }
    let answer = answer.with_text(39, "00").with_text(38, "A1B2C3");
    Ok(frame.frame_response(dialect.encode(&answer)?))
}
