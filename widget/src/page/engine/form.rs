//! A form as a yew component: its state, and what each message does to it. All kinds of forms are this component; what
//! is particular to a kind is its [`Part`].
//!
//! A merchant's page moves, copies and restyles the form. So everything that comes and goes is the last child of its
//! own wrapper, no event goes through yew, and classes that come and go are set on the nodes themselves.

use std::rc::Rc;

use tillgate_shared::field::FormField;
use tillgate_shared::frame_messages::{Config, FieldReport, FrameField};
use web_sys::{HtmlButtonElement, HtmlElement};
use yew::prelude::*;

use super::field::{Field, Place};
use super::lost::SubmitStage;
use crate::page::bridge::{FormNode, Value};
use crate::page::dom::Listener;
use crate::page::handle::{FormHandle, HandleKind};
use crate::page::payment_methods::brand::BrandPart;
use crate::page::payment_methods::card::CardPart;
use crate::page::payment_methods::stored::StoredPart;
use crate::page::relay::RelayAnswer;
use crate::page::session::Session;

/// The particulars of a kind of form.
pub enum Part {
    /// Nothing. A form that has begun is never without a kind.
    None,
    /// A card that is typed in.
    Card(Box<CardPart>),
    /// A brand that is no card.
    Brand(Box<BrandPart>),
    /// Stored cards and accounts.
    Stored(Box<StoredPart>),
}

/// The beginning of a form.
pub struct Setup {
    /// Its fields.
    pub fields: Vec<Field>,
    /// The particulars of its kind.
    pub part: Part,
}

impl Default for Setup {
    fn default() -> Self {
        Self { fields: Vec::new(), part: Part::None }
    }
}

/// Properties of a form.
#[derive(Clone, Properties)]
pub struct FormProperties {
    /// Everything that the forms of a page share.
    pub session: Rc<Session>,
    /// The form as others see it.
    pub handle: Rc<FormHandle>,
    /// Its beginning, which the form takes.
    pub setup: Rc<std::cell::RefCell<Option<Setup>>>,
}

impl PartialEq for FormProperties {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

/// A message for the form as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The text. A line break begins another line.
    pub text: String,
    /// Buttons behind it, as texts and actions.
    pub actions: Vec<(String, NoticeAction)>,
}

impl Notice {
    /// A message about something that went wrong.
    pub fn error(text: String) -> Self {
        Self { text, actions: Vec::new() }
    }
}

/// The action of a button in a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeAction {
    /// Brings the window of the brand to the front, or pays again if it is closed.
    ShowWindow,
    /// Gives up the window of the brand.
    CancelWindow,
    /// Gives up the 3-D Secure challenge.
    CancelChallenge,
}

/// A step of the removal of a stored account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveStep {
    /// The form asks if the account is to be removed.
    Ask,
    /// The account is kept.
    Keep,
    /// The account is removed.
    Remove,
}

/// An event of a form.
pub enum Message {
    /// A frame reported something about its field.
    Frame(FrameField, FieldReport<Value>),
    /// The shopper typed into an input of the page, or chose something there.
    Typed(usize),
    /// The shopper left an input of the page.
    Left(usize),
    /// The shopper chose the brand of the card.
    BrandChosen(String),
    /// The shopper chose a stored account.
    AccountChosen(usize),
    /// The shopper pressed a button about the removal of a stored account.
    RemovePressed {
        /// Position of the account.
        entry: usize,
        /// The button.
        step: RemoveStep,
    },
    /// A stored account has been removed, or not.
    Removed {
        /// Position of the account.
        entry: usize,
        /// True if it has been.
        is_removed: bool,
    },
    /// The shopper chose how an account at the brand is named.
    ModeChosen(String),
    /// Somebody wants to pay: by the button, Enter, or a script of the merchant.
    Pay,
    /// The merchant let the submit continue with this checkout. Empty if it could not be created, `None` if stopped.
    Confirmed(Option<String>),
    /// The sheet of a wallet was closed. If the shopper agreed, the relay frame has the token.
    SheetClosed {
        /// Id of the checkout.
        checkout: String,
        /// True if the shopper agreed.
        agreed: bool,
    },
    /// The gateway answered.
    Answered(Box<RelayAnswer>),
    /// The payment was declined after a challenge, and the form stays.
    Declined,
    /// Time to look after the frame that has the request, or those that have been asked.
    FrameCheckDue,
    /// The gateway told the state of the checkout of a lost submit. `None` if it did not in time.
    StateRead(Option<Box<RelayAnswer>>),
    /// The checkout may offer other brands or accounts than before.
    Offered(Rc<Config>),
    /// Shows a message, or none.
    Notice(Option<Notice>),
    /// Says something to screen readers.
    Announce(String),
    /// A submit has been under way for some time.
    StillBusy {
        /// Number of the submit.
        submit: u32,
        /// Key of the text that says so.
        key: &'static str,
    },
    /// Nothing is under way any more.
    Idle,
    /// The shopper is back from another page: the focus returns to where it was at the submit.
    ReturnFocus,
    /// The page may look different than before.
    Restyle,
    /// Frames and configuration of a card have come.
    Complete,
    /// The field that the merchant wants gets the focus.
    Autofocus,
    /// A field gets the focus: its label was pressed, or the edge of its frame.
    FocusWanted(usize),
    /// A text takes the form's place, by its key.
    End(&'static str),
}

/// The state of a form.
pub struct Form {
    pub(in crate::page) session: Rc<Session>,
    pub(in crate::page) handle: Rc<FormHandle>,
    pub(in crate::page) fields: Vec<Field>,
    pub(in crate::page) part: Part,
    /// The chosen brand of a card, or the brand of the form or of the stored account.
    pub(in crate::page) brand: String,
    /// Faults have stopped the shopper, and nothing has been typed since.
    pub(in crate::page) is_halted: bool,
    /// A message for the form as a whole.
    pub(in crate::page) notice: Option<Notice>,
    /// Text for screen readers.
    pub(in crate::page) announcement: String,
    /// True while a submit is under way.
    pub(in crate::page) is_busy: bool,
    /// The amount that the button shows, as the gateway compares it. While a submit is under way, the one that was
    /// pressed.
    pub(super) shown_amount: Option<String>,
    /// True once the merchant has let the submit continue. Fields are locked from then on.
    pub(super) is_sent: bool,
    /// Number of submits that have been under way.
    pub(super) submits: u32,
    /// True while fields and button are locked for a submit.
    pub(super) is_locked: bool,
    /// The focus returns to where it was at the submit, as soon as that can take it.
    pub(super) wants_focus: bool,
    /// The part of a card's submit that the form waits for.
    pub(super) stage: SubmitStage,
    /// The timer of the stage.
    pub(super) stage_timer: Option<i32>,
    /// The checkout that was submitted last.
    pub(super) paid_checkout: String,
    pub(in crate::page) form_ref: NodeRef,
    pub(in crate::page) button_ref: NodeRef,
    pub(in crate::page) listeners: Vec<Listener>,
}

impl Component for Form {
    type Message = Message;
    type Properties = FormProperties;

    fn create(context: &Context<Self>) -> Self {
        let given = context.props();
        let brand = given.handle.brands.first().cloned().unwrap_or_default();
        let setup = given.setup.take().unwrap_or_default();
        Self {
            session: given.session.clone(),
            handle: given.handle.clone(),
            fields: setup.fields,
            part: setup.part,
            brand,
            is_halted: false,
            notice: None,
            announcement: String::new(),
            is_busy: false,
            shown_amount: None,
            is_sent: false,
            submits: 0,
            is_locked: false,
            wants_focus: false,
            stage: SubmitStage::default(),
            stage_timer: None,
            paid_checkout: String::new(),
            form_ref: NodeRef::default(),
            button_ref: NodeRef::default(),
            listeners: Vec::new(),
        }
    }

    fn update(&mut self, context: &Context<Self>, message: Message) -> bool {
        match message {
            Message::Frame(field, report) => self.receive_report(context, field, report),
            Message::Typed(at) => self.field_typed(at),
            Message::Left(at) => self.field_left(at),
            Message::BrandChosen(brand) => self.brand_chosen(brand),
            Message::AccountChosen(entry) => self.choose_account(entry),
            Message::RemovePressed { entry, step } => self.press_remove(context, entry, step),
            Message::Removed { entry, is_removed } => self.account_removed(entry, is_removed),
            Message::ModeChosen(mode) => self.choose_mode(&mode),
            Message::Pay => self.pay(context),
            Message::Confirmed(checkout) => self.confirmed(context, checkout),
            Message::SheetClosed { checkout, agreed } => self.sheet_closed(context, checkout, agreed),
            Message::Answered(answer) => self.answered(&answer),
            Message::Declined => self.declined("Other"),
            Message::FrameCheckDue => self.check_frame(context),
            Message::StateRead(answer) => self.state_read(answer.as_deref()),
            Message::Offered(config) => self.follow_offer(&config),
            Message::Notice(notice) => self.notice = notice,
            Message::Announce(text) => self.announcement = text,
            Message::StillBusy { submit, key } => self.tell_progress(submit, key),
            Message::Idle => {
                self.stage = SubmitStage::Idle;
                self.is_busy = false;
                self.announcement.clear();
            }
            Message::ReturnFocus => self.wants_focus = true,
            Message::Restyle => self.send_looks(),
            Message::Complete => self.complete_parts(),
            Message::Autofocus => self.focus_wanted_field(),
            Message::FocusWanted(at) => self.focus_field(at),
            Message::End(key) => self.end(key),
        }
        true
    }

    fn view(&self, _: &Context<Self>) -> Html {
        match &self.part {
            Part::Card(card) => self.view_card(card),
            Part::Brand(brand) => self.view_brand(brand),
            Part::Stored(stored) => self.view_stored(stored),
            Part::None => Html::default(),
        }
    }

    fn rendered(&mut self, context: &Context<Self>, is_first: bool) {
        if is_first {
            self.adopt_form();
            self.attach_listeners(context);
            self.note_wrong_fields();
            self.complete_kind(context);
        }
        self.show_brand();
        if !self.is_busy {
            self.shown_amount = self.button_amount().0;
        }
        self.mark_controls();
        self.update_lock();
        self.complete_final();
    }
}

impl Form {
    /// Returns the form element.
    pub(in crate::page) fn node(&self) -> Option<FormNode> {
        self.handle.form_node()
    }

    /// Returns the pay button.
    pub(in crate::page) fn button(&self) -> Option<HtmlButtonElement> {
        self.button_ref.cast()
    }

    /// Finds the field with this key.
    pub(in crate::page) fn find_field(&self, key: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.row.key == key)
    }

    /// Finds the first enabled field that is posted as this parameter.
    pub(super) fn find_field_of_parameter(&self, name: &str) -> Option<usize> {
        let row: &FormField = FormField::find_by_parameter(name)?;
        let is_field = |field: &Field| {
            field.enabled && (field.name == name || field.row.name == row.name || field.row.parameters.contains(&name))
        };
        self.fields.iter().position(is_field)
    }

    /// Makes the rendered form element known, and protects it. The form of cards is the loader's, which has done so.
    fn adopt_form(&mut self) {
        use wasm_bindgen::JsCast as _;
        if let Some(form) = self.form_ref.cast::<HtmlElement>() {
            let direction = self.session.text_direction();
            if !direction.is_empty() {
                let _ = form.set_attribute("dir", &direction);
            }
            self.handle.form.replace(Some(form.unchecked_into()));
        }
    }

    /// Listens to the form and the inputs of its fields.
    fn attach_listeners(&mut self, context: &Context<Self>) {
        let Some(form) = self.node() else { return };
        self.listeners.extend(super::view::form_listeners(context, &form, self.handle.kind.get() != HandleKind::Card));
        for (at, field) in self.fields.iter().enumerate() {
            if let (Place::Input(_), Some(control)) = (&field.place, field.control()) {
                if !field.initial.is_empty() {
                    field.set_value(&field.initial);
                }
                self.listeners.extend(super::view::input_listeners(context, at, field, &control));
            }
        }
        if let Some(button) = self.button() {
            // A press of the button must not leave the field first: a hint that appeared then would move the button
            // away, and the click would be lost.
            self.listeners.push(Listener::new(&button, "mousedown", |event| event.prevent_default()));
        }
    }

    /// Ends the form: a text takes its place.
    pub(in crate::page) fn end(&mut self, key: &str) {
        self.is_busy = false;
        self.notice = Some(Notice::error(self.session.text(key)));
        if let Some(form) = self.node() {
            form.set_visible(false);
        }
        let (session, handle) = (self.session.clone(), self.handle.clone());
        session.end(&handle);
    }
}
