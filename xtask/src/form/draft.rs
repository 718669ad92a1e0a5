//! A draft of the form for work on it with `trunk serve`: made in seconds, and served by `cargo xtask demo --reload`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::compile::{self, StandardLibrary};
use super::tools;
use crate::toolchain::{self, run_step};

/// Address of the gateway, which `widget/Trunk.toml` names too.
const GATEWAY: ([u8; 4], u16) = ([127, 0, 0, 1], 8080);
/// Time in which a gateway restarts with a new draft.
const RESTART: Duration = Duration::from_secs(20);
/// Pause between two looks at the gateway.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns the folder of the draft. It is not `target/form`, so that no gateway embeds a draft.
pub fn draft_folder() -> PathBuf {
    crate::workspace_root().join("target/form-draft")
}

/// Returns the id of the draft that is there, or `None` if there is none or it is just being replaced.
pub fn read_draft_id() -> Option<String> {
    let manifest: Value = serde_json::from_slice(&fs::read(draft_folder().join("manifest.json")).ok()?).ok()?;
    Some(manifest.get("build")?.as_str()?.to_owned())
}

/// Builds a draft, and waits until the gateway serves it, if one is running.
///
/// # Errors
/// If the sources do not compile, or if the gateway still serves another build after a while.
pub fn build_and_wait() -> Result<()> {
    build_draft()?;
    let draft = read_draft_id().context("the draft has no id")?;
    let Some(mut served) = read_inventory() else {
        println!("The draft is in {}. No gateway is running.", draft_folder().display());
        return Ok(());
    };
    let started = Instant::now();
    while !served.contains(&draft) {
        if started.elapsed() > RESTART {
            bail!("the gateway still serves another build; start it with `cargo xtask demo --reload`");
        }
        sleep(PAUSE);
        served = read_inventory().unwrap_or_default();
    }
    println!("The gateway serves the draft {draft}.");
    Ok(())
}

/// Builds the form of the current sources into [`draft_folder`], except for the page module, which is that of the last
/// build.
///
/// # Errors
/// If the frame module does not compile, or if a script or style is faulty.
pub fn build_draft() -> Result<()> {
    let lock = super::lock_build()?;
    let root = crate::workspace_root();
    let built = root.join("target/form");
    if !built.join("manifest.json").exists() {
        tools::build_beside(|tools| super::build_with_lock(&lock, super::BuildOptions::default(), tools))?;
    }
    let toolchain = toolchain::ensure_toolchain()?;
    let std = StandardLibrary::for_toolchain(&toolchain);
    let work = root.join("target/form-build");
    fs::create_dir_all(&work)?;
    let compile_frame =
        || run_step("the frame module", || compile::compile_module(&toolchain, std, root, &work, "frame"));
    let (frame, program) = tools::build_beside(|tools| Ok((compile_frame()?, tools.wait()?.to_owned())))?;
    run_step("packing", || {
        let fresh = work.join("draft");
        let made_by = super::describe_compiler(&toolchain, std)?;
        let paths = [&fresh, &work, Path::new(&made_by), &frame, &built];
        tools::run_tools(&program, "draft", &paths)?;
        super::replace_folder(&fresh, &draft_folder())
    })
}

/// Returns the gateway's inventory of scripts, which contains the manifest of the build that it serves, or `None` if
/// there is no gateway.
fn read_inventory() -> Option<String> {
    let address = SocketAddr::from(GATEWAY);
    let mut connection = TcpStream::connect(address).ok()?;
    connection.set_read_timeout(Some(RESTART)).ok()?;
    write!(connection, "GET /v1/scripts HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn trunk_builds_drafts_for_the_gateway_that_it_shows() {
        let text = fs::read_to_string(crate::workspace_root().join("widget/Trunk.toml")).unwrap();
        let settings: toml::Table = text.parse().unwrap();
        let hook = settings["hooks"][0]["command_arguments"].as_array().unwrap();
        let hook: Vec<&str> = hook.iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(hook, ["xtask", "form", "--draft"]);
        let gateway = format!("http://{}/v1/", SocketAddr::from(GATEWAY));
        assert_eq!(settings["proxy"][0]["backend"].as_str(), Some(gateway.as_str()));
        let watched = settings["watch"]["watch"].as_array().unwrap();
        for folder in [".", "../shared/src"] {
            assert!(watched.iter().any(|it| it.as_str() == Some(folder)), "{folder}");
        }
    }
}
