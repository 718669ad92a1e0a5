//! `cargo xtask demo`: from a bare machine to a running gateway and demo shop.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::{form, server};

/// Text of `cargo xtask demo --help`.
pub const HELP: &str = "\
Sets up what is missing, builds the form and the gateway, and starts the gateway and a demo shop on
another site. Prints the shop's address, the demo merchant's entityId and token, and a curl line.

  --reload        serve drafts of the form, and restart with each new one (docs/development.md)

Further options go to `tillgate demo`:

  --data DIR      the data folder (default: tillgate-data in this folder; it is kept)
  --listen ADDR   the gateway's address (default: 127.0.0.1:8080)
  --shop ADDR     the shop's address (default: 127.0.0.1:8081)
  --payments N    the payments that the first start makes, in the last 30 days (default: 3000)

Example: cargo xtask demo";

/// Pause between two looks at the draft.
const PAUSE: Duration = Duration::from_millis(50);

/// Builds everything, and replaces this process with the demo. With `--reload` it restarts the demo instead. Returns
/// only if the demo ends or cannot be started.
pub fn run_demo(arguments: &[String]) -> Result<()> {
    let binary = server::build_with_form()?;
    let (own, others): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|argument| *argument == "--reload");
    if !own.is_empty() {
        return serve_drafts(&binary, &others);
    }
    let error = Command::new(&binary).arg("demo").args(others).exec();
    Err(error).with_context(|| format!("starting {}", binary.display()))
}

/// Runs the demo with a draft of the form, and restarts it when there is another draft. Returns when the demo ends.
fn serve_drafts(binary: &Path, arguments: &[&String]) -> Result<()> {
    form::build_draft()?;
    loop {
        let served = form::read_draft_id();
        let mut command = Command::new(binary);
        command.arg("demo").arg("--form").arg(form::draft_folder()).args(arguments);
        let mut demo = command.spawn().with_context(|| format!("starting {}", binary.display()))?;
        while form::read_draft_id().is_none_or(|draft| Some(draft) == served) {
            if let Some(status) = demo.try_wait()? {
                ensure!(status.success(), "the demo ended ({status})");
                return Ok(());
            }
            sleep(PAUSE);
        }
        // A clean end: the demo ends its shop with it.
        let signal = Command::new("kill").args(["-TERM", &demo.id().to_string()]).status().context("kill")?;
        ensure!(signal.success(), "the demo cannot be stopped");
        demo.wait()?;
    }
}
