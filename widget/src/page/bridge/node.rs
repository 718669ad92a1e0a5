//! Nodes of a hostile page, with the methods of their prototypes.

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{DomTokenList, Element, Event, Node};

#[wasm_bindgen]
extern "C" {
    /// A form element, whose inputs may shadow its properties.
    #[derive(Debug, Clone, PartialEq)]
    #[wasm_bindgen(js_name = HTMLFormElement)]
    pub type FormNode;
    #[wasm_bindgen(method, final, js_class = "HTMLFormElement", js_name = querySelector)]
    fn query_selector(this: &FormNode, css: &str) -> Option<Element>;
    /// Submits the form as a press of its button does.
    #[wasm_bindgen(method, final, catch, js_class = "HTMLFormElement", js_name = requestSubmit)]
    pub fn request_submit(this: &FormNode) -> Result<(), JsValue>;
    /// Sends the form.
    #[wasm_bindgen(method, final, js_class = "HTMLFormElement")]
    pub fn submit(this: &FormNode);
    /// Removes the form from its parent.
    #[wasm_bindgen(method, final, js_class = "HTMLFormElement")]
    pub fn remove(this: &FormNode);
    /// Adds a node at the end of the form.
    #[wasm_bindgen(method, final, js_class = "HTMLFormElement", js_name = appendChild)]
    pub fn append_node(this: &FormNode, node: &Node) -> Node;
    #[wasm_bindgen(method, final, js_class = "HTMLFormElement", js_name = setAttribute)]
    pub fn set_attribute(this: &FormNode, name: &str, value: &str);
    #[wasm_bindgen(method, final, js_class = "HTMLFormElement", js_name = getAttribute)]
    pub fn get_attribute(this: &FormNode, name: &str) -> Option<String>;
    #[wasm_bindgen(method, final, getter, js_class = "HTMLFormElement", js_name = classList)]
    pub fn class_list(this: &FormNode) -> DomTokenList;
    #[wasm_bindgen(method, final, getter, js_class = "HTMLFormElement", js_name = isConnected)]
    pub fn is_connected(this: &FormNode) -> bool;
    #[wasm_bindgen(method, final, setter, js_class = "HTMLFormElement", js_name = hidden)]
    pub fn set_hidden(this: &FormNode, hidden: bool);
    #[wasm_bindgen(method, final, getter, js_class = "HTMLFormElement", js_name = style)]
    pub fn style(this: &FormNode) -> web_sys::CssStyleDeclaration;

    /// Anything with events. An element's id shadows the window's own functions.
    #[derive(Debug, Clone)]
    #[wasm_bindgen(js_name = EventTarget)]
    pub type Target;
    #[wasm_bindgen(method, final, js_class = "EventTarget", js_name = addEventListener)]
    pub fn add_listener(this: &Target, kind: &str, listener: &Function, options: &JsValue);
    #[wasm_bindgen(method, final, js_class = "EventTarget", js_name = removeEventListener)]
    pub fn remove_listener(this: &Target, kind: &str, listener: &Function, options: &JsValue);
    #[wasm_bindgen(method, final, js_class = "EventTarget", js_name = dispatchEvent)]
    pub fn fire_event(this: &Target, event: &Event) -> bool;
}

impl FormNode {
    /// Finds a node in the form, also if the page has moved the form out of its container.
    pub fn find(&self, css: &str) -> Option<Element> {
        self.query_selector(css)
    }

    /// Returns the form as a node.
    pub fn as_node(&self) -> &Node {
        let value: &JsValue = self.as_ref();
        value.unchecked_ref()
    }

    /// Shows the form or hides it.
    pub fn set_visible(&self, is_visible: bool) {
        self.set_hidden(!is_visible);
        let _ = self.style().set_property("display", if is_visible { "" } else { "none" });
    }
}

#[wasm_bindgen]
extern "C" {
    /// Any element, whose inputs may shadow its properties if it is a form.
    #[wasm_bindgen(js_name = Element)]
    type AnyElement;
    #[wasm_bindgen(method, final, js_class = "Element", js_name = querySelectorAll)]
    fn query_selector_all(this: &AnyElement, css: &str) -> web_sys::NodeList;
}

/// Finds all elements in an element that match.
pub fn find_all(element: &Element, css: &str) -> Vec<Element> {
    let found = element.unchecked_ref::<AnyElement>().query_selector_all(css);
    (0..found.length()).filter_map(|at| found.get(at)?.dyn_into().ok()).collect()
}
