//! Hostile load of one merchant: requests in loops, and connections that are held. Each connection has a thread of its
//! own, so that a silent server stops no other connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use socket2::{Domain, Socket, Type};

/// Pause of a connection that the server has closed, so that a refusing server is not flooded with connections only.
const RECONNECT_PAUSE: Duration = Duration::from_millis(5);

/// A request as it is sent. Large bodies are shared.
#[derive(Debug, Clone)]
pub struct RawRequest {
    /// Head with its empty line, and maybe the body as well.
    pub head: String,
    /// Rest of the body.
    pub body: Arc<[u8]>,
}

impl From<String> for RawRequest {
    fn from(head: String) -> Self {
        Self { head, body: Arc::from([]) }
    }
}

/// Number of requests of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// One request.
    Once,
    /// The next request after each response.
    UntilStopped,
}

/// Running load. It ends when it is dropped.
#[derive(Debug, Default)]
pub struct HostileLoad {
    stop: Arc<AtomicBool>,
    /// Open connections, by thread. Each thread replaces its own one, and the end of the load closes all of them.
    connections: Arc<Mutex<Vec<Option<TcpStream>>>>,
    threads: Vec<JoinHandle<()>>,
}

impl HostileLoad {
    /// Sends requests in turn over so many connections. Every response is accepted, also a refusal.
    pub fn send_requests(address: &str, requests: &Arc<[RawRequest]>, connections: usize, times: Repetition) -> Self {
        let mut load = Self::default();
        lock_connections(&load.connections).resize_with(connections, || None);
        let next = Arc::new(AtomicUsize::new(0));
        for index in 0..connections {
            let sender = RequestSender {
                address: address.to_owned(),
                requests: Arc::clone(requests),
                next: Arc::clone(&next),
                stop: Arc::clone(&load.stop),
                connections: Arc::clone(&load.connections),
                index,
            };
            load.threads.push(std::thread::spawn(move || sender.run(times)));
        }
        load
    }

    /// Keeps connections open.
    pub fn hold_connections(connections: Vec<TcpStream>) -> Self {
        let load = Self::default();
        lock_connections(&load.connections).extend(connections.into_iter().map(Some));
        load
    }
}

impl Drop for HostileLoad {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for stream in lock_connections(&self.connections).iter().flatten() {
            // A thread that waits for a response fails then.
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Thread of a connection that sends requests.
struct RequestSender {
    address: String,
    requests: Arc<[RawRequest]>,
    /// Number of the next request, which all threads share.
    next: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<Option<TcpStream>>>>,
    /// Place of the thread's connection.
    index: usize,
}

impl RequestSender {
    /// Sends until the load is stopped, or once. Connects again if the server has closed the connection.
    fn run(&self, times: Repetition) {
        while !self.stop.load(Ordering::Relaxed) {
            let sent = self.use_connection(times);
            if times == Repetition::Once {
                return;
            }
            if sent.is_err() {
                std::thread::sleep(RECONNECT_PAUSE);
            }
        }
    }

    /// Opens a connection and sends requests over it until it fails, the load is stopped, or one is answered.
    fn use_connection(&self, times: Repetition) -> Result<()> {
        let mut stream = open_connection(&self.address, &self.connections, self.index)?;
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed) % self.requests.len();
            exchange_request(&mut stream, &self.requests[number])?;
            if times == Repetition::Once {
                break;
            }
        }
        Ok(())
    }
}

fn lock_connections(connections: &Mutex<Vec<Option<TcpStream>>>) -> MutexGuard<'_, Vec<Option<TcpStream>>> {
    connections.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Connects to a host and port, and stores the connection at this index.
fn open_connection(
    address: &str,
    opened: &Mutex<Vec<Option<TcpStream>>>,
    index: usize,
) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    lock_connections(opened)[index] = Some(stream.try_clone()?);
    Ok(BufReader::new(stream))
}

/// Sends a request and reads its response. Returns status and body.
fn exchange_request(stream: &mut BufReader<TcpStream>, request: &RawRequest) -> Result<(u16, Vec<u8>)> {
    stream.get_mut().write_all(request.head.as_bytes())?;
    stream.get_mut().write_all(&request.body)?;
    let mut line = read_line(stream)?;
    let status = line.get(9..12).and_then(|digits| digits.parse().ok()).context("no status line")?;
    let mut length = 0;
    while !line.trim().is_empty() {
        line = read_line(stream)?.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((status, body))
}

/// Sends one request over a connection of its own. Returns status and body of the response.
pub fn send_request(address: &str, request: &RawRequest) -> Result<(u16, Vec<u8>)> {
    exchange_request(&mut BufReader::new(TcpStream::connect(address)?), request)
}

/// Reads a line with its end, or fails if the connection has ended.
fn read_line(stream: &mut BufReader<TcpStream>) -> Result<String> {
    let mut line = String::new();
    anyhow::ensure!(stream.read_line(&mut line)? > 0, "the connection has ended");
    Ok(line)
}

/// Opens connections from another address of this machine, and sends the first half of a request over each.
pub fn send_halves(address: &str, from: Ipv4Addr, count: usize) -> Result<Vec<TcpStream>> {
    let to: SocketAddr = address.parse()?;
    let open = |_| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&SocketAddr::from((from, 0)).into())?;
        socket.connect(&to.into())?;
        let mut stream = TcpStream::from(socket);
        stream.write_all(b"POST /v1/authorize HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n{")?;
        Ok(stream)
    };
    (0..count).map(open).collect()
}

/// Logs in to an FTP server over several connections, and asks each for a passive port. Refusals are accepted.
pub fn open_passive_ports(address: &str, user: &str, password: &str, count: usize) -> Result<Vec<TcpStream>> {
    let open = |_| {
        let mut stream = BufReader::new(TcpStream::connect(address)?);
        read_line(&mut stream)?;
        for command in [format!("USER {user}"), format!("PASS {password}"), "EPSV".to_owned()] {
            stream.get_mut().write_all(format!("{command}\r\n").as_bytes())?;
            let reply = read_line(&mut stream)?;
            anyhow::ensure!(!reply.starts_with("530"), "the FTP server refuses the login: {reply}");
        }
        Ok(stream.into_inner())
    };
    (0..count).map(open).collect()
}
