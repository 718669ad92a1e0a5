//! Countries to choose from, with their names in the page's language.

use tillgate_shared::format::country;

use super::bridge;

/// Returns all countries, as codes and names, in the order of the names.
pub fn list_countries(locale: &str) -> Vec<(String, String)> {
    let letters = || b'A'..=b'Z';
    let codes = letters().flat_map(|a| letters().map(move |b| String::from_utf8_lossy(&[a, b]).into_owned()));
    let codes: Vec<String> = codes.filter(|code| country::check(code).is_ok()).collect();
    let names = bridge::country_names(&codes, locale);
    let mut countries: Vec<(String, String)> = codes.into_iter().zip(names).collect();
    countries.sort_by(|(_, a), (_, b)| bridge::compare_texts(a, b, locale));
    countries
}
