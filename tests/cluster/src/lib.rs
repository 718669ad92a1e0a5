//! Clusters of PostgreSQL for tests, in temporary folders and on sockets of their own. They end with the test's
//! process, however that ends.

mod patroni;
mod pooler;
mod processes;
mod scaling_page;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;

pub use self::patroni::PatroniCluster;
pub use self::pooler::Pooler;

/// Maximum time until a cluster answers.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between two questions whether it answers.
const PAUSE: Duration = Duration::from_millis(20);
/// A user without rights. PostgreSQL refuses to run as root.
const NOBODY: u32 = 65534;
/// The database's own user. Sockets of a cluster are in a folder that only the test's user can enter.
const USER: &str = "tester";

/// Runs the server, and ends it when the pipe of its input is closed, as it is when the test's process ends. Then
/// removes the folder, unless a word has asked to keep it: nobody else does that if the test's process was killed, or
/// keeps the cluster to its end.
const SUPERVISE: &str = r#""$@" & server=$!; read -r word; kill -INT $server 2>/dev/null; wait $server
[ "$word" = keep ] || rm -rf "$PWD""#;
/// The line that asks to keep the folder.
const KEEP: &[u8] = b"keep\n";

/// A running cluster.
pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    server: Mutex<Child>,
    databases: AtomicU32,
    certificate: Option<TempDir>,
}

impl Cluster {
    /// Makes a cluster and starts it, with these settings (`name=value`) beside the usual ones.
    ///
    /// # Errors
    /// If PostgreSQL is not installed or does not start.
    pub fn start(settings: &[&str]) -> Result<Self> {
        Self::start_in(&std::env::temp_dir(), settings)
    }

    /// Same as [`Self::start`], with the files of the cluster in a folder inside of `parent`. A benchmark needs a real
    /// disk, and the folder of temporary files may be in memory.
    ///
    /// # Errors
    /// Same as [`Self::start`], or if the user without rights cannot enter `parent`.
    pub fn start_in(parent: &Path, settings: &[&str]) -> Result<Self> {
        let programs = find_programs()?;
        let folder = tempfile::Builder::new().prefix("cluster").tempdir_in(parent)?;
        give_to_server(folder.path())?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
        let data = folder.path().join("data");
        let mut make = run_as_nobody(&programs.join("initdb"));
        make.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username", USER, "-D"]).arg(&data);
        let made = make.current_dir(folder.path()).output().context("initdb")?;
        ensure!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let server = Mutex::new(start_server(&programs, folder.path(), settings)?);
        let cluster = Self { folder, programs, server, databases: AtomicU32::new(0), certificate: None };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// Makes a cluster that also listens on the network of this machine, with encryption. Its certificate is signed by
    /// nobody else and names its address. The file is that of [`Self::certificate`].
    ///
    /// # Errors
    /// Same as [`Self::start`], or if openssl is not installed.
    pub fn start_encrypted() -> Result<Self> {
        let certificate = tempfile::tempdir()?;
        let host = own_host();
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cluster"]);
        openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
        openssl.args(["-addext", &format!("subjectAltName=IP:{host}"), "-keyout", "server.key", "-out", "server.crt"]);
        let made = openssl.current_dir(certificate.path()).output().context("openssl")?;
        ensure!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
        let mut files = Vec::new();
        for (name, setting) in [("server.crt", "ssl_cert_file"), ("server.key", "ssl_key_file")] {
            let path = certificate.path().join(name);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            give_to_server(&path)?;
            files.push(format!("{setting}={}", path.display()));
        }
        give_to_server(certificate.path())?;
        let mut settings: Vec<&str> = files.iter().map(String::as_str).collect();
        let listen = format!("listen_addresses={host}");
        settings.extend(["ssl=on", &listen]);
        let mut cluster = Self::start(&settings)?;
        cluster.certificate = Some(certificate);
        Ok(cluster)
    }

    /// Returns the file of the certificate, of a cluster with encryption.
    pub fn certificate(&self) -> Option<PathBuf> {
        self.certificate.as_ref().map(|folder| folder.path().join("server.crt"))
    }

    /// Returns the address of a database over the network of this machine.
    pub fn network_address(&self, database: &str) -> String {
        format!("postgres://{USER}@{}/{database}", own_host())
    }

    /// Makes an empty database. Returns its address.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub fn create_database(&self) -> Result<String> {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run_sql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(self.address(&name))
    }

    /// Returns the folder with the socket. The server's messages are in its file `log`, its files in `data`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the address of a database.
    pub fn address(&self, database: &str) -> String {
        format!("postgres:///{database}?user={USER}&host={}", self.folder.path().display())
    }

    /// Runs statements as another program does, and returns what they print.
    ///
    /// # Errors
    /// If one of them fails.
    pub fn run_sql(&self, database: &str, script: &str) -> Result<String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", USER, "-d", database, "-c", script, "-h"]);
        let ran = psql.arg(self.folder.path()).output().context("psql")?;
        ensure!(ran.status.success(), "psql: {}", String::from_utf8_lossy(&ran.stderr));
        Ok(String::from_utf8(ran.stdout)?.trim_end().to_owned())
    }

    /// Kills all processes of the cluster at once, as a power failure does, and starts it again.
    ///
    /// # Errors
    /// If it does not start.
    pub fn crash_and_restart(&self) -> Result<()> {
        self.stop("immediate")?;
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        // The supervisor ends with the server that it waits for, once its input is closed.
        if let Some(mut input) = server.stdin.take() {
            input.write_all(KEEP)?;
        }
        server.wait()?;
        *server = start_server(&self.programs, self.folder.path(), &[])?;
        drop(server);
        self.wait_until_ready()
    }

    /// Sends a signal to all processes of the server, such as `STOP`, after which it answers nothing and keeps its
    /// connections.
    ///
    /// # Errors
    /// If the processes cannot be reached.
    pub fn signal(&self, name: &str) -> Result<()> {
        processes::signal(name, &processes::find_processes(&self.folder.path().join("data"))?)
    }

    /// Stops the server in one of the modes of `pg_ctl`.
    fn stop(&self, mode: &str) -> Result<()> {
        let mut stop = run_as_nobody(&self.programs.join("pg_ctl"));
        stop.args(["stop", "-m", mode, "-D"]).arg(self.folder.path().join("data"));
        let stopped = stop.current_dir(self.folder.path()).output()?;
        ensure!(stopped.status.success(), "pg_ctl: {}", String::from_utf8_lossy(&stopped.stderr));
        Ok(())
    }

    fn wait_until_ready(&self) -> Result<()> {
        let until = Instant::now() + START_TIMEOUT;
        loop {
            match self.run_sql("postgres", "SELECT 1") {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() > until => return Err(error.context("the cluster does not answer")),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let server = self.server.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(server.stdin.take());
        let _ = server.wait();
    }
}

/// Starts a server on a socket in the folder of its cluster.
fn start_server(programs: &Path, folder: &Path, settings: &[&str]) -> Result<Child> {
    let mut supervisor = run_as_nobody(Path::new("sh"));
    supervisor.arg("-c").arg(SUPERVISE).arg("sh").arg(programs.join("postgres")).arg("-D").arg(folder.join("data"));
    supervisor.arg("-k").arg(folder).args(["-c", "listen_addresses="]);
    // Tests make and drop many small databases, and wait for the disk only where that is what they test.
    for setting in ["fsync=off", "shared_buffers=32MB", "max_connections=100", "logging_collector=off"] {
        supervisor.args(["-c", setting]);
    }
    for setting in settings {
        supervisor.args(["-c", setting]);
    }
    let log = fs::File::create(folder.join("log"))?;
    supervisor.current_dir(folder).stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
    supervisor.spawn().context("starting PostgreSQL")
}

/// Makes a command that runs without the rights of root.
fn run_as_nobody(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let nobody = NOBODY.to_string();
    command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"]).arg(program);
    command
}

/// Makes a file or folder the server's own.
fn give_to_server(path: &Path) -> Result<()> {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY))?;
    }
    Ok(())
}

/// Makes a folder with all that is in it the server's own.
fn give_all_to_server(folder: &Path) -> Result<()> {
    if is_root() {
        let owner = format!("{NOBODY}:{NOBODY}");
        let given = Command::new("chown").args(["-R", &owner]).arg(folder).status()?;
        ensure!(given.success(), "chown of {} failed", folder.display());
    }
    Ok(())
}

/// Returns an address of this machine that no other process uses. Clusters cannot listen on a port that the system
/// chooses.
fn own_host() -> String {
    let [_, a, b, c] = std::process::id().to_be_bytes();
    format!("127.{a}.{b}.{c}")
}

fn is_root() -> bool {
    // The owner of a process's own folder is its user.
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Finds the folder of PostgreSQL's programs: `TILLGATE_POSTGRES`, or the newest one of Debian.
fn find_programs() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("TILLGATE_POSTGRES") {
        return Ok(folder.into());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let newest = versions.filter_map(|version| version.file_name().to_str()?.parse::<u32>().ok()).max();
    match newest {
        Some(version) => Ok(PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"))),
        None => bail!(
            "PostgreSQL is not installed: `apt-get install postgresql`, or name its programs' folder in TILLGATE_POSTGRES"
        ),
    }
}
