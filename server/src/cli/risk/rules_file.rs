//! A file of risk rules that an argument names.

use std::path::Path;

use anyhow::bail;
use serde::Serialize;
use tillgate_risk::{MAX_FILE_BYTES, RuleSet, TextError};

use crate::cli::CommonOptions;
use crate::cli::input_file::read_input_file;

/// Largest size of a rules file, in bytes.
const MAX_RULES_BYTES: u64 = MAX_FILE_BYTES as u64;

#[derive(Serialize)]
struct ErrorsOutput<'a> {
    file: String,
    errors: &'a [TextError],
}

/// Reads a rules file. Returns its text, too. Its errors are printed here, one a line.
pub(super) fn load_rules(common: &CommonOptions, path: &Path) -> anyhow::Result<(String, RuleSet)> {
    let file = path.display();
    let text = read_input_file(path, MAX_RULES_BYTES)?;
    let errors = match RuleSet::parse(&text) {
        Ok(rules) => {
            rules.check_bins().map_err(|message| anyhow::anyhow!("{file}: {message}"))?;
            return Ok((text.to_string(), rules));
        }
        Err(errors) => errors,
    };
    if common.json {
        common.print_output(&ErrorsOutput { file: file.to_string(), errors: &errors }, |_| String::new())?;
    } else {
        for error in &errors {
            eprintln!("{file}:{error}");
        }
    }
    let count = errors.len();
    bail!("{file} has {count} {}", if count == 1 { "error" } else { "errors" })
}
