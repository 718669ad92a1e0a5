//! The whole catalogue, and finding the row for a parameter's name.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Parameter, rows};

/// Maximum index in a bracket.
pub(crate) const MAX_INDEX: u16 = 999;
/// Length of the longest name pattern, and so of the longest indexed name worth a look-up.
const LONGEST: usize = 96;

/// Returns all parameters, by group.
pub fn all_parameters() -> impl Iterator<Item = &'static Parameter> {
    rows::ALL.iter().copied().flatten()
}

/// Returns the number of parameters. A name with an index or a key counts once; parameters of two addresses or two
/// persons count under either name.
pub fn count_parameters() -> usize {
    all_parameters().count()
}

/// Rows by name. Every request looks up each of its names several times. All keys are our own, so nobody can make many
/// of them collide, and a fast hash is enough.
type RowsByName = HashMap<&'static str, &'static Parameter, foldhash::fast::RandomState>;

/// Rows by name pattern: names without brackets, patterns with `[n]` in place of each index, and the texts before the
/// brackets with the sender's own keys.
struct Index {
    plain: RowsByName,
    indexed: RowsByName,
    keyed: RowsByName,
    secret: Vec<&'static str>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let [plain, indexed, keyed] = [(); 3].map(|()| RowsByName::default());
    let mut index = Index { plain, indexed, keyed, secret: Vec::new() };
    for row in all_parameters() {
        match split_key_pattern(row.name) {
            Some((base, _)) => index.keyed.insert(base, row),
            None if row.name.contains('[') => index.indexed.insert(row.name, row),
            None => index.plain.insert(row.name, row),
        };
        if row.secret {
            index.secret.push(row.name);
        }
    }
    index
});

/// Splits the pattern `customParameters[name]` into its base and the text in the bracket. Returns `None` for plain
/// patterns and for those whose bracket holds an index (`[n]`).
fn split_key_pattern(name: &str) -> Option<(&str, &str)> {
    let (base, bracket) = name.strip_suffix(']')?.split_once('[')?;
    (bracket != "n").then_some((base, bracket))
}

/// Finds the row for a concrete name: `card.holder`, `registrations[0].id`, `customParameters[shop]`.
///
/// Keys are not checked here, see [`super::check_formats`]. Indexes must be 0 to 999 without leading zeros.
pub fn find_parameter(name: &str) -> Option<&'static Parameter> {
    // Most names have no bracket.
    if let Some(row) = INDEX.plain.get(name) {
        return Some(row);
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
        parse_index(digits)?;
        push(before.as_bytes())?;
        push(b"[n]")?;
        rest = after;
    }
    push(rest.as_bytes())?;
    INDEX.indexed.get(std::str::from_utf8(pattern.get(..length)?).ok()?).copied()
}

/// Returns the row and the key of a name such as `customParameters[shop]`. The key is not checked. `None` if the base
/// takes no keys.
pub(crate) fn find_keyed(name: &str) -> Option<(&'static Parameter, &str)> {
    let (base, key) = name.strip_suffix(']')?.split_once('[')?;
    INDEX.keyed.get(base).map(|row| (*row, key))
}

/// Returns true if the bracket after this base contains the sender's own key, and not an index.
pub fn is_keyed(base: &str) -> bool {
    INDEX.keyed.contains_key(base)
}

/// Reads an index in a bracket: 0 to 999, without signs or leading zeros.
pub fn parse_index(digits: &str) -> Option<u16> {
    let canonical = digits == "0" || !digits.starts_with('0');
    if !(1..=3).contains(&digits.len()) || !canonical || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|index| *index <= MAX_INDEX)
}

/// Returns true if values of this parameter must be zeroed. This is called for every name of every request, so the few
/// secret names are compared by length first.
pub(super) fn is_secret(name: &str) -> bool {
    INDEX.secret.contains(&name)
}

/// Returns the byte index after the first name of a secret parameter in a text, or `None` if it contains none. The text
/// after it may be the secret.
pub(super) fn secret_name_end(text: &str) -> Option<usize> {
    INDEX.secret.iter().filter_map(|name| Some(text.find(name)? + name.len())).min()
}

/// Returns true if a value of this parameter may come from the shopper's browser. A key in brackets must then begin
/// with `SHOPPER_`. False for unknown names.
pub fn can_come_from_browser(name: &str) -> bool {
    find_parameter(name).is_some_and(|row| row.browser)
        && find_keyed(name).is_none_or(|(_, key)| key.starts_with("SHOPPER_"))
}
