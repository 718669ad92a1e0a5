//! Servers that reconciliation files are pushed to: pyftpdlib, OpenSSH, paramiko, and one that misbehaves.

mod openssh;
mod scripted_ftp;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway::create_temporary_folder;
use crate::process::Process;

pub use openssh::{SftpReceiver, create_key};
pub use scripted_ftp::{FtpScript, ScriptedFtp};

/// Source of the FTP server.
const FTP_RECEIVER: &str = include_str!("ftp_receiver.py");
/// Source of the SFTP server that takes a password.
const SFTP_RECEIVER: &str = include_str!("sftp_receiver.py");
/// The interpreter of Debian's packages, which may not be the first one on the path.
const PYTHON: &str = "/usr/bin/python3";
/// The user at every receiver that asks for a password.
pub const USER: &str = "bakery";
/// The user's password.
pub const PASSWORD: &str = "ovenfresh-4711";

/// Options of an FTP server.
#[derive(Debug, Default)]
pub struct FtpReceiverOptions<'a> {
    /// Files of its certificate and the key. `None` for plain FTP.
    pub certificate: Option<(&'a Path, &'a Path)>,
    /// True if the user may not write.
    pub read_only: bool,
    /// Command that gets no reply the first time.
    pub stalled_command: Option<&'a str>,
}

/// A running FTP server of pyftpdlib.
pub struct FtpReceiver {
    process: Process,
    /// Its port at 127.0.0.1.
    pub port: u16,
    folder: TempDir,
}

impl FtpReceiver {
    /// Starts a server with an empty folder.
    ///
    /// # Errors
    /// If it does not start, for example because Debian's package python3-pyftpdlib is missing.
    pub fn start(options: &FtpReceiverOptions<'_>) -> anyhow::Result<Self> {
        let folder = create_temporary_folder()?;
        let (certificate, key) = options.certificate.unzip();
        let arguments = json!({
            "root": folder.path(),
            "user": USER,
            "password": PASSWORD,
            "permissions": if options.read_only { "elr" } else { "elradfmw" },
            "certificate": certificate,
            "key": key,
            "stalled_command": options.stalled_command,
        });
        let (process, port) =
            start_python(FTP_RECEIVER, &arguments, |line| line.strip_prefix("listening on ")?.trim().parse().ok())?;
        Ok(Self { process, port, folder })
    }

    /// Returns the folder with the received files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the arguments of the commands of a kind that it has got, in their order.
    pub fn commands(&self, command: &str) -> Vec<String> {
        let prefix = format!("command {command} ");
        self.process.output().lines().filter_map(|line| Some(line.strip_prefix(&prefix)?.to_owned())).collect()
    }
}

/// A certification authority, and a certificate for localhost that it has issued.
pub struct TestAuthority {
    folder: TempDir,
}

impl TestAuthority {
    /// Creates both with openssl.
    ///
    /// # Errors
    /// If openssl does not start or fails.
    pub fn create() -> anyhow::Result<Self> {
        let authority = Self { folder: create_temporary_folder()? };
        let [ca, ca_key, certificate, key] =
            ["ca.pem", "ca.key", "certificate.pem", "key.pem"].map(|name| authority.folder.path().join(name));
        let run = |name: &str, extra: &[&OsStr], key: &Path, out: &Path| -> anyhow::Result<()> {
            let created = Command::new("openssl")
                .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
                .args(["-days", "2", "-subj", name])
                .args(extra)
                .arg("-keyout")
                .arg(key)
                .arg("-out")
                .arg(out)
                .output()
                .context("openssl does not start")?;
            ensure!(created.status.success(), "openssl failed: {}", String::from_utf8_lossy(&created.stderr));
            Ok(())
        };
        run("/CN=Test authority", &[], &ca_key, &ca)?;
        let names = OsStr::new("subjectAltName=DNS:localhost");
        let leaf = OsStr::new("basicConstraints=critical,CA:FALSE");
        let add = OsStr::new("-addext");
        let issued_by = [OsStr::new("-CA"), ca.as_os_str(), OsStr::new("-CAkey"), ca_key.as_os_str()];
        run("/CN=localhost", &[&issued_by[..], &[add, names, add, leaf]].concat(), &key, &certificate)?;
        Ok(authority)
    }

    /// Returns the file of the authority's certificate.
    pub fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Returns the files of the issued certificate and of its key.
    pub fn certificate_and_key(&self) -> (PathBuf, PathBuf) {
        (self.folder.path().join("certificate.pem"), self.folder.path().join("key.pem"))
    }
}

/// Options of an SFTP server of paramiko.
#[derive(Debug, Default)]
pub struct SftpReceiverOptions<'a> {
    /// The questions of keyboard-interactive, each with its prompts: their texts, and true if the answer is shown.
    /// Without any, the server takes a password.
    pub rounds: &'a [&'a [(&'a str, bool)]],
    /// The status with which it refuses to tell the size of a file.
    pub stat_refusal: Option<u32>,
}

/// A running SFTP server of paramiko, at which the user logs in with the password.
pub struct PasswordSftpReceiver {
    process: Process,
    /// Its port at 127.0.0.1.
    pub port: u16,
    /// The fingerprint of its host key, which is an ECDSA key.
    pub host_key: String,
    folder: TempDir,
}

impl PasswordSftpReceiver {
    /// Starts a server with an empty folder. It replaces no file when one is renamed.
    ///
    /// # Errors
    /// If it does not start, for example because Debian's package python3-paramiko is missing.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(&SftpReceiverOptions::default())
    }

    /// Starts a server that asks questions in place of taking a password, or that refuses to tell sizes.
    ///
    /// # Errors
    /// Same as [`Self::start`].
    pub fn start_with(options: &SftpReceiverOptions<'_>) -> anyhow::Result<Self> {
        let folder = create_temporary_folder()?;
        let arguments = json!({
            "root": folder.path(),
            "user": USER,
            "password": PASSWORD,
            "rounds": options.rounds,
            "stat_refusal": options.stat_refusal,
        });
        let (process, (port, host_key)) = start_python(SFTP_RECEIVER, &arguments, |line| {
            let (port, host_key) = line.strip_prefix("listening on ")?.trim().split_once(' ')?;
            Some((port.parse().ok()?, host_key.to_owned()))
        })?;
        Ok(Self { process, port, host_key, folder })
    }

    /// Returns the folder with the received files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the number of logins, also of those that were refused.
    pub fn count_logins(&self) -> usize {
        self.process.output().lines().filter(|line| line.starts_with("login ")).count()
    }
}

/// Starts a program in Python with an argument, and waits for a line for which `ready` returns a value.
fn start_python<T: Send + 'static>(
    program: &str,
    argument: &Value,
    ready: impl Fn(&str) -> Option<T> + Clone + Send + 'static,
) -> anyhow::Result<(Process, T)> {
    let argument = argument.to_string();
    let arguments = [OsStr::new("-c"), OsStr::new(program), OsStr::new(&argument)];
    Process::start(OsStr::new(find_python()), &arguments, &[], ready)
}

/// Returns the Python interpreter: that of Debian's packages, if it is there.
pub(crate) fn find_python() -> &'static str {
    if Path::new(PYTHON).exists() { PYTHON } else { "python3" }
}

/// Returns the names in a folder, sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn list_names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Writes a text into a file of a folder. Returns its path.
pub fn write_file(folder: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let path = folder.join(name);
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    Ok(path)
}
