//! FTP clients and certificates for tests: curl, lftp, and a client that sends any bytes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};

use crate::gateway::create_temporary_folder;
use crate::push::find_python;
use crate::{PATIENCE, TestGateway};

/// Source of the client with Python's ftplib.
const FTPLIB_CLIENT: &str = include_str!("ftplib_client.py");

/// A certificate for localhost, which signs itself, and its key.
pub struct TestCertificate {
    folder: TempDir,
}

impl TestCertificate {
    /// Creates a certificate with openssl.
    ///
    /// # Errors
    /// If openssl does not start or fails.
    pub fn create() -> anyhow::Result<Self> {
        let certificate = Self { folder: create_temporary_folder()? };
        let created = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
            .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout"])
            .arg(certificate.key())
            .arg("-out")
            .arg(certificate.certificate())
            .output()
            .context("openssl does not start")?;
        ensure!(created.status.success(), "openssl failed: {}", String::from_utf8_lossy(&created.stderr));
        Ok(certificate)
    }

    /// Returns the file of the certificate.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificate.pem")
    }

    /// Returns the file of the key.
    pub fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }
}

/// A user of an FTP server, and the address of the server.
#[derive(Debug, Clone)]
pub struct FtpAccount {
    /// The server's address.
    pub address: SocketAddr,
    /// The user's name.
    pub user: String,
    /// The user's password.
    pub password: String,
}

impl TestGateway {
    /// Returns the address of the FTP server.
    ///
    /// # Errors
    /// If the gateway has not printed one.
    pub fn ftp_address(&self) -> anyhow::Result<SocketAddr> {
        let log = self.read_log();
        let address = log.lines().find_map(|line| line.split_once("files at ftp://")).context("an FTP address")?.1;
        Ok(address.trim().parse()?)
    }

    /// Creates an FTP user of an entity.
    ///
    /// # Errors
    /// If the command fails, or there is no FTP server.
    pub fn create_ftp_user(&self, entity: &str) -> anyhow::Result<FtpAccount> {
        self.create_ftp_user_with(entity, &[])
    }

    /// Creates an FTP user of an entity with further options.
    ///
    /// # Errors
    /// Same as [`Self::create_ftp_user`].
    pub fn create_ftp_user_with(&self, entity: &str, options: &[&str]) -> anyhow::Result<FtpAccount> {
        let created = self.run_command(&[&["ftp-user", "create", "--entity", entity], options].concat())?;
        let field = |name: &str| created[name].as_str().map(str::to_owned).context("a text");
        Ok(FtpAccount { address: self.ftp_address()?, user: field("user")?, password: field("password")? })
    }
}

impl FtpAccount {
    /// Runs curl on a path of the server, with further arguments. curl ends after a minute at the latest.
    ///
    /// # Errors
    /// If curl does not start.
    pub fn run_curl(&self, path: &str, arguments: &[&str]) -> anyhow::Result<Output> {
        Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--max-time",
                "60",
                "--user",
                &format!("{}:{}", self.user, self.password),
            ])
            .args(arguments)
            .arg(format!("ftp://localhost:{}/{path}", self.address.port()))
            .output()
            .context("curl does not start")
    }

    /// Runs Python's ftplib in a mode of `ftplib_client.py`, with the certificate of the server, or without encryption.
    /// Returns what it prints as JSON.
    ///
    /// # Errors
    /// If Python does not start, or the program fails.
    pub fn run_ftplib(&self, mode: &str, certificate: Option<&str>, options: Value) -> anyhow::Result<Value> {
        let argument = json!({
            "mode": mode,
            "port": self.address.port(),
            "user": self.user,
            "password": self.password,
            "certificate": certificate,
            "options": options,
        });
        let output = Command::new(find_python())
            .args(["-c", FTPLIB_CLIENT, &argument.to_string()])
            .output()
            .context("Python")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Runs commands in lftp, which ends at the first failure.
    ///
    /// # Errors
    /// If lftp does not start.
    pub fn run_lftp(&self, settings: &str, commands: &str) -> anyhow::Result<Output> {
        let script = format!(
            "set cmd:fail-exit yes; set net:max-retries 1; set net:timeout 30; {settings}; \
             open -u {},{} ftp://localhost:{}; {commands}; bye",
            self.user,
            self.password,
            self.address.port()
        );
        Command::new("lftp").args(["--norc", "-c", &script]).output().context("lftp does not start")
    }
}

/// An FTP client that sends lines as they are.
pub struct RawFtpClient {
    stream: BufReader<TcpStream>,
}

impl RawFtpClient {
    /// Connects and reads the greeting, or the refusal in its place.
    ///
    /// # Errors
    /// If the server does not accept or greet.
    pub async fn connect(address: SocketAddr) -> anyhow::Result<(Self, String)> {
        let mut client = Self { stream: BufReader::new(TcpStream::connect(address).await?) };
        let greeting = client.read_reply().await?;
        Ok((client, greeting))
    }

    /// Connects and logs in without encryption.
    ///
    /// # Errors
    /// If the login is refused.
    pub async fn log_in(account: &FtpAccount) -> anyhow::Result<Self> {
        let (mut client, _) = Self::connect(account.address).await?;
        client.send(&format!("USER {}", account.user)).await?;
        let reply = client.send(&format!("PASS {}", account.password)).await?;
        ensure!(reply.starts_with("230"), "{reply}");
        Ok(client)
    }

    /// Sends a line and returns the reply, all of its lines.
    ///
    /// # Errors
    /// If the connection ends first.
    pub async fn send(&mut self, line: &str) -> anyhow::Result<String> {
        self.send_bytes(format!("{line}\r\n").as_bytes()).await?;
        self.read_reply().await
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// If the connection has ended.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Reads a reply.
    ///
    /// # Errors
    /// If the connection ends first, or no reply comes within two minutes.
    pub async fn read_reply(&mut self) -> anyhow::Result<String> {
        let mut reply = String::new();
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(PATIENCE, self.stream.read_line(&mut line)).await??;
            ensure!(read > 0, "the connection ended after {reply:?}");
            let is_last = line.as_bytes().get(3) == Some(&b' ');
            reply.push_str(&line);
            if is_last {
                return Ok(reply);
            }
        }
    }

    /// Returns true if the server ends the connection, after anything else that it sends.
    ///
    /// # Errors
    /// If it does not end within two minutes.
    pub async fn is_closed(&mut self) -> anyhow::Result<bool> {
        let mut rest = Vec::new();
        // A connection that is reset has ended, too.
        let _ = tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await?;
        Ok(true)
    }

    /// Opens a port for data with EPSV. Returns its address.
    ///
    /// # Errors
    /// If the server refuses it.
    pub async fn open_passive(&mut self) -> anyhow::Result<SocketAddr> {
        let reply = self.send("EPSV").await?;
        let port = reply.split('|').nth(3).with_context(|| reply.clone())?.parse()?;
        Ok(SocketAddr::new(self.stream.get_ref().peer_addr()?.ip(), port))
    }
}

/// Connects to an address from another address of this machine, and reads until the connection ends.
///
/// # Errors
/// If the connection cannot be made.
pub async fn read_data_from(source: &str, address: SocketAddr) -> anyhow::Result<Vec<u8>> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(source.parse()?, 0))?;
    let mut stream = socket.connect(address).await?;
    let mut bytes = Vec::new();
    // A connection that is reset has ended, too.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await?;
    Ok(bytes)
}
