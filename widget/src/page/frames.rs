//! What the page part says to the frames: how to look, what is wrong, when to send.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::HtmlIFrameElement;

use super::js;
use super::runtime::loader;

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
    loader("dressed", &[frame.into(), input.map(JsValue::from).unwrap_or_default()])
}

/// Whether the text of an element is light, and so the page behind it dark.
pub fn is_on_dark(element: &web_sys::Element) -> bool {
    loader("isOnDark", &[element.into()]).is_truthy()
}

/// Puts the caret in a frame's field.
pub fn focus(frame: &HtmlIFrameElement, base: &str, nonce: &str) {
    let _ = frame.unchecked_ref::<web_sys::HtmlElement>().focus();
    say(frame, base, nonce, "focus", &js::object(&[]));
}
