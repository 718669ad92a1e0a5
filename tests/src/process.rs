//! A child process that ends with whoever holds it: on drop, and also when the test process dies without dropping
//! anything (statics are never dropped, and a killed test drops nothing).

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, anyhow};

use crate::wait::PATIENCE;

/// A small shell stands between: it ends the process and whatever that started (a driver its browser), a group of their
/// own, when its standard input closes, which the system does for us however this process ends. What watches that input
/// outlives a signal to the whole group of the tests, as `timeout` sends it.
const KEEPER: &str = r#"
exec 3<&0
setsid "$@" </dev/null 3<&- & kept=$!
(trap '' INT HUP TERM; cat <&3; kill -s KILL -- -$kept) >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait $kept; status=$?
kill -s KILL $watcher 2>/dev/null
exit $status
"#;

/// A running child with everything it printed so far.
#[derive(Debug)]
pub struct Process {
    keeper: Child,
    leash: Option<ChildStdin>,
    output: Arc<Mutex<String>>,
}

impl Process {
    /// Starts `program`, with `environment` added, and waits until it prints a line, to standard output or error, in which
    /// `ready` finds something.
    ///
    /// # Errors
    /// When it cannot be started, or ends or stays silent before it is ready; with what it printed.
    pub fn start<T: Send + 'static>(
        program: &OsStr,
        arguments: &[&OsStr],
        environment: &[(&str, &str)],
        ready: impl Fn(&str) -> Option<T> + Clone + Send + 'static,
    ) -> anyhow::Result<(Self, T)> {
        let mut command = Command::new("sh");
        // What the developer's shell says about Tillgate is not what the tests are about.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TILLGATE_")) {
            command.env_remove(name);
        }
        let mut keeper = command
            .args([OsStr::new("-c"), OsStr::new(KEEPER), OsStr::new("keeper"), program])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("sh does not start")?;
        let leash = keeper.stdin.take();
        let output = Arc::new(Mutex::new(String::new()));
        let (found, awaited) = mpsc::channel();
        let errors = keeper.stderr.take().map(|it| collect(it, Arc::clone(&output), ready.clone(), found.clone()));
        let lines = keeper.stdout.take().map(|it| collect(it, Arc::clone(&output), ready, found));
        let process = Self { keeper, leash, output };
        match awaited.recv_timeout(PATIENCE) {
            Ok(answer) => Ok((process, answer)),
            Err(_) => {
                let output = Arc::clone(&process.output);
                drop(process);
                for reader in [errors, lines].into_iter().flatten() {
                    let _ = reader.join();
                }
                let output = output.lock().unwrap_or_else(PoisonError::into_inner);
                Err(anyhow!("{} did not become ready. It printed:\n{}", program.to_string_lossy(), output))
            }
        }
    }

    /// What it printed so far, standard output and error together.
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.leash.take());
        let _ = self.keeper.wait();
    }
}

/// Reads `stream` on a thread of its own, so that a chatty child never waits for a reader.
fn collect<T: Send + 'static>(
    stream: impl Read + Send + 'static,
    output: Arc<Mutex<String>>,
    ready: impl Fn(&str) -> Option<T> + Send + 'static,
    found: Sender<T>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        // Dropped after the first find: who still waits learns that the stream ended.
        let mut found = Some(found);
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                output.push_str(&line);
                output.push('\n');
            }
            if found.is_some()
                && let Some(answer) = ready(&line)
                && let Some(found) = found.take()
            {
                let _ = found.send(answer);
            }
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shell(script: &str) -> anyhow::Result<(Process, u32)> {
        Process::start(OsStr::new("sh"), &[OsStr::new("-c"), OsStr::new(script)], &[], |line| line.parse().ok())
    }

    #[test]
    fn a_process_ends_when_it_is_dropped() {
        let (process, number) = shell("echo to whom it may concern >&2; echo $$; exec sleep 600").unwrap();
        let alive = || std::path::Path::new(&format!("/proc/{number}")).exists();
        assert!(alive());
        drop(process);
        assert!(!alive());
    }

    #[test]
    fn a_process_that_ends_early_says_why() {
        let error = shell("echo no such luck >&2; exit 3").unwrap_err();
        assert!(error.to_string().contains("no such luck"), "{error}");
    }
}
