//! The merchant's callbacks: one enum with their arguments. They are looked up when they are called, their promises are
//! awaited, and their errors are the merchant's.

use js_sys::{Array, Function};
use tillgate_shared::form_options::rows;
use tillgate_shared::frame_messages::{Sink as _, Source as _};
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlElement, HtmlIFrameElement};

use super::bridge::{self, Data, FormNode, Value, list_of};
use super::session::Session;

/// Names of errors in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorName {
    /// The checkout cannot be paid.
    InvalidCheckout,
    /// A frame is missing or silent.
    FrameCommunication,
    /// A submit had no answer.
    FrameSubmit,
    /// Anything else.
    Widget,
}

impl ErrorName {
    fn as_str(self) -> &'static str {
        match self {
            Self::InvalidCheckout => "InvalidCheckoutIdError",
            Self::FrameCommunication => "PciIframeCommunicationError",
            Self::FrameSubmit => "PciIframeSubmitError",
            Self::Widget => "WidgetError",
        }
    }
}

/// A form that is ready, as `onReady` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyForm {
    /// Kind of the form.
    pub kind: &'static str,
    /// Its brands.
    pub brands: Vec<String>,
}

/// A callback that receives a notification, with its arguments.
#[derive(Debug, Clone)]
pub enum Callback<'a> {
    Ready(&'a [ReadyForm]),
    ReadyExternal,
    FrameReady(&'a HtmlIFrameElement),
    FrameFocused(&'a HtmlIFrameElement),
    FrameLeft(&'a HtmlIFrameElement),
    BrandChanged(&'a str),
    BrandsDetected { brands: &'a [String], active: &'a str, container: &'a str },
    BinDetected { brands: &'a [String], active: &'a str },
    CardNumberLeft(bool),
    ExpiryDateLeft(bool),
    CardHolderLeft(bool),
    SecurityCodeLeft(bool),
    DataSaved(&'a JsValue),
    ChallengeShown(&'a HtmlElement),
    WindowClosed,
    Submitted,
    Failed { name: ErrorName, message: &'a str, brand: Option<&'a str>, while_submitting: bool },
}

impl Callback<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Ready(_) => rows::ON_READY.name,
            Self::ReadyExternal => rows::ON_READY_EXTERNAL.name,
            Self::FrameReady(_) => rows::ON_READY_IFRAME_COMMUNICATION.name,
            Self::FrameFocused(_) => rows::ON_FOCUS_IFRAME_COMMUNICATION.name,
            Self::FrameLeft(_) => rows::ON_BLUR_IFRAME_COMMUNICATION.name,
            Self::BrandChanged(_) => rows::ON_CHANGE_BRAND.name,
            Self::BrandsDetected { .. } => rows::ON_DETECT_BRAND.name,
            Self::BinDetected { .. } => rows::ON_DETECT_BIN.name,
            Self::CardNumberLeft(_) => rows::ON_BLUR_CARD_NUMBER.name,
            Self::ExpiryDateLeft(_) => rows::ON_BLUR_EXPIRY_DATE.name,
            Self::CardHolderLeft(_) => rows::ON_BLUR_CARD_HOLDER.name,
            Self::SecurityCodeLeft(_) => rows::ON_BLUR_SECURITY_CODE.name,
            Self::DataSaved(_) => rows::ON_SAVE_TRANSACTION_DATA.name,
            Self::ChallengeShown(_) => rows::ON_LOAD_THREE_D_IFRAME.name,
            Self::WindowClosed => rows::ON_LIGHTBOX_CANCEL.name,
            Self::Submitted => rows::ON_AFTER_SUBMIT.name,
            Self::Failed { .. } => rows::ON_ERROR.name,
        }
    }

    fn arguments(&self) -> Vec<JsValue> {
        match *self {
            Self::Ready(forms) => {
                let form = |form: &ReadyForm| {
                    let mut data = Data::empty();
                    data.set_text("containerKey", form.kind);
                    data.set_texts("ccMethods", &form.brands);
                    data.finish()
                };
                vec![forms.iter().map(form).collect::<Array>().into()]
            }
            Self::FrameReady(frame) | Self::FrameFocused(frame) | Self::FrameLeft(frame) => {
                vec![Data::empty().with("$iframe", &wrap_nodes(vec![frame.clone().into()])).finish()]
            }
            Self::BrandChanged(brand) => vec![brand.into()],
            Self::BrandsDetected { brands, active, container } => {
                vec![list_of(brands).into(), active.into(), container.into()]
            }
            Self::BinDetected { brands, active } => {
                let mut data = Data::empty();
                data.set_texts("brands", brands);
                data.set_text("activeBrand", active);
                vec![data.finish()]
            }
            Self::CardNumberLeft(is_valid)
            | Self::ExpiryDateLeft(is_valid)
            | Self::CardHolderLeft(is_valid)
            | Self::SecurityCodeLeft(is_valid) => vec![is_valid.into()],
            Self::DataSaved(data) => vec![data.clone()],
            Self::Failed { name, message, brand, while_submitting } => {
                vec![make_error(name, message, brand, while_submitting)]
            }
            Self::ReadyExternal | Self::WindowClosed | Self::Submitted | Self::ChallengeShown(_) => Vec::new(),
        }
    }

    fn frame(&self) -> Option<&HtmlIFrameElement> {
        match self {
            Self::FrameReady(frame) | Self::FrameFocused(frame) | Self::FrameLeft(frame) => Some(frame),
            _ => None,
        }
    }
}

fn make_error(name: ErrorName, message: &str, brand: Option<&str>, while_submitting: bool) -> JsValue {
    let error = Value(js_sys::Error::new(message).into());
    error.set("name", &name.as_str().into());
    if name == ErrorName::Widget {
        error.set("event", &if while_submitting { "submit" } else { "load" }.into());
        error.set("brand", &brand.map(JsValue::from_str).unwrap_or_default());
    }
    error.0
}

/// Calls a callback of the merchant, if there is one. An exception of it appears in the merchant's console. After the
/// end, the options are those of another checkout.
pub fn notify(session: &Session, callback: &Callback<'_>, form: Option<&FormNode>) {
    if session.has_ended() {
        return;
    }
    let options = session.given_options();
    let Some(function) = options.function(callback.name()) else { return };
    let this = match callback {
        Callback::ChallengeShown(frame) => JsValue::from((*frame).clone()),
        _ => this_for(&options, form, callback.frame()),
    };
    if let Err(thrown) = bridge::call(&function, &this, &callback.arguments()) {
        bridge::report_thrown(&thrown);
    }
    session.expire_options();
}

/// Returns `this` of a callback: the merchant's options, with the form and the frame that it is about.
fn this_for(options: &Value, form: Option<&FormNode>, frame: Option<&HtmlIFrameElement>) -> JsValue {
    let this = bridge::inherit_from(&options.0);
    if let Some(form) = form {
        let node: &JsValue = form.as_ref();
        this.set("$form", &wrap_nodes(vec![node.clone().unchecked_into()]));
    }
    if let Some(frame) = frame {
        this.set("$iframe", &wrap_nodes(vec![frame.clone().into()]));
    }
    this.0
}

/// Asks the merchant's callbacks if a form may be submitted. False, a rejected promise, an exception and
/// `preventDefault()` stop it; everything else lets it continue.
pub async fn confirm_submit(session: &Session, name: &str, form: &FormNode) -> bool {
    ask(session, name, form).await && ask(session, &[name, "Promise"].concat(), form).await
}

async fn ask(session: &Session, name: &str, form: &FormNode) -> bool {
    let options = session.given_options();
    let Some(function) = options.function(name) else { return true };
    let init = web_sys::EventInit::new();
    init.set_cancelable(true);
    let Ok(event) = Event::new_with_event_init_dict("submit", &init) else { return true };
    let target = Data::empty().with("value", form.as_ref()).finish();
    let _ = js_sys::Object::define_property(
        event.unchecked_ref::<js_sys::Object>(),
        &"target".into(),
        target.unchecked_ref::<js_sys::Object>(),
    );
    let answer = match bridge::call(&function, &this_for(&options, Some(form), None), &[event.clone().into()]) {
        Ok(answer) => bridge::settle(answer).await,
        Err(thrown) => {
            bridge::report_thrown(&thrown);
            Err(thrown)
        }
    };
    session.expire_options();
    answer.is_ok_and(|answer| answer != JsValue::FALSE) && !event.default_prevented()
}

/// Lets the merchant create the checkout, for a page whose script has none.
///
/// # Errors
/// The message of what the merchant's function threw, or what is wrong with its value.
pub async fn create_checkout(session: &Session, brand: &str) -> Result<String, String> {
    let options = session.given_options();
    let create = options.function(rows::CREATE_CHECKOUT.name).ok_or("it is missing")?;
    let mut order = Data::empty();
    order.set_text("brand", brand);
    let told = |thrown: JsValue| {
        let thrown = Value(thrown);
        thrown.get("message").and_then(|message| message.as_text()).unwrap_or_else(|| thrown.display())
    };
    let made = bridge::call(&create, &options.0, &[order.finish()]).map_err(told)?;
    let id = bridge::settle(made).await.map_err(told)?;
    let is_id_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    id.as_string()
        .filter(|id| !id.is_empty() && id.bytes().all(is_id_byte))
        .ok_or_else(|| "it gave no checkout id".to_owned())
}

/// Returns nodes as merchants use them: an object of their own jQuery, or a list with the few functions that the
/// contract names.
fn wrap_nodes(nodes: Vec<Element>) -> JsValue {
    let list: Array = nodes.iter().map(JsValue::from).collect();
    if let Some(jquery) = bridge::find_global("jQuery").and_then(|value| value.0.dyn_into::<Function>().ok()) {
        return bridge::call(&jquery, &JsValue::UNDEFINED, &[list.into()]).unwrap_or_default();
    }
    let wrapped = Value(list.clone().into());
    let inside = nodes.clone();
    let find = Closure::<dyn Fn(String) -> JsValue>::new(move |css: String| {
        let found = inside.iter().map(|node| bridge::find_all(node, &css));
        wrap_nodes(found.flatten().collect())
    });
    wrapped.set("find", &find.into_js_value());
    let (first, all, this) = (nodes.first().cloned(), nodes.clone(), JsValue::from(list.clone()));
    let val = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |value: JsValue| {
        if value.is_undefined() {
            return first
                .as_ref()
                .map(|node| Value(node.into()).get("value").map(|it| it.0).unwrap_or_default())
                .unwrap_or_default();
        }
        all.iter().for_each(|node| Value(node.into()).set("value", &value));
        this.clone()
    });
    wrapped.set("val", &val.into_js_value());
    let this = JsValue::from(list);
    let height = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |value: JsValue| {
        if value.is_undefined() {
            return nodes.first().map(|node| node.client_height().into()).unwrap_or_default();
        }
        let length = match value.as_f64() {
            Some(_) => Value(value).display() + "px",
            None => value.as_string().unwrap_or_default(),
        };
        nodes.iter().for_each(|node| super::dom::set_style(node.unchecked_ref(), "height", &length));
        this.clone()
    });
    wrapped.set("height", &height.into_js_value());
    wrapped.0
}
