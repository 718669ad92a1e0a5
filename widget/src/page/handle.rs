//! One form on the page: the nodes that the loader made for it, and what the page part holds on to.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, HtmlFormElement, HtmlIFrameElement};

use super::fields::Field;
use super::js;

/// The nodes of one form. Merchants may move them; these references stay right.
pub struct Handle {
    /// The loader's own object for this form.
    pub object: JsValue,
    /// Joins the messages of the page part and its two frames.
    pub nonce: String,
    /// Brands that the merchant offers here, in its order.
    pub brands: Vec<String>,
    pub container: HtmlElement,
    pub form: HtmlFormElement,
    /// The root of the yew app; nothing else lives in it.
    pub slot: Element,
    pub number: HtmlIFrameElement,
    pub code: HtmlIFrameElement,
    labels: Vec<(&'static str, HtmlElement)>,
    wrappers: Vec<(&'static str, Element)>,
    /// The place of the brand's logo.
    pub logo: Element,
}

const GROUPS: [&str; 6] = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "submit"];

impl Handle {
    /// Takes up a form of the loader, whose types are the loader's word; `None` when the page has already taken it apart.
    pub fn new(object: JsValue) -> Option<Self> {
        let form: HtmlFormElement = js::get(&object, "form").unchecked_into();
        let container: HtmlElement = js::get(&object, "container").unchecked_into();
        let find = |selector: &str| form.query_selector(selector).ok().flatten();
        let mut labels = Vec::new();
        let mut wrappers = Vec::new();
        for name in GROUPS {
            wrappers.push((name, find(&js::cat(&[".wpwl-wrapper-", name]))?));
            if let Some(label) = find(&js::cat(&[".wpwl-label-", name])) {
                label.set_id(&js::cat(&[&container.id(), "-label-", name]));
                labels.push((name, label.unchecked_into()));
            }
        }
        Some(Self {
            nonce: js::text(&object, "nonce"),
            brands: js::texts(&object, "brands"),
            slot: js::get(&object, "slot").unchecked_into(),
            number: js::get(&object, "number").unchecked_into(),
            code: js::get(&object, "code").unchecked_into(),
            logo: find(".wpwl-brand-card")?,
            container,
            form,
            labels,
            wrappers,
            object,
        })
    }

    /// Labels in the order of the form, each with the name of its group.
    pub fn labels(&self) -> impl Iterator<Item = (&'static str, &HtmlElement)> {
        self.labels.iter().map(|(name, label)| (*name, label))
    }

    /// The wrapper of a group.
    pub fn wrapper(&self, name: &str) -> Element {
        let found = self.wrappers.iter().find(|(known, _)| *known == name);
        found.map_or_else(|| self.slot.clone(), |(_, wrapper)| wrapper.clone())
    }

    /// The id of a group's label.
    pub fn label_id(&self, name: &str) -> String {
        js::cat(&[&self.container.id(), "-label-", name])
    }

    /// The id of a field's hint.
    pub fn hint_id(&self, field: Field) -> String {
        js::cat(&[&self.container.id(), "-hint-", field.class()])
    }

    /// The frame of a field that lives in one.
    pub fn frame(&self, field: Field) -> Option<&HtmlIFrameElement> {
        match field {
            Field::Number => Some(&self.number),
            Field::Code => Some(&self.code),
            _ => None,
        }
    }

    /// True while form and frames are where a payment can be made from.
    pub fn is_whole(&self) -> bool {
        self.form.is_connected() && self.number.is_connected() && self.code.is_connected()
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Self) -> bool {
        self.nonce == other.nonce
    }
}
