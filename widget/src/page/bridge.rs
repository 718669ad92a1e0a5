//! The bridge to JavaScript: values without a known shape, the loader's functions, and nodes of a hostile page. No
//! other file reads or sets properties by name.
//!
//! A merchant's page may add properties to every object, and its markup may shadow the properties of its document, its
//! forms and its window. So what every object inherits does not count here, and methods of forms, documents and windows
//! are those of their prototypes.

use js_sys::{Array, Function, Object, Promise, Reflect};
use tillgate_shared::wire::{Sink, Source};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DomTokenList, Element, Event, HtmlElement, HtmlIFrameElement, Node};

/// A JavaScript value without a known shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Value(pub JsValue);

/// Greatest length of a chain of prototypes. Only a proxy can make an endless one.
const PROTOTYPES: u8 = 64;

impl Value {
    /// Returns the value of a property, without what every object inherits.
    fn property(&self, name: &str) -> JsValue {
        let key = JsValue::from_str(name);
        if !self.0.is_object() && !self.0.is_function() || self.inherits_from_every(&key) {
            return JsValue::UNDEFINED;
        }
        Reflect::get(&self.0, &key).unwrap_or_default()
    }

    /// Returns true if the value has a property only because every object has it.
    fn inherits_from_every(&self, key: &JsValue) -> bool {
        EVERY_OBJECT.with(|object| has_own(object, key) && !self.has_before(object, key))
    }

    /// Returns true if the value has a property itself, or inherits it from a prototype before `last`. Those of events
    /// and nodes are properties of their prototypes.
    fn has_before(&self, last: &JsValue, key: &JsValue) -> bool {
        let mut at = self.0.clone();
        for _ in 0..PROTOTYPES {
            if at == *last || at.is_null() {
                return false;
            }
            if has_own(&at, key) {
                return true;
            }
            let Ok(next) = Reflect::get_prototype_of(&at) else { return false };
            at = next.into();
        }
        false
    }

    /// Returns a property that can be called.
    pub fn function(&self, name: &str) -> Option<Function> {
        self.property(name).dyn_into().ok()
    }

    /// Returns true if it is neither undefined, null, false, 0 nor empty text.
    pub fn is_truthy(&self) -> bool {
        self.0.is_truthy()
    }

    /// Sets a property. Objects that refuse it stay as they are. A setter that every object has is not called.
    pub fn set(&self, name: &str, value: &JsValue) {
        let key = JsValue::from_str(name);
        if !self.inherits_from_every(&key) {
            let _ = Reflect::set(&self.0, &key, value);
            return;
        }
        let flags = ["writable", "enumerable", "configurable"];
        let own = flags.iter().fold(Data::empty(), |own, flag| own.with(flag, &JsValue::TRUE)).with("value", value);
        let _ = Reflect::define_property(self.0.unchecked_ref::<Object>(), &key, &own.0);
    }
}

impl Source for Value {
    fn get(&self, name: &str) -> Option<Self> {
        let value = self.property(name);
        (!value.is_undefined() && !value.is_null()).then_some(Self(value))
    }

    fn as_text(&self) -> Option<String> {
        self.0.as_string()
    }

    fn as_number(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn as_flag(&self) -> Option<bool> {
        self.0.as_bool()
    }

    fn display(&self) -> String {
        let number: Option<&js_sys::Number> = self.0.dyn_ref();
        self.as_text().or_else(|| number?.to_string_with_radix(10).ok()?.as_string()).unwrap_or_default()
    }

    fn items(&self) -> Vec<Self> {
        let list: Option<&Array> = self.0.dyn_ref();
        list.map(|list| list.iter().map(Self).collect()).unwrap_or_default()
    }

    fn keys(&self) -> Vec<String> {
        let keys = Reflect::own_keys(&self.0).unwrap_or_default();
        keys.iter().filter_map(|key| key.as_string()).collect()
    }
}

/// Returns true if an object has a property itself, and does not inherit it.
fn has_own(object: &JsValue, key: &JsValue) -> bool {
    Reflect::get_own_property_descriptor(object.unchecked_ref::<Object>(), key).is_ok_and(|found| !found.is_undefined())
}

/// A JavaScript object that is being made. It inherits nothing.
#[derive(Debug)]
pub struct Data(Object);

impl Data {
    /// Sets a property to any value.
    pub fn with(self, name: &str, value: &JsValue) -> Self {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), value);
        self
    }

    /// Returns the object.
    pub fn finish(self) -> JsValue {
        self.0.into()
    }
}

impl Sink for Data {
    fn empty() -> Self {
        Self(Object::create(JsValue::NULL.unchecked_ref::<Object>()))
    }

    fn set_text(&mut self, name: &str, value: &str) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &JsValue::from_str(value));
    }

    fn set_number(&mut self, name: &str, value: f64) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &JsValue::from_f64(value));
    }

    fn set_flag(&mut self, name: &str, value: bool) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &JsValue::from_bool(value));
    }

    fn set_texts(&mut self, name: &str, values: &[String]) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &list_of(values));
    }

    fn set_pairs(&mut self, name: &str, values: &[(String, String)]) {
        let pair = |(name, value): &(String, String)| Array::of2(&JsValue::from_str(name), &JsValue::from_str(value));
        let pairs: Array = values.iter().map(pair).collect();
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &pairs);
    }

    fn set_object(&mut self, name: &str, value: Self) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &value.0);
    }
}

/// Returns a number as text. JavaScript formats it, so that the page module need not.
pub fn format_number(number: impl Into<f64>) -> String {
    Value(JsValue::from_f64(number.into())).display()
}

/// Returns a JavaScript list of texts.
pub fn list_of(values: &[String]) -> Array {
    values.iter().map(|value| JsValue::from_str(value)).collect()
}

/// Waits for a value if it is a promise, or has a `then` that not every object has. A function of that name that the
/// page gives every object would be called for any value, and never answer.
///
/// # Errors
/// The reason of the promise's rejection.
pub async fn settle(value: JsValue) -> Result<JsValue, JsValue> {
    match Value(value.clone()).function("then") {
        Some(_) => JsFuture::from(Promise::resolve(&value)).await,
        None => Ok(value),
    }
}

/// Calls a function with these arguments.
///
/// # Errors
/// The exception that the function throws.
pub fn call(function: &Function, this: &JsValue, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    Reflect::apply(function, this, &arguments.iter().cloned().collect())
}

/// Makes an object that inherits from another, such as the merchant's options. One that inherits nothing if that is no
/// object.
pub fn inherit_from(parent: &JsValue) -> Value {
    let parent = if parent.is_object() { parent } else { &JsValue::NULL };
    Value(Object::create(parent.unchecked_ref::<Object>()).into())
}

/// Returns a global of the browser or of the page's scripts. `None` for an element that only shadows the name.
pub fn find_global(name: &str) -> Option<Value> {
    let global: JsValue = js_sys::global().into();
    let key = JsValue::from_str(name);
    let prototype: JsValue = Object::get_prototype_of(&global).into();
    (has_own(&global, &key) || has_own(&prototype, &key))
        .then(|| Value(Reflect::get(&global, &key).unwrap_or_default()))
}

/// Sets a global.
pub fn set_global(name: &str, value: &JsValue) {
    Value(js_sys::global().into()).set(name, value);
}

/// Shows an error in the merchant's console, outside of the form's work.
pub fn report_thrown(thrown: &JsValue) {
    let _ = Promise::reject(thrown);
}

/// Returns the name of a country in a language, or its code if the browser does not know it.
pub fn country_names(codes: &[String], locale: &str) -> Vec<String> {
    let names = || -> Option<Vec<String>> {
        let intl = find_global("Intl")?;
        let constructor = intl.function("DisplayNames")?;
        let kind = Data::empty().with("type", &"region".into()).finish();
        let names = Value(Reflect::construct(&constructor, &Array::of2(&list_of(&[locale.to_owned()]), &kind)).ok()?);
        let of = names.function("of")?;
        Some(codes.iter().filter_map(|code| call(&of, &names.0, &[code.into()]).ok()?.as_string()).collect())
    };
    names().filter(|names| names.len() == codes.len()).unwrap_or_else(|| codes.to_vec())
}

/// Returns an ordering number for two texts in a language, as `localeCompare` does.
pub fn compare_texts(a: &str, b: &str, locale: &str) -> std::cmp::Ordering {
    let found = js_sys::JsString::from(a).locale_compare(b, &list_of(&[locale.to_owned()]), &Data::empty().0);
    found.cmp(&0)
}

#[wasm_bindgen]
extern "C" {
    /// The prototype of every object.
    #[wasm_bindgen(js_namespace = Object, js_name = prototype, thread_local_v2)]
    static EVERY_OBJECT: JsValue;

    /// The loader, which has placed the forms and their frames (`widget/loader/main.js`).
    #[derive(Debug, Clone)]
    pub type Loader;
    /// Address of the gateway, which ends in a slash.
    #[wasm_bindgen(method, getter)]
    pub fn base(this: &Loader) -> String;
    /// Address of the frames, which ends in a slash.
    #[wasm_bindgen(method, getter, js_name = framesBase)]
    pub fn frames_base(this: &Loader) -> String;
    /// Id of the build.
    #[wasm_bindgen(method, getter)]
    pub fn build(this: &Loader) -> String;
    /// Id of the checkout. Empty if the page creates it when the shopper pays.
    #[wasm_bindgen(method, getter, js_name = checkoutId)]
    pub fn checkout_id(this: &Loader) -> String;
    /// `payment` or `registration`.
    #[wasm_bindgen(method, getter)]
    pub fn purpose(this: &Loader) -> String;
    /// Value of the attribute `allow` of frames with a field.
    #[wasm_bindgen(method, getter, js_name = framePermissions)]
    pub fn frame_permissions(this: &Loader) -> String;
    /// The English texts.
    #[wasm_bindgen(method, getter)]
    pub fn english(this: &Loader) -> JsValue;
    /// The merchant's options as they are now.
    #[wasm_bindgen(method, js_name = readOptions)]
    pub fn read_options(this: &Loader) -> JsValue;
    /// The texts of the page's language, undefined for English.
    #[wasm_bindgen(method, js_name = readLanguage)]
    pub fn read_language(this: &Loader) -> JsValue;
    /// The page's locale, as far as there are texts for it.
    #[wasm_bindgen(method, js_name = readLocale)]
    pub fn read_locale(this: &Loader) -> String;
    /// All forms that stand.
    #[wasm_bindgen(method, js_name = listForms)]
    pub fn list_forms(this: &Loader) -> Vec<PlacedForm>;
    /// Opens the relay frame for the forms that stand, again if `anew`. Returns it.
    #[wasm_bindgen(method, js_name = openRelay)]
    pub fn open_relay(this: &Loader, anew: bool) -> HtmlIFrameElement;
    /// The relay frame, if it is open.
    #[wasm_bindgen(method, js_name = findRelay)]
    pub fn find_relay(this: &Loader) -> Option<HtmlIFrameElement>;
    /// Runs `work` in a task of its own, before any timer.
    #[wasm_bindgen(method, js_name = runSoon)]
    pub fn run_soon(this: &Loader, work: &JsValue);
    /// The form does not wait for its frames any more.
    #[wasm_bindgen(method, js_name = releaseForm)]
    pub fn release_form(this: &Loader, form: &PlacedForm);
    /// The form stands; its container is not busy any more.
    #[wasm_bindgen(method, js_name = completeForm)]
    pub fn complete_form(this: &Loader, form: &PlacedForm);
    /// Hands over what the page module does with messages, new forms, a changed look and the end. Messages that came
    /// before follow.
    #[wasm_bindgen(method)]
    pub fn connect(this: &Loader, page: &JsValue);
    /// Tells shoppers and merchant that the form cannot be used.
    #[wasm_bindgen(method)]
    pub fn fail(this: &Loader, error: &JsValue);

    /// A form that the loader has placed.
    #[derive(Debug, Clone)]
    pub type PlacedForm;
    /// Tells its messages from those of others.
    #[wasm_bindgen(method, getter)]
    pub fn nonce(this: &PlacedForm) -> String;
    /// Brands that its placeholder names: those of a card form, or one other.
    #[wasm_bindgen(method, getter)]
    pub fn brands(this: &PlacedForm) -> Vec<String>;
    /// True for a form of cards.
    #[wasm_bindgen(method, getter, js_name = isCard)]
    pub fn is_card(this: &PlacedForm) -> bool;
    /// Part of its class names that tells it from other card forms.
    #[wasm_bindgen(method, getter)]
    pub fn key(this: &PlacedForm) -> String;
    /// Its container.
    #[wasm_bindgen(method, getter)]
    pub fn container(this: &PlacedForm) -> HtmlElement;
    /// The form element of cards.
    #[wasm_bindgen(method, getter)]
    pub fn form(this: &PlacedForm) -> Option<FormNode>;
    /// Frame of the card number.
    #[wasm_bindgen(method, getter)]
    pub fn number(this: &PlacedForm) -> Option<HtmlIFrameElement>;
    /// Frame of the security code.
    #[wasm_bindgen(method, getter)]
    pub fn code(this: &PlacedForm) -> Option<HtmlIFrameElement>;
    /// The address in its placeholder's `action`, or empty.
    #[wasm_bindgen(method, js_name = readResult)]
    pub fn read_result(this: &PlacedForm) -> String;
}

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
    #[wasm_bindgen(method, final, getter, js_class = "Document", js_name = adoptedStyleSheets)]
    fn adopted_style_sheets(this: &DocumentNode) -> JsValue;
    #[wasm_bindgen(method, final, setter, js_class = "Document", js_name = adoptedStyleSheets)]
    fn set_adopted_style_sheets(this: &DocumentNode, sheets: &JsValue);
    #[wasm_bindgen(method, final, getter, js_class = "Document", js_name = baseURI)]
    fn base_uri(this: &DocumentNode) -> String;

    /// An array of the page that the form takes part in.
    #[wasm_bindgen(js_name = "Array.from")]
    fn array_from(list: &JsValue) -> Array;
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

/// Functions of the document.
pub mod document {
    use super::*;

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

    /// Adds a style sheet to those that scripts have given the page.
    pub fn adopt_sheet(sheet: &JsValue) {
        DOCUMENT.with(|document| {
            let sheets = array_from(&document.adopted_style_sheets());
            sheets.push(sheet);
            document.set_adopted_style_sheets(&sheets);
        });
    }

    /// Takes a style sheet away again.
    pub fn remove_sheet(sheet: &JsValue) {
        DOCUMENT.with(|document| {
            let sheets = array_from(&document.adopted_style_sheets());
            let others: Array = sheets.iter().filter(|other| other != sheet).collect();
            document.set_adopted_style_sheets(&others);
        });
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
