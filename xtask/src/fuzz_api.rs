//! `cargo xtask fuzz-api`: runs Schemathesis on a gateway, with the gateway's own OpenAPI document.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::toolchain::{print_step, run_command};
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

/// Version of the fuzzer. It is pinned, because a new version may find more faults.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Builds everything and runs the fuzzer. Arguments after `--` go to it unchanged. Fails if it finds something.
pub fn run_fuzzer(arguments: &[String]) -> Result<()> {
    let (own, more) = match arguments.iter().position(|argument| argument == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[][..]),
    };
    let examples = match own {
        [] => 50,
        [name, count] if name == "--examples" => count.parse::<u32>().context("--examples needs a number")?,
        _ => bail!("there is no option {:?}", own.join(" ")),
    };
    let fuzzer = install_schemathesis()?;
    form::build_form(form::BuildOptions::default())?;
    let gateway = server::build_gateway(server::Profile::Development)?;
    let status = Command::new("cargo")
        .current_dir(crate::workspace_root())
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

/// Installs the pinned Schemathesis into a Python environment in `target/tools`, unless it is there. Returns its
/// program.
fn install_schemathesis() -> Result<PathBuf> {
    let folder = crate::workspace_root().join("target/tools/schemathesis");
    let program = folder.join("bin/schemathesis");
    let version = SCHEMATHESIS.rsplit('=').next().unwrap_or_default();
    if program.exists() && run_command(Command::new(&program).arg("--version"))?.trim().ends_with(version) {
        return Ok(program);
    }
    if run_command(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_err() {
        test::tools::install_packages("the fuzzer", &["python3-venv"])?;
    }
    print_step("Installing Schemathesis");
    run_command(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run_command(Command::new(folder.join("bin/pip")).args(["install", "--quiet", SCHEMATHESIS]))?;
    ensure!(program.exists(), "pip did not install Schemathesis");
    Ok(program)
}
