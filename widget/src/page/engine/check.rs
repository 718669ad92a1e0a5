//! Checks of a form: when a field is judged, when its fault is shown, and when it disappears.

use tillgate_shared::field;
use tillgate_shared::field::Input;
use tillgate_shared::format::expiry;
use tillgate_shared::frame_messages::{FieldMessage, FieldReport, FieldState, FrameField};
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlInputElement};
use yew::prelude::Context;

use super::fault::{self, CheckContext, Fault};
use super::field::{Field, Place, hint_id};
use super::form::{Form, Part};
use crate::page::bridge::Value;
use crate::page::callbacks::{self, Callback};
use crate::page::{bridge, dom, frames};

impl Form {
    /// Returns the fault of a field as it is now.
    pub(in crate::page) fn find_fault(&self, at: usize) -> Option<Fault> {
        let field = self.fields.get(at).filter(|field| field.enabled)?;
        let options = self.session.options();
        let today = today();
        let card_month = card_month();
        let context =
            CheckContext { brand: &self.brand, today: &today, card_month, accepts_expired: options.accepts_expired };
        match &field.place {
            Place::Frame { state, .. } => {
                let is_card = matches!(self.part, Part::Card(_));
                let may_be_empty = match field.row.key {
                    "cardHolder" => options.allow_empty_holder,
                    "cvv" => is_card && options.allow_empty_code,
                    _ => false,
                };
                fault::check_frame(field.row, state, may_be_empty, context)
            }
            Place::Input(_) => {
                let is_card_holder = matches!(self.part, Part::Card(_)) && field.row.key == field::CARD_HOLDER.key;
                let optional = field.optional || (is_card_holder && options.allow_empty_holder);
                let value = field.value(&self.node()?);
                field.find_later_fault().or_else(|| fault::check_value(field.row, &value, optional, context))
            }
        }
    }

    /// Returns month and year of expiry as they are typed in the page: of the card, or of the chosen stored card.
    pub(in crate::page) fn expiry_date(&self) -> Option<expiry::Expiry> {
        let field = self.fields.iter().find(|field| field.enabled && field.row.key == field::EXPIRY_DATE.key)?;
        expiry::Expiry::parse_text(&field.value(&self.node()?), card_month().0)
    }

    /// Something was typed into an input of the page.
    pub(super) fn field_typed(&mut self, at: usize) {
        self.is_halted = false;
        let Some(field) = self.fields.get(at) else { return };
        let control = field.control();
        if let Some(input) = control.as_ref().and_then(|control| control.dyn_ref::<HtmlInputElement>()) {
            if field.row.key == field::EXPIRY_DATE.key {
                format_expiry(input);
            } else if field.row.input.is_code() || field.row.input == Input::Phone {
                // Numbers run from left to right in every script; what a placeholder says does not.
                input.set_dir(if input.value().is_empty() { "" } else { "ltr" });
            }
        }
        self.follow_typing(at);
        self.correct_field(at);
    }

    /// Returns true if the field is a date that is complete, and so can be judged while it is being typed.
    fn is_complete_date(&self, at: usize) -> bool {
        let Some(field) = self.fields.get(at).filter(|field| field.row.key == field::EXPIRY_DATE.key) else {
            return false;
        };
        field.frame_state().map_or_else(|| self.expiry_date().is_some(), |state| state.valid)
    }

    /// A field has changed: its fault disappears once it is corrected.
    fn correct_field(&mut self, at: usize) {
        let Some(field) = self.fields.get(at) else { return };
        if let Some(fault) = field.fault {
            // A number that is no longer empty is checked when it is left.
            let is_begun = fault == Fault::NUMBER_EMPTY && field.frame_state().is_some_and(|state| !state.empty);
            if is_begun || self.find_fault(at).is_none() {
                self.set_fault(at, None);
            }
        }
        if self.is_complete_date(at) {
            self.set_fault(at, self.find_fault(at));
        }
        if !self.has_fault() {
            self.announcement.clear();
        }
        self.remove_foreign_hints(at);
    }

    /// A field was left: it is judged, unless nothing was typed.
    pub(super) fn field_left(&mut self, at: usize) {
        let fault = self.find_fault(at);
        let (Some(field), Some(form)) = (self.fields.get(at), self.node()) else { return };
        if !field.is_empty(&form) || field.fault.is_some() {
            self.set_fault(at, fault);
            if let Some(fault) = fault {
                self.announcement = self.session.text(fault.text);
            }
        }
        self.remove_foreign_hints(at);
        let is_valid = fault.is_none();
        let key = self.fields.get(at).map(|field| field.row.key);
        let callback = match key {
            Some("cardNumber") => Callback::CardNumberLeft(is_valid),
            Some("expiryDate") => Callback::ExpiryDateLeft(is_valid),
            Some("cardHolder") => Callback::CardHolderLeft(is_valid),
            Some("cvv") => Callback::SecurityCodeLeft(is_valid),
            _ => return,
        };
        self.notify(&callback);
    }

    /// Calls a callback of the merchant about this form.
    pub(in crate::page) fn notify(&self, callback: &Callback<'_>) {
        callbacks::notify(&self.session, callback, self.node().as_ref());
    }

    /// Judges all fields. Returns true if the form may be sent.
    pub(super) fn check_fields(&mut self) -> bool {
        for at in 0..self.fields.len() {
            self.set_fault(at, self.find_fault(at));
        }
        !self.has_fault()
    }

    /// Sets the fault of a field.
    pub(in crate::page) fn set_fault(&mut self, at: usize, fault: Option<Fault>) {
        if let Some(field) = self.fields.get_mut(at) {
            field.fault = fault;
        }
    }

    pub(super) fn has_fault(&self) -> bool {
        self.fields.iter().any(|field| field.fault.is_some())
    }

    /// Says what is wrong, and sets the focus to the first such field.
    pub(super) fn show_faults(&mut self) {
        self.is_halted = true;
        let texts = self.fields.iter().filter_map(|field| field.fault).map(|fault| self.session.text(fault.text));
        self.announcement = texts.collect::<Vec<_>>().join(" ");
        if let Some(at) = self.fields.iter().position(|field| field.fault.is_some()) {
            self.focus_field(at);
        }
    }

    /// Sets the focus to a field.
    pub(in crate::page) fn focus_field(&self, at: usize) {
        let Some(field) = self.fields.get(at) else { return };
        if let Some(control) = field.control() {
            let _ = control.focus();
        }
        self.send_to_frame(field, &FieldMessage::Focus);
    }

    /// Sends a message to the frame of a field, if there is one that listens. Another one gets what it needs when it
    /// says hello.
    pub(in crate::page) fn send_to_frame(&self, field: &Field, message: &FieldMessage) {
        if let Some(frame) = field.listening_frame() {
            frames::send_message(&self.session, frame, &self.handle.nonce, message);
        }
    }

    /// Receives what a frame reports about its field.
    pub(super) fn receive_report(&mut self, context: &Context<Self>, field: FrameField, report: FieldReport<Value>) {
        let Some(at) = self.fields.iter().position(|known| known.is_frame(field)) else { return };
        self.note_sign_of_life(field);
        match report {
            FieldReport::Ready(config) => self.frame_ready(context, at, field, config.map(|config| *config)),
            FieldReport::State(state) => self.follow_state(at, field, state),
            FieldReport::Told(state) => {
                self.follow_state(at, field, state);
                self.frame_answered(context);
            }
            FieldReport::Focus => self.frame_focused(at, true),
            FieldReport::Blur(state) => {
                self.take_state(at, state);
                self.frame_focused(at, false);
                // The merchant hears of the brand before it hears that the number was left.
                self.follow_number(field);
                self.field_left(at);
            }
            FieldReport::Enter => {
                if self.session.options().submits_on_enter && !self.is_halted {
                    self.pay(context);
                }
            }
            FieldReport::Autofill { holder, expiry } => self.fill_in(&holder, &expiry),
            FieldReport::Invalid(names) => self.refuse_fields(&names),
            FieldReport::Answer(answer) => self.answered(&answer),
            FieldReport::Failed => self.unsent(crate::page::text::keys::UNSENT_ERROR),
        }
    }

    /// Follows the state of a field in a frame.
    fn follow_state(&mut self, at: usize, field: FrameField, state: FieldState) {
        if self.take_state(at, state) {
            self.is_halted = false;
        }
        self.correct_field(at);
        self.follow_number(field);
    }

    /// Takes over what a frame told about its field. Returns true if that is something new.
    fn take_state(&mut self, at: usize, now: FieldState) -> bool {
        match self.fields.get_mut(at).map(|field| &mut field.place) {
            Some(Place::Frame { state, .. }) => std::mem::replace(state, now.clone()) != now,
            _ => false,
        }
    }

    fn frame_focused(&self, at: usize, is: bool) {
        self.session.load_later_parts();
        let Some(Place::Frame { element, .. }) = self.fields.get(at).map(|field| &field.place) else { return };
        dom::toggle_class(element, "wpwl-focus", is);
        let callback = if is { Callback::FrameFocused(element) } else { Callback::FrameLeft(element) };
        self.notify(&callback);
    }

    /// Shows the faults on the controls, after rendering.
    pub(super) fn mark_controls(&mut self) {
        let mut messages = Vec::new();
        for (at, field) in self.fields.iter_mut().enumerate() {
            let Some(control) = field.control() else { continue };
            dom::toggle_class(&control, "wpwl-has-error", field.fault.is_some());
            if field.shown == field.fault {
                continue;
            }
            field.shown = field.fault;
            if field.frame().is_some() {
                messages.push(at);
            } else if field.fault.is_some() {
                let _ = control.set_attribute("aria-invalid", "true");
                let _ = control.set_attribute("aria-describedby", &hint_id(&self.handle.container.id(), &field.class));
            } else {
                let _ = control.set_attribute("aria-invalid", "false");
                let _ = control.remove_attribute("aria-describedby");
            }
        }
        for field in messages.into_iter().filter_map(|at| self.fields.get(at)) {
            let text = field.fault.map(|fault| self.session.text(fault.text)).unwrap_or_default();
            self.send_to_frame(field, &FieldMessage::Error(text));
        }
        // A fault that was only met in passing leaves the button alive: pressing it leads to the field.
        let Some(button) = self.button() else { return };
        let is_halted = self.is_halted && self.has_fault();
        button.set_disabled(is_halted || self.is_locked);
        dom::toggle_class(&button, "wpwl-button-error", is_halted);
        dom::toggle_class(&button, "wpwl-button-busy", self.is_busy);
    }

    /// Notes which fields are wrong at the beginning, for example because they are empty.
    pub(super) fn note_wrong_fields(&mut self) {
        for at in 0..self.fields.len() {
            let is_wrong = self.find_fault(at).is_some();
            if let Some(field) = self.fields.get_mut(at) {
                field.was_wrong = is_wrong;
            }
        }
    }

    /// Removes hints that the page has put behind a field, when our own check finds the field right after it was wrong.
    /// A field that our check always accepts keeps them: the page checks it, and removes its hint itself.
    fn remove_foreign_hints(&mut self, at: usize) {
        let is_wrong = self.find_fault(at).is_some();
        let Some(field) = self.fields.get_mut(at).filter(|field| field.enabled && field.has_verdict(&self.brand))
        else {
            return;
        };
        if !std::mem::replace(&mut field.was_wrong, is_wrong) || is_wrong {
            return;
        }
        let wrapper: Option<Element> = field.control().and_then(|control| control.parent_element());
        let Some(wrapper) = wrapper else { return };
        let own = hint_id(&self.handle.container.id(), &field.class);
        for hint in bridge::find_all(&wrapper, ".wpwl-hint").iter().filter(|hint| hint.id() != own) {
            hint.remove();
        }
    }
}

/// Returns today by the shopper's clock, `yyyy-MM-dd`.
pub fn today() -> String {
    let now = js_sys::Date::new_0();
    let two = |number: u32| [if number < 10 { "0" } else { "" }, &bridge::format_number(number)].concat();
    [bridge::format_number(now.get_full_year()), two(now.get_month() + 1), two(now.get_date())].join("-")
}

/// Returns the month by which cards are judged now, as (year, month).
pub(in crate::page) fn card_month() -> (u16, u8) {
    let half_day = f64::from(expiry::SECONDS_OF_HALF_DAY) * 1000.0;
    expiry::last_month_of_half_day((js_sys::Date::now() / half_day).floor() as i32)
}

/// Formats a date while it is typed, at the end of the text only: a caret in the middle is left alone.
fn format_expiry(input: &HtmlInputElement) {
    let typed = input.value();
    let at_end = input.selection_start().ok().flatten() == Some(typed.encode_utf16().count() as u32);
    let shown = expiry::format_typed(&typed);
    if at_end && shown.as_str() != typed {
        input.set_value(shown.as_str());
    }
}
