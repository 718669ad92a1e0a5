//! Checks the length of functions in Rust sources.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::{lexer, names};

/// Folders whose functions are checked.
const FOLDERS: [&str; 6] = ["server", "shared", "tests/src", "widget", "www", "xtask"];
/// Sources of tests are tables of cases more often than code, and are not checked.
const TEST_SOURCES: [&str; 2] = ["/tests/", "/tests.rs"];
/// Code of the form's build, which is not split yet.
const UNCHECKED: &str = "xtask/src/form/";
/// Maximum number of lines, from the signature to the closing brace.
const MAX_LINES: usize = 60;

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
struct FunctionBody<'a> {
    name: &'a str,
    /// Number of the line of its `fn`, from 1.
    line: usize,
    /// Number of its lines, from the signature to the closing brace.
    lines: usize,
    /// True if the body is a table: one expression, without any statement.
    is_table: bool,
}

/// Checks the functions of a repository. Returns a line for each one that is too long. A table may be longer: a
/// function whose body is one expression without any statement in it.
///
/// # Errors
/// If a file cannot be read.
pub fn check_functions(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for folder in FOLDERS {
        for path in super::list_files(root, folder, ".rs")? {
            let is_test = TEST_SOURCES.iter().any(|part| path.contains(part));
            if is_test || path.starts_with(UNCHECKED) {
                continue;
            }
            let source = fs::read_to_string(root.join(&path)).with_context(|| format!("reading {path}"))?;
            let code = lexer::blank_literals(&source);
            let too_long = |body: &FunctionBody<'_>| body.lines > MAX_LINES && !body.is_table;
            faults.extend(find_functions(&code).iter().filter(|body| too_long(body)).map(|body| {
                let FunctionBody { name, line, lines, .. } = body;
                format!("{path}:{line}: the function {name} has {lines} lines, at most {MAX_LINES} are allowed")
            }));
        }
    }
    Ok(faults)
}

/// Finds the functions with a body in code without literals, inside other items too.
fn find_functions(code: &str) -> Vec<FunctionBody<'_>> {
    let tokens = names::split_tokens(code);
    let text = |at: usize| tokens.get(at).map_or("", |(text, _)| *text);
    let starts = (0..tokens.len()).filter(|at| text(*at) == "fn" && names::is_name(text(at + 1)));
    starts.filter_map(|start| measure_function(&tokens, start)).collect()
}

/// Measures the function whose `fn` is the token at `start`. `None` if it has no body.
fn measure_function<'a>(tokens: &[(&'a str, usize)], start: usize) -> Option<FunctionBody<'a>> {
    // Braces and semicolons inside brackets belong to the signature, such as that of `[u8; 4]`.
    let (mut brackets, mut braces, mut is_table) = (0_usize, 0_usize, true);
    let (name, _) = tokens.get(start + 1)?;
    let (_, line) = tokens.get(start)?;
    for (token, last_line) in &tokens[start..] {
        match *token {
            "(" | "[" if braces == 0 => brackets += 1,
            ")" | "]" if braces == 0 => brackets = brackets.saturating_sub(1),
            ";" if braces == 0 && brackets == 0 => return None,
            ";" if braces > 0 => is_table = false,
            "{" if brackets == 0 => braces += 1,
            "}" if brackets == 0 => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return Some(FunctionBody { name, line: *line, lines: last_line - line + 1, is_table });
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns name, line, number of lines and whether it is a table, of each function.
    fn measure(source: &str) -> Vec<(String, usize, usize, bool)> {
        let code = lexer::blank_literals(source);
        find_functions(&code)
            .into_iter()
            .map(|body| (body.name.to_owned(), body.line, body.lines, body.is_table))
            .collect()
    }

    #[test]
    fn a_function_is_measured_from_its_signature_to_its_brace() {
        let source = "\
/// A {comment}.
pub fn first(
    bytes: [u8; 4],
) -> bool {
    let text = \"}\";
    text.is_empty()
}
trait Named { fn name(&self) -> &str; fn inner() { 1 } }
fn outer() {
    fn nested() { let a = 1; }
}
";
        assert_eq!(
            measure(source),
            [
                ("first".to_owned(), 2, 6, false),
                ("inner".to_owned(), 8, 1, true),
                ("outer".to_owned(), 9, 3, false),
                ("nested".to_owned(), 10, 1, false),
            ]
        );
    }

    #[test]
    fn every_function_of_this_workspace_is_short() {
        assert_eq!(check_functions(crate::workspace_root()).unwrap(), [""; 0]);
    }
}
