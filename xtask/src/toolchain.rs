//! A compiler for wasm32-unknown-unknown: finds one, or sets one up.
//! Order: the active toolchain, a Debian compiler set up earlier, `rustup target add`, Debian's packages.

pub mod binaryen;
pub mod debian;
mod progress;

pub use progress::{beside, say, step};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Names a program that cargo calls in the compiler's place for what is in the workspace.
const LINTER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// The target that browsers run.
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
    /// A command that runs `program` (cargo, rustc) of this toolchain, free of what the surrounding
    /// cargo run has put into the environment.
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

    /// A command that runs cargo of this toolchain with the linter, if there is one, in the compiler's place.
    pub fn linting_cargo(&self) -> Command {
        let mut command = self.command("cargo");
        command.envs(self.linter().map(|linter| (LINTER, linter)));
        command
    }

    /// The linter that the environment puts in the compiler's place (`.ci/run`). Debian's compiler comes without clippy:
    /// what it compiles is not linted.
    pub fn linter(&self) -> Option<OsString> {
        std::env::var_os(LINTER).filter(|_| *self == Self::Active)
    }

    /// The value for `RUSTUP_TOOLCHAIN`, where one is needed.
    pub fn rustup_name(&self) -> Option<&'static str> {
        match self {
            Self::Linked(name) => Some(name),
            _ => None,
        }
    }

    /// The compiler's own words on its version; part of the form's stamp.
    pub fn version(&self) -> Result<String> {
        output(self.command("rustc").arg("-vV"))
    }

    /// Where this toolchain keeps the target's standard library, if one lies there.
    fn library(&self) -> Option<PathBuf> {
        let printed = output(self.command("rustc").args(["--print", "target-libdir", "--target", TARGET])).ok()?;
        let folder = PathBuf::from(printed.trim());
        has_std(&folder).then_some(folder)
    }
}

/// Prints the toolchain, after setting one up where needed.
pub fn run(arguments: &[String]) -> Result<()> {
    let toolchain = if arguments.iter().any(|a| a == "--debian") { debian::set_up()? } else { ensure()? };
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

/// Finds a toolchain for [`TARGET`], setting one up where there is none.
///
/// # Errors
/// When neither rustup nor Debian's packages can provide one; the text says what to do.
pub fn ensure() -> Result<Toolchain> {
    if Toolchain::Active.library().is_some() {
        return Ok(Toolchain::Active);
    }
    let debian = debian::toolchain();
    if let Some(ready) = debian.clone().filter(debian::is_ready) {
        return Ok(ready);
    }
    if rustup_adds_target() && Toolchain::Active.library().is_some() {
        return Ok(Toolchain::Active);
    }
    if debian::is_debian() {
        return debian::set_up();
    }
    bail!(
        "no Rust toolchain here can build {TARGET}, and rustup could not fetch it.\n\
         Please run `rustup target add {TARGET}` (or install your system's package for it) and try again."
    )
}

fn rustup_adds_target() -> bool {
    if !runs("rustup", &["--version"]) {
        return false;
    }
    step(&format!("asking rustup for {TARGET}"), || quiet(Command::new("rustup").args(["target", "add", TARGET])))
        .is_ok()
}

fn has_std(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|e| e.file_name().to_string_lossy().starts_with("libstd-"))
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    quiet(Command::new(program).args(arguments)).is_ok()
}

/// Returns true if the folders for programs have one of this name.
pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Runs a command and gives back what it printed; its errors become ours.
pub fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output().with_context(|| format!("could not start {name}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let tail: Vec<&str> = said.lines().rev().take(30).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!("{name} failed ({}):\n{}", done.status, tail.join("\n"));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn quiet(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}
