//! Builds with cargo, whose messages tell about each program as soon as it is ready.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Returns a call of cargo in the workspace, without the variables that describe the package xtask to this process.
/// Some build scripts read them, such as ring's, and ring would be compiled again whenever they come and go, with all
/// that is above it.
pub fn command() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(crate::workspace_root());
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
        cargo.env_remove(name);
    }
    cargo
}

/// Runs `cargo build` with these arguments in the workspace, and passes each message to `read`. Cargo shows its own
/// progress and the compiler's complaints.
pub fn build(arguments: &[&str], read: impl FnMut(&str)) -> Result<()> {
    run(command().arg("build").args(arguments), read)
}

/// Same as [`build`], for a call that is complete but for the format of the messages.
///
/// # Errors
/// The same.
pub fn run(cargo: &mut Command, mut read: impl FnMut(&str)) -> Result<()> {
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let mut running = cargo.stdout(Stdio::piped()).spawn().context("running cargo")?;
    let messages = running.stdout.take().context("cargo has no output")?;
    for message in BufReader::new(messages).lines() {
        read(&message.context("reading cargo's messages")?);
    }
    ensure!(running.wait()?.success(), "the build failed");
    Ok(())
}

/// Returns the path of the program of the target `name` if a message of cargo is about it.
pub fn parse_executable(message: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let target = message.pointer("/target/name")?.as_str()?;
    Some(PathBuf::from(message.get("executable").filter(|_| target == name)?.as_str()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_announced_with_its_path() {
        let message = |name: &str| format!(r#"{{"target":{{"name":"{name}"}},"executable":"/target/{name}.wasm"}}"#);
        assert_eq!(parse_executable(&message("web"), "web").unwrap(), PathBuf::from("/target/web.wasm"));
        assert!(parse_executable(&message("tillgate_widget"), "web").is_none());
        for other in [r#"{"target":{"name":"web"},"executable":null}"#, r#"{"reason":"build-finished"}"#, "text"] {
            assert!(parse_executable(other, "web").is_none(), "{other}");
        }
    }

    #[test]
    fn a_build_that_fails_is_an_error_and_its_messages_are_read() {
        let mut lines = Vec::new();
        let failed = run(Command::new("sh").args(["-c", "echo one; exit 1"]), |line| lines.push(line.to_owned()));
        assert!(failed.is_err());
        assert_eq!(lines, ["one"]);
    }
}
