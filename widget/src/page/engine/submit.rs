//! The submit of a form: checks, the merchant's decision, one request from the gateway's origin, and what its answer
//! means.

use std::rc::Rc;

use tillgate_shared::brand::{Flow, FormKind};
use tillgate_shared::field;
use tillgate_shared::frame_messages::{FieldMessage, FrameField, NextStep, RelayCall, Submit};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::Context;

use super::answer::{self, Outcome};
use super::check;
use super::fault::Fault;
use super::field::Place;
use super::form::{Form, Part};
use super::form_message::{Message, Notice};
use super::submit_stage::SubmitStage;
use crate::page::callbacks::{self, Callback, ErrorName};
use crate::page::handle::HandleKind;
use crate::page::relay::RelayAnswer;
use crate::page::text::keys;
use crate::page::{collect, leave, payment_methods, wpwl};

impl Form {
    /// Somebody wants to pay. Two requests at once are one.
    pub(super) fn pay(&mut self, context: &Context<Self>) {
        if self.is_busy || self.is_asking() || self.handle.has_ended() {
            return;
        }
        self.notice = None;
        self.session.load_later_parts();
        if self.refuse_incomplete_form() || self.ask_doubted_frames(context) {
            return;
        }
        self.decide_submit(context);
    }

    /// Judges the form by what is known of it, and goes on with the submit if nothing is wrong.
    pub(super) fn decide_submit(&mut self, context: &Context<Self>) {
        if !self.check_fields() {
            return self.show_faults();
        }
        if self.lacks_account() || self.lacks_token() {
            return;
        }
        self.is_busy = true;
        self.handle.note_focus();
        self.fill_hidden_inputs();
        self.session.submitting.replace(Some(self.handle.clone()));
        self.open_window();
        let (link, session, handle) = (context.link().clone(), self.session.clone(), self.handle.clone());
        let (name, brand) = (self.confirming_callback(), self.brand.clone());
        spawn_local(async move {
            let Some(form) = handle.form_node() else { return };
            if !callbacks::confirm_submit(&session, name, &form).await {
                return link.send_message(Message::Confirmed(None));
            }
            // The merchant's callback may take as long as it likes. By then the page may show another checkout.
            if session.has_ended() {
                return;
            }
            leave::add_browser_fields(&session, &handle, &form);
            let checkout = find_checkout(&session, &handle, &brand).await;
            link.send_message(Message::Confirmed(Some(checkout)));
        });
    }

    /// Reports that nothing can be sent if the page took the form or a frame out of the document. Returns true if it
    /// did.
    fn refuse_incomplete_form(&mut self) -> bool {
        if self.is_whole() {
            return false;
        }
        self.notice = Some(Notice::error(self.session.text(keys::FORM_ERROR)));
        let has_frames = self.fields.iter().any(|field| field.frame().is_some());
        let name = if has_frames { ErrorName::FrameCommunication } else { ErrorName::Widget };
        self.session.raise(name, "the page took the form or a frame out of the document");
        true
    }

    /// Returns true while form and frames are where a payment can be made from. A frame that the form has just rendered
    /// may still be loading: its field is empty, and no fault of the page.
    fn is_whole(&self) -> bool {
        let is_there = |field: &super::field::Field| match &field.place {
            Place::Frame { element, window, is_placed, .. } => {
                !field.enabled || element.is_connected() || (!*is_placed && window.is_none())
            }
            Place::Input(_) => true,
        };
        self.handle.is_in_page()
            && self.node().is_some_and(|form| form.is_connected())
            && self.fields.iter().all(is_there)
    }

    /// Returns the name of the callback that decides about this submit.
    fn confirming_callback(&self) -> &'static str {
        use tillgate_shared::form_options::rows;
        match self.handle.kind.get() {
            HandleKind::Card | HandleKind::Unknown => rows::ON_BEFORE_SUBMIT_CARD.name,
            HandleKind::Stored => rows::ON_BEFORE_SUBMIT_ONE_CLICK_CARD.name,
            HandleKind::Brand(FormKind::VirtualAccount) if self.is_inline() => {
                rows::ON_BEFORE_SUBMIT_INLINE_VIRTUAL_ACCOUNT.name
            }
            HandleKind::Brand(FormKind::VirtualAccount) => rows::ON_BEFORE_SUBMIT_VIRTUAL_ACCOUNT.name,
            HandleKind::Brand(FormKind::DirectDebit) => rows::ON_BEFORE_SUBMIT_DIRECT_DEBIT.name,
            HandleKind::Brand(FormKind::Prepayment) => rows::ON_BEFORE_SUBMIT_PREPAYMENT.name,
            HandleKind::Brand(FormKind::OnlineTransfer) => rows::ON_BEFORE_SUBMIT_ONLINE_TRANSFER.name,
            HandleKind::Brand(FormKind::Card) => rows::ON_BEFORE_SUBMIT_CARD.name,
        }
    }

    /// The merchant has decided.
    pub(super) fn confirmed(&mut self, context: &Context<Self>, checkout: Option<String>) {
        if checkout.as_deref() == Some("") {
            self.notice = Some(Notice::error(self.session.text(keys::UNSENT_ERROR)));
        }
        let checkout = checkout.filter(|id| !id.is_empty());
        // The merchant's callback may have changed the page, and a frame that is gone never answers.
        let Some(checkout) = checkout.filter(|_| !self.refuse_incomplete_form()) else {
            self.session.windows.drop_opened(&self.handle);
            self.is_busy = false;
            return;
        };
        self.is_sent = true;
        if self.wants_sheet() {
            return self.open_sheet(context, checkout);
        }
        self.send(context, checkout, false);
    }

    /// The sheet of a wallet was closed.
    pub(super) fn sheet_closed(&mut self, context: &Context<Self>, checkout: String, agreed: bool) {
        if agreed {
            return self.send(context, checkout, true);
        }
        self.session.windows.drop_opened(&self.handle);
        self.is_busy = false;
        self.announcement = self.session.text(keys::CANCELLED);
        self.notify(&Callback::WindowClosed);
    }

    /// Sends the form: a card by the frame of its number, everything else by the relay frame. `has_token` is true if a
    /// wallet's sheet has left its token there.
    fn send(&mut self, context: &Context<Self>, checkout: String, has_token: bool) {
        self.begin_progress(context);
        self.fill_hidden_inputs();
        let fields = self.collect_fields();
        if let Some(number) = self.fields.iter().find(|field| field.is_frame(FrameField::Number)) {
            let options = self.session.options();
            let code_required = options.require_code && !options.allow_empty_code;
            self.paid_checkout.clone_from(&checkout);
            let submit = Submit { fields, checkout, code: options.require_code, code_required };
            self.send_to_frame(number, &FieldMessage::Submit(submit));
            self.watch_frame(context);
        } else {
            let code = self.fields.iter().any(|field| field.is_frame(FrameField::Code));
            let call = RelayCall::Submit { fields, form: self.handle.nonce.clone(), code, wallet: has_token };
            let (link, session) = (context.link().clone(), self.session.clone());
            spawn_local(async move {
                let answer = session.relay.call(&session.loader, call, &checkout).await;
                link.send_message(Message::Answered(Box::new(answer)));
            });
        }
        self.notify(&Callback::Submitted);
    }

    /// Returns names and values of everything that the form posts: the fields that the form has now, the merchant's own
    /// included, and the values of its own fields.
    fn collect_fields(&self) -> Vec<(String, String)> {
        let Some(form) = self.node() else { return Vec::new() };
        let own: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
        let mut posted = collect::read_fields(&form);
        posted.retain(|(name, _)| !own.contains(&name.as_str()) && !collect::is_frames_own(name));
        if matches!(self.part, Part::Card(_)) {
            // A group that was moved out of the form still belongs to it.
            collect::add_missing(&mut posted, "paymentBrand", &self.brand);
        }
        if let Some(date) = self.expiry_date() {
            collect::add_missing(&mut posted, "card.expiryMonth", &date.month_text());
            collect::add_missing(&mut posted, "card.expiryYear", &date.year_text());
        }
        for field in self.fields.iter().filter(|field| field.enabled && field.row.key != field::EXPIRY_DATE.key) {
            let value = field.value(&form);
            if value.is_empty() {
                continue;
            }
            // A mandate is signed today.
            let value = if field.row.key == field::MANDATE.key { check::today() } else { value };
            let name = if field.name == field.row.name { field.row.parameter_for(&value) } else { field.name };
            posted.push((name.to_owned(), value));
            if field.row.key == "taxNumber" {
                posted.push(("customer.identificationDocType".to_owned(), "TAXSTATEMENT".to_owned()));
            }
        }
        if self.is_inline() {
            posted.push(("inlineFlow".to_owned(), "true".to_owned()));
        }
        if let Some(amount) = &self.shown_amount {
            posted.push(("shownAmount".to_owned(), amount.clone()));
        }
        if self.session.options().retry_in_place {
            posted.push(("retryInPlace".to_owned(), "true".to_owned()));
        }
        if self.keeps_for_summary() {
            posted.push(("useSummaryPage".to_owned(), "true".to_owned()));
        }
        posted.push(collect::utf8_marker());
        posted
    }

    /// Sets the hidden inputs of a card's expiry date, in the gateway's format, and of the result address.
    fn fill_hidden_inputs(&self) {
        let Some(form) = self.node() else { return };
        collect::set_hidden(&form, "shopperResultUrl", &self.handle.result_address());
        if let Some(date) = self.expiry_date() {
            collect::set_hidden(&form, "card.expiryMonth", &date.month_text());
            collect::set_hidden(&form, "card.expiryYear", &date.year_text());
        }
    }

    /// The gateway, or the frame of the card number, found these parameters wrong.
    pub(super) fn refuse_fields(&mut self, names: &[String]) {
        self.is_busy = false;
        self.stage = SubmitStage::Idle;
        for name in names {
            if let Some(at) = self.find_field_of_parameter(name) {
                let fault = self.fields.get(at).map(|field| Fault::of_field(field.row));
                self.set_fault(at, fault);
            }
        }
        self.show_faults();
    }

    /// The request did not get through, or nobody knows if it did.
    pub(in crate::page) fn unsent(&mut self, key: &str) {
        self.is_busy = false;
        self.stage = SubmitStage::Idle;
        self.notice = Some(Notice::error(self.session.text(key)));
        self.announcement.clear();
        self.session.raise(ErrorName::FrameSubmit, "the payment request was not answered");
    }

    /// The gateway answered.
    pub(super) fn answered(&mut self, answer: &RelayAnswer) {
        self.stage = SubmitStage::Idle;
        self.end_progress();
        if !answer.ignored.is_empty() {
            let text = ["Tillgate: ", &answer.ignored.join(", "), ": ignored, as a browser may not set this"].concat();
            web_sys::console::info_1(&text.into());
        }
        let is_own = |name: &str| self.find_field_of_parameter(name).is_some();
        match answer::classify(answer.status, &answer.description, &answer.wrong, is_own) {
            Outcome::Accepted => return self.accepted(answer),
            Outcome::WrongFields(names) => self.refuse_fields(&names),
            Outcome::CheckoutGone => {
                self.end(keys::CHECKOUT_ERROR);
                self.session.raise(ErrorName::InvalidCheckout, &answer.description);
            }
            Outcome::BrandWithdrawn(text) => {
                self.session.raise(ErrorName::Widget, &text);
                let text = self.withdraw_brand();
                self.notice = Some(Notice::error(text));
            }
            Outcome::Refused(text) => {
                self.session.raise(ErrorName::Widget, &text);
                self.notice = Some(Notice::error(text));
            }
            Outcome::AmountChanged => {
                self.session.refresh();
                self.notice = Some(Notice::error(self.session.text(keys::AMOUNT_CHANGED)));
            }
            Outcome::Unsent => self.unsent(keys::UNSENT_ERROR),
            Outcome::Unknown => self.unsent(keys::COMMUNICATION_ERROR),
        }
        self.session.windows.drop_opened(&self.handle);
        self.is_busy = false;
        self.announcement.clear();
        if self.has_fault() {
            self.show_faults();
        }
    }

    /// The payment was declined, and the form stays. `advice` is the end of the key of the text for the shopper.
    pub(super) fn declined(&mut self, advice: &str) {
        self.is_busy = false;
        self.announcement.clear();
        self.notice = Some(Notice::error(self.session.text(&["declined", advice].concat())));
    }

    /// The payment goes on: on another page, in a window or a frame, by a challenge, or at the result page.
    fn accepted(&mut self, answer: &RelayAnswer) {
        let (session, handle) = (self.session.clone(), self.handle.clone());
        if answer.flow == Some(NextStep::Saved) {
            self.is_busy = false;
            self.announcement.clear();
            if let Some(saved) = &answer.saved {
                self.notify(&Callback::DataSaved(&saved.0));
            }
            return;
        }
        if answer.flow == Some(NextStep::Retry) {
            session.windows.drop_opened(&handle);
            return self.declined(&answer.advice);
        }
        if answer.three_ds {
            return session.challenges.start(&session, &handle, answer);
        }
        let opens_window = matches!(answer.flow, Some(NextStep::Inline | NextStep::Flow(Flow::Popup)));
        if session.windows.has_opened(&handle) && opens_window {
            self.is_busy = false;
            self.announcement.clear();
            return session.windows.follow(&session, &handle, answer, &payment_methods::brand_name(self));
        }
        session.windows.drop_opened(&handle);
        // Still busy: nothing can be sent while the page is left.
        self.is_busy = leave::leave_page(&session, &handle, answer.flow, &answer.redirect.clone().unwrap_or_default());
        if !self.is_busy {
            self.announcement.clear();
        }
    }
}

/// Returns the checkout to pay: that of the page, or one that the merchant creates now, unless nobody knows if the last
/// one is paid. Empty if it could not be created.
async fn find_checkout(
    session: &Rc<crate::page::session::Session>,
    handle: &Rc<crate::page::handle::FormHandle>,
    brand: &str,
) -> String {
    let id = session.loader.checkout_id();
    if !id.is_empty() {
        return id;
    }
    let uncertain = session.uncertain_checkout.borrow().clone();
    let made = match uncertain {
        Some(id) => Ok(id),
        None => callbacks::create_checkout(session, brand).await,
    };
    match made {
        Ok(id) => {
            wpwl::set_checkout_id(&id);
            if let Some(form) = handle.form_node() {
                form.set_attribute("action", &session.submit_address(&id));
            }
            id
        }
        Err(message) => {
            session.raise(ErrorName::Widget, &["createCheckout: ", &message].concat());
            String::new()
        }
    }
}
