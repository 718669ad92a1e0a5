//! `cargo xtask fuzz-api`: Schemathesis against a gateway of its own, by what the gateway says of itself.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::toolchain::{output, say};
use crate::{form, server, test};

/// Text of `cargo xtask fuzz-api --help`.
pub const HELP: &str = "\
Sets up what is missing (Python's venv, Schemathesis in target/tools), builds the form and the gateway, starts
it on a store of its own with a sandbox entity, a live one and a merchant with a channel, and sends what
/openapi.json allows and what it forbids. No answer may be a 5xx, nor one whose status, media type or
shape the document does not tell. Some ten minutes; the exit code tells.

  --examples N  random requests for each operation and pass (default: 50)
  -- OPTION …   options of Schemathesis itself, e.g. -- --seed 7 --include-operation-id createPayment

Example: cargo xtask fuzz-api --examples 200";

/// The fuzzer as the project uses it; a new version may find more, so it changes by decision only.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Builds everything and lets the fuzzer loose.
pub fn run(arguments: &[String]) -> Result<()> {
    let (own, more) = match arguments.iter().position(|argument| argument == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[][..]),
    };
    let examples = match own {
        [] => 50,
        [name, count] if name == "--examples" => count.parse::<u32>().context("--examples needs a number")?,
        _ => bail!("there is no option {:?}", own.join(" ")),
    };
    let fuzzer = schemathesis()?;
    form::build(form::Options::default())?;
    let gateway = server::build(server::Profile::Development)?;
    let status = Command::new("cargo")
        .current_dir(crate::root())
        .args(["run", "--quiet", "--package", "tillgate-tests", "--bin", "fuzz-api", "--"])
        .arg(fuzzer)
        .arg(examples.to_string())
        .args(more)
        .env("TILLGATE_BIN", gateway)
        .status()
        .context("running cargo")?;
    ensure!(status.success(), "the fuzzer found something");
    Ok(())
}

/// Schemathesis in a Python environment of its own in `target/tools`.
fn schemathesis() -> Result<PathBuf> {
    let folder = crate::root().join("target/tools/schemathesis");
    let program = folder.join("bin/schemathesis");
    let wanted = SCHEMATHESIS.rsplit('=').next().unwrap_or_default();
    if program.exists() && output(Command::new(&program).arg("--version"))?.trim().ends_with(wanted) {
        return Ok(program);
    }
    if output(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_err() {
        test::tools::install("the fuzzer", &["python3-venv"])?;
    }
    say("Installing Schemathesis");
    output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    output(Command::new(folder.join("bin/pip")).args(["install", "--quiet", SCHEMATHESIS]))?;
    ensure!(program.exists(), "pip did not install Schemathesis");
    Ok(program)
}
