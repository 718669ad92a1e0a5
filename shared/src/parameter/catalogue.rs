//! The whole catalogue, and finding the row of a name in a request.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Parameter, rows};

/// Highest index that a bracket may hold.
pub(crate) const MAX_INDEX: u16 = 999;
/// Longest name pattern, and so the longest indexed name worth looking up.
const LONGEST: usize = 96;

/// Every parameter, by group.
pub fn catalogue() -> impl Iterator<Item = &'static Parameter> {
    rows::ALL.iter().copied().flatten()
}

/// How many parameters there are. One with an index or a key in its name counts once, and so does each that belongs to
/// two addresses or two persons under either name.
pub fn count() -> usize {
    catalogue().count()
}

/// Rows by name pattern; rows with a key of the sender's by what stands before the bracket.
struct Index {
    plain: HashMap<&'static str, &'static Parameter>,
    keyed: HashMap<&'static str, &'static Parameter>,
    secret: Vec<&'static str>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { plain: HashMap::new(), keyed: HashMap::new(), secret: Vec::new() };
    for row in catalogue() {
        match key_pattern(row.name) {
            Some((base, _)) => index.keyed.insert(base, row),
            None => index.plain.insert(row.name, row),
        };
        if row.secret {
            index.secret.push(row.name);
        }
    }
    index
});

/// `customParameters[name]` as its base and what the bracket says; `None` for plain and indexed patterns.
fn key_pattern(name: &str) -> Option<(&str, &str)> {
    let (base, bracket) = name.strip_suffix(']')?.split_once('[')?;
    (bracket != "n").then_some((base, bracket))
}

/// The row of a parameter with this concrete name: `card.holder`, `registrations[0].id`, `customParameters[shop]`.
///
/// Keys are not judged here, see [`super::check_formats`]; indexes must be 0 to 999 without leading zeros.
pub fn find(name: &str) -> Option<&'static Parameter> {
    if !name.contains('[') {
        return INDEX.plain.get(name).copied();
    }
    if let Some((row, _)) = find_keyed(name) {
        return Some(row);
    }
    // Every index is replaced by `n`, on the stack.
    let mut pattern = [0_u8; LONGEST];
    let mut length = 0;
    let mut push = |bytes: &[u8]| -> Option<()> {
        pattern.get_mut(length..length + bytes.len())?.copy_from_slice(bytes);
        length += bytes.len();
        Some(())
    };
    let mut rest = name;
    while let Some((before, bracket)) = rest.split_once('[') {
        let (digits, after) = bracket.split_once(']')?;
        index(digits)?;
        push(before.as_bytes())?;
        push(b"[n]")?;
        rest = after;
    }
    push(rest.as_bytes())?;
    INDEX.plain.get(std::str::from_utf8(pattern.get(..length)?).ok()?).copied()
}

/// The row and the key of a name like `customParameters[shop]`.
pub(crate) fn find_keyed(name: &str) -> Option<(&'static Parameter, &str)> {
    let (base, key) = name.strip_suffix(']')?.split_once('[')?;
    INDEX.keyed.get(base).map(|row| (*row, key))
}

/// Whether what stands in the bracket after this base is a key of the sender's rather than an index.
pub fn is_keyed(base: &str) -> bool {
    INDEX.keyed.contains_key(base)
}

/// An index as it stands in a bracket: 0 to 999, no signs, no leading zeros.
pub fn index(digits: &str) -> Option<u16> {
    let canonical = digits == "0" || !digits.starts_with('0');
    if !(1..=3).contains(&digits.len()) || !canonical || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|index| *index <= MAX_INDEX)
}

/// Whether values of this parameter must be wiped. Called for every name of every request: the few secret names are
/// compared by length first.
pub(super) fn is_secret(name: &str) -> bool {
    INDEX.secret.contains(&name)
}

/// Where in a text the name of a secret parameter ends; what stands behind it may be the secret.
pub(super) fn secret_named(text: &str) -> Option<usize> {
    INDEX.secret.iter().filter_map(|name| Some(text.find(name)? + name.len())).min()
}

/// Whether a value of this parameter may come from the shopper's browser. Keys of `customParameters` that the browser
/// sends begin with `SHOPPER_`; names that the catalogue does not know are nobody's to set.
pub fn browser_may_set(name: &str) -> bool {
    find(name).is_some_and(|row| row.browser) && find_keyed(name).is_none_or(|(_, key)| key.starts_with("SHOPPER_"))
}
