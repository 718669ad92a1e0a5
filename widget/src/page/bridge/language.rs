//! Names and order of texts in a language.

use js_sys::{Array, Reflect};
use tillgate_shared::frame_messages::Sink;

use super::call::call;
use super::global::find_global;
use super::value::{Data, Value, list_of};

/// Returns the name of a country in a language, or its code if the browser does not know it.
pub fn country_names(codes: &[String], locale: &str) -> Vec<String> {
    let names = || -> Option<Vec<String>> {
        let intl = find_global("Intl")?;
        let constructor = intl.function("DisplayNames")?;
        let kind = Data::empty().with("type", &"region".into()).finish();
        let names = Value(Reflect::construct(&constructor, &Array::of2(&list_of(&[locale.to_owned()]), &kind)).ok()?);
        let of = names.function("of")?;
        Some(codes.iter().filter_map(|code| call(&of, &names.0, &[code.into()]).ok()?.as_string()).collect())
    };
    names().filter(|names| names.len() == codes.len()).unwrap_or_else(|| codes.to_vec())
}

/// Returns an ordering number for two texts in a language, as `localeCompare` does.
pub fn compare_texts(a: &str, b: &str, locale: &str) -> std::cmp::Ordering {
    let found = js_sys::JsString::from(a).locale_compare(b, &list_of(&[locale.to_owned()]), &Data::empty().0);
    found.cmp(&0)
}
