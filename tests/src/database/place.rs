//! The place of the store of a gateway under test: a file in its data folder, or a database in a cluster of this
//! process.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;
use tillgate_test_cluster::Cluster;

use crate::gateway::create_temporary_folder;

/// Name of the variable that names the database of the tests.
const VARIABLE: &str = "TILLGATE_TEST_DATABASE";

/// Gives the program under test the database of the data folder that its arguments name.
const WRAPPER: &str = r#"#!/bin/sh
previous= data=${TILLGATE_DATA-}
for argument; do
    case $previous:$argument in
        --data:*) data=$argument ;;
        *:--data=*) data=${argument#--data=} ;;
    esac
    previous=$argument
done
if [ -n "$data" ] && [ -f "${data%/}.database" ]; then
    TILLGATE_DATABASE=$(cat "${data%/}.database")
    export TILLGATE_DATABASE
fi
exec "#;

/// Returns true if the tests run on PostgreSQL.
///
/// # Panics
/// If the variable has a value that no database has.
pub fn is_on_postgres() -> bool {
    match std::env::var(VARIABLE).as_deref() {
        Ok("postgres") => true,
        Ok("sqlite") | Err(_) => false,
        Ok(other) => panic!("{VARIABLE} is {other}: it can be postgres or sqlite"),
    }
}

/// Makes an empty database for a data folder, if the tests run on PostgreSQL and the folder has none yet.
///
/// # Errors
/// If the cluster does not start or answer.
pub(crate) fn create_database(data: &Path) -> anyhow::Result<()> {
    /// The cluster of this process, which ends with it.
    static CLUSTER: OnceLock<Result<Cluster, String>> = OnceLock::new();
    let file = address_file(data);
    if !is_on_postgres() || file.exists() {
        return Ok(());
    }
    let cluster = CLUSTER.get_or_init(|| Cluster::start(SETTINGS).map_err(|error| format!("{error:#}")));
    let cluster = cluster.as_ref().map_err(|error| anyhow::anyhow!("the cluster of the tests: {error}"))?;
    Ok(fs::write(file, cluster.create_database()?)?)
}

/// Settings of the cluster: each gateway has four writers, a connection for its leases, and up to eight readers.
const SETTINGS: &[&str] = &["max_connections=1000", "shared_buffers=128MB", "synchronous_commit=off", "jit=off"];

/// Returns the file with the address of a data folder's database.
fn address_file(data: &Path) -> PathBuf {
    data.with_extension("database")
}

/// Returns the address of a data folder's database. `None` if its store is a file.
pub fn find_database(data: &Path) -> Option<String> {
    fs::read_to_string(address_file(data)).ok()
}

/// Returns the program under test: the binary itself, or on PostgreSQL a script that starts it with the database of its
/// data folder. So a test names only the folder.
pub(crate) fn wrap_program(binary: PathBuf) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    if !is_on_postgres() {
        return binary;
    }
    let make = || -> anyhow::Result<TempDir> {
        let folder = create_temporary_folder()?;
        let script = folder.path().join("tillgate");
        fs::write(&script, format!("{WRAPPER}'{}' \"$@\"\n", binary.display()))?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        Ok(folder)
    };
    let folder = FOLDER.get_or_init(|| make().unwrap_or_else(|error| panic!("the script of the program: {error:#}")));
    folder.path().join("tillgate")
}
