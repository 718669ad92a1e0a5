//! What the form posts besides card number and code: every named field of the live form. What 3D authentication wants to
//! know of the browser, the frame adds.

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::{FormData, HtmlFormElement};

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

/// `forceUtf8`. The other such field, `shopOrigin`, the frame adds: it knows better than the page.
pub fn surroundings() -> (String, String) {
    ("forceUtf8".to_owned(), "\u{2620}".to_owned())
}

/// Pairs as a JavaScript list of lists.
pub fn pairs(fields: &[(String, String)]) -> JsValue {
    fields
        .iter()
        .map(|(name, value)| Array::of2(&JsValue::from_str(name), &JsValue::from_str(value)))
        .collect::<Array>()
        .into()
}
