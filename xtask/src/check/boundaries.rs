//! Checks the boundaries between those modules of the gateway that are no crates yet, as docs/architecture.md describes
//! them.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::lexer;

/// Sources of the gateway.
const SOURCES: &str = "server/src";
/// Modules that no module of a lower floor may use: the module, and those that it may not use. A module may use all
/// others.
const FORBIDDEN: &[(&str, &[&str])] = &[("api", &["cli", "worker"]), ("worker", &["cli", "api"])];
/// Uses that are allowed nevertheless: a source, and the path that it uses.
const ALLOWED: &[(&str, [&str; 2])] = &[
    // The JSON of webhooks is built from that of responses.
    ("server/src/worker/outbox.rs", ["api", "webhook_payload"]),
];
/// Places in which a word may occur: the word, and the beginnings of their paths.
const PLACES: &[(&str, &[&str])] = &[
    // The command line's demo describes its test data.
    ("simulator", &["server/src/cli/sandbox/demo"]),
];

/// Checks the boundaries of the gateway. Returns a line for each fault. Test modules may use every module.
///
/// # Errors
/// If a file cannot be read.
pub fn check_boundaries(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for path in super::list_files(root, SOURCES, ".rs")? {
        let source = fs::read_to_string(root.join(&path)).with_context(|| format!("reading {path}"))?;
        faults.extend(find_misplaced_words(&path, &source));
        if !path.contains("/tests") {
            faults.extend(find_forbidden_uses(&path, &source));
        }
    }
    Ok(faults)
}

/// Returns a fault for each line with a word outside of its places, in code and in comments.
fn find_misplaced_words(path: &str, source: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (word, places) in PLACES {
        if places.iter().any(|place| path.starts_with(place)) {
            continue;
        }
        let lines = source.lines().enumerate().filter(|(_, line)| line.to_lowercase().contains(word));
        faults.extend(lines.map(|(index, _)| format!("{path}:{}: {word} does not belong here", index + 1)));
    }
    faults
}

/// Returns a fault for each use of a module by one that may not use it. The code after `#[cfg(test)]` is not checked.
fn find_forbidden_uses(path: &str, source: &str) -> Vec<String> {
    let module = path.strip_prefix(SOURCES).unwrap_or_default().trim_start_matches('/');
    let module = module.split(['/', '.']).next().unwrap_or_default();
    let Some((_, forbidden)) = FORBIDDEN.iter().find(|(name, _)| *name == module) else { return Vec::new() };
    let code = lexer::blank_literals(source);
    let code = code.split_once("#[cfg(test)]").map_or(code.as_str(), |(before, _)| before);
    let tokens = lexer::split_tokens(code);
    let uses = tokens.windows(7).filter_map(|window| match window {
        [("crate", line), (":", _), (":", _), (used, _), (":", _), (":", _), (item, _)] => Some((*used, *item, *line)),
        _ => None,
    });
    let is_allowed = |used: &str, item: &str| ALLOWED.contains(&(path, [used, item]));
    uses.filter(|(used, item, _)| forbidden.contains(used) && !is_allowed(used, item))
        .map(|(used, _, line)| format!("{path}:{line}: {module} may not use {used}, see docs/architecture.md"))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_module_uses_no_module_above_it() {
        let source =
            "use crate::worker::timers;\nuse crate::form::Build;\n// crate::worker\n#[cfg(test)]\nuse crate::cli;\n";
        let faults = find_forbidden_uses("server/src/api/form.rs", source);
        assert_eq!(faults, ["server/src/api/form.rs:1: api may not use worker, see docs/architecture.md"]);
        assert_eq!(find_forbidden_uses("server/src/cli/serve.rs", source), [""; 0]);
        assert_eq!(find_forbidden_uses("server/src/clock.rs", source), [""; 0]);
    }

    #[test]
    fn the_simulator_stays_where_it_is() {
        let source = "// A simulator.\nlet simulator = 1;\n";
        assert_eq!(find_misplaced_words("server/src/api/form.rs", source).len(), 2);
        assert_eq!(find_misplaced_words("server/src/cli/sandbox/demo.rs", source).len(), 0);
    }

    #[test]
    fn every_boundary_of_the_gateway_holds() {
        assert_eq!(check_boundaries(crate::workspace_root()).unwrap(), [""; 0]);
    }
}
