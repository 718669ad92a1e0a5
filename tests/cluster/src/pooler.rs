//! pgbouncer in front of a cluster.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tempfile::TempDir;

use crate::processes::{Janitor, start_in};
use crate::scaling_page::LoopbackNetwork;
use crate::{Cluster, USER, give_to_server, run_as_nobody};

/// Maximum time until it takes connections.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);
const PORT: u16 = 6432;

/// A running pgbouncer. It ends with the test's process.
pub struct Pooler {
    // Fields are dropped in this order: the process before its files.
    _janitor: Janitor,
    _process: Child,
    _folder: TempDir,
    host: String,
}

impl Pooler {
    /// Starts a pooler with these lines of settings in front of a cluster.
    ///
    /// # Errors
    /// If pgbouncer is not installed, or does not take connections in time.
    pub fn start(cluster: &Cluster, settings: &str) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("pooler").tempdir()?;
        let work = folder.path().join("pgbouncer");
        fs::create_dir(&work)?;
        for path in [folder.path(), &work] {
            give_to_server(path)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
        let host = LoopbackNetwork::choose().address(200);
        let file = format!(
            "[databases]\n* = host={} user={USER}\n[pgbouncer]\nlisten_addr = {host}\nlisten_port = {PORT}\n\
             unix_socket_dir =\nauth_type = any\n{settings}\n",
            cluster.folder().display()
        );
        let path = work.join("pgbouncer.ini");
        fs::write(&path, file)?;
        give_to_server(&path)?;
        let janitor = Janitor::start(folder.path())?;
        let process = start_in(run_as_nobody(Path::new("/usr/sbin/pgbouncer")).arg("pgbouncer.ini"), &work)?;
        let until = Instant::now() + START_TIMEOUT;
        while TcpStream::connect((host.as_str(), PORT)).is_err() {
            let log = || fs::read_to_string(work.join("log")).unwrap_or_default();
            ensure!(Instant::now() < until, "pgbouncer does not start: {}", log());
            std::thread::sleep(PAUSE);
        }
        Ok(Self { _janitor: janitor, _process: process, _folder: folder, host })
    }

    /// Returns the address of a database of the cluster through the pooler.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://{USER}@{}:{PORT}/{database}", self.host)
    }
}
