//! Filters of a list in its address: every page of a list can be kept as a bookmark and sent to a colleague.

use std::collections::BTreeMap;

use crate::BASE;

/// Maximum length of a value in an address.
const MAX_VALUE: usize = 255;
/// Name of the place in a list.
pub const BEFORE: &str = "before";

/// The values of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListAddress {
    /// Path of the list below [`BASE`].
    path: &'static str,
    /// Names of the filters, in the order of the address.
    names: &'static [&'static str],
    values: BTreeMap<String, String>,
}

impl ListAddress {
    /// Reads the query of an address. Unknown names and empty or long values are left out.
    pub fn read(path: &'static str, names: &'static [&'static str], query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes());
        let known = pairs.filter(|(name, value)| {
            let is_known = names.contains(&name.as_ref()) || name == BEFORE;
            is_known && !value.trim().is_empty() && value.len() <= MAX_VALUE
        });
        let values = known.map(|(name, value)| (name.into_owned(), value.trim().to_owned())).collect();
        Self { path, names, values }
    }

    /// Returns a value. It is empty if the address has none.
    pub fn get(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Returns a value. `None` if the address has none.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns the address with other values. An empty value removes a filter, and the list begins anew.
    #[must_use]
    pub fn with(&self, changes: &[(&str, &str)]) -> Self {
        let mut changed = self.clone();
        changed.values.remove(BEFORE);
        for (name, value) in changes {
            if value.is_empty() {
                changed.values.remove(*name);
            } else {
                changed.values.insert((*name).to_owned(), (*value).to_owned());
            }
        }
        changed
    }

    /// Formats the address.
    pub fn format(&self) -> String {
        self.format_at(self.path)
    }

    /// Formats the address of something else with the same filters, such as a download of the list. `path` is below
    /// [`BASE`].
    pub fn format_at(&self, path: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for name in self.names.iter().chain([&BEFORE]) {
            if let Some(value) = self.values.get(*name) {
                query.append_pair(name, value);
            }
        }
        let query = query.finish();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{BASE}{path}{mark}{query}")
    }

    /// Returns the number of these filters that have a value.
    pub fn count(&self, names: &[&str]) -> usize {
        names.iter().filter(|name| self.values.contains_key(**name)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_its_filters_escapes_them_and_begins_anew_with_another_one() {
        let address = ListAddress::read("/list", &["act", "subject"], "subject=a%26b%3D%22&before=8&other=1&act=+");
        assert_eq!(address.format(), "/backoffice/list?subject=a%26b%3D%22&before=8");
        assert_eq!(address.with(&[("act", "x")]).format(), "/backoffice/list?act=x&subject=a%26b%3D%22");
        assert_eq!(address.with(&[("subject", "")]).format(), "/backoffice/list");
        let names = ["act", "subject"];
        assert_eq!((address.count(&names), address.find("act"), address.get("subject")), (1, None, "a&b=\""));
    }
}
