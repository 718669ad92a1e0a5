//! Suggestions for names that do not exist.

use super::all_facts;

/// Longest name for which a similar one is searched, in bytes.
const LONGEST: usize = 64;

/// Returns the fact whose name is most similar to a wrong one. `None` if none is similar.
pub fn suggest_fact(name: &str) -> Option<&'static str> {
    suggest_among(name, all_facts().map(|row| row.name))
}

/// Returns the most similar of some names. Case and punctuation count for nothing, and a third of the letters may
/// differ.
pub fn suggest_among<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let name = simplify_name(name);
    let distances = known.map(|candidate| (strsim::levenshtein(&name, &simplify_name(candidate)), candidate));
    let (distance, best) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= name.chars().count()).then_some(best)
}

fn simplify_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}
