//! Patterns of names, as shells have them: `*`, `?`, `[a-z]` and `[!a-z]`.

/// Returns true if a text has a character of patterns, so that it is no name of a file.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Returns true if a name fits a pattern. Takes at most as many steps as the product of their lengths.
pub(super) fn fits_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut read) = (0, 0);
    // The place behind the latest star, and the first character that it has not taken.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() || at < pattern.len() {
        let rest = pattern.get(at..).unwrap_or_default();
        let next = name.get(read).copied();
        if rest.first() == Some(&'*') {
            at += 1;
            star = Some((at, read));
            continue;
        }
        match next.and_then(|c| match_one(rest, c)) {
            Some(length) => (at, read) = (at + length, read + 1),
            None => match star {
                // The latest star takes one character more.
                Some((behind, taken)) if taken < name.len() => {
                    star = Some((behind, taken + 1));
                    (at, read) = (behind, taken + 1);
                }
                _ => return false,
            },
        }
    }
    true
}

/// Returns the length of the first part of a pattern if a character fits it. Returns `None` if it does not.
fn match_one(pattern: &[char], found: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['[', rest @ ..] => match split_set(rest) {
            Some((set, length)) => is_in_set(set, found).then_some(length + 1),
            // A bracket that nothing closes is a character.
            None => (found == '[').then_some(1),
        },
        ['\\', escaped, ..] => (*escaped == found).then_some(2),
        [first, ..] => (*first == found).then_some(1),
        [] => None,
    }
}

/// Splits a set of characters off at its closing bracket. Returns the set and the length with the bracket.
fn split_set(rest: &[char]) -> Option<(&[char], usize)> {
    // A closing bracket at the start belongs to the set.
    let start = if matches!(rest, ['!' | '^', ..]) { 2 } else { 1 };
    let end = rest.iter().skip(start).position(|c| *c == ']')? + start;
    Some((rest.get(..end)?, end + 1))
}

fn is_in_set(set: &[char], found: char) -> bool {
    let (is_negated, mut set) = match set {
        ['!' | '^', rest @ ..] => (true, rest),
        set => (false, set),
    };
    let mut is_in = false;
    loop {
        set = match set {
            [from, '-', to, rest @ ..] => {
                is_in |= (*from..=*to).contains(&found);
                rest
            }
            [one, rest @ ..] => {
                is_in |= *one == found;
                rest
            }
            [] => return is_in != is_negated,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_are_those_of_shells() {
        for (pattern, name) in [
            ("*", "a.csv"),
            ("*.csv", "a.csv"),
            ("a*c*v", "a.csv"),
            ("?.csv", "a.csv"),
            ("**", ""),
            ("[a-c].csv", "b.csv"),
            ("[!x-z].csv", "b.csv"),
            ("[^x].csv", "b.csv"),
            ("[]x]", "]"),
            ("a[", "a["),
            ("\\*", "*"),
            ("*2026-1[0-2]-??.csv", "reconciliation_8a_2026-10-12.csv"),
        ] {
            assert!(fits_pattern(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("*.csv", "a.csv.gz"),
            ("?.csv", ".csv"),
            ("?.csv", "ab.csv"),
            ("[a-c].csv", "d.csv"),
            ("[!a-c].csv", "b.csv"),
            ("*[", "a"),
            ("a*b", "acc"),
            ("\\*", "a"),
        ] {
            assert!(!fits_pattern(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_with_many_stars_is_decided_at_once() {
        assert!(!fits_pattern(&"*a".repeat(200), &"a".repeat(199)));
        assert!(!fits_pattern(&format!("{}b", "*a".repeat(100)), &"a".repeat(500)));
    }

    proptest! {
        #[test]
        fn a_name_fits_itself_and_a_star(name in "[a-z0-9_.-]{0,40}", pattern in "\\PC{0,40}") {
            let with_star = format!("{name}*");
            prop_assert!(fits_pattern(&name, &name) && fits_pattern("*", &name) && fits_pattern(&with_star, &name));
            let _ = fits_pattern(&pattern, &name);
        }
    }
}
