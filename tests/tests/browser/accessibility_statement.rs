//! The table of `docs/accessibility.md`: the states of the form that axe-core checks without a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::axe::swept_folder;

const BEGIN: &str = "<!-- swept: begin -->\n";
const END: &str = "<!-- swept: end -->";
const HEAD: &str = "| State | Checked in | Test |\n|---|---|---|\n";

/// A state and the file with the test that checks it.
type Sweep = (String, String);

fn repository_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Returns every state that a test names.
fn list_tested() -> anyhow::Result<BTreeSet<Sweep>> {
    let mut tested = BTreeSet::new();
    for entry in fs::read_dir(repository_path("tests/tests/browser"))? {
        let path = entry?.path();
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_none_or(|ending| ending != "rs") || file == "accessibility_statement" {
            continue;
        }
        let source = fs::read_to_string(&path)?;
        let states = source.split(".sweep(\"").skip(1).filter_map(|rest| rest.split('"').next());
        tested.extend(states.map(|state| (state.to_owned(), file.clone())));
    }
    Ok(tested)
}

/// Returns the recorded states with their looks, such as `card, dark` or `plain, light, right to left`.
fn list_recorded() -> anyhow::Result<BTreeMap<Sweep, BTreeSet<String>>> {
    let mut recorded = BTreeMap::<Sweep, BTreeSet<String>>::new();
    for entry in fs::read_dir(swept_folder()).context("no browser test has run")? {
        let record: Value = serde_json::from_slice(&fs::read(entry?.path())?)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let [style, colors, direction] = [0, 1, 2].map(|at| text(&record["look"][at]));
        let direction = if direction == "rtl" { ", right to left" } else { "" };
        let looks = recorded.entry((text(&record["state"]), text(&record["file"]))).or_default();
        looks.insert(format!("{style} {colors}{direction}"));
    }
    Ok(recorded)
}

#[test]
fn the_statement_lists_every_state_that_is_checked_and_no_other() -> anyhow::Result<()> {
    let path = repository_path("docs/accessibility.md");
    let document = fs::read_to_string(&path)?;
    let (before, rest) = document.split_once(BEGIN).context("no begin")?;
    let (table, after) = rest.split_once(END).context("no end")?;
    let tested = list_tested()?;
    if std::env::var_os("WRITE").is_some() {
        let recorded = list_recorded()?;
        let row = |sweep: &Sweep| {
            let looks = recorded.get(sweep).with_context(|| format!("run the test in {}: {}", sweep.1, sweep.0))?;
            let looks = looks.iter().cloned().collect::<Vec<_>>().join("; ");
            Ok(format!("| {} | {looks} | `{}` |\n", sweep.0, sweep.1))
        };
        let rows = tested.iter().map(row).collect::<anyhow::Result<String>>()?;
        fs::write(&path, [before, BEGIN, HEAD, &rows, END, after].concat())?;
        return Ok(());
    }
    let rows = table.lines().skip(2).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        (cells[0].to_owned(), cells.get(2).copied().unwrap_or_default().to_owned())
    });
    assert_eq!(rows.collect::<BTreeSet<_>>(), tested, "run the browser tests, and then this one with WRITE=1");
    Ok(())
}
