//! What the page part says to the frames: what is wrong, which brand, when to send. How they look, the loader tells them.

use wasm_bindgen::JsValue;
use web_sys::HtmlIFrameElement;

use super::js;

/// Sends a message to a frame; one that is gone or still loading says "ready" later and hears then.
pub fn say(frame: &HtmlIFrameElement, frames_base: &str, nonce: &str, kind: &str, message: &JsValue) {
    js::set(message, "tillgate", &JsValue::from_f64(1.0));
    js::set(message, "type", &JsValue::from_str(kind));
    js::set(message, "form", &JsValue::from_str(nonce));
    if let Some(window) = frame.content_window() {
        // Only the origin of the frames may hear it.
        let _ = window.post_message(message, frames_base);
    }
}
