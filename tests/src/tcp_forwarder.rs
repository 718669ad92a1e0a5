//! A TCP forwarder between a gateway and an acquirer host. Its address stays the same while the host is down or
//! restarts on another port.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A forwarder. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct TcpForwarder {
    /// Its address in the format that the gateway expects.
    pub url: String,
    /// Host and port of the other end, or `None` while the connection is cut. Read for each connection.
    target: Arc<Mutex<Option<String>>>,
    /// Counter of changes of the other end. A change closes the existing connections.
    changes: Arc<watch::Sender<u32>>,
}

impl TcpForwarder {
    /// Starts a forwarder to a host and port. With `None`, it closes every connection.
    pub async fn start(target: Option<&str>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let forwarder = Self {
            url: format!("http://{}", listener.local_addr()?),
            target: Arc::new(Mutex::new(target.map(str::to_owned))),
            changes: Arc::new(watch::Sender::new(0)),
        };
        let own = forwarder.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let mut changes = own.changes.subscribe();
                let target = own.target.lock().unwrap_or_else(PoisonError::into_inner).clone();
                tokio::spawn(async move {
                    tokio::select! {
                        _ = changes.changed() => {}
                        () = forward_connection(near, target) => {}
                    }
                });
            }
        });
        Ok(forwarder)
    }

    /// Sets a new host and port, and closes the connections to the old ones. With `None`, new connections are closed at
    /// once.
    pub fn set_target(&self, target: Option<&str>) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target.map(str::to_owned);
        self.changes.send_modify(|changes| *changes += 1);
    }
}

/// Connects to the target and forwards in both directions until one end closes. Closes the connection if there is no
/// target, or it cannot be reached.
async fn forward_connection(mut near: TcpStream, target: Option<String>) {
    let Some(target) = target else { return };
    // Broken connections are expected here.
    if let Ok(mut far) = TcpStream::connect(target).await {
        let _ = (near.set_nodelay(true), far.set_nodelay(true));
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    }
}
