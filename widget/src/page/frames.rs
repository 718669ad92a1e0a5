//! Frames that hold one field each: their elements, their look, and messages to them.

use tillgate_shared::frame_messages::{FieldMessage, FrameField, FrameLook};
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, HtmlIFrameElement};

use super::bridge::{Data, Loader};
use super::options::Options;
use super::session::Session;
use super::{bridge, dom};

/// CSS properties that the text in a frame takes over from the frame's element.
const INHERITED: [&str; 8] = [
    "color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "letter-spacing",
    "text-align",
    "text-transform",
];

/// Creates the frame of a field. `class` is the last part of its class names.
pub fn make_frame(loader: &Loader, form: &str, field: FrameField, class: &str, title: &str) -> HtmlIFrameElement {
    let query = [("checkoutId", loader.checkout_id()), ("field", field.name().to_owned()), ("form", form.to_owned())];
    let query: Vec<String> = query.iter().map(|(name, value)| [name, "=", &encode(value)].concat()).collect();
    let source = [&loader.frames_base(), "v1/pciIframe.html?", &query.join("&")].concat();
    let element = dom::make(
        "iframe",
        &["wpwl-control wpwl-control-iframe wpwl-control-", class].concat(),
        &[
            ("name", field.name()),
            ("title", title),
            ("placeholder", title),
            ("frameborder", "0"),
            ("scrolling", "no"),
            // Weighs less than any style sheet.
            ("height", "40"),
            ("allow", &loader.frame_permissions()),
            ("referrerpolicy", "no-referrer"),
            ("src", &source),
        ],
        "",
    );
    // The frame's document is light and transparent. In a dark element browsers would paint an opaque sheet behind it.
    dom::set_style(&element, "color-scheme", "light");
    element.unchecked_into()
}

/// Encodes a text for a query.
pub fn encode(text: &str) -> String {
    js_sys::encode_uri_component(text).into()
}

/// Sends a message to a frame. One that is gone or still loading gets nothing; it says "ready" later.
pub fn send_message(session: &Session, frame: &HtmlIFrameElement, form: &str, message: &FieldMessage) {
    if let Some(window) = frame.content_window() {
        let data = message.write::<Data>(form).finish();
        // Only the origin of the frames may receive it.
        let _ = window.post_message(&data, &session.loader.frames_base());
    }
}

/// Reads the look of a frame's element as the page's style sheets have it now. `like` is an input of the page whose
/// placeholder the frame's resembles.
pub fn read_look(
    session: &Session,
    frame: &HtmlIFrameElement,
    like: Option<&HtmlElement>,
    options: &Options<bridge::Value>,
) -> FrameLook {
    let window = web_sys::window();
    let style = window.as_ref().and_then(|window| window.get_computed_style(frame).ok().flatten());
    let property = |name: &&str| {
        let value = style.as_ref().and_then(|style| style.get_property_value(name).ok()).unwrap_or_default();
        ((*name).to_owned(), value)
    };
    let placeholder = like.and_then(|input| {
        let style = window.as_ref()?.get_computed_style_with_pseudo_elt(input, "::placeholder").ok()??;
        style.get_property_value("color").ok()
    });
    let is_code = frame.name() == FrameField::Code.name();
    FrameLook {
        inherited: INHERITED.iter().map(property).collect(),
        placeholder_color: placeholder.unwrap_or_default(),
        own: options.frame_styles[usize::from(is_code)].clone(),
        mask: options.mask_code,
        lang: session.loader.read_locale(),
        dir: session.text_direction().unwrap_or_default(),
        formatting: options.number_formatting,
        ..FrameLook::default()
    }
}

/// Returns true if the text of an element is light, and so the page behind it dark. A colour in another notation than
/// `rgb()` counts as dark text.
pub fn is_on_dark(element: &HtmlElement) -> bool {
    let style = web_sys::window().and_then(|window| window.get_computed_style(element).ok().flatten());
    let color = style.and_then(|style| style.get_property_value("color").ok()).unwrap_or_default();
    brightness(&color).is_some_and(|percent| percent > 14_000)
}

/// Returns the brightness of a colour as eyes perceive it, 0 to 25500. `None` for another notation than `rgb()`.
fn brightness(color: &str) -> Option<u32> {
    let (function, rest) = color.split_once('(')?;
    if !matches!(function, "rgb" | "rgba") {
        return None;
    }
    let parts: Vec<u32> =
        rest.split([',', ')', ' ']).filter(|part| !part.is_empty()).map_while(|part| part.parse().ok()).collect();
    let [red, green, blue, ..] = parts[..] else { return None };
    Some(red * 30 + green * 59 + blue * 11)
}
