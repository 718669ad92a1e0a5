//! The names of the fields that leave the form's frames, made from the catalogue of parameters: what a browser may set, without
//! what only the frames know. The gateway judges by the same rows.

use std::collections::BTreeMap;

use tillgate_shared::parameter::{Group, Parameter, catalogue};

/// Fields of the form's own protocol: the server reads them from a submit and never takes them for the merchant's word.
const PROTOCOL: [&str; 3] = ["inlineFlow", "shopperResultUrl", "useSummaryPage"];

/// The list, with spaces between: whole names, and beginnings of names, which end in `.`, `[` or `_`.
pub fn allowed() -> String {
    let mut names: Vec<String> = PROTOCOL.map(str::to_owned).to_vec();
    collect(&catalogue().collect::<Vec<_>>(), 0, &mut names);
    names.join(" ")
}

/// Adds the names of some rows that agree in their first `depth` bytes: one beginning for a group that is allowed as a whole.
fn collect(rows: &[&Parameter], depth: usize, names: &mut Vec<String>) {
    let mut groups: BTreeMap<&str, Vec<&Parameter>> = BTreeMap::new();
    for row in rows {
        groups.entry(beginning(row.name, depth)).or_default().push(row);
    }
    for (beginning, rows) in groups {
        let is_group = beginning.ends_with(['.', '[']);
        match rows.iter().filter(|row| is_allowed(row)).count() {
            0 => {}
            // Keys that a browser sends begin with `SHOPPER_`.
            _ if beginning == "customParameters[" => names.push(format!("{beginning}SHOPPER_")),
            count if count == rows.len() => names.push(beginning.to_owned()),
            _ if is_group => collect(&rows, beginning.len(), names),
            _ => {}
        }
    }
}

/// Returns true if the page around a frame may name this parameter.
fn is_allowed(row: &Parameter) -> bool {
    let known_to_frames = row.name == "shopOrigin" || (row.group == Group::Card && row.secret);
    row.browser && !known_to_frames
}

/// The beginning of a name: up to the first dot or bracket after `depth` bytes, or all of it.
fn beginning(name: &str, depth: usize) -> &str {
    let rest = name.get(depth..).unwrap_or_default();
    rest.find(['.', '[']).map_or(name, |end| &name[..=depth + end])
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
