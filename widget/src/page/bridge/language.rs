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

/// Returns an amount in the format of a language, with the decimals that its currency has there. Browsers leave out
/// those of some currencies, so decimals that are not zero are asked for. `None` if the browser does not know the
/// currency.
pub fn format_money(amount: &str, currency: &str, locale: &str) -> Option<String> {
    let constructor = find_global("Intl")?.function("NumberFormat")?;
    let mut style = Data::empty().with("style", &"currency".into()).with("currency", &currency.into());
    if let Some((_, decimals)) = amount.split_once('.').filter(|(_, decimals)| decimals.contains(|digit| digit != '0'))
    {
        style = style.with("minimumFractionDigits", &(decimals.len() as f64).into());
    }
    let given = Array::of2(&list_of(&[locale.to_owned()]), &style.finish());
    let made = Value(Reflect::construct(&constructor, &given).ok()?);
    call(&made.function("format")?, &made.0, &[amount.into()]).ok()?.as_string()
}

/// Returns an ordering number for two texts in a language, as `localeCompare` does.
pub fn compare_texts(a: &str, b: &str, locale: &str) -> std::cmp::Ordering {
    let found = js_sys::JsString::from(a).locale_compare(b, &list_of(&[locale.to_owned()]), &Data::empty().0);
    found.cmp(&0)
}
