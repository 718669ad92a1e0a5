//! Functions of the document, whose elements may shadow its properties.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement};

#[wasm_bindgen]
extern "C" {
    /// The document, whose elements may shadow its properties.
    #[wasm_bindgen(js_name = Document)]
    pub type DocumentNode;
    #[wasm_bindgen(js_name = document, thread_local_v2)]
    static DOCUMENT: DocumentNode;
    #[wasm_bindgen(method, final, js_class = "Document", js_name = createElement)]
    fn create_element(this: &DocumentNode, tag: &str) -> HtmlElement;
    #[wasm_bindgen(method, final, getter, js_class = "Document", js_name = body)]
    fn body(this: &DocumentNode) -> Option<HtmlElement>;
    #[wasm_bindgen(method, final, getter, js_class = "Document", js_name = activeElement)]
    fn active_element(this: &DocumentNode) -> Option<Element>;
    #[wasm_bindgen(method, final, js_class = "Document", js_name = querySelector)]
    fn query_selector(this: &DocumentNode, css: &str) -> Option<Element>;
    #[wasm_bindgen(method, final, js_class = "Document", js_name = querySelectorAll)]
    fn query_selector_all(this: &DocumentNode, css: &str) -> web_sys::NodeList;
    #[wasm_bindgen(method, final, getter, js_class = "Document", js_name = baseURI)]
    fn base_uri(this: &DocumentNode) -> String;
}

/// Creates an element.
pub fn create(tag: &str) -> HtmlElement {
    DOCUMENT.with(|document| document.create_element(tag))
}

/// Returns the body.
pub fn body() -> Option<HtmlElement> {
    DOCUMENT.with(DocumentNode::body)
}

/// Returns the element with the focus.
pub fn active_element() -> Option<Element> {
    DOCUMENT.with(DocumentNode::active_element)
}

/// Finds the first element that matches.
pub fn find(css: &str) -> Option<Element> {
    DOCUMENT.with(|document| document.query_selector(css))
}

/// Counts the elements that match.
pub fn count(css: &str) -> u32 {
    DOCUMENT.with(|document| document.query_selector_all(css)).length()
}

/// Returns the address that relative addresses refer to.
pub fn base_uri() -> String {
    DOCUMENT.with(DocumentNode::base_uri)
}
