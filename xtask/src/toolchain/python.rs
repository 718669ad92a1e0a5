//! Packages of the Python package index, each in an environment of its own in `target/tools`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{run_command, run_step};
use crate::test::tools;

/// A package of the Python package index. Versions are pinned, because a new one may find more faults.
pub struct PythonPackage {
    /// Name of the package, and of its program if it has one.
    pub name: &'static str,
    /// Version of the package.
    pub version: &'static str,
    /// Further packages in its environment.
    pub others: &'static [&'static str],
}

impl PythonPackage {
    /// Installs the packages unless these versions are there. Returns the folder with the programs and the interpreter.
    ///
    /// # Errors
    /// If Python's venv is missing and cannot be installed, or pip fails.
    pub fn ensure_installed(&self) -> Result<PathBuf> {
        let Self { name, version, others } = self;
        let folder = crate::workspace_root().join("target/tools").join(name);
        let (programs, stamp) = (folder.join("bin"), folder.join("version"));
        let wanted = [&[*version], *others].concat().join(" ");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(programs);
        }
        if run_command(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_err() {
            tools::install_packages(name, &["python3-venv"])?;
        }
        run_step(&format!("pip install {name}=={version}"), || {
            run_command(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
            let mut pip = Command::new(programs.join("pip"));
            pip.args(["install", "--quiet", "--disable-pip-version-check", &format!("{name}=={version}")]);
            run_command(pip.args(*others))
        })?;
        // Written last: an installation that was interrupted is repeated.
        std::fs::write(stamp, wanted)?;
        Ok(programs)
    }
}
