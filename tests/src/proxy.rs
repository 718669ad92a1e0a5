//! A proxy between browsers and a gateway, which injects faults on demand: it drops requests, and drops, truncates or
//! delays responses.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::TestGateway;
use crate::wait::PATIENCE;

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyFault {
    /// The request is dropped, and the connection stays silent.
    RequestDropped,
    /// The request is forwarded. Its response is dropped.
    ResponseDropped,
    /// The request is forwarded. The connection is closed in the middle of its response.
    ResponseTruncated,
    /// The request is forwarded, but the proxy answers with 504.
    GatewayTimeout,
}

/// A running proxy. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// The gateway's address through the proxy, with a trailing slash.
    pub public: String,
    /// Gateway and faults, which tests set while connections read them.
    state: Arc<Mutex<ProxyState>>,
    /// Number of faults that have happened. Tests wait for it.
    faults_met: Arc<watch::Sender<usize>>,
    /// Responses that are delayed. Connections wait for a change.
    delays: Arc<watch::Sender<Vec<Delay>>>,
}

/// A delay of responses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Delay {
    /// End of the path, with its query.
    ending: String,
    /// True once a response has met it.
    is_met: bool,
}

/// Settings of a proxy.
#[derive(Debug)]
struct ProxyState {
    /// Port of the gateway, 0 before it is set.
    port: u16,
    /// Scheduled faults: beginning and end of the request line.
    faults: Vec<(String, String, ProxyFault)>,
}

impl Proxy {
    /// Starts a proxy on a free port.
    pub async fn start(gateway: &TestGateway) -> anyhow::Result<Self> {
        let proxy = Self::start_without_gateway().await?;
        proxy.forward_to(gateway)?;
        Ok(proxy)
    }

    /// Starts a proxy without a gateway, which is set later with [`Proxy::forward_to`], because the gateway has to
    /// know the proxy's address.
    pub async fn start_without_gateway() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let proxy = Self {
            public: format!("http://pay.localhost:{}/", listener.local_addr()?.port()),
            state: Arc::new(Mutex::new(ProxyState { port: 0, faults: Vec::new() })),
            faults_met: Arc::new(watch::Sender::new(0)),
            delays: Arc::new(watch::Sender::new(Vec::new())),
        };
        let own = proxy.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(own.clone().forward_connection(near));
            }
        });
        Ok(proxy)
    }

    /// Forwards to another gateway from now on.
    ///
    /// # Errors
    /// If the gateway's address has no port.
    pub fn forward_to(&self, gateway: &TestGateway) -> anyhow::Result<()> {
        self.lock_state().port = gateway_port(gateway)?;
        Ok(())
    }

    /// Schedules a fault for the next request with this method and a path (with its query) that ends so. It happens
    /// once.
    pub fn schedule_fault(&self, method: &str, ending: &str, fault: ProxyFault) {
        self.lock_state().faults.push((format!("{method} "), format!("{ending} HTTP/1.1"), fault));
    }

    /// Removes the scheduled faults that have not happened.
    pub fn clear_faults(&self) {
        self.lock_state().faults.clear();
    }

    /// Waits until this number of scheduled faults has happened. A request that is forwarded has been answered by then.
    ///
    /// # Errors
    /// If they do not happen within two minutes.
    pub async fn wait_for_faults(&self, count: usize) -> anyhow::Result<()> {
        let mut met = self.faults_met.subscribe();
        tokio::time::timeout(PATIENCE, met.wait_for(|met| *met >= count))
            .await
            .context("no request met its trouble")??;
        Ok(())
    }

    /// Delays all responses to requests for a path (with its query) that ends so, until [`Proxy::release_responses`].
    pub fn delay_responses(&self, ending: &str) {
        self.delays.send_modify(|delays| delays.push(Delay { ending: ending.to_owned(), is_met: false }));
    }

    /// Forwards the responses that were delayed, and delays no more of them.
    pub fn release_responses(&self, ending: &str) {
        self.delays.send_modify(|delays| delays.retain(|delay| delay.ending != ending));
    }

    /// Waits until a response that is to be delayed has come.
    ///
    /// # Errors
    /// If it does not come within two minutes.
    pub async fn wait_for_delayed_response(&self, ending: &str) -> anyhow::Result<()> {
        let mut delays = self.delays.subscribe();
        let is_met = |delays: &Vec<Delay>| delays.iter().any(|delay| delay.ending == ending && delay.is_met);
        tokio::time::timeout(PATIENCE, delays.wait_for(is_met)).await.context("no response to delay")??;
        Ok(())
    }

    /// Waits as long as the response to the request with this first line is delayed.
    async fn wait_while_delayed(&self, line: &str) -> anyhow::Result<()> {
        let is_own = |delay: &Delay| line.ends_with(&format!("{} HTTP/1.1", delay.ending));
        self.delays.send_if_modified(|delays| {
            let met: Vec<_> = delays.iter_mut().filter(|delay| is_own(delay) && !delay.is_met).collect();
            let is_new = !met.is_empty();
            met.into_iter().for_each(|delay| delay.is_met = true);
            is_new
        });
        self.delays.subscribe().wait_for(|delays| !delays.iter().any(is_own)).await?;
        Ok(())
    }

    fn lock_state(&self) -> std::sync::MutexGuard<'_, ProxyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the first scheduled fault for the request that starts with these bytes, and returns it. Browsers send
    /// the head of a request in one piece, and the next request on a connection only after the response.
    fn take_fault(&self, bytes: &[u8]) -> Option<ProxyFault> {
        let line = read_request_line(bytes);
        let mut state = self.lock_state();
        let place =
            state.faults.iter().position(|(method, ending, _)| line.starts_with(method) && line.ends_with(ending));
        place.map(|place| state.faults.remove(place).2)
    }

    /// Counts a fault that has happened.
    fn count_fault(&self) {
        self.faults_met.send_modify(|met| *met += 1);
    }

    /// Connects to the gateway and forwards a connection with its faults, until the browser or the gateway closes it.
    async fn forward_connection(self, near: TcpStream) -> anyhow::Result<()> {
        let port = self.lock_state().port;
        let far = TcpStream::connect(("127.0.0.1", port)).await?;
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let (near_read, near_write) = near.into_split();
        let (far_read, far_write) = far.into_split();
        let current = Arc::new(Mutex::new(CurrentRequest::default()));
        tokio::spawn(self.clone().forward_responses(far_read, near_write, Arc::clone(&current)));
        self.forward_requests(near_read, far_write, current).await
    }

    /// Forwards requests, and notes each with its fault in `current`. From a request that is dropped on, the
    /// connection forwards no requests.
    async fn forward_requests(
        self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        current: Arc<Mutex<CurrentRequest>>,
    ) -> anyhow::Result<()> {
        let mut bytes = Vec::with_capacity(16 * 1024);
        let mut drops_requests = false;
        while from.read_buf(&mut bytes).await? > 0 {
            lock_request(&current).line = read_request_line(&bytes);
            match self.take_fault(&bytes) {
                Some(ProxyFault::RequestDropped) => {
                    drops_requests = true;
                    self.count_fault();
                }
                Some(fault) => lock_request(&current).fault = Some(fault),
                None => {}
            }
            if !drops_requests {
                to.write_all(&bytes).await?;
            }
            bytes.clear();
        }
        Ok(())
    }

    /// Forwards responses until one meets the fault in `current`. That ends the connection, or keeps it open in silence
    /// if the response is dropped.
    async fn forward_responses(
        self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        current: Arc<Mutex<CurrentRequest>>,
    ) -> anyhow::Result<()> {
        const TIMEOUT: &[u8] = b"HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let mut bytes = Vec::with_capacity(16 * 1024);
        while from.read_buf(&mut bytes).await? > 0 {
            let CurrentRequest { line, fault } = std::mem::take(&mut *lock_request(&current));
            self.wait_while_delayed(&line).await?;
            match fault {
                None | Some(ProxyFault::RequestDropped) => to.write_all(&bytes).await?,
                Some(fault) => {
                    if fault == ProxyFault::ResponseTruncated {
                        to.write_all(&bytes[..bytes.len() / 2]).await?;
                    } else if fault == ProxyFault::GatewayTimeout {
                        to.write_all(TIMEOUT).await?;
                    }
                    self.count_fault();
                    if fault == ProxyFault::ResponseDropped {
                        // The connection stays open without a response.
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

/// The request whose response a connection waits for.
#[derive(Debug, Default)]
struct CurrentRequest {
    /// Its first line. Empty once its response has begun.
    line: String,
    /// The fault that its response meets.
    fault: Option<ProxyFault>,
}

fn lock_request(current: &Mutex<CurrentRequest>) -> std::sync::MutexGuard<'_, CurrentRequest> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the first line of the request that starts with these bytes.
fn read_request_line(bytes: &[u8]) -> String {
    bytes.split(|byte| *byte == b'\r').next().map(String::from_utf8_lossy).unwrap_or_default().into_owned()
}

/// Returns the port on which the gateway listens.
fn gateway_port(gateway: &TestGateway) -> anyhow::Result<u16> {
    let base = gateway.base_url();
    let (_, port) = base.trim_end_matches('/').rsplit_once(':').context("an address without a port")?;
    Ok(port.parse()?)
}
