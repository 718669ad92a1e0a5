//! A proxy that delays every byte: it simulates a server with a high latency.

use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Starts a proxy to `server` (`http://pay.localhost:40001/`) that delays each direction, and returns its address. The
/// proxy ends with the runtime.
///
/// # Errors
/// If there is no port.
pub(super) async fn start_delay_proxy(server: &str, delay: Duration) -> anyhow::Result<String> {
    let (host, port) = server.trim_end_matches('/').rsplit_once(':').context("an address without a port")?;
    let port: u16 = port.parse()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let here = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            tokio::spawn(forward_connection(near, port, delay));
        }
    });
    Ok(format!("{host}:{here}/"))
}

/// Connects to this port of this machine and starts to forward both directions. Fails if nothing listens there; errors
/// after that end their direction only.
async fn forward_connection(near: TcpStream, port: u16, delay: Duration) -> anyhow::Result<()> {
    let far = TcpStream::connect(("127.0.0.1", port)).await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    tokio::spawn(forward_delayed(near_read, far_write, delay));
    tokio::spawn(forward_delayed(far_read, near_write, delay));
    Ok(())
}

/// Forwards all bytes in order, each delayed by the same time, until the sender ends. Latency is simulated, bandwidth
/// is not limited.
async fn forward_delayed(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin + Send + 'static,
    delay: Duration,
) -> anyhow::Result<()> {
    let (sent, mut delayed) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let writer = tokio::spawn(async move {
        while let Some((due, bytes)) = delayed.recv().await {
            tokio::time::sleep_until(due).await;
            to.write_all(&bytes).await?;
        }
        to.shutdown().await
    });
    loop {
        let mut bytes = Vec::with_capacity(16 * 1024);
        if from.read_buf(&mut bytes).await? == 0 || sent.send((Instant::now() + delay, bytes)).is_err() {
            break;
        }
    }
    drop(sent);
    writer.await??;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_through_the_proxy_takes_both_ways() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).await.unwrap();
            stream.write_all(&bytes).await.unwrap();
        });
        let address = start_delay_proxy(&server, Duration::from_millis(30)).await.unwrap();
        let started = Instant::now();
        let mut stream = TcpStream::connect(address["http://".len()..].trim_end_matches('/')).await.unwrap();
        stream.write_all(b"ping").await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert_eq!(response, "ping");
        assert!(started.elapsed() >= Duration::from_millis(60), "{:?}", started.elapsed());
    }
}
