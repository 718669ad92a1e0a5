//! The size of a card page on the wire, and its limits: hardly more than the recorded size, and never more than an
//! absolute limit.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use toml::Table;

use super::compile::StandardLibrary;

/// Files of a card page in the default style and in English. The frame document is loaded twice.
const CARD_PAGE: [(&str, u64); 6] = [
    ("paymentWidgets.js", 1),
    (PAGE_PART, 1),
    ("static/css/card.css", 1),
    ("pciIframe.html", 2),
    ("static/frame/frame.js", 1),
    ("static/frame/frame.wasm", 1),
];

/// The page module, and its replacement if the page's policy forbids wasm.
const PAGE_PART: &str = "static/js/static.min.js";
const PLAIN_JS: &str = "static/js/plain/static.min.js";

/// File with the recorded sizes, relative to the workspace's root: for each compiler and standard library, the bytes of
/// a card page with wasm and without.
const RECORD: &str = "widget/sizes.toml";

/// Tolerated growth over the recorded size, in percent.
const TOLERATED: u64 = 3;

/// Size of a card page on the wire, in bytes.
#[derive(Debug, Clone, Copy)]
struct PageSizes {
    wasm: u64,
    javascript: u64,
}

/// Returns the limits for any compiler of this standard library: the form's maximum sizes with wasm and without.
fn size_limits(made_by: &str) -> PageSizes {
    match made_by.ends_with(&StandardLibrary::Small.to_string()) {
        true => PageSizes { wasm: 135_000, javascript: 172_000 },
        false => PageSizes { wasm: 152_000, javascript: 192_000 },
    }
}

/// Prints the size of every file, plain and compressed, and the sums of a card page.
///
/// # Errors
/// If a file is missing.
pub fn print_sizes(folder: &Path) -> Result<()> {
    println!("\n  {:<28} {:>9} {:>9}", "a card page loads", "bytes", "brotli");
    for (name, times) in CARD_PAGE {
        let plain = fs::metadata(folder.join(name))?.len();
        let note = if times > 1 { " (twice)" } else { "" };
        println!("  {:<28} {plain:>9} {:>9}", format!("{name}{note}"), compressed_size(folder, name)?);
    }
    let sums = page_sizes(folder)?;
    println!("  {:<28} {:>9} {:>9}", "together", "", sums.wasm);
    println!("  {:<28} {:>9} {:>9}", "without wasm", "", sums.javascript);
    Ok(())
}

/// Compares the sizes with the limits and with the record. For a compiler without a record only the limits apply, and a
/// note is printed.
///
/// # Errors
/// If a sum exceeds its limit, or has grown by more than [`TOLERATED`] percent.
pub fn check_sizes(folder: &Path, root: &Path) -> Result<()> {
    let record: Table = fs::read_to_string(root.join(RECORD))?.parse()?;
    let made_by = read_compiler(folder)?;
    if !record.contains_key(&made_by) {
        eprintln!(
            "{RECORD} has no numbers for {made_by}: only the bounds hold; `cargo xtask form --record` notes what it is now"
        );
    }
    check_limits(&record, &made_by, page_sizes(folder)?)
}

/// Writes the sizes into the record, under the compiler that made them. Other compilers keep theirs, and the file its
/// first comment.
///
/// # Errors
/// If the record cannot be written.
pub fn record_sizes(folder: &Path, root: &Path) -> Result<()> {
    let path = root.join(RECORD);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let comment: String =
        text.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let mut record: Table = text.parse()?;
    let sums = page_sizes(folder)?;
    let entry = [("wasm", sums.wasm), ("javascript", sums.javascript)];
    let entry: Table =
        entry.map(|(name, sum)| (name.to_owned(), toml::Value::Integer(sum as i64))).into_iter().collect();
    record.insert(read_compiler(folder)?, toml::Value::Table(entry));
    fs::write(&path, format!("{comment}\n{record}")).with_context(|| format!("writing {}", path.display()))
}

/// Checks the sums against the limits, and against the record of this compiler if there is one.
fn check_limits(record: &Table, made_by: &str, sums: PageSizes) -> Result<()> {
    let limits = size_limits(made_by);
    for (name, sum, most) in [("wasm", sums.wasm, limits.wasm), ("javascript", sums.javascript, limits.javascript)] {
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

/// Returns the sizes of a card page, compressed with brotli.
fn page_sizes(folder: &Path) -> Result<PageSizes> {
    let mut wasm = 0;
    for (name, times) in CARD_PAGE {
        wasm += compressed_size(folder, name)? * times;
    }
    Ok(PageSizes { wasm, javascript: wasm - compressed_size(folder, PAGE_PART)? + compressed_size(folder, PLAIN_JS)? })
}

/// Returns the bytes of the copy of a file in brotli.
fn compressed_size(folder: &Path, name: &str) -> Result<u64> {
    Ok(fs::metadata(folder.join(format!("{name}.br"))).with_context(|| format!("the size of {name}"))?.len())
}

/// Returns the compiler and the standard library of this build, which the manifest names.
fn read_compiler(folder: &Path) -> Result<String> {
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
        let check_limits =
            |made_by: &str, wasm, javascript| check_limits(&record, made_by, PageSizes { wasm, javascript });
        assert!(check_limits("rustc 1", 10_300, 20_600).is_ok());
        assert!(check_limits("rustc 1", 10_301, 20_000).unwrap_err().to_string().contains("10301"));
        assert!(check_limits("rustc 1", 9_000, 20_601).is_err());
    }

    #[test]
    fn a_compiler_without_a_record_is_held_against_the_bound_of_its_standard_library() {
        let record: Table =
            "[\"rustc 1, small standard library built along\"]\nwasm = 140000\njavascript = 167000".parse().unwrap();
        let check_limits = |version: u8, std: StandardLibrary, wasm, javascript| {
            check_limits(&record, &format!("rustc {version}, {std}"), PageSizes { wasm, javascript })
        };
        for (std, wasm, javascript) in
            [(StandardLibrary::Small, 135_000, 172_000), (StandardLibrary::Stock, 152_000, 192_000)]
        {
            assert!(check_limits(2, std, wasm, javascript).is_ok());
            assert!(check_limits(2, std, wasm + 1, javascript).unwrap_err().to_string().contains("at most"));
            assert!(check_limits(2, std, wasm, javascript + 1).is_err());
        }
        assert!(check_limits(1, StandardLibrary::Small, 135_001, 167_000).is_err(), "a record does not lift the bound");
    }
}
