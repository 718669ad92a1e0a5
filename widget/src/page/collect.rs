//! What the form posts besides card number and code: every named field of the live form, and what
//! 3D authentication wants to know of the browser.

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::{FormData, HtmlFormElement};

use super::js;

/// Names that are our own business.
const LEFT_OUT: [&str; 3] = ["card.expiry", "card.number", "card.cvv"];

/// Names and values of all fields that the document's form has now, merchant's own included, as a
/// browser would submit them: a checkbox without value says `on`.
pub fn fields(form: &HtmlFormElement) -> Vec<(String, String)> {
    let Ok(data) = FormData::new_with_form(form) else {
        return Vec::new();
    };
    let mut fields = Vec::new();
    for pair in Array::from(&data).iter() {
        let pair = Array::from(&pair);
        // A file has no text, and no place here.
        if let (Some(name), Some(value)) = (pair.get(0).as_string(), pair.get(1).as_string())
            && !LEFT_OUT.contains(&name.as_str())
        {
            fields.push((name, value));
        }
    }
    fields
}

/// `shopOrigin`, `forceUtf8` and `customer.browser.*`.
pub fn surroundings() -> Vec<(String, String)> {
    let global = js_sys::global();
    let navigator = js::get(&global, "navigator");
    let screen = js::get(&global, "screen");
    let number = |name: &str| js::get(&screen, name).as_f64().unwrap_or_default();
    let depth = number("colorDepth");
    let timezone = js_sys::Date::new_0().get_timezone_offset();
    let mut fields = vec![
        ("shopOrigin", js::text(&js::get(&global, "location"), "origin")),
        ("forceUtf8", "\u{2620}".to_owned()),
        ("customer.browser.userAgent", js::text(&navigator, "userAgent")),
        ("customer.browser.language", short(&js::text(&navigator, "language"))),
        ("customer.browser.screenWidth", whole(number("width"))),
        ("customer.browser.screenHeight", whole(number("height"))),
        ("customer.browser.timezone", whole(timezone)),
        ("customer.browser.javaEnabled", "false".to_owned()),
    ];
    if depth > 0.0 {
        fields.push(("customer.browser.screenColorDepth", whole(depth)));
    }
    fields.retain(|(_, value)| !value.is_empty());
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// At most eight characters of a language tag, cut at a hyphen.
fn short(tag: &str) -> String {
    let mut tag = tag;
    while tag.len() > 8 {
        match tag.rfind('-') {
            Some(at) => tag = &tag[..at],
            None => return String::new(),
        }
    }
    tag.to_owned()
}

/// A number without decimals, as JavaScript prints it.
fn whole(value: f64) -> String {
    let text = js_sys::Number::from(value.round()).to_string_with_radix(10);
    text.map(String::from).unwrap_or_default()
}

/// Pairs as a JavaScript list of lists.
pub fn pairs(fields: &[(String, String)]) -> JsValue {
    fields
        .iter()
        .map(|(name, value)| Array::of2(&JsValue::from_str(name), &JsValue::from_str(value)))
        .collect::<Array>()
        .into()
}
