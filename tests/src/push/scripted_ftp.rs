//! An FTP server that misbehaves.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Behaviour of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FtpScript {
    /// Announces another address for data connections.
    ForeignAddress([u8; 4]),
    /// Announces a port for data connections at which nothing may be.
    ForeignPort(u16),
    /// Sends nothing at all.
    StallsInGreeting,
    /// Promises TLS and sends nothing more.
    StallsInTls,
    /// Accepts a data connection, and reads nothing from it.
    StallsInTransfer,
    /// Receives a file, and never confirms it.
    StallsAfterTransfer,
    /// Sends a reply that does not end.
    EndlessReply,
    /// Sends reply lines that do not end.
    EndlessLines,
    /// Refuses the login, and repeats the password.
    RepeatsPassword,
    /// Reports another size.
    WrongSize,
}

/// A running server at 127.0.0.1.
pub struct ScriptedFtp {
    /// Its port.
    pub port: u16,
    received: Arc<Mutex<Vec<Vec<u8>>>>,
    commands: Arc<Mutex<Vec<String>>>,
    server: JoinHandle<()>,
}

impl Drop for ScriptedFtp {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// A session of the server.
struct Session {
    script: FtpScript,
    control: BufReader<TcpStream>,
    data: TcpListener,
    received: Arc<Mutex<Vec<Vec<u8>>>>,
    commands: Arc<Mutex<Vec<String>>>,
    /// Size of the file that was received.
    size: usize,
}

impl ScriptedFtp {
    /// Starts a server.
    ///
    /// # Errors
    /// If it gets no port.
    pub async fn start(script: FtpScript) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let (received, commands) = (Arc::<Mutex<Vec<Vec<u8>>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (files, lines) = (Arc::clone(&received), Arc::clone(&commands));
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(data) = listen_for_data(script) else { return };
                let (received, commands) = (Arc::clone(&files), Arc::clone(&lines));
                let session = Session { script, control: BufReader::new(stream), data, received, commands, size: 0 };
                // A client that disconnects ends its session.
                tokio::spawn(async move { session.run().await.ok() });
            }
        });
        Ok(Self { port, received, commands, server })
    }

    /// Returns the files that it has received.
    pub fn received(&self) -> Vec<Vec<u8>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the lines that it has got.
    pub fn commands(&self) -> Vec<String> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Opens a port for data connections. Little fits into the buffers of one that nothing is read from.
fn listen_for_data(script: FtpScript) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    if script == FtpScript::StallsInTransfer {
        socket.set_recv_buffer_size(4096)?;
        // Linux derives the size of the client's send buffer from it, up to megabytes.
        socket.set_tcp_mss(536)?;
    }
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
    socket.listen(1)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

impl Session {
    async fn run(mut self) -> anyhow::Result<()> {
        match self.script {
            FtpScript::StallsInGreeting => return self.stall().await,
            FtpScript::EndlessReply => loop {
                self.control.write_all(&[b'2'; 4096]).await?;
            },
            FtpScript::EndlessLines => loop {
                self.control.write_all(b"220-more follows\r\n").await?;
            },
            _ => self.reply("220 ready").await?,
        }
        loop {
            let mut line = String::new();
            if self.control.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
            self.answer(&line).await?;
        }
    }

    /// Answers a command.
    async fn answer(&mut self, line: &str) -> anyhow::Result<()> {
        let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "AUTH" if self.script == FtpScript::StallsInTls => {
                self.reply("234 go ahead").await?;
                self.stall().await
            }
            "USER" => self.reply("331 password").await,
            "PASS" if self.script == FtpScript::RepeatsPassword => {
                self.reply(&format!("530 {argument} is wrong\r")).await
            }
            "PASS" => self.reply("230 welcome").await,
            "PASV" => self.open_data().await,
            "STOR" => self.receive_file().await,
            "SIZE" => {
                let size = if self.script == FtpScript::WrongSize { self.size - 1 } else { self.size };
                self.reply(&format!("213 {size}")).await
            }
            "RNFR" => self.reply("350 go on").await,
            "RNTO" => self.reply("250 done").await,
            _ => self.reply("200 fine").await,
        }
    }

    /// Announces the address of the data connection.
    async fn open_data(&mut self) -> anyhow::Result<()> {
        let port = self.data.local_addr()?.port();
        let (address, port) = match self.script {
            FtpScript::ForeignAddress(address) => (address, port),
            FtpScript::ForeignPort(port) => ([127, 0, 0, 1], port),
            _ => ([127, 0, 0, 1], port),
        };
        let [a, b, c, d] = address;
        self.reply(&format!("227 passive ({a},{b},{c},{d},{},{})", port / 256, port % 256)).await
    }

    /// Receives a file over a data connection.
    async fn receive_file(&mut self) -> anyhow::Result<()> {
        self.reply("150 send it").await?;
        let (mut stream, _): (TcpStream, SocketAddr) = self.data.accept().await?;
        if self.script == FtpScript::StallsInTransfer {
            return self.stall().await;
        }
        let mut file = Vec::new();
        stream.read_to_end(&mut file).await?;
        self.size = file.len();
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push(file);
        if self.script == FtpScript::StallsAfterTransfer {
            return self.stall().await;
        }
        self.reply("226 thanks").await
    }

    async fn reply(&mut self, line: &str) -> anyhow::Result<()> {
        Ok(self.control.write_all(format!("{line}\r\n").as_bytes()).await?)
    }

    /// Sends nothing until the client disconnects.
    async fn stall(&mut self) -> anyhow::Result<()> {
        let mut rest = Vec::new();
        self.control.read_to_end(&mut rest).await?;
        anyhow::bail!("the client has disconnected")
    }
}
