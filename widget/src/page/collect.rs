//! The fields that a form element posts, as a browser would post them.

use js_sys::Array;
use wasm_bindgen::JsCast as _;
use web_sys::{FormData, HtmlFormElement, HtmlInputElement};

use super::bridge::FormNode;
use super::dom;

/// Fields that only the frames post.
const OF_FRAMES: [&str; 3] = ["card.expiry", "card.number", "card.cvv"];

/// Returns true if the page does not post a field of this name.
pub fn is_frames_own(name: &str) -> bool {
    OF_FRAMES.contains(&name)
}

/// Returns names and values of all fields that the form has now, the merchant's own included. A box without a value is
/// `on`, and a file is left out.
pub fn read_fields(form: &FormNode) -> Vec<(String, String)> {
    let form: &HtmlFormElement = form.unchecked_ref();
    let Ok(data) = FormData::new_with_form(form) else { return Vec::new() };
    let pair = |pair| {
        let pair = Array::from(&pair);
        Some((pair.get(0).as_string()?, pair.get(1).as_string()?))
    };
    Array::from(&data).iter().filter_map(pair).collect()
}

/// Adds a field, unless it is empty or there is one of its name.
pub fn add_missing(fields: &mut Vec<(String, String)>, name: &str, value: &str) {
    if !value.is_empty() && !fields.iter().any(|(known, _)| known == name) {
        fields.push((name.to_owned(), value.to_owned()));
    }
}

/// The field that tells the gateway the encoding. `shopOrigin`, the other such field, is the frame's, which knows
/// better than the page.
pub fn utf8_marker() -> (String, String) {
    ("forceUtf8".to_owned(), "\u{2620}".to_owned())
}

/// Sets a hidden input of the form that is there.
pub fn set_hidden(form: &FormNode, name: &str, value: &str) {
    if let Some(input) = find_input(form, name) {
        input.set_value(value);
    }
}

/// Sets a hidden input of the form, which is added if necessary.
pub fn put_hidden(form: &FormNode, name: &str, value: &str, is_enabled: bool) {
    let input = find_input(form, name).unwrap_or_else(|| {
        let input = dom::make("input", "", &[("type", "hidden"), ("name", name)], "");
        form.append_node(&input);
        input.unchecked_into()
    });
    input.set_value(value);
    input.set_disabled(!is_enabled);
}

/// Finds an input of the form by its name.
pub fn find_input(form: &FormNode, name: &str) -> Option<HtmlInputElement> {
    form.find(&["input[name=\"", name, "\"]"].concat())?.dyn_into().ok()
}
