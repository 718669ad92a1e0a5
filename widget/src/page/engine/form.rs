//! A form as a yew component: its state, and what each message does to it. All kinds of forms are this component; what
//! is particular to a kind is its [`Part`].
//!
//! A merchant's page moves, copies and restyles the form. So everything that comes and goes is the last child of its
//! own wrapper, no event goes through yew, and classes that come and go are set on the nodes themselves.

use std::rc::Rc;

use tillgate_shared::field::FormField;
use web_sys::{HtmlButtonElement, HtmlElement};
use yew::prelude::*;

use super::field::Field;
use super::form_message::{Message, Notice};
use super::submit_stage::SubmitStage;
use crate::page::bridge::FormNode;
use crate::page::dom::Listener;
use crate::page::handle::FormHandle;
use crate::page::payment_methods::brand_part::BrandPart;
use crate::page::payment_methods::card_part::CardPart;
use crate::page::payment_methods::stored_part::StoredPart;
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

impl Session {
    /// Starts the yew app of a form in `root`.
    pub fn mount(self: &Rc<Self>, form: &Rc<FormHandle>, setup: Setup, root: &HtmlElement) {
        let properties = FormProperties {
            session: self.clone(),
            handle: form.clone(),
            setup: Rc::new(std::cell::RefCell::new(Some(setup))),
        };
        let app = yew::Renderer::<Form>::with_root_and_props(root.clone().into(), properties).render();
        form.set_app(app.callback(|message: Message| message), move || app.destroy());
    }
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
            self.session.mark_language(&form);
            self.handle.form.replace(Some(form.unchecked_into()));
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
