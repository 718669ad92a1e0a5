//! Indexes of lists. They are stored as sent, so a list with omitted indexes is longer than the number of entries sent.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use super::catalogue::{MAX_INDEX, parse_index};
use super::set::Parameters;
use super::{ParameterError, is_keyed};

/// Maximum number of indexes that all lists of one name may omit together. A list that is not inside another list never
/// omits more.
pub const MAX_OMITTED: usize = MAX_INDEX as usize;

/// Checks the number of indexes that lists inside of lists omit: too many if
/// `airline.passengers[7].legs[999].fareBasis` comes with such legs of other passengers. The error has the name of the
/// first list that exceeds the limit, with its highest index. `None` if no list does.
pub fn check_lists(parameters: &Parameters) -> Option<ParameterError> {
    let mut lists: IndexMap<&str, (BTreeSet<u16>, &str)> = IndexMap::new();
    for (name, _) in parameters.iter().filter(|(name, _)| name.contains('[')) {
        for (list, index) in inner_lists(name) {
            let (indexes, example) = lists.entry(list).or_insert_with(|| (BTreeSet::new(), name));
            if indexes.insert(index) && indexes.last() == Some(&index) {
                *example = name;
            }
        }
    }
    let mut omitted: HashMap<String, usize> = HashMap::new();
    lists.into_iter().find_map(|(list, (indexes, example))| {
        let length = indexes.last().map_or(0, |last| usize::from(*last) + 1);
        let sum = omitted.entry(strip_indexes(list)).or_default();
        *sum += length - indexes.len();
        (*sum > MAX_OMITTED).then(|| {
            let message = format!("leaves out too many indexes: all lists of this name may leave out {MAX_OMITTED}");
            ParameterError::new(example, None, message)
        })
    })
}

/// Returns the lists inside of another list that a name contains, each with its index: `airline.passengers[7].legs` and
/// 2 for `airline.passengers[7].legs[2].fareBasis`. None for names with the sender's own keys.
fn inner_lists(name: &str) -> impl Iterator<Item = (&str, u16)> {
    let keyed = name.split_once('[').is_some_and(|(base, _)| is_keyed(base));
    let brackets = name.match_indices('[').skip(1).filter(move |_| !keyed);
    brackets.filter_map(move |(at, _)| {
        let (digits, _) = name.get(at + 1..)?.split_once(']')?;
        Some((name.get(..at)?, parse_index(digits)?))
    })
}

/// Returns the name of a list without digits, which is the same for all passengers: `airline.passengers[].legs`.
fn strip_indexes(list: &str) -> String {
    list.chars().filter(|character| !character.is_ascii_digit()).collect()
}
