//! What a card page loads, in bytes on the wire, and the gate: not much more than when the number was last looked at.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use toml::Table;

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

/// Compares with the record. A compiler that has none passes.
///
/// # Errors
/// When a sum has grown by more than [`TOLERATED`] percent.
pub fn check(folder: &Path, root: &Path) -> Result<()> {
    let record: Table = fs::read_to_string(root.join(RECORD))?.parse()?;
    judge(&record, &made_by(folder)?, sums(folder)?)
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
    let Some(known) = record.get(made_by) else {
        return Ok(());
    };
    for (name, sum) in [("wasm", sums.wasm), ("javascript", sums.javascript)] {
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
        assert!(judge("rustc 2", 99_000, 99_000).is_ok(), "another compiler has no record yet");
    }
}
