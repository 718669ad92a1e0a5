//! What a card page loads, in bytes on the wire, and the gate: not much more than when the number was last looked at, and
//! never more than a bound.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use toml::Table;

use super::compile::Std;

/// Files of a card page in the default style and in English; the frame document comes twice.
const CARD_PAGE: [(&str, u64); 6] = [
    ("paymentWidgets.js", 1),
    (PAGE_PART, 1),
    ("static/css/card.css", 1),
    ("pciIframe.html", 2),
    ("static/frame/frame.js", 1),
    ("static/frame/frame.wasm", 1),
];

/// The page part, and what takes its place where the page's policy forbids wasm.
const PAGE_PART: &str = "static/js/static.min.js";
const TWIN: &str = "static/js/plain/static.min.js";

/// The numbers that were looked at last, from the root of the workspace: for each compiler and standard library the bytes
/// of a card page with wasm and without.
const RECORD: &str = "widget/sizes.toml";

/// So many percent more than the record are too many.
const TOLERATED: u64 = 3;

/// Bytes on the wire of a card page.
#[derive(Debug, Clone, Copy)]
struct Sums {
    wasm: u64,
    javascript: u64,
}

/// What no build may exceed, whatever made it: the form's promise with wasm, and a quarter more without.
fn bound(made_by: &str) -> Sums {
    match made_by.ends_with(&Std::Small.to_string()) {
        true => Sums { wasm: 80_000, javascript: 100_000 },
        false => Sums { wasm: 95_000, javascript: 118_750 },
    }
}

/// Prints every file's size, plain and compressed, and the sums of a card page.
///
/// # Errors
/// When a file is missing.
pub fn print(folder: &Path) -> Result<()> {
    println!("\n  {:<28} {:>9} {:>9}", "a card page loads", "bytes", "brotli");
    for (name, times) in CARD_PAGE {
        let plain = fs::metadata(folder.join(name))?.len();
        let note = if times > 1 { " (twice)" } else { "" };
        println!("  {:<28} {plain:>9} {:>9}", format!("{name}{note}"), compressed(folder, name)?);
    }
    let sums = sums(folder)?;
    println!("  {:<28} {:>9} {:>9}", "together", "", sums.wasm);
    println!("  {:<28} {:>9} {:>9}", "where wasm is forbidden", "", sums.javascript);
    Ok(())
}

/// Compares with the bound and with the record. A compiler that has none is held against the bound alone, and that is
/// said.
///
/// # Errors
/// When a sum is over its bound, or has grown by more than [`TOLERATED`] percent.
pub fn check(folder: &Path, root: &Path) -> Result<()> {
    let record: Table = fs::read_to_string(root.join(RECORD))?.parse()?;
    let made_by = made_by(folder)?;
    if !record.contains_key(&made_by) {
        eprintln!(
            "{RECORD} has no numbers for {made_by}: only the bounds hold; `cargo xtask form --record` notes what it is now"
        );
    }
    judge(&record, &made_by, sums(folder)?)
}

/// Writes the sums into the record, under the compiler that made them.
///
/// # Errors
/// When the record cannot be written.
pub fn record(folder: &Path, root: &Path) -> Result<()> {
    let path = root.join(RECORD);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let comment: String =
        text.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let mut record: Table = text.parse()?;
    let sums = sums(folder)?;
    let entry = [("wasm", sums.wasm), ("javascript", sums.javascript)];
    let entry: Table =
        entry.map(|(name, sum)| (name.to_owned(), toml::Value::Integer(sum as i64))).into_iter().collect();
    record.insert(made_by(folder)?, toml::Value::Table(entry));
    fs::write(&path, format!("{comment}\n{record}")).with_context(|| format!("writing {}", path.display()))
}

fn judge(record: &Table, made_by: &str, sums: Sums) -> Result<()> {
    let bound = bound(made_by);
    for (name, sum, most) in [("wasm", sums.wasm, bound.wasm), ("javascript", sums.javascript, bound.javascript)] {
        ensure!(sum <= most, "a card page ({name}) loads {sum} bytes; with {made_by} it may load {most} at most");
        let Some(known) = record.get(made_by) else {
            continue;
        };
        let before = known.get(name).and_then(toml::Value::as_integer);
        let before = before.with_context(|| format!("{RECORD} has no number {name} for {made_by}"))? as u64;
        ensure!(
            sum * 100 <= before * (100 + TOLERATED),
            "a card page ({name}) has grown from {before} to {sum} bytes, by more than {TOLERATED} %; \
             save some, or write the new number into {RECORD} with `cargo xtask form --record`"
        );
    }
    Ok(())
}

fn sums(folder: &Path) -> Result<Sums> {
    let mut wasm = 0;
    for (name, times) in CARD_PAGE {
        wasm += compressed(folder, name)? * times;
    }
    Ok(Sums { wasm, javascript: wasm - compressed(folder, PAGE_PART)? + compressed(folder, TWIN)? })
}

fn compressed(folder: &Path, name: &str) -> Result<u64> {
    Ok(fs::metadata(folder.join(format!("{name}.br"))).with_context(|| format!("the size of {name}"))?.len())
}

/// The compiler and the standard library in this build.
fn made_by(folder: &Path) -> Result<String> {
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json"))?)?;
    let Some(text) = manifest.get("made_by").and_then(Value::as_str) else {
        bail!("the form's manifest does not say what made it");
    };
    Ok(text.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn three_percent_more_pass_and_a_byte_beyond_does_not() {
        let record: Table = "[\"rustc 1\"]\nwasm = 10000\njavascript = 20000".parse().unwrap();
        let judge = |made_by: &str, wasm, javascript| judge(&record, made_by, Sums { wasm, javascript });
        assert!(judge("rustc 1", 10_300, 20_600).is_ok());
        assert!(judge("rustc 1", 10_301, 20_000).unwrap_err().to_string().contains("10301"));
        assert!(judge("rustc 1", 9_000, 20_601).is_err());
    }

    #[test]
    fn a_compiler_without_a_record_is_held_against_the_bound_of_its_standard_library() {
        let record: Table =
            "[\"rustc 1, small standard library built along\"]\nwasm = 90000\njavascript = 99000".parse().unwrap();
        let judge = |version: u8, std: Std, wasm, javascript| {
            judge(&record, &format!("rustc {version}, {std}"), Sums { wasm, javascript })
        };
        for (std, most) in [(Std::Small, 80_000), (Std::Stock, 95_000)] {
            assert!(judge(2, std, most, most).is_ok());
            assert!(judge(2, std, most + 1, most).unwrap_err().to_string().contains("at most"));
            assert!(judge(2, std, most, most * 5 / 4 + 1).is_err());
        }
        assert!(judge(1, Std::Small, 80_001, 99_000).is_err(), "a record does not lift the bound");
    }
}
