//! Debian's compiler, for machines on which rustup cannot download: packages by apt, and a standard library built from
//! Debian's source package into the compiler's own folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use super::{TARGET, Toolchain, can_run, has_std, run_command, run_quietly, run_step};

/// Debian's compiler, its cargo, the library's source, and the linker.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const COMPILER: &str = "/usr/bin/rustc";
const NAME: &str = "debian";
/// File beside the library that names the compiler which built it.
const STAMP: &str = "tillgate-std";

/// Returns true on Debian and its derivatives, if apt-get runs.
pub fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists() && can_run("apt-get", &["--version"])
}

/// Returns the toolchain of Debian's compiler, or `None` if that is not installed. With rustup it has a name, which may
/// not be linked yet; without it is the folder of the compiler.
pub fn installed_toolchain() -> Option<Toolchain> {
    if !Path::new(COMPILER).exists() {
        return None;
    }
    if can_run("rustup", &["--version"]) {
        Some(Toolchain::Linked(NAME))
    } else {
        Some(Toolchain::InFolder(PathBuf::from("/usr/bin")))
    }
}

/// Returns true if the toolchain has a standard library for the target that the installed version of the compiler has
/// built.
pub fn is_ready(toolchain: &Toolchain) -> bool {
    let Some(folder) = toolchain.library_folder() else {
        return false;
    };
    let Ok(stamp) = fs::read_to_string(folder.join(STAMP)) else {
        return false;
    };
    toolchain.version().is_ok_and(|version| version == stamp)
}

/// Installs Debian's Rust packages, links lld into rustc's folder and the compiler into rustup, and builds the standard
/// library for wasm, as far as they are missing. Changes /usr as root. Waits for a set-up that is running.
pub fn set_up_wasm_compiler() -> Result<Toolchain> {
    eprintln!("Setting up a compiler for {TARGET} from Debian's packages:");
    let lock = fs::File::create(std::env::temp_dir().join("tillgate-toolchain.lock"))?;
    lock.lock().context("waiting for another set-up")?;
    install_packages(&PACKAGES)?;
    link_linker()?;
    let toolchain = installed_toolchain().context("Debian's rustc is not at /usr/bin/rustc")?;
    if let Toolchain::Linked(name) = toolchain {
        let linked = run_command(Command::new("rustup").args(["toolchain", "list"]))?;
        if !linked.lines().any(|l| l.split_whitespace().next() == Some(name)) {
            run_step("linking it in rustup as \"debian\"", || {
                run_quietly(Command::new("rustup").args(["toolchain", "link", name, "/usr"]))
            })?;
        }
    }
    if !is_ready(&toolchain) {
        run_step("building its standard library for wasm", || build_std(&toolchain))?;
    }
    if !is_ready(&toolchain) {
        bail!("the library was built, but {COMPILER} does not find it");
    }
    Ok(toolchain)
}

/// Returns true if this package of Debian's is installed.
fn is_installed(package: &str) -> bool {
    run_command(Command::new("dpkg-query").args(["-W", "-f=${db:Status-Status}", package]))
        .is_ok_and(|status| status == "installed")
}

/// Installs those of the packages that are missing with apt-get, as root. Waits for another call in this process.
///
/// # Errors
/// If apt-get fails, for example because of missing rights.
pub fn install_packages(packages: &[&str]) -> Result<()> {
    // apt does not wait for another apt.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if packages.iter().copied().all(is_installed) {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut command = root_command("apt-get");
        run_quietly(command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments))
    };
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages);
    // A fresh machine has no package lists, or old ones from its image. If the lists cannot be downloaded, the package
    // may still be cached, so a failure is ignored.
    let _ = run_step("apt-get update", || apt(&["update"]));
    run_step(&format!("apt-get install {}", packages.join(" ")), || apt(&arguments))
}

/// Links Debian's lld as `rust-lld` into rustc's folder, as root, unless a link is there. rustc looks for it; Debian's
/// package does not contain it.
fn link_linker() -> Result<()> {
    let host = run_command(Command::new(COMPILER).args(["--print", "host-tuple"]))?;
    let folder = PathBuf::from("/usr/lib/rustlib").join(host.trim()).join("bin");
    let link = folder.join("rust-lld");
    if link.exists() {
        return Ok(());
    }
    run_quietly(root_command("mkdir").arg("-p").arg(&folder))?;
    run_quietly(root_command("ln").args(["-sf", "/usr/bin/lld-22"]).arg(&link))
}

/// Builds std (and test, for `cargo test`) for the target through a temporary crate, and copies it, as root, to the
/// folder that rustc reads. Replaces what is in that folder.
fn build_std(toolchain: &Toolchain) -> Result<()> {
    let scratch = std::env::temp_dir().join("tillgate-std");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(scratch.join("src"))?;
    fs::write(scratch.join("src/lib.rs"), "")?;
    // Without lto the library has no bitcode, and crates with lto then fail to link.
    fs::write(
        scratch.join("Cargo.toml"),
        "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [workspace]\n[profile.release]\npanic = \"abort\"\nlto = true\n",
    )?;
    run_quietly(
        toolchain
            .command("cargo")
            .current_dir(&scratch)
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["build", "--release", "--target", TARGET])
            .arg("-Zbuild-std=std,panic_abort,test"),
    )?;
    let sysroot = run_command(toolchain.command("rustc").args(["--print", "sysroot"]))?;
    let library = PathBuf::from(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib");
    // Two copies of one crate conflict, so the folder starts empty.
    run_quietly(root_command("rm").arg("-rf").arg(&library))?;
    run_quietly(root_command("mkdir").arg("-p").arg(&library))?;
    let built = scratch.join("target").join(TARGET).join("release/deps");
    let mut copy = root_command("cp");
    for entry in fs::read_dir(&built)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libscratch") {
            copy.arg(entry.path());
        }
    }
    run_quietly(copy.arg(&library))?;
    let stamp = scratch.join(STAMP);
    fs::write(&stamp, toolchain.version()?)?;
    run_quietly(root_command("cp").arg(&stamp).arg(&library))?;
    if !has_std(&library) {
        bail!("no standard library came out of the build");
    }
    let _ = fs::remove_dir_all(&scratch);
    Ok(())
}

/// Returns a command that runs as root, through `sudo` for other users.
fn root_command(program: &str) -> Command {
    let root = run_command(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if root {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["--non-interactive", program]);
    command
}
