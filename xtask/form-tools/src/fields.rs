//! Names of the fields that the form's frames accept from the page, made from the parameter catalogue: all that a
//! browser may set, except those that only the frames know. The gateway checks by the same rows.

use std::collections::BTreeMap;

use tillgate_shared::parameter::{Parameter, ParameterGroup, all_parameters};

/// Fields of the form's own protocol. The server reads them from a submit, and never treats them as the merchant's.
const PROTOCOL: [&str; 5] = ["inlineFlow", "retryInPlace", "shopperResultUrl", "shownAmount", "useSummaryPage"];

/// Returns the names that the frames accept, separated by spaces: whole names, and prefixes of names, which end in `.`,
/// `[` or `_`.
pub fn allowed_names() -> String {
    let mut names: Vec<String> = PROTOCOL.map(str::to_owned).to_vec();
    collect_names(&all_parameters().collect::<Vec<_>>(), 0, &mut names);
    names.join(" ")
}

/// Adds the names of rows that share their first `depth` bytes: one prefix for a group that is allowed as a whole.
fn collect_names(rows: &[&Parameter], depth: usize, names: &mut Vec<String>) {
    let mut groups: BTreeMap<&str, Vec<&Parameter>> = BTreeMap::new();
    for row in rows {
        groups.entry(group_prefix(row.name, depth)).or_default().push(row);
    }
    for (beginning, rows) in groups {
        let is_group = beginning.ends_with(['.', '[']);
        match rows.iter().filter(|row| is_allowed(row)).count() {
            0 => {}
            // Keys that a browser may send begin with `SHOPPER_`.
            _ if beginning == "customParameters[" => names.push(format!("{beginning}SHOPPER_")),
            count if count == rows.len() => names.push(beginning.to_owned()),
            _ if is_group => collect_names(&rows, beginning.len(), names),
            _ => {}
        }
    }
}

/// Returns true if the page around a frame may set this parameter.
fn is_allowed(row: &Parameter) -> bool {
    let known_to_frames = row.name == "shopOrigin" || (row.group == ParameterGroup::Card && row.secret);
    row.browser && !known_to_frames
}

/// Returns the beginning of a name: up to the first dot or bracket after `depth` bytes, or the whole name.
fn group_prefix(name: &str, depth: usize) -> &str {
    let rest = name.get(depth..).unwrap_or_default();
    rest.find(['.', '[']).map_or(name, |end| &name[..=depth + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a name against the list in the same way as the frames.
    fn is_accepted(name: &str) -> bool {
        allowed_names().split(' ').any(|entry| match entry.ends_with(['.', '[', '_']) {
            true => name.starts_with(entry),
            false => name == entry,
        })
    }

    #[test]
    fn the_frames_pass_what_a_browser_may_set_and_nothing_else() {
        for row in all_parameters() {
            let name = row.name.replace("[n]", "[0]").replace("customParameters[name]", "customParameters[SHOPPER_x]");
            let expected = is_allowed(row) || PROTOCOL.contains(&row.name);
            assert_eq!(is_accepted(&name), expected, "{name}");
        }
        let denied = ["amount", "currency", "entityId", "authentication.userId", "authentication.password", "testMode"];
        for name in denied.into_iter().chain(["card.number", "card.cvv", "shopOrigin", "customParameters[x]", "", " "])
        {
            assert!(!is_accepted(name), "{name}");
        }
        for name in PROTOCOL {
            assert!(is_accepted(name), "{name}");
        }
    }

    #[test]
    fn no_name_of_the_list_has_a_space_or_a_quote() {
        assert!(allowed_names().split(' ').all(|name| !name.is_empty() && !name.contains(['"', '\\', '`'])));
        // Every form loads the list.
        assert!(allowed_names().len() < 1500, "{}", allowed_names().len());
    }
}
