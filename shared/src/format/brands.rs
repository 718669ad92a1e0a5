//! Lists of brands: codes with spaces or commas between, as pages write them.

use std::borrow::Cow;

use crate::brand::Brand;

/// Longest list, in bytes. All brands together are shorter.
pub const LONGEST: usize = 4096;
/// Shape of a list; the codes in it must be known, too.
pub const PATTERN: &str = "^[A-Za-z0-9_]{1,32}([ ,]+[A-Za-z0-9_]{1,32})*$";

/// Reads a list; codes that no brand has are left out.
pub fn parse(text: &str) -> impl Iterator<Item = &'static Brand> {
    codes(text).filter_map(Brand::find)
}

/// Checks that a list names at least one brand, and only known ones.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    if value.len() > LONGEST {
        return Err(format!("must have at most {LONGEST} characters").into());
    }
    if codes(value).next().is_none() {
        return Err("must name at least one brand".into());
    }
    match codes(value).find(|code| Brand::find(code).is_none()) {
        Some(_) => Err("must be codes of known brands, with spaces or commas between".into()),
        None => Ok(()),
    }
}

fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|code| !code.is_empty())
}
