//! Debian's compiler, where rustup cannot download: packages by apt, and a standard library built from
//! Debian's source package into the compiler's own folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use super::{TARGET, Toolchain, has_std, output, quiet, runs, step};

/// Debian's compiler, its cargo, the library's source, and the linker.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const COMPILER: &str = "/usr/bin/rustc";
const NAME: &str = "debian";
/// Written beside the library: which compiler it was built by.
const STAMP: &str = "tillgate-std";

/// True on Debian and its derivatives.
pub fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists() && runs("apt-get", &["--version"])
}

/// The toolchain as it would be named here, if Debian's compiler is installed.
pub fn toolchain() -> Option<Toolchain> {
    if !Path::new(COMPILER).exists() {
        return None;
    }
    if runs("rustup", &["--version"]) {
        Some(Toolchain::Linked(NAME))
    } else {
        Some(Toolchain::InFolder(PathBuf::from("/usr/bin")))
    }
}

/// True when compiler and library are there and belong together.
pub fn is_ready(toolchain: &Toolchain) -> bool {
    let Some(folder) = toolchain.library() else {
        return false;
    };
    let Ok(stamp) = fs::read_to_string(folder.join(STAMP)) else {
        return false;
    };
    toolchain.version().is_ok_and(|version| version == stamp)
}

/// Installs, links and builds what is missing.
pub fn set_up() -> Result<Toolchain> {
    eprintln!("Setting up a compiler for {TARGET} from Debian's packages:");
    let lock = fs::File::create(std::env::temp_dir().join("tillgate-toolchain.lock"))?;
    lock.lock().context("waiting for another set-up")?;
    install(&PACKAGES)?;
    link_linker()?;
    let toolchain = toolchain().context("Debian's rustc is not at /usr/bin/rustc")?;
    if let Toolchain::Linked(name) = toolchain {
        let linked = output(Command::new("rustup").args(["toolchain", "list"]))?;
        if !linked.lines().any(|l| l.split_whitespace().next() == Some(name)) {
            step("linking it in rustup as \"debian\"", || {
                quiet(Command::new("rustup").args(["toolchain", "link", name, "/usr"]))
            })?;
        }
    }
    if !is_ready(&toolchain) {
        step("building its standard library for wasm", || build_std(&toolchain))?;
    }
    if !is_ready(&toolchain) {
        bail!("the library was built, but {COMPILER} does not find it");
    }
    Ok(toolchain)
}

fn installed(package: &str) -> bool {
    output(Command::new("dpkg-query").args(["-W", "-f=${db:Status-Status}", package]))
        .is_ok_and(|status| status == "installed")
}

/// Installs what is missing of these packages.
///
/// # Errors
/// When apt-get fails, for lack of rights for example.
pub fn install(packages: &[&str]) -> Result<()> {
    // apt does not wait for another apt.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if packages.iter().copied().all(installed) {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut command = as_root("apt-get");
        quiet(command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments))
    };
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages);
    // A fresh machine has no package lists yet, or those of its image, in which browsers are months old. Where the lists
    // cannot be fetched, a package may still be at hand.
    let _ = step("apt-get update", || apt(&["update"]));
    step(&format!("apt-get install {}", packages.join(" ")), || apt(&arguments))
}

/// rustc asks for `rust-lld` in its own folder; Debian's package does not bring it.
fn link_linker() -> Result<()> {
    let host = output(Command::new(COMPILER).args(["--print", "host-tuple"]))?;
    let folder = PathBuf::from("/usr/lib/rustlib").join(host.trim()).join("bin");
    let link = folder.join("rust-lld");
    if link.exists() {
        return Ok(());
    }
    quiet(as_root("mkdir").arg("-p").arg(&folder))?;
    quiet(as_root("ln").args(["-sf", "/usr/bin/lld-22"]).arg(&link))
}

/// Builds std (and test, for `cargo test`) through a scratch crate and copies it where rustc looks.
fn build_std(toolchain: &Toolchain) -> Result<()> {
    let scratch = std::env::temp_dir().join("tillgate-std");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(scratch.join("src"))?;
    fs::write(scratch.join("src/lib.rs"), "")?;
    // Without lto the library carries no bitcode, and crates with lto then fail to link.
    fs::write(
        scratch.join("Cargo.toml"),
        "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [workspace]\n[profile.release]\npanic = \"abort\"\nlto = true\n",
    )?;
    quiet(
        toolchain
            .command("cargo")
            .current_dir(&scratch)
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["build", "--release", "--target", TARGET])
            .arg("-Zbuild-std=std,panic_abort,test"),
    )?;
    let sysroot = output(toolchain.command("rustc").args(["--print", "sysroot"]))?;
    let library = PathBuf::from(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib");
    // Two copies of one crate clash, so the folder starts empty.
    quiet(as_root("rm").arg("-rf").arg(&library))?;
    quiet(as_root("mkdir").arg("-p").arg(&library))?;
    let built = scratch.join("target").join(TARGET).join("release/deps");
    let mut copy = as_root("cp");
    for entry in fs::read_dir(&built)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libscratch") {
            copy.arg(entry.path());
        }
    }
    quiet(copy.arg(&library))?;
    let stamp = scratch.join(STAMP);
    fs::write(&stamp, toolchain.version()?)?;
    quiet(as_root("cp").arg(&stamp).arg(&library))?;
    if !has_std(&library) {
        bail!("no standard library came out of the build");
    }
    let _ = fs::remove_dir_all(&scratch);
    Ok(())
}

/// The command itself for root, through `sudo` for others.
fn as_root(program: &str) -> Command {
    let root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if root {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["--non-interactive", program]);
    command
}
