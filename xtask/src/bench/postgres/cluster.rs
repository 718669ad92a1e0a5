//! The cluster of the bench: on a real disk, with commits that wait for it, and with counters of its work.

use std::cell::Cell;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tillgate_test_cluster::Cluster;

use crate::bench::child::ProcessStat;
use crate::bench::row_sizes::{TableSize, TableSizes};

/// Settings of the cluster. A checkpoint in the middle would make the rounds differ. The others are for the log of
/// statements.
const SETTINGS: &[&str] = &[
    "fsync=on",
    "synchronous_commit=on",
    "shared_buffers=1GB",
    "max_connections=200",
    "max_wal_size=8GB",
    "checkpoint_timeout=1h",
    "log_line_prefix=%p ",
    "log_parameter_max_length=0",
];

/// Statement that takes long enough for all sessions to read a setting again.
const WAIT_FOR_SETTING: &str = "SELECT pg_sleep(0.3)";

/// A running cluster. It ends when it is dropped.
pub struct MeasuredCluster {
    cluster: Cluster,
    databases: Cell<usize>,
}

/// A database of the cluster.
pub struct MeasuredDatabase {
    /// Its name in the cluster.
    pub name: String,
    /// Its address.
    pub address: String,
}

/// Work of the cluster since its start.
#[derive(Debug, Clone, Copy)]
pub struct ClusterWork {
    /// Processor time of all its processes, with a resolution of 10 ms for each.
    pub cpu: Duration,
    /// Bytes of its write-ahead log.
    pub wal: f64,
    /// Transactions that have written something.
    pub transactions: f64,
}

impl MeasuredCluster {
    /// Starts a cluster with its files in a folder inside of this one, and checks that it waits for the disk.
    ///
    /// # Errors
    /// If PostgreSQL is not installed, or its user cannot enter the folder.
    pub fn start(folder: &Path) -> Result<Self> {
        let cluster = Cluster::start_in(folder, SETTINGS).with_context(|| {
            format!("starting PostgreSQL in {}, which a user without rights has to reach", folder.display())
        })?;
        ensure!(cluster.run_sql("postgres", "SHOW fsync")? == "on", "the cluster does not wait for the disk");
        Ok(Self { cluster, databases: Cell::new(0) })
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub fn create_database(&self) -> Result<MeasuredDatabase> {
        let name = format!("bench{}", self.databases.replace(self.databases.get() + 1));
        self.cluster.run_sql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(MeasuredDatabase { address: self.cluster.address(&name), name })
    }

    /// Runs work, and returns its result with what the cluster has done meanwhile, for everybody.
    ///
    /// # Errors
    /// That of the work, or if the cluster does not answer.
    pub fn measure_work<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, ClusterWork)> {
        // The sessions of the counters themselves are outside of the measured processor time.
        let counters = self.read_counters()?;
        let cpu = self.cpu_time()?;
        let result = work()?;
        let cpu = self.cpu_time()?.saturating_sub(cpu);
        let [wal, transactions] = self.read_counters()?;
        Ok((result, ClusterWork { cpu, wal: wal - counters[0], transactions: transactions - counters[1] }))
    }

    /// Returns the position in the write-ahead log in bytes, and the number of the next transaction that writes.
    fn read_counters(&self) -> Result<[f64; 2]> {
        let query = "SELECT pg_current_wal_insert_lsn() - '0/0', pg_snapshot_xmax(pg_current_snapshot())";
        let line = self.cluster.run_sql("postgres", query)?;
        let (wal, transactions) = line.split_once('|').context("two counters")?;
        Ok([wal.parse()?, transactions.parse()?])
    }

    /// Returns the processor time of all processes of the server so far.
    fn cpu_time(&self) -> Result<Duration> {
        let file = self.cluster.folder().join("data/postmaster.pid");
        let content = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let server: u32 = content.lines().next().unwrap_or_default().trim().parse().context("postmaster.pid")?;
        let mut sum = Duration::ZERO;
        for entry in fs::read_dir("/proc")?.flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // Some processes end meanwhile.
            let Ok(stat) = ProcessStat::read(process) else { continue };
            if process == server {
                sum += stat.cpu + stat.cpu_of_ended;
            } else if stat.parent == server {
                sum += stat.cpu;
            }
        }
        Ok(sum)
    }

    /// Returns the rows of every table of a database, and the bytes that their values take in the table.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub fn read_table_sizes(&self, database: &MeasuredDatabase) -> Result<TableSizes> {
        let queries = self.cluster.run_sql(
            &database.name,
            "SELECT format('SELECT %L, count(*), coalesce(sum(%s), 0) FROM %I', table_name,
                    string_agg(format('coalesce(pg_column_size(%I), 0)', column_name), ' + '), table_name)
             FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
             WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY table_name",
        )?;
        let lines = self.cluster.run_sql(&database.name, &queries.replace('\n', " UNION ALL "))?;
        let parse = |line: &str| -> Result<(String, TableSize)> {
            let mut cells = line.split('|');
            let mut next = || cells.next().context("a table, its rows and its bytes");
            Ok((next()?.to_owned(), TableSize { rows: next()?.parse()?, bytes: next()?.parse()? }))
        };
        lines.lines().map(parse).collect()
    }

    /// Runs work while the cluster logs every statement. Returns the lines of its log.
    ///
    /// # Errors
    /// That of the work, or if the cluster does not answer.
    pub fn log_statements(&self, work: impl FnOnce() -> Result<()>) -> Result<String> {
        let set = |value: &str| -> Result<()> {
            self.cluster.run_sql("postgres", &format!("ALTER SYSTEM SET log_statement = '{value}'"))?;
            self.cluster.run_sql("postgres", "SELECT pg_reload_conf()")?;
            self.cluster.run_sql("postgres", WAIT_FOR_SETTING).map(drop)
        };
        let mut log = fs::File::open(self.cluster.folder().join("log"))?;
        log.seek(SeekFrom::End(0))?;
        set("all")?;
        work()?;
        set("none")?;
        let mut lines = String::new();
        log.read_to_string(&mut lines)?;
        Ok(lines)
    }
}
