//! A compiler for wasm32-unknown-unknown: finds one, or sets one up.
//!
//! Order: the active toolchain, a Debian compiler set up earlier, `rustup target add`, Debian's packages.

pub mod binaryen;
pub mod debian;
mod progress;
pub mod python;

pub use progress::{print_step, run_beside, run_step};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Environment variable that names a program which cargo runs in place of the compiler, for packages of the workspace.
const LINTER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Compilation target for browsers.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Text of `cargo xtask toolchain --help`.
pub const HELP: &str = "\
Looks for a Rust toolchain that can build wasm32-unknown-unknown and prints which one it is:
the active toolchain if it has the target, else `rustup target add`, else (on Debian and its
derivatives) Debian's own compiler with a standard library built from Debian's source package.
Running it again takes a fraction of a second.

  --debian  set up Debian's compiler although another one serves
  --name    print only the value for RUSTUP_TOOLCHAIN (empty: the active toolchain serves)

Example: RUSTUP_TOOLCHAIN=$(cargo xtask toolchain --name) wasm-pack build widget";

/// A toolchain that builds for [`TARGET`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Toolchain {
    /// The active toolchain has the target.
    Active,
    /// Debian's compiler, linked in rustup under this name.
    Linked(&'static str),
    /// Debian's compiler in this folder, on a machine without rustup.
    InFolder(PathBuf),
}

impl Toolchain {
    /// Returns a command that runs `program` (cargo, rustc) of this toolchain, without the environment variables that
    /// the surrounding cargo has set.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", LINTER] {
            command.env_remove(name);
        }
        command.env_remove("CARGO_TARGET_DIR");
        match self {
            Self::Active => {}
            Self::Linked(name) => {
                command.env("RUSTUP_TOOLCHAIN", name);
            }
            Self::InFolder(folder) => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let mut folders = vec![folder.clone()];
                folders.extend(std::env::split_paths(&path));
                if let Ok(joined) = std::env::join_paths(folders) {
                    command.env("PATH", joined);
                }
            }
        }
        command
    }

    /// Returns a command that runs cargo of this toolchain, with the linter in place of the compiler if there is one.
    pub fn linting_cargo(&self) -> Command {
        let mut command = self.command("cargo");
        command.envs(self.linter().map(|linter| (LINTER, linter)));
        command
    }

    /// Returns the linter that the environment names (`.ci/run`), if any. Always `None` for Debian's compiler, which
    /// comes without clippy: code that it compiles is not linted.
    pub fn linter(&self) -> Option<OsString> {
        std::env::var_os(LINTER).filter(|_| *self == Self::Active)
    }

    /// Returns the value for `RUSTUP_TOOLCHAIN` if the toolchain is linked in rustup, and `None` if no value is needed.
    pub fn rustup_name(&self) -> Option<&'static str> {
        match self {
            Self::Linked(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the compiler's version text, which is several lines long.
    pub fn version(&self) -> Result<String> {
        run_command(self.command("rustc").arg("-vV"))
    }

    /// Returns the folder with this toolchain's standard library for the target, or `None` if that is not installed.
    fn library_folder(&self) -> Option<PathBuf> {
        let printed = run_command(self.command("rustc").args(["--print", "target-libdir", "--target", TARGET])).ok()?;
        let folder = PathBuf::from(printed.trim());
        has_std(&folder).then_some(folder)
    }
}

/// Prints the toolchain for the target, or only its name with `--name`. Sets one up if there is none, and with
/// `--debian` in any case.
pub fn print_toolchain(arguments: &[String]) -> Result<()> {
    let toolchain =
        if arguments.iter().any(|a| a == "--debian") { debian::set_up_wasm_compiler()? } else { ensure_toolchain()? };
    let name = toolchain.rustup_name().unwrap_or_default();
    if arguments.iter().any(|a| a == "--name") {
        println!("{name}");
        return Ok(());
    }
    let version = toolchain.version()?;
    let first = version.lines().next().unwrap_or_default();
    match &toolchain {
        Toolchain::Active => println!("The active toolchain builds {TARGET}: {first}"),
        Toolchain::Linked(name) => {
            println!("{TARGET} is built by RUSTUP_TOOLCHAIN={name}: {first}");
        }
        Toolchain::InFolder(folder) => {
            println!("{TARGET} is built by {}: {first}", folder.display());
        }
    }
    Ok(())
}

/// Finds a toolchain for [`TARGET`], or sets one up if there is none.
///
/// # Errors
/// If neither rustup nor Debian's packages can provide one. The message says what to do.
pub fn ensure_toolchain() -> Result<Toolchain> {
    if Toolchain::Active.library_folder().is_some() {
        return Ok(Toolchain::Active);
    }
    let debian = debian::installed_toolchain();
    if let Some(ready) = debian.clone().filter(debian::is_ready) {
        return Ok(ready);
    }
    if add_target() && Toolchain::Active.library_folder().is_some() {
        return Ok(Toolchain::Active);
    }
    if debian::is_debian() {
        return debian::set_up_wasm_compiler();
    }
    bail!(
        "no Rust toolchain here can build {TARGET}, and rustup could not fetch it.\n\
         Please run `rustup target add {TARGET}` (or install your system's package for it) and try again."
    )
}

/// Asks rustup to download the target for the active toolchain. Returns true if it did, false also without rustup.
fn add_target() -> bool {
    if !can_run("rustup", &["--version"]) {
        return false;
    }
    run_step(&format!("asking rustup for {TARGET}"), || {
        run_quietly(Command::new("rustup").args(["target", "add", TARGET]))
    })
    .is_ok()
}

/// Returns true if a folder contains a compiled standard library.
fn has_std(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|e| e.file_name().to_string_lossy().starts_with("libstd-"))
}

/// Runs a program, and returns true if it starts and succeeds.
fn can_run(program: &str, arguments: &[&str]) -> bool {
    run_quietly(Command::new(program).args(arguments)).is_ok()
}

/// Returns true if a folder of the path has a program of this name.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Runs a command without input, and returns its standard output. If it fails, the error has the last 30 lines of its
/// error stream.
pub fn run_command(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output().with_context(|| format!("could not start {name}"))?;
    if !done.status.success() {
        let errors = String::from_utf8_lossy(&done.stderr);
        let tail: Vec<&str> = errors.lines().rev().take(30).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!("{name} failed ({}):\n{}", done.status, tail.join("\n"));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Runs a command like [`run_command`], and drops its output.
fn run_quietly(command: &mut Command) -> Result<()> {
    run_command(command).map(drop)
}
