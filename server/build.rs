//! Embeds two things into the binary: its build number, and the hosted form that `cargo xtask form` has built.

use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    build_number();
    embed_form();
}

/// Sets the build number: 40 hexadecimal digits of the commit, `@`, and its time; zeros if the source has no history.
fn build_number() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).env("TZ", "UTC").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    // In a linked worktree this file is elsewhere. A path that does not exist would make Cargo rerun this script every
    // time.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "0".repeat(40));
    let time = git(&["log", "-1", "--date=format-local:%Y-%m-%d %H:%M:%S +0000", "--format=%cd"])
        .unwrap_or_else(|| "1970-01-01 00:00:00 +0000".to_owned());
    println!("cargo:rustc-env=TILLGATE_BUILD_NUMBER={commit}@{time}");
}

/// Embeds every file of the form's build as bytes. Without a build of the form the list is empty, everything compiles,
/// and `tillgate serve` says how to build it.
fn embed_form() {
    println!("cargo:rerun-if-env-changed=TILLGATE_FORM_DIR");
    let folder = match env::var_os("TILLGATE_FORM_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../target/form"),
    };
    println!("cargo:rerun-if-changed={}", folder.join("manifest.json").display());
    // A build of the form may be in progress: `cargo xtask test` starts both at once.
    let _built = File::open(folder.with_extension("lock")).and_then(|lock| lock.lock_shared());
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    let mut source = String::from(
        "/// The build of the form inside this binary: path and content.\nstatic EMBEDDED: &[(&str, &[u8])] = &[\n",
    );
    for file in files {
        if let (Ok(inside), Ok(absolute)) = (file.strip_prefix(&folder), file.canonicalize()) {
            let _ = writeln!(source, "    ({:?}, include_bytes!({:?})),", inside.display().to_string(), absolute);
        }
    }
    source.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("form.rs");
    if let Err(error) = fs::write(&out, source) {
        println!("cargo:error={}: {error}", out.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
