//! Checks the names of types: a name has one meaning in a package.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::lexer;

/// Folders whose names are checked, each one package.
const FOLDERS: [&str; 6] = ["server", "shared", "tests", "widget", "www", "xtask"];

/// A struct, enum, trait or type alias that other files may be able to name.
#[derive(Debug, PartialEq, Eq)]
struct VisibleType {
    name: String,
    /// Number of its line, from 1.
    line: usize,
}

/// Checks the names of a repository. Returns a line for each name that several visible types of a package have.
pub fn check_names(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for package in FOLDERS {
        let mut types = Vec::new();
        for path in super::list_files(root, package, ".rs")? {
            let source = fs::read_to_string(root.join(&path)).with_context(|| format!("reading {path}"))?;
            types.extend(find_types(&source).into_iter().map(|found| (path.clone(), found)));
        }
        faults.extend(find_shared_names(&types));
    }
    Ok(faults)
}

/// Returns a fault for each name that several types have. Each type comes with the path of its source.
fn find_shared_names(types: &[(String, VisibleType)]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, found) in types {
        places.entry(&found.name).or_default().push(format!("{path}:{}", found.line));
    }
    let shared = places.iter().filter(|(_, places)| places.len() > 1);
    shared.map(|(name, places)| format!("several types are named {name}: {}", places.join(", "))).collect()
}

/// Finds the visible types of a source, inside other items too. Names that a macro puts in are not found.
fn find_types(source: &str) -> Vec<VisibleType> {
    let code = lexer::blank_literals(source);
    let tokens = lexer::split_tokens(&code);
    let starts = (0..tokens.len()).filter(|at| ["struct", "enum", "trait", "type"].contains(&tokens[*at].0));
    let visible = starts.filter(|at| is_visible(&tokens[..*at]));
    let names = visible.filter_map(|at| tokens.get(at + 1).filter(|(name, _)| lexer::is_name(name)));
    names.map(|(name, line)| VisibleType { name: (*name).to_owned(), line: *line }).collect()
}

/// Returns true if `pub`, or `pub` with a scope other than `self`, is the end of these tokens.
fn is_visible(before: &[(&str, usize)]) -> bool {
    let mut before: Vec<&str> = before.iter().rev().take(32).map(|(token, _)| *token).collect();
    if before.first() == Some(&"unsafe") {
        before.remove(0);
    }
    match before[..] {
        ["pub", ..] => true,
        [")", "self", "(", "pub", ..] => false,
        [")", ref scope @ ..] => {
            let open = scope.iter().position(|token| *token == "(");
            open.is_some_and(|open| scope.get(open + 1) == Some(&"pub"))
        }
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_two_visible_types_of_a_package_share_a_name() {
        let faults = check_names(crate::workspace_root()).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn visible_types_are_found_with_their_lines() {
        let source = "mod a;\npub(crate) struct B<T>(pub T);\npub(in super::x) enum C { D }\ntrait E { type F; }\n\
                      pub(self) type G = fn(u8) -> u8;\n// struct H;\nlet i = \"struct J\";\npub unsafe trait K {}\n";
        let found: Vec<_> = find_types(source).into_iter().map(|it| (it.name, it.line)).collect();
        assert_eq!(found, [("B", 2), ("C", 3), ("K", 8)].map(|(name, line)| (name.to_owned(), line)));
    }

    #[test]
    fn a_name_of_two_visible_types_is_a_fault() {
        let types = |source: &str| -> Vec<_> {
            find_types(source).into_iter().map(|found| ("server/src/a.rs".to_owned(), found)).collect()
        };
        let twice = types("pub struct A; mod b { pub(super) enum A {} } struct C; mod d { struct C; }");
        assert_eq!(find_shared_names(&twice), ["several types are named A: server/src/a.rs:1, server/src/a.rs:1"]);
        assert_eq!(find_shared_names(&types("pub struct A; struct A;")), [""; 0]);
    }
}
