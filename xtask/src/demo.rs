//! `cargo xtask demo`: from a bare machine to a running gateway and demo shop.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{form, server};

/// Text of `cargo xtask demo --help`.
pub const HELP: &str = "\
Sets up what is missing, builds the form and the gateway, and starts the gateway and a demo shop on
another site. Prints the shop's address, the demo merchant's entityId and token, and a curl line.
Further options go to `tillgate demo`:

  --data DIR      the data folder (default: tillgate-data in this folder; it is kept)
  --listen ADDR   the gateway's address (default: 127.0.0.1:8080)
  --shop ADDR     the shop's address (default: 127.0.0.1:8081)

Example: cargo xtask demo";

/// Builds everything, and replaces this process with the demo. Returns only if the demo cannot be started.
pub fn run_demo(arguments: &[String]) -> Result<()> {
    form::build_form(form::BuildOptions::default())?;
    let binary = server::build_with_shop(server::Profile::Development)?;
    let error = Command::new(&binary).arg("demo").args(arguments).exec();
    Err(error).with_context(|| format!("starting {}", binary.display()))
}
