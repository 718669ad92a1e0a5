//! Embeds two things into the binary: its build number, and the hosted form that `cargo xtask form` has built. A build
//! for development names the form's folder instead, and the gateway reads it when it starts: so it compiles beside the
//! form and not after it, and not again when the form has changed.

use std::env;
use std::fmt::Write as _;
use std::fs;
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

/// Writes `form.rs` with the files of the form's build, and with the folder of a build for development.
fn embed_form() {
    println!("cargo:rerun-if-env-changed=TILLGATE_FORM_DIR");
    let folder = match env::var_os("TILLGATE_FORM_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../target/form"),
    };
    // Cargo says `release` for each profile that inherits from that one.
    let (files, read_at_start) = match env::var("PROFILE").as_deref() {
        Ok("release") => (embed_files(&folder), None),
        _ => (String::new(), std::path::absolute(&folder).ok().map(|folder| folder.display().to_string())),
    };
    let source = format!(
        "/// The build of the form inside this binary: path and content.\n\
         static EMBEDDED: &[(&str, &[u8])] = &[\n{files}];\n\
         /// Folder of the form, in a build for development.\n\
         const FOLDER: Option<&str> = {read_at_start:?};\n"
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("form.rs");
    if let Err(error) = fs::write(&out, source) {
        println!("cargo:error={}: {error}", out.display());
    }
}

/// Returns a row for every file of the form's build, with its bytes. Without a build of the form there are none,
/// everything compiles, and `tillgate serve` says how to build it.
fn embed_files(folder: &Path) -> String {
    println!("cargo:rerun-if-changed={}", folder.join("manifest.json").display());
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let mut rows = String::new();
    for file in files {
        if let (Ok(inside), Ok(absolute)) = (file.strip_prefix(folder), file.canonicalize()) {
            let _ = writeln!(rows, "    ({:?}, include_bytes!({:?})),", inside.display().to_string(), absolute);
        }
    }
    rows
}

/// Adds all files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
