//! Scripts that only some pages load, each joined from the modules of its folder.

use std::path::Path;

use anyhow::{Context as _, Result};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::iban;

use super::bundle::SCRIPT;
use super::{banks, modules, script};

/// Folders in `widget`, whose entry modules have their names, and the names of the scripts.
const SCRIPTS: [(&str, &str); 5] =
    [("choice", "choice"), ("fault", "fault"), ("fonts", "fonts"), ("advance", "focusNextField"), ("parts", "parts")];
/// Name and folder of the script of direct debits.
const DEBIT: &str = "debit";

/// Adds all of these scripts to the bundle. Returns the hash of the script of direct debits, which the texts of the
/// form name.
///
/// # Errors
/// If a script cannot be joined or minified.
pub fn add_all(widget: &Path, add: &mut impl FnMut(&str, &'static str, Vec<u8>)) -> Result<String> {
    for (folder, name) in SCRIPTS {
        add(&format!("js/{name}.js"), SCRIPT, join_script(widget, folder)?.into_bytes());
    }
    let debit = join_script(widget, DEBIT)?;
    let hash = script::sha256_base64(debit.as_bytes());
    add(&format!("js/{DEBIT}.js"), SCRIPT, debit.into_bytes());
    Ok(hash)
}

fn join_script(widget: &Path, folder: &str) -> Result<String> {
    let entry = widget.join(format!("{folder}/{folder}.js")).canonicalize()?;
    // The script about faults names the nearest brand.
    let brands: Vec<&str> = Brand::all().iter().map(|brand| brand.code).collect();
    let source = insert_facts(&modules::join_modules(&entry)?, widget)?.replace("%BRANDS%", &brands.join(" "));
    script::minify_js(&source).with_context(|| format!("the script of widget/{folder}"))
}

/// Inserts the countries of IBANs and the names of banks into a script that names their places. `widget` is the folder
/// of the form.
///
/// # Errors
/// If the table of banks is malformed.
pub fn insert_facts(source: &str, widget: &Path) -> Result<String> {
    let source = source.replace("%LENGTHS%", iban::LENGTHS).replace("%EEA%", iban::EEA);
    Ok(source.replace("%BANKS%", &banks::dense_text(widget)?))
}
