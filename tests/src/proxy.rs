//! A proxy in front of a gateway, as there are many between shoppers and servers, that gets into trouble when a test wants
//! it to: it swallows requests, loses answers, breaks off in the middle.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::Gateway;
use crate::wait::PATIENCE;

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It does not get through, and nobody answers.
    Swallowed,
    /// It gets through; its answer does not.
    Unanswered,
    /// It gets through; in the middle of its answer the connection ends.
    BrokenOff,
    /// It gets through; the proxy has lost its patience before, and says so with 504.
    TimedOut,
}

/// A running proxy. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// The gateway's address through the proxy, with a slash at the end.
    pub public: String,
    book: Arc<Mutex<Book>>,
    met: Arc<watch::Sender<usize>>,
}

#[derive(Debug)]
struct Book {
    port: u16,
    troubles: Vec<(String, String, Trouble)>,
}

impl Proxy {
    /// Starts a proxy on a free port.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn before(gateway: &Gateway) -> anyhow::Result<Self> {
        let proxy = Self::bind().await?;
        proxy.stand_before(gateway)?;
        Ok(proxy)
    }

    /// Starts a proxy whose gateway comes later ([`Proxy::stand_before`]), because that has to know its address.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn bind() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let proxy = Self {
            public: format!("http://pay.localhost:{}/", listener.local_addr()?.port()),
            book: Arc::new(Mutex::new(Book { port: 0, troubles: Vec::new() })),
            met: Arc::new(watch::Sender::new(0)),
        };
        let own = proxy.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(own.clone().connect(near));
            }
        });
        Ok(proxy)
    }

    /// From now on it stands before another gateway.
    ///
    /// # Errors
    /// When that has no port.
    pub fn stand_before(&self, gateway: &Gateway) -> anyhow::Result<()> {
        self.book().port = port(gateway)?;
        Ok(())
    }

    /// The next request with this method and a path that ends so gets into trouble.
    pub fn trouble(&self, method: &str, ending: &str, trouble: Trouble) {
        self.book().troubles.push((format!("{method} "), format!("{ending} HTTP/1.1"), trouble));
    }

    /// Trouble that nobody met is called off.
    pub fn heal(&self) {
        self.book().troubles.clear();
    }

    /// Waits until so many requests in all have met their trouble. One that gets through has been answered by then.
    ///
    /// # Errors
    /// When they do not in two minutes.
    pub async fn until_met(&self, count: usize) -> anyhow::Result<()> {
        let mut met = self.met.subscribe();
        tokio::time::timeout(PATIENCE, met.wait_for(|met| *met >= count))
            .await
            .context("no request met its trouble")??;
        Ok(())
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The trouble of the request that these bytes begin. Browsers send a request's head at once, and the next request on
    /// a connection after the answer.
    fn trouble_of(&self, bytes: &[u8]) -> Option<Trouble> {
        let line = bytes.split(|byte| *byte == b'\r').next().map(String::from_utf8_lossy)?;
        let mut book = self.book();
        let place =
            book.troubles.iter().position(|(method, ending, _)| line.starts_with(method) && line.ends_with(ending));
        place.map(|place| book.troubles.remove(place).2)
    }

    fn has_met(&self) {
        self.met.send_modify(|met| *met += 1);
    }

    async fn connect(self, near: TcpStream) -> anyhow::Result<()> {
        let port = self.book().port;
        let far = TcpStream::connect(("127.0.0.1", port)).await?;
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let (near_read, near_write) = near.into_split();
        let (far_read, far_write) = far.into_split();
        let current = Arc::new(Mutex::new(None));
        tokio::spawn(self.clone().answers(far_read, near_write, Arc::clone(&current)));
        self.requests(near_read, far_write, current).await
    }

    async fn requests(
        self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        current: Arc<Mutex<Option<Trouble>>>,
    ) -> anyhow::Result<()> {
        let mut bytes = Vec::with_capacity(16 * 1024);
        let mut swallows = false;
        while from.read_buf(&mut bytes).await? > 0 {
            match self.trouble_of(&bytes) {
                Some(Trouble::Swallowed) => {
                    swallows = true;
                    self.has_met();
                }
                Some(trouble) => *current.lock().unwrap_or_else(PoisonError::into_inner) = Some(trouble),
                None => {}
            }
            if !swallows {
                to.write_all(&bytes).await?;
            }
            bytes.clear();
        }
        Ok(())
    }

    async fn answers(
        self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        current: Arc<Mutex<Option<Trouble>>>,
    ) -> anyhow::Result<()> {
        const TIMEOUT: &[u8] = b"HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let mut bytes = Vec::with_capacity(16 * 1024);
        while from.read_buf(&mut bytes).await? > 0 {
            let trouble = current.lock().unwrap_or_else(PoisonError::into_inner).take();
            match trouble {
                None | Some(Trouble::Swallowed) => to.write_all(&bytes).await?,
                Some(trouble) => {
                    if trouble == Trouble::BrokenOff {
                        to.write_all(&bytes[..bytes.len() / 2]).await?;
                    } else if trouble == Trouble::TimedOut {
                        to.write_all(TIMEOUT).await?;
                    }
                    self.has_met();
                    if trouble == Trouble::Unanswered {
                        // The line stays open, and silent.
                        std::future::pending::<()>().await;
                    }
                    break;
                }
            }
            bytes.clear();
        }
        Ok(to.shutdown().await?)
    }
}

fn port(gateway: &Gateway) -> anyhow::Result<u16> {
    let base = gateway.base();
    let (_, port) = base.trim_end_matches('/').rsplit_once(':').context("an address without a port")?;
    Ok(port.parse()?)
}
