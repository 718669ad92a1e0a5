//! The form as a yew component: its state, and what each message does to it.
//!
//! Everything that is conditional is the last child of its own wrapper, no event goes through yew, and
//! what comes and goes on the loader's nodes is set on the node itself.

mod brand;
mod check;
mod hear;

use std::rc::Rc;

use wasm_bindgen::JsValue;
use yew::prelude::*;

use super::fields::{Fault, Field, FrameState};
use super::handle::Handle;
use super::{js, runtime};

/// What an app is given.
#[derive(Clone, PartialEq, Properties)]
pub struct Properties {
    pub handle: Rc<Handle>,
    /// The address of the frames, ending in a slash.
    pub frames_base: String,
}

/// What can happen to a form.
pub enum Message {
    /// A frame said something.
    Frame { is_number: bool, data: JsValue },
    /// The shopper chose this brand.
    Brand(String),
    /// The shopper typed an expiry date or a name.
    Typed(Field),
    /// The shopper left the field.
    Left(Field),
    /// Somebody wants to pay: button, Enter, or the merchant's script.
    Pay,
    /// The merchant let it go on, or not.
    Allowed(Option<String>),
    /// Whatever was under way is over.
    Idle,
}

/// The state of one form.
pub struct App {
    pub(super) handle: Rc<Handle>,
    pub(super) frames_base: String,
    pub(super) brand: String,
    /// The shopper has chosen the brand; detection may not change it while it fits.
    by_hand: bool,
    /// What the merchant was last told about the number's brands.
    detected: Vec<String>,
    pub(super) number: FrameState,
    pub(super) code: FrameState,
    faults: [Option<Fault>; 4],
    /// Faults have stopped the shopper, and nothing was typed since.
    halted: bool,
    /// The fault that each field was last told of.
    told: [Option<Fault>; 4],
    /// A message for the form as a whole.
    pub(super) notice: Option<String>,
    /// Text of the live region.
    pub(super) announcement: String,
    /// A submit is under way.
    pub(super) busy: bool,
}

impl Component for App {
    type Message = Message;
    type Properties = Properties;

    fn create(context: &Context<Self>) -> Self {
        let given = context.props();
        let handle = given.handle.clone();
        let brands = js::texts(&handle.object, "cards");
        Self {
            brand: brands.first().cloned().unwrap_or_default(),
            handle,
            by_hand: false,
            detected: Vec::new(),
            frames_base: given.frames_base.clone(),
            number: empty_frame(),
            code: empty_frame(),
            faults: [None; 4],
            halted: false,
            told: [None; 4],
            notice: None,
            announcement: String::new(),
            busy: false,
        }
    }

    fn update(&mut self, context: &Context<Self>, message: Message) -> bool {
        match message {
            Message::Frame { is_number, data } => {
                // The frames' being ready changes nothing that shows, unless they have to hear of faults anew.
                let shows = js::text(&data, "type") != "ready" || self.busy || self.is_faulty();
                self.heard(context, is_number, &data);
                return shows;
            }
            Message::Brand(brand) => {
                self.by_hand = true;
                self.choose(brand);
            }
            Message::Typed(Field::Expiry) => {
                self.halted = false;
                check::format_expiry(&self.handle.expiry);
                self.corrected(Field::Expiry);
            }
            Message::Typed(field) => {
                self.halted = false;
                self.corrected(field);
            }
            Message::Left(field) => self.left(field),
            Message::Pay => self.pay(context),
            Message::Allowed(allowed) => self.allowed(allowed),
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

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        self.mark();
    }
}

/// A frame of which nothing is known yet.
fn empty_frame() -> FrameState {
    FrameState { empty: true, ..FrameState::default() }
}

impl App {
    /// A message takes the form's place for good.
    pub(super) fn end(&mut self, key: &str) {
        self.busy = false;
        runtime::loader("end", &[self.handle.object.clone(), key.into()]);
    }
}
