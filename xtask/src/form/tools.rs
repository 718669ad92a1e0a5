//! The program that makes what browsers load from the compiled modules (`xtask/form-tools`). It takes minutes to
//! compile, as the modules and the gateway do, and they all compile side by side.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use anyhow::{Context as _, Result};

use crate::cargo;
use crate::toolchain::{binaryen, run_command};

/// Arguments of cargo that select the program.
pub const PACKAGE: [&str; 2] = ["--package", NAME];
/// Name of the package and of the program.
pub const NAME: &str = "form-tools";

/// Returns both ends of a channel: one for a build with cargo, the other for the build of the form beside it.
pub fn open_channel() -> (ToolsBuild, PendingTools) {
    let (sender, receiver) = mpsc::channel();
    (ToolsBuild(sender), PendingTools { receiver, program: OnceCell::new() })
}

/// A build with cargo, which compiles the program among others.
pub struct ToolsBuild(Sender<PathBuf>);

impl ToolsBuild {
    /// Reads a message of cargo, and passes the program on if it is the one that is ready.
    pub fn read_message(&self, message: &str) {
        // Its unit tests are a program of the same target.
        let is_program = |program: &PathBuf| program.file_stem() == Some(OsStr::new(NAME));
        if let Some(program) = cargo::parse_executable(message, NAME).filter(is_program) {
            // Without a receiver, the form needs no build.
            let _ = self.0.send(program);
        }
    }
}

/// The program, which a build with cargo compiles.
pub struct PendingTools {
    receiver: Receiver<PathBuf>,
    program: OnceCell<PathBuf>,
}

impl PendingTools {
    /// Waits until the program is ready. Returns its path.
    ///
    /// # Errors
    /// If cargo ends without it.
    pub fn wait(&self) -> Result<&Path> {
        if self.program.get().is_none() {
            let program = self.receiver.recv().context("the tools of the form do not compile")?;
            let _ = self.program.set(program);
        }
        self.program.get().map(PathBuf::as_path).context("the tools of the form have no path")
    }
}

/// Builds the program with cargo while `work` runs, which waits for it when it needs it.
///
/// # Errors
/// If `work` fails, or the program does not compile.
pub fn build_beside<T>(work: impl FnOnce(&PendingTools) -> Result<T>) -> Result<T> {
    let (build, tools) = open_channel();
    thread::scope(|scope| {
        let compiled = scope.spawn(move || cargo::build(&PACKAGE, |message| build.read_message(message)));
        let worked = work(&tools);
        compiled.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).context("the tools of the form")?;
        worked
    })
}

/// Runs a command of the program, which writes into the first of these paths. Replaces that folder, and installs
/// binaryen if it is missing.
///
/// # Errors
/// If the program fails.
pub fn run_tools(program: &Path, command: &str, paths: &[&Path]) -> Result<()> {
    binaryen::ensure_binaryen()?;
    if let Some(out) = paths.first() {
        let _ = fs::remove_dir_all(out);
    }
    run_command(Command::new(program).arg(command).args(paths)).map(drop)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_waited_for_once_and_its_tests_are_not_taken_for_it() {
        let message =
            |file: &str| format!(r#"{{"target":{{"name":"form-tools"}},"executable":"/target/debug/{file}"}}"#);
        let (build, tools) = open_channel();
        build.read_message(&message("deps/form_tools-01234567"));
        build.read_message(&message("form-tools"));
        drop(build);
        for _ in 0..2 {
            assert_eq!(tools.wait().unwrap(), Path::new("/target/debug/form-tools"));
        }
    }

    #[test]
    fn a_build_that_ends_without_the_program_is_an_error() {
        let (build, tools) = open_channel();
        drop(build);
        assert!(tools.wait().is_err());
    }
}
