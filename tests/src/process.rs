//! A child process that ends with its owner: on drop, and also if the test process dies without dropping anything
//! (statics are never dropped, and a killed test drops nothing).

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, anyhow};

use crate::wait::PATIENCE;

/// A small shell supervises the process. The shell kills the process group (which includes children, such as a driver's
/// browser) when its standard input closes. The kernel closes it even if this process is killed. The supervisor
/// survives a signal to the process group of the tests, as `timeout` sends it.
const SUPERVISOR: &str = r#"
exec 3<&0
setsid "$@" </dev/null 3<&- & child=$!
(trap '' INT HUP TERM; cat <&3; kill -s KILL -- -$child) >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait $child; status=$?
kill -s KILL $watcher 2>/dev/null
exit $status
"#;

/// A running child process, with everything that it printed so far.
#[derive(Debug)]
pub struct Process {
    supervisor: Child,
    /// Closing it ends the process. `None` only while it is dropped.
    supervisor_stdin: Option<ChildStdin>,
    /// Output so far. The threads that read the two pipes append to it.
    output: Arc<Mutex<String>>,
}

impl Process {
    /// Starts `program` with additional `environment` variables, and waits until it prints a line, to standard output
    /// or error, for which `ready` returns a value.
    ///
    /// # Errors
    /// If it cannot be started, or ends or prints no such line in time. The error contains the output.
    pub fn start<T: Send + 'static>(
        program: &OsStr,
        arguments: &[&OsStr],
        environment: &[(&str, &str)],
        ready: impl Fn(&str) -> Option<T> + Clone + Send + 'static,
    ) -> anyhow::Result<(Self, T)> {
        let mut command = Command::new("sh");
        // Tillgate variables of the developer's shell must not influence the tests.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TILLGATE_")) {
            command.env_remove(name);
        }
        let mut supervisor = command
            .args([OsStr::new("-c"), OsStr::new(SUPERVISOR), OsStr::new("supervisor"), program])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("sh does not start")?;
        let supervisor_stdin = supervisor.stdin.take();
        let output = Arc::new(Mutex::new(String::new()));
        let (found, awaited) = mpsc::channel();
        let errors =
            supervisor.stderr.take().map(|it| collect_output(it, Arc::clone(&output), ready.clone(), found.clone()));
        let lines = supervisor.stdout.take().map(|it| collect_output(it, Arc::clone(&output), ready, found));
        let process = Self { supervisor, supervisor_stdin, output };
        match awaited.recv_timeout(PATIENCE) {
            Ok(value) => Ok((process, value)),
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

    /// Returns the output so far, standard output and error together.
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how long processors have worked for the process so far, in the kernel's ticks of usually 10 ms. Unlike
    /// time on a clock, it hardly depends on what else runs on the machine.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn processor_ticks(&self) -> anyhow::Result<u64> {
        let supervisor = self.supervisor.id();
        let children = std::fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children"))?;
        let mut ticks = 0;
        for child in children.split_whitespace() {
            let line = std::fs::read_to_string(format!("/proc/{child}/stat"))?;
            // The name of the program, in parentheses, may contain spaces. See proc_pid_stat(5).
            let fields = line.rsplit_once(") ").map(|(_, fields)| fields.split(' ').collect::<Vec<_>>());
            let fields = fields.context("no fields of a process")?;
            for index in [11, 12] {
                ticks += fields.get(index).context("no time of a process")?.parse::<u64>()?;
            }
        }
        Ok(ticks)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.supervisor_stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Reads `stream` on a separate thread, so that the child never blocks on a full pipe. Appends its lines to `output`,
/// and sends the first value that `ready` returns for one.
fn collect_output<T: Send + 'static>(
    stream: impl Read + Send + 'static,
    output: Arc<Mutex<String>>,
    ready: impl Fn(&str) -> Option<T> + Send + 'static,
    found: Sender<T>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        // The sender is dropped after the first match. A receiver that still waits learns that the stream has ended.
        let mut found = Some(found);
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                output.push_str(&line);
                output.push('\n');
            }
            if found.is_some()
                && let Some(value) = ready(&line)
                && let Some(found) = found.take()
            {
                let _ = found.send(value);
            }
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn start_shell(script: &str) -> anyhow::Result<(Process, u32)> {
        Process::start(OsStr::new("sh"), &[OsStr::new("-c"), OsStr::new(script)], &[], |line| line.parse().ok())
    }

    #[test]
    fn a_process_ends_when_it_is_dropped() {
        let (process, number) = start_shell("echo to whom it may concern >&2; echo $$; exec sleep 600").unwrap();
        let alive = || std::path::Path::new(&format!("/proc/{number}")).exists();
        assert!(alive());
        drop(process);
        assert!(!alive());
    }

    #[test]
    fn work_of_processors_is_counted_and_waiting_is_not() {
        let (process, _) =
            start_shell("echo 1; i=0; while test $i -lt 300000; do i=$((i+1)); done; read -r _").unwrap();
        crate::wait::poll_until_blocking("it has worked", || {
            Ok((process.processor_ticks().unwrap() > 10).then_some(()))
        })
        .unwrap();
        let (waiting, _) = start_shell("echo 1; exec sleep 600").unwrap();
        assert!(waiting.processor_ticks().unwrap() < 5);
    }

    #[test]
    fn a_process_that_ends_early_says_why() {
        let error = start_shell("echo no such luck >&2; exit 3").unwrap_err();
        assert!(error.to_string().contains("no such luck"), "{error}");
    }
}
