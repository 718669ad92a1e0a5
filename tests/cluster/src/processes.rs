//! The processes of a cluster. They are found by their working folder, because PostgreSQL leaves the session and the
//! process group of its starter.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::run_as_nobody;

/// Kills all processes that work in folders below its own, and removes the folder, when the pipe of its input is
/// closed, as it is when the test's process ends.
const CLEAN_UP: &str = r#"read -r word
found=yes
while [ "$found" ]; do
    found=
    for link in /proc/[0-9]*/cwd; do
        case $(readlink "$link" 2>/dev/null) in
            "$PWD"/*) process=${link#/proc/}; kill -KILL "${process%/cwd}" 2>/dev/null; found=yes ;;
        esac
    done
done
rm -rf "$PWD""#;

/// A shell that ends all processes below a folder when it is dropped, and also when the test's process is killed.
pub(crate) struct Janitor(Child);

impl Janitor {
    /// Starts the shell for a folder that belongs to the user without rights.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let mut shell = run_as_nobody(Path::new("sh"));
        shell.args(["-c", CLEAN_UP]).current_dir(folder).stdin(Stdio::piped());
        Ok(Self(shell.spawn().context("sh")?))
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Starts a program in a folder, with its output in the file `log` there. The file grows with each start.
pub(crate) fn start_in(command: &mut Command, folder: &Path) -> Result<Child> {
    let log = File::options().create(true).append(true).open(folder.join("log"))?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.spawn().with_context(|| format!("starting {command:?}"))
}

/// Kills all processes that work in a folder or below it, at once and without a warning, as a power failure does.
pub(crate) fn kill_all_in(folder: &Path) -> Result<()> {
    loop {
        let processes = find_processes(folder)?;
        if processes.is_empty() {
            return Ok(());
        }
        signal("KILL", &processes)?;
    }
}

/// Sends a signal to processes. Those that have ended meanwhile are left out.
pub(crate) fn signal(name: &str, processes: &[String]) -> Result<()> {
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -s \"$@\" 2>/dev/null || true", "sh", name]).args(processes);
    ensure!(kill.status()?.success(), "kill does not start");
    Ok(())
}

/// Returns the processes that work in a folder or below it.
pub(crate) fn find_processes(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        // Processes of others have no folder that this user can read, and some end meanwhile.
        let works_there = fs::read_link(entry.path().join("cwd")).is_ok_and(|at| at.starts_with(folder));
        found.extend(works_there.then(|| entry.file_name().to_string_lossy().into_owned()));
    }
    Ok(found)
}
