//! Servers as child processes: started, timed until they listen, measured through /proc, and stopped.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// A running server. Killed when dropped.
pub struct ServerProcess {
    child: Child,
    // Kept open, so that the server can go on printing.
    _lines: BufReader<ChildStdout>,
    /// Host and port.
    pub address: String,
    /// Time from the start of the process until it reported that it listens.
    pub took: Duration,
}

impl ServerProcess {
    /// Starts a server and waits until it prints its address. Its error stream, with the access log, goes to a file, as
    /// in production.
    ///
    /// # Errors
    /// If it ends before it listens.
    pub fn start_and_wait(command: &mut Command, log: &Path) -> Result<Self> {
        let errors = File::create(log).with_context(|| format!("writing {}", log.display()))?;
        let started = Instant::now();
        let (child, lines, line) = start_until_line(command.stderr(errors), "listening on http://")?;
        let took = started.elapsed();
        let address = line.rsplit("http://").next().unwrap_or_default().trim().to_owned();
        Ok(Self { child, _lines: lines, address, took })
    }

    /// Returns the processor time that it has used so far, in user and kernel mode, with a resolution of 10 ms.
    ///
    /// # Errors
    /// If it has ended.
    pub fn cpu_time(&self) -> Result<Duration> {
        Ok(ProcessStat::read(self.child.id()).context("the server is gone")?.cpu)
    }

    /// Returns the bytes of its resident memory: all, and those that are not backed by a file.
    ///
    /// # Errors
    /// If it has ended.
    pub fn resident_memory(&self) -> Result<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).context("the server is gone")?;
        let kibibytes = |name: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| name.to_owned())?;
            Ok(line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
        };
        Ok((kibibytes("VmRSS")?, kibibytes("RssAnon")?))
    }

    /// Stops it gracefully and waits for its end.
    ///
    /// # Errors
    /// If it reports a failure.
    pub fn stop_gracefully(mut self) -> Result<()> {
        let signal = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().context("kill")?;
        ensure!(signal.success() && self.child.wait()?.success(), "the server did not end in good order");
        Ok(())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// State of a process, from its file `stat` in `/proc`.
pub struct ProcessStat {
    /// The process that has started it.
    pub parent: u32,
    /// Processor time that it has used, in user and kernel mode, with a resolution of 10 ms.
    pub cpu: Duration,
    /// Processor time of its children that have ended.
    pub cpu_of_ended: Duration,
}

impl ProcessStat {
    /// Reads the state of a process.
    ///
    /// # Errors
    /// If it has ended.
    pub fn read(process: u32) -> Result<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat"))?)
    }

    fn parse(stat: &str) -> Result<Self> {
        // The fields are counted after the name, which may contain any character and ends at the last parenthesis.
        let (_, fields) = stat.rsplit_once(')').context("/proc/…/stat")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |at: usize| -> Result<u64> { Ok(fields.get(at).context("/proc/…/stat")?.parse()?) };
        // Fields 14 to 17 of the file.
        let ticks = |at: usize| -> Result<Duration> { Ok(Duration::from_millis((number(at)? + number(at + 1)?) * 10)) };
        Ok(Self { parent: u32::try_from(number(1)?)?, cpu: ticks(11)?, cpu_of_ended: ticks(13)? })
    }
}

/// Runs a program until it prints a line that contains `word`, then kills it without a clean shutdown, as a power
/// failure would.
///
/// # Errors
/// If it ends before.
pub fn kill_after_line(command: &mut Command, word: &str) -> Result<()> {
    let (mut child, _, _) = start_until_line(command, word)?;
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// Starts a program and reads its output up to the first line that contains `word`. Returns the process, the reader of
/// its further output, and the line. Fails if the program ends before.
fn start_until_line(command: &mut Command, word: &str) -> Result<(Child, BufReader<ChildStdout>, String)> {
    let name = command.get_program().display().to_string();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().with_context(|| format!("starting {name}"))?;
    let mut lines = BufReader::new(child.stdout.take().context("no standard output")?);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            let status = child.wait()?;
            bail!("{name} ended ({status}) before it said {word:?}");
        }
        if line.contains(word) {
            return Ok((child, lines, line));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_process_are_found_after_a_name_with_parentheses() {
        let stat = ProcessStat::parse("12 (a) b (c) S 7 12 12 0 -1 4194560 1 2 3 4 20 5 30 1 20 0 1 0 99").unwrap();
        let milliseconds = [stat.cpu, stat.cpu_of_ended].map(|time| time.as_millis());
        assert_eq!((stat.parent, milliseconds), (7, [250, 310]));
    }
}
