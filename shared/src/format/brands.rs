//! Lists of brands: codes separated by spaces or commas, as in pages.

use std::borrow::Cow;

use crate::brand::Brand;

/// Maximum length of a list in bytes. All brands together are shorter.
pub const LONGEST: usize = 4096;
/// Format of a list; the codes must also be known.
pub const PATTERN: &str = "^[A-Za-z0-9_]{1,32}([ ,]+[A-Za-z0-9_]{1,32})*$";

/// Reads a list. Unknown codes are left out.
pub fn parse(text: &str) -> impl Iterator<Item = &'static Brand> {
    split_codes(text).filter_map(Brand::find)
}

/// Checks that a list has at most 4096 bytes and names at least one brand, and only known ones.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    if value.len() > LONGEST {
        return Err(format!("must have at most {LONGEST} characters").into());
    }
    if split_codes(value).next().is_none() {
        return Err("must name at least one brand".into());
    }
    match split_codes(value).find(|code| Brand::find(code).is_none()) {
        Some(_) => Err("must be codes of known brands, with spaces or commas between".into()),
        None => Ok(()),
    }
}

/// Splits a list at spaces and commas, leaving out empty parts.
fn split_codes(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|code| !code.is_empty())
}
