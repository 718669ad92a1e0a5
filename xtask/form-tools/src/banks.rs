//! The names of banks by the codes inside IBANs: `widget/debit/banks.toml` as the dense text that
//! `widget/debit/bank.js` reads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tillgate_shared::format::iban;

use super::locale;

/// Keys of a country that are no banks: the place and the length of its codes.
const PLACE: [&str; 2] = ["at", "length"];

/// Returns the table as the inside of a JavaScript text in quotes: a line for each country, such as
/// `IE:4:4:AIB=AIBK|Barclays=BARC`.
///
/// # Errors
/// If the file is missing or malformed, or a code is longer than those of its country or in two rows.
pub fn dense_text(widget: &Path) -> Result<String> {
    let path = widget.join("debit/banks.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let quoted = locale::ascii_json(&json!(write_table(&text).with_context(|| format!("in {}", path.display()))?));
    Ok(quoted.trim_matches('"').to_owned())
}

fn write_table(text: &str) -> Result<String> {
    let table: toml::Table = text.parse()?;
    let mut lines = Vec::new();
    for (country, rows) in &table {
        let rows = rows.as_table().with_context(|| format!("{country} is no table"))?;
        lines.push(write_country(country, rows).with_context(|| format!("in [{country}]"))?);
    }
    Ok(lines.join("\n"))
}

fn write_country(country: &str, rows: &toml::Table) -> Result<String> {
    let number = |key: &str| {
        let value = rows.get(key).and_then(toml::Value::as_integer).with_context(|| format!("no {key}"))?;
        usize::try_from(value).with_context(|| format!("{key} is negative"))
    };
    let [at, length] = [number(PLACE[0])?, number(PLACE[1])?];
    let whole = iban::LENGTHS.split(' ').find_map(|row| row.strip_prefix(country)?.parse::<usize>().ok());
    ensure!(whole.is_some_and(|whole| (4..whole).contains(&at) && at + length <= whole), "no such place in an IBAN");
    let mut owners = BTreeMap::new();
    let mut banks = Vec::new();
    for (name, codes) in rows.iter().filter(|(name, _)| !PLACE.contains(&name.as_str())) {
        let codes = codes.as_str().with_context(|| format!("the codes of {name} are no text"))?;
        ensure!(!name.contains(['=', '|', ':', '\n']), "{name} has a character that separates");
        for code in codes.split(' ') {
            check_code(code, length).with_context(|| format!("{name} has the code {code}"))?;
            if let Some(other) = owners.insert(code, name) {
                anyhow::bail!("{code} is a code of {other} and of {name}");
            }
        }
        banks.push(format!("{name}={codes}"));
    }
    Ok(format!("{country}:{at}:{length}:{}", banks.join("|")))
}

/// Checks the beginning of a code, or the first and the last of several, with `?` for any character.
fn check_code(code: &str, length: usize) -> Result<()> {
    let parts: Vec<&str> = code.split('-').collect();
    let is_code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || (c == '?' && parts.len() == 1);
    ensure!(parts.iter().all(|part| (1..=length).contains(&part.len()) && part.chars().all(is_code)), "no such code");
    ensure!(parts.len() < 3 && parts.iter().all(|part| part.len() == parts[0].len()), "no such range");
    ensure!(parts.is_sorted() && code.chars().any(|c| c != '?'), "nothing is like it");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_a_line_for_each_country() {
        let table = "[IE]\nat = 4\nlength = 4\n\"AIB\" = \"AIBK\"\n\"\" = \"A???\"\n[BE]\nat = 4\nlength = 3\nKBC = \"400-499 640\"\n";
        assert_eq!(write_table(table).ok().as_deref(), Some("BE:4:3:KBC=400-499 640\nIE:4:4:=A???|AIB=AIBK"));
    }

    #[test]
    fn a_mistake_in_the_table_is_named() {
        let country = |rows: &str| format!("[IE]\nat = 4\nlength = 4\n{rows}\n");
        for (text, said) in [
            (country("A = \"AIBKX\""), "no such code"),
            (country("A = \"aibk\""), "no such code"),
            (country("A = \"???\""), "nothing is like it"),
            (country("A = \"20-10\""), "nothing is like it"),
            (country("A = \"1-10\""), "no such range"),
            (country("A = \"AIBK\"\nB = \"AIBK\""), "of A and of B"),
            (country("\"A|B\" = \"AIBK\""), "separates"),
            ("[IE]\nat = 4\n".to_owned(), "no length"),
            ("[XX]\nat = 4\nlength = 4\n".to_owned(), "no such place"),
        ] {
            let error = write_table(&text).expect_err(&text);
            assert!(format!("{error:#}").contains(said), "{text}: {error:#}");
        }
    }

    #[test]
    fn the_banks_are_few_enough_for_a_page() {
        let text = dense_text(&crate::workspace_root().join("widget")).expect("the table is well-formed");
        let mut packed = Vec::new();
        let options = brotli::enc::BrotliEncoderParams::default();
        brotli::BrotliCompress(&mut text.as_bytes(), &mut packed, &options).expect("a text can be packed");
        assert!((1000..4096).contains(&packed.len()), "{} bytes", packed.len());
    }
}
