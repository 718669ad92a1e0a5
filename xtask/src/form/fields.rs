//! The names of the fields that leave the form's frames, made from the catalogue of parameters: what a browser may set, without
//! what only the frames know. The gateway judges by the same rows.

use std::collections::BTreeMap;

use tillgate_shared::parameter::{Group, Parameter, catalogue};

/// Fields of the form's own protocol: the server reads them from a submit and never takes them for the merchant's word.
const PROTOCOL: [&str; 3] = ["inlineFlow", "shopperResultUrl", "useSummaryPage"];

/// The list, with spaces between: whole names, and beginnings of names, which end in `.`, `[` or `_`.
pub fn allowed() -> String {
    let mut names: Vec<String> = PROTOCOL.map(str::to_owned).to_vec();
    let mut groups: BTreeMap<&str, Vec<&Parameter>> = BTreeMap::new();
    for row in catalogue() {
        groups.entry(beginning(row.name)).or_default().push(row);
    }
    for (beginning, rows) in groups {
        let (allowed, others): (Vec<&Parameter>, Vec<&Parameter>) = rows.into_iter().partition(|row| is_allowed(row));
        // Keys that a browser sends begin with `SHOPPER_`.
        if beginning == "customParameters[" && !allowed.is_empty() {
            names.push(format!("{beginning}SHOPPER_"));
        } else if others.is_empty() && beginning.ends_with(['.', '[']) {
            names.push(beginning.to_owned());
        } else {
            names.extend(allowed.iter().map(|row| row.name.to_owned()));
        }
    }
    names.join(" ")
}

/// Returns true if the page around a frame may name this parameter.
fn is_allowed(row: &Parameter) -> bool {
    let known_to_frames = row.name == "shopOrigin" || (row.group == Group::Card && row.secret);
    row.browser && !known_to_frames
}

/// What stands before the first dot or bracket of a name, with it.
fn beginning(name: &str) -> &str {
    name.find(['.', '[']).map_or(name, |end| &name[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the frames read the list.
    fn passes(name: &str) -> bool {
        allowed().split(' ').any(|entry| match entry.ends_with(['.', '[', '_']) {
            true => name.starts_with(entry),
            false => name == entry,
        })
    }

    #[test]
    fn the_frames_pass_what_a_browser_may_set_and_nothing_else() {
        for row in catalogue() {
            let name = row.name.replace("[n]", "[0]").replace("customParameters[name]", "customParameters[SHOPPER_x]");
            let expected = is_allowed(row) || PROTOCOL.contains(&row.name);
            assert_eq!(passes(&name), expected, "{name}");
        }
        let denied = ["amount", "currency", "entityId", "authentication.userId", "authentication.password", "testMode"];
        for name in denied.into_iter().chain(["card.number", "card.cvv", "shopOrigin", "customParameters[x]", "", " "])
        {
            assert!(!passes(name), "{name}");
        }
        for name in PROTOCOL {
            assert!(passes(name), "{name}");
        }
    }

    #[test]
    fn no_name_of_the_list_has_a_space_or_a_quote() {
        assert!(allowed().split(' ').all(|name| !name.is_empty() && !name.contains(['"', '\\', '`'])));
        // The list is loaded with every form.
        assert!(allowed().len() < 1500, "{}", allowed().len());
    }
}
