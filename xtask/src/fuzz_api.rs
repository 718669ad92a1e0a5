//! `cargo xtask fuzz-api`: runs Schemathesis on a gateway, with the gateway's own OpenAPI document.

use anyhow::{Context as _, Result, bail, ensure};

use crate::toolchain::python::PythonPackage;
use crate::{cargo, server};

/// Text of `cargo xtask fuzz-api --help`.
pub const HELP: &str = "\
Sets up what is missing (Python's venv, Schemathesis in target/tools), builds the form and the gateway, starts
it on a store of its own with a sandbox entity, a live one and a merchant with a channel, and sends what
/openapi.json allows and what it forbids. No answer may be a 5xx, nor one whose status, media type or
shape the document does not describe, and what is forbidden has to be refused: all default checks of
Schemathesis, where a request that the document allows may be refused with 400 by a rule that no schema
can tell. Some twenty minutes; the exit code tells.

  --examples N  random requests for each operation and pass (default: 50)
  -- OPTION …   options of Schemathesis itself, e.g. -- --seed 7 --include-operation-id createPayment

Example: cargo xtask fuzz-api --examples 200";

/// The fuzzer.
const SCHEMATHESIS: PythonPackage = PythonPackage { name: "schemathesis", version: "4.32.5", others: &[] };

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
    let fuzzer = SCHEMATHESIS.ensure_installed()?.join(SCHEMATHESIS.name);
    let gateway = server::build_with_form()?;
    let status = cargo::command()
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
