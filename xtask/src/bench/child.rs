//! Servers as child processes: started, timed until they listen, looked at through /proc, and ended.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// A running server. Killed when dropped.
pub struct Server {
    child: Child,
    // Kept open, so that the server may go on printing.
    _lines: BufReader<ChildStdout>,
    /// Host and port.
    pub address: String,
    /// From the start of the process until it said that it listens.
    pub took: Duration,
}

impl Server {
    /// Starts a server and waits until it listens. Its error stream, with the access log, goes to a file, as it would
    /// in service.
    ///
    /// # Errors
    /// When it ends before it listens.
    pub fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let errors = File::create(log).with_context(|| format!("writing {}", log.display()))?;
        let begun = Instant::now();
        let (child, lines, line) = start_until(command.stderr(errors), "listening on http://")?;
        let took = begun.elapsed();
        let address = line.rsplit("http://").next().unwrap_or_default().trim().to_owned();
        Ok(Self { child, _lines: lines, address, took })
    }

    /// Time that the processors have spent on it so far.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cpu_time(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).context("the server is gone")?;
        // Fields 14 and 15, counted after the name, which may hold anything but ends at the last parenthesis.
        let (_, fields) = stat.rsplit_once(')').context("/proc/…/stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Bytes of its memory that are resident: all, and those that no file stands behind.
    ///
    /// # Errors
    /// When it is gone.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).context("the server is gone")?;
        let kibibytes = |name: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| name.to_owned())?;
            Ok(line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
        };
        Ok((kibibytes("VmRSS")?, kibibytes("RssAnon")?))
    }

    /// Asks it to end in good order, and waits for that.
    ///
    /// # Errors
    /// When it fails at that.
    pub fn stop(mut self) -> Result<()> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().context("kill")?;
        ensure!(asked.success() && self.child.wait()?.success(), "the server did not end in good order");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program until it prints a line with `word`, then kills it as a power cut would.
///
/// # Errors
/// When it ends before.
pub fn kill_at(command: &mut Command, word: &str) -> Result<()> {
    let (mut child, _, _) = start_until(command, word)?;
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn start_until(command: &mut Command, word: &str) -> Result<(Child, BufReader<ChildStdout>, String)> {
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
