//! Countries to choose from, with their names in the page's language.

use tillgate_shared::format::country;

use super::bridge;

/// Returns all countries, as codes and names, in the order of the names.
pub fn list_countries(locale: &str) -> Vec<(String, String)> {
    let codes: Vec<String> = country::all_codes().map(str::to_owned).collect();
    let names = bridge::country_names(&codes, locale);
    let mut countries: Vec<(String, String)> = codes.into_iter().zip(names).collect();
    countries.sort_by(|(_, a), (_, b)| bridge::compare_texts(a, b, locale));
    countries
}
