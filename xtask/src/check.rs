//! `cargo xtask check`: checks the documents' links, the words of comments and texts, and the names of types. The tests
//! of this package run the same checks.

mod comments;
mod documents;
mod lexer;
mod names;
mod shell;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// Text of `cargo xtask check --help`.
pub const HELP: &str = "\
Checks, in less than a second and without building anything:

  documents  every link leads to a file and a heading that exist, every path that a document names
             exists, and the README has at most 100 lines; commands for a shell work on macOS and on
             Linux, and name ids by variables
  comments   no comment and no text that people read begins with What, Who, Whose, Whether, Where,
             How or As, and no line with a comment is longer than 120 characters
  names      no two visible types of a package share a name

Prints the faults. `cargo xtask test` runs the same checks.

Example: cargo xtask check";

/// Runs all checks on this workspace and prints the faults. Arguments are ignored.
///
/// # Errors
/// If a file cannot be read, or there are faults.
pub fn run_checks(_: &[String]) -> Result<()> {
    let root = crate::workspace_root();
    let mut faults = documents::check_documents(root)?;
    faults.extend(shell::check_commands(root)?);
    faults.extend(comments::check_comments(root)?);
    faults.extend(names::check_names(root)?);
    for fault in &faults {
        println!("{fault}");
    }
    ensure!(faults.is_empty(), "faults: {}", faults.len());
    Ok(())
}

/// Lists the files below a folder whose names have an ending, as sorted paths relative to `root`. Skips build folders.
fn list_files(root: &Path, folder: &str, ending: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                let is_built = ["target", "node_modules", "dist"].iter().any(|name| entry.file_name() == *name);
                folders.extend((!is_built).then_some(path));
            } else if let Some(path) = path.to_str().filter(|path| path.ends_with(ending)) {
                found.push(path.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
