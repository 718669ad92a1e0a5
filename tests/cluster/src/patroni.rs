//! Three machines with PostgreSQL under Patroni, each with an address of the loopback network, and an HAProxy that
//! leads to the primary. Their files are those of `docs/scaling.md`, except for the times of Patroni.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::processes::{Janitor, find_processes, kill_all_in, signal, start_in};
use crate::scaling_page::{LoopbackNetwork, find_block};
use crate::{find_programs, give_all_to_server, give_to_server, run_as_nobody};

/// Maximum time until a cluster is whole. On a busy machine the copies of the standbys take most of it.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(180);
/// Maximum time of a question to Patroni.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_millis(100);

/// Times of Patroni on the page, and those of the tests: as short as a busy machine allows. Patroni's own rule is that
/// `loop_wait` and twice `retry_timeout` are not longer than `ttl`.
const TIMES: [(&str, &str); 3] =
    [("ttl: 20", "ttl: 6"), ("loop_wait: 5", "loop_wait: 1"), ("retry_timeout: 5", "retry_timeout: 2")];

/// Interpreter that a user without rights can run, unlike one in the folder of another user.
const PYTHON: &str = "/usr/bin/python3";
/// Folder with Patroni and what it imports.
const PACKAGES: &str = "packages";

/// The machines of a cluster, by their numbers on the page.
const MACHINES: [u8; 3] = [1, 2, 3];

/// A cluster of three machines. All its processes end with the test's process, however that ends.
pub struct PatroniCluster {
    // Fields are dropped in this order: the processes before their files.
    _janitor: Janitor,
    folder: TempDir,
    network: LoopbackNetwork,
    /// Processes that this one has started and has to wait for, by the name of their folder. Locked because tests use
    /// a cluster from several threads.
    children: Mutex<Vec<(String, Child)>>,
}

impl PatroniCluster {
    /// Starts a cluster with the role and the database of the page, and waits until it has a primary, a synchronous
    /// standby and another standby.
    ///
    /// # Errors
    /// If a program is not installed, or the cluster does not become whole in time. The error has the ends of the logs.
    pub fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("patroni").tempdir()?;
        give_to_server(folder.path())?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
        let _janitor = Janitor::start(folder.path())?;
        let cluster = Self { _janitor, folder, network: LoopbackNetwork::choose(), children: Mutex::default() };
        cluster.copy_patroni()?;
        for machine in MACHINES {
            cluster.start_etcd(machine)?;
        }
        for machine in MACHINES {
            cluster.write_configuration(machine)?;
            cluster.start_machine(machine)?;
        }
        cluster.start_proxy("database-proxy", find_block("`/etc/haproxy/haproxy.cfg`:")?)?;
        cluster.wait_until_whole()?;
        cluster.create_database()?;
        Ok(cluster)
    }

    /// Returns the address of the database through HAProxy, as a gateway uses it.
    ///
    /// # Errors
    /// If the page does not create the role with a password.
    pub fn address(&self) -> Result<String> {
        let (_, rest) = find_block(CREATION)?.split_once("LOGIN PASSWORD '").context("the role has no password")?;
        let password = rest.split('\'').next().unwrap_or_default();
        Ok(format!("postgres://tillgate:{password}@{}:5000/tillgate", self.network.address(100)))
    }

    /// Returns the address of a machine, by the last number of its address on the page.
    pub fn host(&self, machine: u8) -> String {
        self.network.address(machine)
    }

    /// Starts the proxy of the page in front of `nodes` gateways, which listen at port 8080 of the machines from 11 on.
    /// Returns its address.
    ///
    /// # Errors
    /// If HAProxy does not start.
    pub fn start_front_proxy(&self, nodes: u8) -> Result<String> {
        let block = find_block("`/etc/haproxy/haproxy.cfg` of the proxy")?;
        let others = block.lines().filter(|line| !line.trim_start().starts_with("server "));
        let servers = (1..=nodes).map(|node| format!("    server tx0{node} 10.0.0.1{node}:8080"));
        let lines: Vec<String> = others.map(str::to_owned).chain(servers).collect();
        self.start_proxy("front-proxy", &(lines.join("\n") + "\n"))?;
        Ok(format!("{}:8080", self.network.address(10)))
    }

    /// Returns the primary. `None` if no machine says that it is, or several do.
    pub fn find_primary(&self) -> Option<u8> {
        let primaries: Vec<u8> = self.find_machines("/primary");
        if let [primary] = primaries[..] { Some(primary) } else { None }
    }

    /// Returns the machines whose Patroni answers 200 to a path.
    fn find_machines(&self, path: &str) -> Vec<u8> {
        let is_so = |machine: &u8| self.ask_patroni(*machine, path).is_ok_and(|(status, _)| status == 200);
        MACHINES.into_iter().filter(is_so).collect()
    }

    /// Requests a path from the Patroni of a machine. Returns status and body of the answer.
    fn ask_patroni(&self, machine: u8, path: &str) -> Result<(u16, Value)> {
        let mut stream = TcpStream::connect_timeout(&format!("{}:8008", self.host(machine)).parse()?, ANSWER_TIMEOUT)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        // With HTTP 1.0 the answer ends with its connection.
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no body")?;
        let status = head.split(' ').nth(1).context("no status")?.parse()?;
        Ok((status, serde_json::from_str(body).unwrap_or_default()))
    }

    /// Waits until the primary sends its log to all other machines, and to one of them synchronously.
    ///
    /// # Errors
    /// If that takes too long. The error has the ends of the logs.
    pub fn wait_until_whole(&self) -> Result<()> {
        let until = Instant::now() + WHOLE_TIMEOUT;
        while !self.is_whole() {
            if Instant::now() > until {
                bail!("the cluster does not become whole:\n{}", self.read_logs());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Returns true if the primary sends its log to all other machines. A machine that comes back says that it is a
    /// replica also while it still has to be rewound.
    fn is_whole(&self) -> bool {
        let Some(primary) = self.find_primary() else { return false };
        let Ok((_, status)) = self.ask_patroni(primary, "/patroni") else { return false };
        let receivers: Vec<&Value> = status["replication"].as_array().into_iter().flatten().collect();
        let streaming = receivers.iter().filter(|receiver| receiver["state"] == "streaming").count();
        let synchronous = receivers.iter().filter(|receiver| receiver["sync_state"] == "sync").count();
        streaming == MACHINES.len() - 1 && synchronous == 1 && self.find_machines("/synchronous").len() == 1
    }

    /// Kills Patroni and PostgreSQL of a machine at once, as a power failure does. Its etcd goes on.
    ///
    /// # Errors
    /// If the processes cannot be killed.
    pub fn kill_machine(&self, machine: u8) -> Result<()> {
        let name = machine_name(machine);
        kill_all_in(&self.folder.path().join(&name))?;
        self.reap(&name);
        Ok(())
    }

    /// Stops Patroni and PostgreSQL of a machine without ending them, as a host stops a virtual machine.
    ///
    /// # Errors
    /// If the signals cannot be sent.
    pub fn suspend_machine(&self, machine: u8) -> Result<()> {
        self.signal_machine(machine, "STOP")
    }

    /// Lets a machine go on where [`Self::suspend_machine`] has stopped it.
    ///
    /// # Errors
    /// If the signals cannot be sent.
    pub fn resume_machine(&self, machine: u8) -> Result<()> {
        self.signal_machine(machine, "CONT")
    }

    /// Sends a signal to all processes of a machine, also to those that they start meanwhile.
    fn signal_machine(&self, machine: u8, name: &str) -> Result<()> {
        let folder = self.folder.path().join(machine_name(machine));
        let mut signalled = Vec::new();
        loop {
            let processes = find_processes(&folder)?;
            if processes == signalled {
                return Ok(());
            }
            signal(name, &processes)?;
            signalled = processes;
        }
    }

    /// Kills PostgreSQL of a machine. Its Patroni goes on, and notices.
    ///
    /// # Errors
    /// If the processes cannot be killed.
    pub fn kill_postgres(&self, machine: u8) -> Result<()> {
        let processes = find_processes(&self.data_folder(machine))?;
        ensure!(!processes.is_empty(), "PostgreSQL does not run on {}", machine_name(machine));
        signal("KILL", &processes)
    }

    /// Starts Patroni of a machine that was killed, and so its PostgreSQL.
    ///
    /// # Errors
    /// If Patroni is not installed.
    pub fn start_machine(&self, machine: u8) -> Result<()> {
        let name = machine_name(machine);
        let folder = self.folder.path().join(&name);
        let mut patroni = run_as_nobody(Path::new(PYTHON));
        patroni.args(["-c", "from patroni.__main__ import main; main()", "config.yml"]);
        patroni.env("PYTHONPATH", self.folder.path().join(PACKAGES)).env("HOME", &folder);
        self.start_child(&name, &mut patroni)
    }

    /// Kills HAProxy between the gateways and the cluster, which cuts all connections, and starts it again.
    ///
    /// # Errors
    /// If it does not start.
    pub fn cut_connections(&self) -> Result<()> {
        let name = "database-proxy";
        kill_all_in(&self.folder.path().join(name))?;
        self.reap(name);
        self.run_proxy(name)
    }

    /// Runs statements as another program does, through HAProxy, and returns what they print.
    ///
    /// # Errors
    /// If one of them fails.
    pub fn run_sql(&self, script: &str) -> Result<String> {
        let mut psql = Command::new(find_programs()?.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", script, "-d"]).arg(self.address()?);
        let ran = psql.output().context("psql")?;
        ensure!(ran.status.success(), "psql: {}", String::from_utf8_lossy(&ran.stderr));
        Ok(String::from_utf8(ran.stdout)?.trim_end().to_owned())
    }

    /// Returns the ends of all logs.
    pub fn read_logs(&self) -> String {
        let mut ends = String::new();
        for entry in fs::read_dir(self.folder.path()).into_iter().flatten().flatten() {
            let log = fs::read_to_string(entry.path().join("log")).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let end = lines.get(lines.len().saturating_sub(15)..).unwrap_or_default().join("\n");
            ends.push_str(&format!("{}:\n{end}\n", entry.file_name().to_string_lossy()));
        }
        ends
    }

    /// Copies Patroni to where the user without rights can read it.
    fn copy_patroni(&self) -> Result<()> {
        let installed = std::env::var("TILLGATE_PATRONI");
        let installed = installed.context("TILLGATE_PATRONI names no folder of Patroni; `cargo xtask test` does")?;
        let packages = self.create_folder(PACKAGES)?;
        let copied = Command::new("cp").args(["-rT", &installed]).arg(&packages).status()?;
        ensure!(copied.success(), "copying {installed} failed");
        give_all_to_server(&packages)
    }

    fn start_etcd(&self, machine: u8) -> Result<()> {
        let name = format!("etcd{machine}");
        let folder = self.create_folder(&name)?;
        let mut etcd = run_as_nobody(Path::new("etcd"));
        let file = self.network.translate_for(find_block("`/etc/default/etcd`:")?, machine);
        etcd.envs(file.lines().filter_map(|line| line.split_once('=')));
        // The cluster of a test is not kept, so its disk need not be waited for.
        etcd.env("ETCD_DATA_DIR", folder.join("data")).env("ETCD_UNSAFE_NO_FSYNC", "true");
        self.start_child(&name, &mut etcd)
    }

    /// Writes Patroni's file, with the folders and times of a test.
    fn write_configuration(&self, machine: u8) -> Result<()> {
        let name = machine_name(machine);
        let folder = self.create_folder(&name)?;
        let mut file = self.network.translate_for(find_block("`/etc/patroni/config.yml`, which")?, machine);
        for (documented, tested) in TIMES {
            ensure!(file.contains(documented), "docs/scaling.md has no line {documented:?}");
            file = file.replace(documented, tested);
        }
        let programs = find_programs()?;
        file = file.replace("/usr/lib/postgresql/15/bin", &programs.display().to_string());
        file = file.replace("/var/lib/postgresql", &folder.display().to_string());
        write_for_server(&folder.join("config.yml"), &file)
    }

    /// Writes the file of an HAProxy, and starts it.
    fn start_proxy(&self, name: &str, file: &str) -> Result<()> {
        let folder = self.create_folder(name)?;
        write_for_server(&folder.join("haproxy.cfg"), &self.network.translate(file))?;
        self.run_proxy(name)
    }

    fn run_proxy(&self, name: &str) -> Result<()> {
        // Not on the path of users without rights.
        let mut haproxy = run_as_nobody(Path::new("/usr/sbin/haproxy"));
        haproxy.args(["-db", "-f", "haproxy.cfg"]);
        self.start_child(name, &mut haproxy)
    }

    /// Runs the commands of the page that make the role and the database.
    fn create_database(&self) -> Result<()> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.args(["-euc", &self.network.translate(find_block(CREATION)?)]);
        let ran = shell.env("PATH", format!("{}:{path}", find_programs()?.display())).output()?;
        let errors = String::from_utf8_lossy(&ran.stderr);
        ensure!(ran.status.success(), "making the database: {errors}\n{}", self.read_logs());
        Ok(())
    }

    fn create_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.path().join(name);
        fs::create_dir(&folder)?;
        give_to_server(&folder)?;
        Ok(folder)
    }

    fn data_folder(&self, machine: u8) -> PathBuf {
        self.folder.path().join(machine_name(machine)).join("tillgate")
    }

    /// Starts a program in the folder of this name.
    fn start_child(&self, name: &str, command: &mut Command) -> Result<()> {
        let child = start_in(command, &self.folder.path().join(name))?;
        self.lock_children().push((name.to_owned(), child));
        Ok(())
    }

    /// Waits for a process that was killed, so that its number is free.
    fn reap(&self, name: &str) {
        let ended: Vec<(String, Child)> = self.lock_children().extract_if(.., |(other, _)| other == name).collect();
        for (_, mut child) in ended {
            let _ = child.wait();
        }
    }

    fn lock_children(&self) -> MutexGuard<'_, Vec<(String, Child)>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Text of the page before the commands that make the role and the database.
const CREATION: &str = "Make the role and the database once";

fn machine_name(machine: u8) -> String {
    format!("db{machine}")
}

/// Writes a file that the user without rights reads.
fn write_for_server(path: &Path, content: &str) -> Result<()> {
    fs::write(path, content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    give_to_server(path)
}
