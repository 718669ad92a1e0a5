//! One form on the page: the nodes that the loader made for it, and what the page part holds on to.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Element, HtmlButtonElement, HtmlElement, HtmlFormElement, HtmlIFrameElement, HtmlInputElement, HtmlSelectElement,
};

use super::fields::Field;
use super::js;
use super::runtime::loader;

/// The nodes of one form. Merchants may move them; these references stay right.
pub struct Handle {
    /// The loader's own object for this form.
    pub object: JsValue,
    /// Joins the messages of the page part and its two frames.
    pub nonce: String,
    pub container: HtmlElement,
    pub form: HtmlFormElement,
    /// The root of the yew app; nothing else lives in it.
    pub slot: Element,
    pub select: HtmlSelectElement,
    pub number: HtmlIFrameElement,
    pub expiry: HtmlInputElement,
    pub holder: HtmlInputElement,
    pub code: HtmlIFrameElement,
    pub button: HtmlButtonElement,
    /// The place of the brand's logo.
    pub logo: Element,
}

impl Handle {
    /// Takes up a form of the loader, whose types are the loader's word.
    pub fn new(object: JsValue) -> Self {
        let node = |name: &str| js::get(&object, name);
        Self {
            nonce: js::text(&object, "nonce"),
            container: node("container").unchecked_into(),
            form: node("form").unchecked_into(),
            slot: node("slot").unchecked_into(),
            select: node("select").unchecked_into(),
            number: node("number").unchecked_into(),
            expiry: node("expiry").unchecked_into(),
            holder: node("holder").unchecked_into(),
            code: node("code").unchecked_into(),
            button: node("button").unchecked_into(),
            logo: node("logo").unchecked_into(),
            object,
        }
    }

    /// The wrapper of a group.
    pub fn wrapper(&self, name: &str) -> Element {
        js::get(&js::get(&self.object, "wrappers"), name).unchecked_into()
    }

    /// An input in the form, wherever the page has moved that to. The loader finds it: what the merchant put into the form
    /// may shadow the form's own functions.
    pub fn find_input(&self, selector: &str) -> Option<HtmlInputElement> {
        let found = loader("findIn", &[self.object.clone(), selector.into()]);
        found.is_object().then(|| found.unchecked_into())
    }

    /// The id of a field's hint.
    pub fn hint_id(&self, field: Field) -> String {
        js::cat(&[&self.container.id(), "-hint-", field.class()])
    }

    /// What the shopper fills in: a frame, or an input of the page.
    pub fn control(&self, field: Field) -> &HtmlElement {
        match field {
            Field::Number => &self.number,
            Field::Expiry => &self.expiry,
            Field::Holder => &self.holder,
            Field::Code => &self.code,
        }
    }

    /// The frame of a field that lives in one.
    pub fn frame(&self, field: Field) -> Option<&HtmlIFrameElement> {
        match field {
            Field::Number => Some(&self.number),
            Field::Code => Some(&self.code),
            _ => None,
        }
    }

    /// True while form and frames are where a payment can be made from. The slot stands for the form that it is in: an input
    /// named `isConnected` would shadow the form's own word.
    pub fn is_whole(&self) -> bool {
        self.slot.is_connected() && self.number.is_connected() && self.code.is_connected()
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Self) -> bool {
        self.nonce == other.nonce
    }
}
