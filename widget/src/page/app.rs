//! The form as a yew component: its state, and what each message does to it.
//!
//! Everything that is conditional is the last child of its own wrapper, no event goes through yew, and
//! classes that come and go are toggled on the node itself.

mod brand;
mod check;
mod hear;
mod listen;

use std::rc::Rc;

use gloo_events::EventListener;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::fields::{Fault, Field, FrameState};
use super::handle::Handle;
use super::texts::Texts;
use super::{js, options};

/// What an app is given.
#[derive(Clone, PartialEq, Properties)]
pub struct Properties {
    pub handle: Rc<Handle>,
    /// The gateway's address, ending in a slash.
    pub base: String,
    /// What the locale's script brought.
    pub language: JsValue,
    /// The locale as the merchant wrote it.
    pub locale: String,
}

/// What can happen to a form.
pub enum Message {
    /// A frame said something.
    Frame { is_number: bool, data: JsValue },
    /// The shopper chose a brand.
    Brand,
    /// The shopper typed an expiry date or a name.
    Typed(Field),
    /// The shopper left the field.
    Left(Field),
    /// Somebody wants to pay: button, Enter, or the merchant's script.
    Pay,
    /// The merchant let it go on, or not.
    Allowed(Option<String>),
    /// The style of the page may have changed.
    Restyle,
    /// Whatever was under way is over.
    Idle,
}

/// The state of one form.
pub struct App {
    pub(super) handle: Rc<Handle>,
    pub(super) base: String,
    pub(super) words: Texts,
    locale: String,
    direction: String,
    pub(super) brands: Vec<String>,
    pub(super) brand: String,
    /// The shopper has chosen the brand; detection may not change it while it fits.
    by_hand: bool,
    /// What the merchant was last told about the number's brands.
    detected: Vec<String>,
    /// What the gateway knows of the brands, by code.
    known_brands: JsValue,
    pub(super) number: FrameState,
    pub(super) code: FrameState,
    faults: [Option<Fault>; 4],
    /// Faults have stopped the shopper, and nothing was typed since.
    halted: bool,
    /// What was last said to the frames about their faults.
    told: [Option<Fault>; 4],
    /// A message for the form as a whole; with `ended` it stands in place of the form.
    pub(super) notice: Option<String>,
    pub(super) ended: bool,
    /// Text of the live region.
    pub(super) announcement: String,
    /// A submit is under way.
    pub(super) busy: bool,
    configured: bool,
    shown: bool,
    pub(super) select: NodeRef,
    pub(super) expiry: NodeRef,
    pub(super) holder: NodeRef,
    pub(super) button: NodeRef,
    listeners: Vec<EventListener>,
}

impl Component for App {
    type Message = Message;
    type Properties = Properties;

    fn create(context: &Context<Self>) -> Self {
        let given = context.props();
        let handle = given.handle.clone();
        let direction = js::text(&given.language, "dir");
        let _ = handle.form.set_attribute("lang", &given.locale);
        if !direction.is_empty() {
            let _ = handle.form.set_attribute("dir", &direction);
        }
        let app = Self {
            words: options::words(&given.language),
            brands: handle.brands.clone(),
            brand: handle.brands.first().cloned().unwrap_or_default(),
            handle,
            known_brands: JsValue::UNDEFINED,
            by_hand: false,
            detected: Vec::new(),
            base: given.base.clone(),
            locale: given.locale.clone(),
            direction,
            number: empty_frame(),
            code: empty_frame(),
            faults: [None; 4],
            halted: false,
            told: [None; 4],
            notice: None,
            ended: false,
            announcement: String::new(),
            busy: false,
            configured: false,
            shown: false,
            select: NodeRef::default(),
            expiry: NodeRef::default(),
            holder: NodeRef::default(),
            button: NodeRef::default(),
            listeners: Vec::new(),
        };
        app.dress();
        app
    }

    fn update(&mut self, context: &Context<Self>, message: Message) -> bool {
        match message {
            Message::Frame { is_number, data } => {
                // Once it is known what the checkout offers, the frames' being ready changes nothing that shows.
                let is_ready = js::text(&data, "type") == "ready";
                let shows = !is_ready || self.shown || !self.configured || self.is_faulty();
                self.heard(context, is_number, &data);
                return shows;
            }
            Message::Brand => {
                if let Some(select) = node::<HtmlSelectElement>(&self.select) {
                    self.by_hand = true;
                    self.choose(select.value());
                }
            }
            Message::Typed(Field::Expiry) => {
                self.halted = false;
                if let Some(input) = node::<HtmlInputElement>(&self.expiry) {
                    check::format_expiry(&input);
                }
                self.corrected(Field::Expiry);
            }
            Message::Typed(field) => {
                self.halted = false;
                self.corrected(field);
            }
            Message::Left(field) => self.left(field),
            Message::Pay => self.pay(context),
            Message::Allowed(allowed) => self.allowed(allowed),
            Message::Restyle => {
                if self.shown {
                    self.instruct();
                }
                return false;
            }
            Message::Idle => {
                self.busy = false;
                self.announcement.clear();
            }
        }
        true
    }

    fn view(&self, _: &Context<Self>) -> Html {
        super::view::view(self)
    }

    fn rendered(&mut self, context: &Context<Self>, first: bool) {
        if first {
            self.listen(context);
        }
        self.mark();
    }
}

/// A frame of which nothing is known yet.
fn empty_frame() -> FrameState {
    FrameState { empty: true, ..FrameState::default() }
}

impl App {
    /// Labels, and the parts that options hide, on the nodes of the loader.
    fn dress(&self) {
        let show = options::on_by_default("showLabels");
        for (name, label) in self.handle.labels() {
            let key = if name == "expiry" { "expiryDate" } else { name };
            label.set_text_content(Some(self.words.get(key)));
            label.set_hidden(!show);
        }
        for (frame, key) in [(&self.handle.number, "cardNumber"), (&self.handle.code, "cvv")] {
            let _ = frame.set_attribute("title", self.words.get(key));
            let _ = frame.set_attribute("placeholder", self.words.get(key));
        }
        if !check::code_required()
            && let Some(group) = self.handle.wrapper("cvv").parent_element()
        {
            group.unchecked_ref::<HtmlElement>().set_hidden(true);
        }
    }

    /// A message takes the form's place for good.
    pub(super) fn end(&mut self, key: &str) {
        self.notice = Some(self.words.get(key).to_owned());
        self.ended = true;
        self.busy = false;
        self.handle.form.set_hidden(true);
        self.reveal();
    }

    fn reveal(&self) {
        let container = &self.handle.container;
        let _ = container.class_list().remove_1("wpwl-loading");
        let _ = container.remove_attribute("aria-busy");
    }
}

/// The node of a reference that view.rs gives to an element of this type.
fn node<T: JsCast>(reference: &NodeRef) -> Option<T> {
    reference.get().map(JsCast::unchecked_into)
}

fn focus_element(node: &NodeRef) {
    if let Some(element) = self::node::<HtmlElement>(node) {
        let _ = element.focus();
    }
}
