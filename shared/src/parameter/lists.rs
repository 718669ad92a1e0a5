//! Indexes of lists. They are kept as they were sent, so a list that leaves out indexes is longer than what was sent of it.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use super::catalogue::{MAX_INDEX, index};
use super::set::Parameters;
use super::{ParameterError, is_keyed};

/// Most indexes that all lists of one name may leave out together. A list that is in no other list never leaves out more.
pub const MAX_OMITTED: usize = MAX_INDEX as usize;

/// Judges the indexes that lists leave out: too many where `airline.passengers[7].legs[999].fareBasis` comes with such legs of
/// other passengers. Names the first list that goes too far, by its highest index.
pub fn check_lists(parameters: &Parameters) -> Option<ParameterError> {
    let mut lists: IndexMap<&str, (BTreeSet<u16>, &str)> = IndexMap::new();
    for (name, _) in parameters.iter() {
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
        let sum = omitted.entry(pattern(list)).or_default();
        *sum += length - indexes.len();
        (*sum > MAX_OMITTED).then(|| {
            let message = format!("leaves out too many indexes: all lists of this name may leave out {MAX_OMITTED}");
            ParameterError::new(example, None, message)
        })
    })
}

/// The lists in lists that a name goes through, each with the index in it: `airline.passengers[7].legs` and 2 of
/// `airline.passengers[7].legs[2].fareBasis`.
fn inner_lists(name: &str) -> impl Iterator<Item = (&str, u16)> {
    let keyed = name.split_once('[').is_some_and(|(base, _)| is_keyed(base));
    let brackets = name.match_indices('[').skip(1).filter(move |_| !keyed);
    brackets.filter_map(move |(at, _)| {
        let (digits, _) = name.get(at + 1..)?.split_once(']')?;
        Some((name.get(..at)?, index(digits)?))
    })
}

/// The name of a list without the indexes in it.
fn pattern(list: &str) -> String {
    list.chars().filter(|character| !character.is_ascii_digit()).collect()
}
