//! An acquirer's host under test: `tillgate acquirer-host` on a free port with a ledger of its own, and a client that signs its
//! requests as `docs/acquirer-host.md` says, without the gateway's own code.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;

use crate::gateway::{binary, fresh_folder};
use crate::process::Process;

/// The key of hosts under test, 64 hexadecimal digits.
const KEY: &str = "5b0f1c9a7e2d4863b1a0f9e8d7c6b5a493827160f5e4d3c2b1a0998877665544";

/// A running host. It stops when this is dropped, and its files go with it.
#[derive(Debug)]
pub struct AcquirerHost {
    // Fields are dropped in this order: the process before its files.
    process: Process,
    caller: HostCaller,
    folder: TempDir,
    arguments: Vec<String>,
}

/// A client of a host under test, which may outlive it.
#[derive(Debug, Clone)]
pub struct HostCaller {
    /// Host and port.
    pub address: String,
    /// The shared key, 64 hexadecimal digits.
    key: String,
    client: Client,
}

impl std::ops::Deref for AcquirerHost {
    type Target = HostCaller;

    fn deref(&self) -> &HostCaller {
        &self.caller
    }
}

/// An answer of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostReply {
    /// HTTP status.
    pub status: u16,
    /// The body as JSON; null if it is something else.
    pub json: Value,
    /// True if it is signed as the answer to the request.
    pub is_signed: bool,
}

impl HostReply {
    /// `outcome` and `responseCode`.
    pub fn outcome(&self) -> (&str, &str) {
        let text = |name: &str| self.json[name].as_str().unwrap_or_default();
        (text("outcome"), text("responseCode"))
    }
}

/// A request before it is signed. What is set to something wrong is sent so.
#[derive(Debug, Clone)]
pub struct HostRequest {
    /// HTTP method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// Idempotency key.
    pub key: String,
    /// Seconds since 1970.
    pub date: String,
    /// The body.
    pub body: String,
}

impl HostRequest {
    /// A request of an operation, dated now.
    pub fn new(operation: &str, key: &str, body: &Value) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self {
            method: Method::POST,
            path: format!("/v1/{operation}"),
            key: key.to_owned(),
            date: now.to_string(),
            body: body.to_string(),
        }
    }

    /// The request's signature under the key of hosts under test.
    pub fn signature(&self) -> String {
        self.signed_under(KEY)
    }

    fn signed_under(&self, key: &str) -> String {
        let lines = ["tillgate request", self.method.as_str(), &self.path, &self.date, &self.key];
        signature(key, &lines, self.body.as_bytes())
    }
}

/// HMAC-SHA-256 of lines and a body, in hexadecimal digits.
fn signature(key: &str, lines: &[&str], body: &[u8]) -> String {
    let key: Vec<u8> =
        (0..32).filter_map(|place| u8::from_str_radix(key.get(place * 2..place * 2 + 2)?, 16).ok()).collect();
    // HMAC takes a key of any length.
    #[allow(clippy::expect_used)]
    let mut code = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length");
    for line in lines {
        code.update(line.as_bytes());
        code.update(b"\n");
    }
    code.update(body);
    code.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl AcquirerHost {
    /// Starts a host on a free port with an empty ledger.
    ///
    /// # Errors
    /// When the binary is missing or does not become ready.
    pub fn start(arguments: &[&str]) -> anyhow::Result<Self> {
        let folder = fresh_folder()?;
        let path = folder.path().join("acquirer.key");
        std::fs::write(&path, format!("{KEY}\n"))?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        Self::start_in(folder, arguments.iter().map(|argument| (*argument).to_owned()).collect())
    }

    /// Kills the host as a power cut would, and starts it again on the same ledger, at another port.
    ///
    /// # Errors
    /// When it does not become ready again.
    pub fn restart(self) -> anyhow::Result<Self> {
        let Self { process, folder, arguments, .. } = self;
        drop(process);
        Self::start_in(folder, arguments)
    }

    fn start_in(folder: TempDir, arguments: Vec<String>) -> anyhow::Result<Self> {
        let (data, key) = (folder.path().join("acquirer"), folder.path().join("acquirer.key"));
        let mut all: Vec<&OsStr> = ["acquirer-host", "--listen", "127.0.0.1:0", "--data"].map(OsStr::new).to_vec();
        all.extend([data.as_os_str(), OsStr::new("--key-file"), key.as_os_str()]);
        all.extend(arguments.iter().map(OsStr::new));
        let (process, address) = Process::start(binary().as_os_str(), &all, &[], |line| {
            line.split_once("listening on http://").map(|(_, address)| address.trim().to_owned())
        })?;
        let client = Client::builder().no_proxy().build()?;
        Ok(Self { process, caller: HostCaller { address, key: KEY.to_owned(), client }, folder, arguments })
    }

    /// The folder around its data folder, where the key file is as well.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file of the key that it shares with its gateway.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("acquirer.key")
    }

    /// Everything that the host has printed and logged so far.
    pub fn log(&self) -> String {
        self.process.output()
    }

    /// A client of a host that runs already, with the key in a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn running(address: &str, key_file: &Path) -> anyhow::Result<HostCaller> {
        let key = std::fs::read_to_string(key_file)?.trim_end().to_owned();
        Ok(HostCaller { address: address.to_owned(), key, client: Client::builder().no_proxy().build()? })
    }

    /// A client of this host.
    pub fn caller(&self) -> HostCaller {
        self.caller.clone()
    }
}

impl HostCaller {
    /// Signs a request, sends it, and reads the answer.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn send(&self, request: &HostRequest) -> anyhow::Result<HostReply> {
        self.send_signed(request, &request.signed_under(&self.key)).await
    }

    /// Sends a request with any signature.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn send_signed(&self, request: &HostRequest, signed: &str) -> anyhow::Result<HostReply> {
        let url = format!("http://{}{}", self.address, request.path);
        let sent = self.client.request(request.method.clone(), url).body(request.body.clone());
        let sent = sent.header("idempotency-key", &request.key).header("tillgate-date", &request.date);
        let answer = sent.header("tillgate-signature", signed).send().await?;
        let status = answer.status().as_u16();
        let found = answer.headers().get("tillgate-signature").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = answer.bytes().await?;
        let expected = signature(&self.key, &["tillgate answer", signed, &status.to_string()], &body);
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Ok(HostReply { status, json, is_signed: found.as_deref() == Some(expected.as_str()) })
    }

    /// Sends a request of an operation.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn ask(&self, operation: &str, key: &str, body: &Value) -> anyhow::Result<HostReply> {
        self.send(&HostRequest::new(operation, key, body)).await
    }

    /// Plans a fault for the next requests of an operation; the host needs `--control`.
    ///
    /// # Errors
    /// When the host has no such route.
    pub async fn plan_fault(&self, operation: &str, fault: &str, times: u32) -> anyhow::Result<()> {
        let body = json!({ "operation": operation, "fault": fault, "times": times });
        let request = HostRequest { path: "/control/faults".to_owned(), ..HostRequest::new("", "control", &body) };
        let reply = self.send(&request).await?;
        anyhow::ensure!(reply.status == 200, "{}", reply.json);
        Ok(())
    }

    /// Every entry of the ledger.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub async fn ledger(&self) -> anyhow::Result<Vec<Value>> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().and_then(|entry| entry["number"].as_i64()).unwrap_or_default();
            let path = format!("/ledger?after={after}");
            let request = HostRequest {
                method: Method::GET,
                path,
                body: String::new(),
                ..HostRequest::new("", "", &Value::Null)
            };
            let reply = self.send(&request).await?;
            anyhow::ensure!(reply.status == 200 && reply.is_signed, "{}", reply.json);
            let page = reply.json["entries"].as_array().context("no entries")?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page.iter().cloned());
        }
    }
}
