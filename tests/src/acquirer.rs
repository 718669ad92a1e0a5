//! Acquirer host under test: `tillgate acquirer-host` on a free port with its own ledger, and a client that signs
//! requests according to `docs/acquirer-host.md` without using the gateway's code.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;

use crate::gateway::{binary_path, create_temporary_folder};
use crate::process::Process;

/// Shared key of the hosts under test, 64 hexadecimal digits.
pub(crate) const TEST_KEY: &str = "5b0f1c9a7e2d4863b1a0f9e8d7c6b5a493827160f5e4d3c2b1a0998877665544";

/// A running host. Dropping it stops the process and deletes its files.
#[derive(Debug)]
pub struct TestAcquirerHost {
    // Fields are dropped in this order: the process before its files.
    process: Process,
    client: AcquirerHostClient,
    folder: TempDir,
    arguments: Vec<String>,
}

/// Client of a host under test. It may outlive the host.
#[derive(Debug, Clone)]
pub struct AcquirerHostClient {
    /// Host and port.
    pub address: String,
    /// The shared key, 64 hexadecimal digits.
    key: String,
    client: Client,
}

impl std::ops::Deref for TestAcquirerHost {
    type Target = AcquirerHostClient;

    fn deref(&self) -> &AcquirerHostClient {
        &self.client
    }
}

/// Response of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostReply {
    /// HTTP status.
    pub status: u16,
    /// Body as JSON, or null if the body is not JSON.
    pub json: Value,
    /// True if the response carries a valid signature for the request.
    pub is_signed: bool,
}

impl HostReply {
    /// Returns `outcome` and `responseCode`.
    pub fn outcome_and_code(&self) -> (&str, &str) {
        let text = |name: &str| self.json[name].as_str().unwrap_or_default();
        (text("outcome"), text("responseCode"))
    }
}

/// An unsigned request. Invalid values are sent unchanged.
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
    /// Creates a request for an operation, dated now.
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

    /// Returns the request's signature under the key of the hosts under test.
    pub fn sign_with_test_key(&self) -> String {
        self.sign_with(TEST_KEY)
    }

    /// Signs method, path, date, idempotency key and body with a shared key.
    fn sign_with(&self, key: &str) -> String {
        let lines = ["tillgate request", self.method.as_str(), &self.path, &self.date, &self.key];
        hmac_signature(key, &lines, self.body.as_bytes())
    }
}

/// Returns the HMAC-SHA-256 of the lines, each with a line break, and the body, in hexadecimal digits. The key is in
/// hexadecimal digits, too; pairs that are none are left out.
fn hmac_signature(key: &str, lines: &[&str], body: &[u8]) -> String {
    let key: Vec<u8> =
        (0..32).filter_map(|place| u8::from_str_radix(key.get(place * 2..place * 2 + 2)?, 16).ok()).collect();
    // HMAC accepts a key of any length.
    #[allow(clippy::expect_used)]
    let mut code = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length");
    for line in lines {
        code.update(line.as_bytes());
        code.update(b"\n");
    }
    code.update(body);
    code.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl TestAcquirerHost {
    /// Starts a host with further arguments on a free port, with an empty ledger and the key of the hosts under test.
    pub fn start(arguments: &[&str]) -> anyhow::Result<Self> {
        let folder = create_temporary_folder()?;
        let path = folder.path().join("acquirer.key");
        std::fs::write(&path, format!("{TEST_KEY}\n"))?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        Self::start_in(folder, arguments.iter().map(|argument| (*argument).to_owned()).collect())
    }

    /// Kills the host without a clean shutdown, as a power failure would, and restarts it with the same arguments on
    /// the same ledger and another port.
    ///
    /// # Errors
    /// If it does not become ready again.
    pub fn kill_and_restart(self) -> anyhow::Result<Self> {
        let Self { process, folder, arguments, .. } = self;
        drop(process);
        Self::start_in(folder, arguments)
    }

    /// Starts a host on the ledger and the key file in a folder, and waits until it listens.
    fn start_in(folder: TempDir, arguments: Vec<String>) -> anyhow::Result<Self> {
        let (data, key) = (folder.path().join("acquirer"), folder.path().join("acquirer.key"));
        let mut all: Vec<&OsStr> = ["acquirer-host", "--listen", "127.0.0.1:0", "--data"].map(OsStr::new).to_vec();
        all.extend([data.as_os_str(), OsStr::new("--key-file"), key.as_os_str()]);
        all.extend(arguments.iter().map(OsStr::new));
        let (process, address) = Process::start(binary_path().as_os_str(), &all, &[], |line| {
            line.split_once("listening on http://").map(|(_, address)| address.trim().to_owned())
        })?;
        let client = Client::builder().no_proxy().build()?;
        Ok(Self {
            process,
            client: AcquirerHostClient { address, key: TEST_KEY.to_owned(), client },
            folder,
            arguments,
        })
    }

    /// Returns the folder that contains the data folder and the key file.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the key file that the host shares with its gateway.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("acquirer.key")
    }

    /// Returns everything that the host has printed and logged so far.
    pub fn read_log(&self) -> String {
        self.process.output()
    }

    /// Returns a client of a host that is already running, with the key from a file.
    pub fn client_from_key_file(address: &str, key_file: &Path) -> anyhow::Result<AcquirerHostClient> {
        Self::client_from_key(address, std::fs::read_to_string(key_file)?.trim_end())
    }

    /// Returns a client of a host that is already running, with a key of 64 hexadecimal digits.
    pub fn client_from_key(address: &str, key: &str) -> anyhow::Result<AcquirerHostClient> {
        let client = Client::builder().no_proxy().build()?;
        Ok(AcquirerHostClient { address: address.to_owned(), key: key.to_owned(), client })
    }

    /// Returns a client of this host.
    pub fn client(&self) -> AcquirerHostClient {
        self.client.clone()
    }
}

impl AcquirerHostClient {
    /// Signs and sends a request, and reads the response.
    pub async fn sign_and_send(&self, request: &HostRequest) -> anyhow::Result<HostReply> {
        self.send_with_signature(request, &request.sign_with(&self.key)).await
    }

    /// Sends a request with the given signature, which may be wrong.
    pub async fn send_with_signature(&self, request: &HostRequest, signature: &str) -> anyhow::Result<HostReply> {
        let url = format!("http://{}{}", self.address, request.path);
        let builder = self.client.request(request.method.clone(), url).body(request.body.clone());
        let builder = builder.header("idempotency-key", &request.key).header("tillgate-date", &request.date);
        let response = builder.header("tillgate-signature", signature).send().await?;
        let status = response.status().as_u16();
        let received =
            response.headers().get("tillgate-signature").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = response.bytes().await?;
        let expected = hmac_signature(&self.key, &["tillgate answer", signature, &status.to_string()], &body);
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Ok(HostReply { status, json, is_signed: received.as_deref() == Some(expected.as_str()) })
    }

    /// Sends a request for an operation.
    pub async fn send_operation(&self, operation: &str, key: &str, body: &Value) -> anyhow::Result<HostReply> {
        self.sign_and_send(&HostRequest::new(operation, key, body)).await
    }

    /// Schedules a fault for the next `times` requests of an operation. The host must run with `--control`.
    ///
    /// # Errors
    /// If the host rejects the request, or the connection breaks.
    pub async fn schedule_fault(&self, operation: &str, fault: &str, times: u32) -> anyhow::Result<()> {
        let body = json!({ "operation": operation, "fault": fault, "times": times });
        let request = HostRequest { path: "/control/faults".to_owned(), ..HostRequest::new("", "control", &body) };
        let reply = self.sign_and_send(&request).await?;
        anyhow::ensure!(reply.status == 200, "{}", reply.json);
        Ok(())
    }

    /// Returns every entry of the ledger, page by page in the order of their numbers.
    ///
    /// # Errors
    /// If a page cannot be read, or is not signed with the shared key.
    pub async fn read_ledger(&self) -> anyhow::Result<Vec<Value>> {
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
            let reply = self.sign_and_send(&request).await?;
            anyhow::ensure!(reply.status == 200 && reply.is_signed, "{}", reply.json);
            let page = reply.json["entries"].as_array().context("no entries")?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page.iter().cloned());
        }
    }
}
