//! The line between a gateway and an acquirer's host: it has the same address all the time, also while the host is away or is
//! started again at another port.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A line. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its address as a gateway takes it.
    pub url: String,
    /// Host and port of the other end; `None` while the line is cut. Read for each connection.
    end: Arc<Mutex<Option<String>>>,
    /// Counts the changes of the other end: connections of before are closed.
    changes: Arc<watch::Sender<u32>>,
}

impl Line {
    /// Starts a line that leads to a host and port, or nowhere.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn to(end: Option<&str>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let line = Self {
            url: format!("http://{}", listener.local_addr()?),
            end: Arc::new(Mutex::new(end.map(str::to_owned))),
            changes: Arc::new(watch::Sender::new(0)),
        };
        let own = line.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let mut changes = own.changes.subscribe();
                let end = own.end.lock().unwrap_or_else(PoisonError::into_inner).clone();
                tokio::spawn(async move {
                    tokio::select! {
                        _ = changes.changed() => {}
                        () = connect(near, end) => {}
                    }
                });
            }
        });
        Ok(line)
    }

    /// From now on it leads to another host and port, or is cut: whoever connects is hung up on.
    pub fn lead_to(&self, end: Option<&str>) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end.map(str::to_owned);
        self.changes.send_modify(|changes| *changes += 1);
    }
}

async fn connect(mut near: TcpStream, end: Option<String>) {
    let Some(end) = end else { return };
    // A connection that breaks is what lines are for.
    if let Ok(mut far) = TcpStream::connect(end).await {
        let _ = (near.set_nodelay(true), far.set_nodelay(true));
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    }
}
