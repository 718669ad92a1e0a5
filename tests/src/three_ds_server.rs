//! 3DS server under test: `tillgate three-ds-server` on a free port, and a client that signs messages according to
//! `docs/three-ds-server.md` without using the gateway's code.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::acquirer::{HostReply, HostRequest, TEST_KEY, TestAcquirerHost};
use crate::gateway::{binary_path, create_temporary_folder};
use crate::process::Process;

/// A running 3DS server. Dropping it stops the process and deletes its files.
#[derive(Debug)]
pub struct TestThreeDsServer {
    // Fields are dropped in this order: the process before its files.
    process: Process,
    /// Host and port.
    pub address: String,
    folder: TempDir,
}

impl TestThreeDsServer {
    /// Starts a server on a free port, with the key of the hosts under test.
    pub fn start() -> anyhow::Result<Self> {
        let folder = create_temporary_folder()?;
        let key = folder.path().join("three-ds.key");
        std::fs::write(&key, format!("{TEST_KEY}\n"))?;
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        let mut arguments: Vec<&OsStr> = ["three-ds-server", "--listen", "127.0.0.1:0"].map(OsStr::new).to_vec();
        arguments.extend([OsStr::new("--key-file"), key.as_os_str()]);
        let (process, address) = Process::start(binary_path().as_os_str(), &arguments, &[], |line| {
            line.split_once("listening on http://").map(|(_, address)| address.trim().to_owned())
        })?;
        Ok(Self { process, address, folder })
    }

    /// Returns the path of the key file that the server shares with its gateway.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("three-ds.key")
    }

    /// Returns the arguments of a gateway that uses this server.
    pub fn gateway_arguments(&self) -> Vec<String> {
        let url = format!("http://{}", self.address);
        let key = self.key_file().to_string_lossy().into_owned();
        let profile = ["--three-ds-requestor-id", "10001", "--three-ds-acquirer-bin", "400551"].map(str::to_owned);
        ["--three-ds-server".to_owned(), url, "--three-ds-key-file".to_owned(), key]
            .into_iter()
            .chain(profile)
            .collect()
    }

    /// Returns everything that the server has printed and logged so far.
    pub fn read_log(&self) -> String {
        self.process.output()
    }
}

/// Sends a message to an address, as a 3DS server with the key of the hosts under test does. `sign` may change the
/// signature.
///
/// # Errors
/// If the address is not `http://`, or the connection breaks.
pub async fn send_signed_message(
    url: &str,
    message: &Value,
    sign: impl FnOnce(&mut HostRequest) -> String,
) -> anyhow::Result<HostReply> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let client = TestAcquirerHost::client_from_key(address, TEST_KEY)?;
    let mut request = HostRequest { path: path.to_owned(), ..HostRequest::new("", "result", message) };
    let signature = sign(&mut request);
    client.send_with_signature(&request, &signature).await
}
