//! What the page part says to the frames: how to look, what is wrong, when to send.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::HtmlIFrameElement;

use super::js;

/// Properties that the text in a frame takes over from the frame's element.
const TAKEN_OVER: [&str; 8] = [
    "color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "letter-spacing",
    "text-align",
    "text-transform",
];

/// Sends a message to a frame; one that is gone or still loading says "ready" later and hears then.
pub fn say(frame: &HtmlIFrameElement, base: &str, nonce: &str, kind: &str, message: &JsValue) {
    js::set(message, "tillgate", &JsValue::from_f64(1.0));
    js::set(message, "type", &JsValue::from_str(kind));
    js::set(message, "form", &JsValue::from_str(nonce));
    if let Some(window) = frame.content_window() {
        // Only our own origin may hear it.
        let _ = window.post_message(message, base);
    }
}

/// The look of the frame's element as the page's style sheets have it now, and the placeholder's colour
/// as an input of the page shows it.
pub fn look(frame: &HtmlIFrameElement, input: Option<&web_sys::Element>) -> JsValue {
    let look = js::object(&[]);
    let Some(window) = web_sys::window() else {
        return look;
    };
    if let Ok(Some(style)) = window.get_computed_style(frame) {
        for name in TAKEN_OVER {
            let value = style.get_property_value(name).unwrap_or_default();
            js::set(&look, name, &JsValue::from_str(&value));
        }
    }
    if let Some(input) = input
        && let Ok(Some(style)) = window.get_computed_style_with_pseudo_elt(input, "::placeholder")
    {
        let value = style.get_property_value("color").unwrap_or_default();
        js::set(&look, "placeholder", &JsValue::from_str(&value));
    }
    look
}

/// Whether the text of an element is light, and so the page behind it dark.
pub fn is_on_dark(element: &web_sys::Element) -> bool {
    let style = web_sys::window().and_then(|w| w.get_computed_style(element).ok().flatten());
    let color = style.and_then(|style| style.get_property_value("color").ok());
    // "rgb(29, 36, 51)"; whatever has another form counts as dark text.
    let color = color.unwrap_or_default();
    let numbers = color.strip_prefix("rgb").unwrap_or_default();
    let mut parts = numbers.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    let mut next = || parts.next().unwrap_or_default();
    // Weights of brightness as the eye has it, in percent.
    next() * 30 + next() * 59 + next() * 11 > 14_000
}

/// Puts the caret in a frame's field.
pub fn focus(frame: &HtmlIFrameElement, base: &str, nonce: &str) {
    let _ = frame.unchecked_ref::<web_sys::HtmlElement>().focus();
    say(frame, base, nonce, "focus", &js::object(&[]));
}
