//! OpenSSH's server with SFTP, at a free port, for the user who runs the tests.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

use crate::gateway::create_temporary_folder;
use crate::process::Process;

/// The server, which is not on the path of every user.
const SSHD: &str = "/usr/sbin/sshd";
/// Folder that the server wants if root runs it.
const PRIVILEGE_SEPARATION: &str = "/run/sshd";

/// A running server of OpenSSH. Its user logs in with a key.
pub struct SftpReceiver {
    process: Process,
    /// Its port at 127.0.0.1.
    pub port: u16,
    /// The user.
    pub user: String,
    folder: TempDir,
}

impl SftpReceiver {
    /// Starts a server with an empty folder, new host keys, and a new key of its user.
    ///
    /// # Errors
    /// If it does not start, for example because Debian's package openssh-server is missing.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(&["ed25519"], "")
    }

    /// Starts a server with a host key of each of these kinds, and further lines of its configuration.
    ///
    /// # Errors
    /// Same as [`Self::start`].
    pub fn start_with(host_keys: &[&str], lines: &str) -> anyhow::Result<Self> {
        let folder = create_temporary_folder()?;
        let path = |name: &str| folder.path().join(name);
        let mut keys = String::new();
        for kind in host_keys {
            let key = path(&format!("host_key_{kind}"));
            create_key(&key, kind)?;
            keys.push_str(&format!("HostKey {}\n", key.display()));
        }
        create_key(&path("user_key"), "ed25519")?;
        std::fs::create_dir(path("files"))?;
        // Only root needs it, and may create it.
        let _ = std::fs::create_dir_all(PRIVILEGE_SEPARATION);
        // The server takes no port 0. No other process is likely to take this port before it does.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\n{keys}{lines}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
             Subsystem sftp internal-sftp\nForceCommand internal-sftp\n",
            path("user_key.pub").display()
        );
        std::fs::write(path("sshd_config"), config)?;
        let config = path("sshd_config");
        let arguments = [OsStr::new("-D"), OsStr::new("-e"), OsStr::new("-f"), config.as_os_str()];
        let (process, ()) = Process::start(OsStr::new(SSHD), &arguments, &[], |line| {
            line.starts_with("Server listening on").then_some(())
        })?;
        let user = Command::new("id").arg("-un").output().context("id does not start")?;
        let user = String::from_utf8(user.stdout)?.trim().to_owned();
        Ok(Self { process, port, user, folder })
    }

    /// Returns the folder with the received files.
    pub fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// Returns the file with the user's private key.
    pub fn user_key(&self) -> PathBuf {
        self.folder.path().join("user_key")
    }

    /// Returns the fingerprint of the Ed25519 host key, as ssh-keygen prints it.
    pub fn host_key(&self) -> anyhow::Result<String> {
        self.host_key_of("ed25519")
    }

    /// Returns the fingerprint of the host key of a kind, as ssh-keygen prints it.
    pub fn host_key_of(&self, kind: &str) -> anyhow::Result<String> {
        read_fingerprint(&self.folder.path().join(format!("host_key_{kind}.pub")))
    }

    /// Returns everything that the server has logged.
    pub fn log(&self) -> String {
        self.process.output()
    }

    /// Returns the address of the folder.
    pub fn url(&self) -> String {
        format!("sftp://{}@localhost:{}/{}", self.user, self.port, self.files().display())
    }
}

/// Creates a key without a passphrase.
pub fn create_key(path: &Path, kind: &str) -> anyhow::Result<()> {
    let created = Command::new("ssh-keygen").args(["-q", "-t", kind, "-N", "", "-f"]).arg(path).output();
    let created = created.context("ssh-keygen does not start")?;
    ensure!(created.status.success(), "ssh-keygen failed: {}", String::from_utf8_lossy(&created.stderr));
    Ok(())
}

/// Returns the fingerprint of a public key.
fn read_fingerprint(path: &Path) -> anyhow::Result<String> {
    let printed = Command::new("ssh-keygen").args(["-l", "-E", "sha256", "-f"]).arg(path).output()?;
    let printed = String::from_utf8(printed.stdout)?;
    Ok(printed.split_whitespace().nth(1).context("a fingerprint")?.to_owned())
}
