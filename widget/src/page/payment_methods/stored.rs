//! Stored cards and accounts: one form with an entry for each. The code of the chosen card is in a frame of its own.

use std::rc::Rc;

use tillgate_shared::field::{self, FormField};
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::frame_messages::{Config, FrameField, Source as _, StoredAccount};
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlElement, HtmlInputElement};
use yew::prelude::*;

use super::stored_part::{StoredEntry, StoredPart};
use crate::page::bridge::{Value, document, format_number};
use crate::page::engine::check;
use crate::page::engine::field::Field;
use crate::page::engine::form::{Form, Part, Setup};
use crate::page::engine::form_message::{Message, Notice};
use crate::page::handle::{FormHandle, HandleKind};
use crate::page::options::Options;
use crate::page::session::Session;
use crate::page::text::keys;
use crate::page::{dom, frames};

/// Shows the stored accounts that the checkout offers, before the other forms.
pub fn offer(session: &Rc<Session>, config: &Rc<Config>) {
    let existing = session.forms.borrow().iter().find(|form| form.kind.get() == HandleKind::Stored).cloned();
    if let Some(form) = existing {
        return form.send(Message::Offered(config.clone()));
    }
    if config.registrations.is_empty() || !session.options().show_stored {
        return;
    }
    let Some(first) = first_place(session) else { return };
    let container = dom::make("div", "wpwl-container wpwl-container-registration wpwl-clearfix", &[], "");
    session.mark_language(&container);
    // The same number twice would need two pages in one millisecond.
    let now = Value(js_sys::Date::now().into());
    container.set_id(&["registration_", &now.display()].concat());
    // The mark of the loader's own nodes.
    let mark = first.get_attribute("data-tillgate").unwrap_or_default();
    let outer = dom::make("div", "", &[("id", "wpwl-registrations"), ("data-tillgate", &mark)], "");
    let _ = outer.append_child(&container);
    let _ = first.before_with_node_1(&outer);
    session.nodes.borrow_mut().push(outer.clone());
    let neighbour =
        session.forms.borrow().iter().chain(session.away.borrow().iter()).find_map(|form| form.placed.clone());
    let form = FormHandle::for_stored(container, neighbour);
    form.key.replace("wpwl-container-registration".to_owned());
    session.forms.borrow_mut().push(form.clone());
    let mut fields = Vec::new();
    let options = session.options();
    let make = |account| make_entry(account, (config, &options), &mut fields);
    let entries = config.registrations.iter().map(make).collect();
    let part = StoredPart { entries, chosen: None, is_deletable: config.deletable, requires_code: config.require_code };
    session.mount(&form, Setup { fields, part: Part::Stored(Box::new(part)) }, &form.container);
    if session.options().hide_initial_forms {
        hide_initial_forms(session, &form, &outer);
    }
}

/// Returns the first place of a form in the document.
fn first_place(session: &Session) -> Option<HtmlElement> {
    let forms: Vec<_> = session.forms.borrow().iter().chain(session.away.borrow().iter()).cloned().collect();
    forms.iter().map(|form| form.container.clone()).reduce(|first, other| {
        let is_before = first.compare_document_position(&other) & web_sys::Node::DOCUMENT_POSITION_PRECEDING != 0;
        if is_before { other } else { first }
    })
}

/// Creates the entry of an account, and the fields for what it lacks: its holder, and the new date of an expired card.
fn make_entry(
    account: &StoredAccount,
    (config, options): (&Config, &Options<Value>),
    fields: &mut Vec<Field>,
) -> StoredEntry {
    let mut add_field = |row: &'static FormField, is_needed: bool| {
        if !is_needed {
            return None;
        }
        let mut field = Field::in_page(row, false);
        // The class without a number is the one that merchants know.
        field.class = [&field.class, "-", &format_number(fields.len() as u32)].concat();
        field.enabled = false;
        fields.push(field);
        Some(fields.len() - 1)
    };
    let needs_holder = account.holder.is_empty() && config.override_holder && !account.is_virtual;
    let holder = add_field(if account.is_card { &field::CARD_HOLDER } else { &field::ACCOUNT_HOLDER }, needs_holder);
    let month = check::card_month();
    let expiry = Expiry::parse_text(&account.expiry, month.0);
    let has_passed = account.is_card && expiry.is_some_and(|expiry| expiry.is_past(month));
    let is_expired = has_passed && !options.accepts_expired;
    StoredEntry {
        account: account.clone(),
        is_expired,
        // If the page may see no part of a card, its date is not typed into the page either.
        date: add_field(&field::NEW_EXPIRY_DATE, is_expired && !options.frames_only),
        question: NodeRef::default(),
        holder,
        group: NodeRef::default(),
        radio: NodeRef::default(),
        is_offered: true,
        is_leaving: false,
    }
}

/// Hides the forms for new cards and other brands behind a button.
fn hide_initial_forms(session: &Rc<Session>, stored: &Rc<FormHandle>, outer: &HtmlElement) {
    session.each_form(|form| {
        if form != stored {
            form.show_container(false);
        }
    });
    stored.hides_others.set(true);
    let text = session.text(keys::SHOW_OTHER_PAYMENT_METHODS);
    let attributes = [("type", "button"), ("data-action", "show-initial-forms"), ("aria-label", text.as_str())];
    let button = dom::make("button", "wpwl-button", &attributes, &text);
    session.nodes.borrow_mut().push(button.clone());
    let (weak, form) = (Rc::downgrade(session), stored.clone());
    let press = dom::Listener::new(&button, "click", move |_| {
        if let Some(session) = weak.upgrade() {
            show_initial_forms(&session, &form);
        }
    });
    session.listeners.borrow_mut().push(press);
    if !session.options().hide_other_button {
        let _ = outer.after_with_node_1(&button);
    }
}

/// Shows the forms for new cards and other brands again, and sets the focus there.
fn show_initial_forms(session: &Rc<Session>, stored: &Rc<FormHandle>) {
    if stored.hides_others.replace(false) {
        reveal_others(session, stored);
    }
    // After the focus: the form that has it is the chosen one.
    session.loader.show_choice();
}

fn reveal_others(session: &Rc<Session>, stored: &Rc<FormHandle>) {
    if let Some(button) = document::find("button[data-action=show-initial-forms]") {
        button.remove();
    }
    let others: Vec<_> = session.forms.borrow().iter().filter(|form| *form != stored).cloned().collect();
    for form in &others {
        form.show_container(true);
        form.send(Message::Restyle);
    }
    let Some(first) = others.first() else { return };
    let controls = ".wpwl-group:not(.wpwl-brand-quiet) :is(iframe, select, input, button)";
    let control = first.container.query_selector(controls).ok().flatten();
    if let Some(control) = control.and_then(|control| control.dyn_into::<HtmlElement>().ok()) {
        let _ = control.focus();
    }
    // The focus goes on into the frame of a card's number.
    first.send(Message::FocusWanted(0));
}

impl Form {
    pub(super) fn stored_part(&mut self) -> Option<&mut StoredPart> {
        match &mut self.part {
            Part::Stored(part) => Some(part),
            _ => None,
        }
    }

    /// Completes the form with stored accounts once it is rendered: the first one is chosen.
    pub(super) fn complete_stored(&mut self, context: &Context<Self>) {
        let frame = self.handle.target_frame();
        frame.set_name("registrations-target");
        let Some(part) = self.stored_part() else { return };
        let radios: Vec<_> = part.entries.iter().map(|entry| entry.radio.clone()).collect();
        for (at, radio) in radios.iter().enumerate() {
            let Some(radio) = radio.cast::<HtmlElement>() else { continue };
            for kind in ["change", "click"] {
                let link = context.link().clone();
                let choose = move |_| link.send_message(Message::AccountChosen(at));
                self.listeners.push(dom::Listener::new(&radio, kind, choose));
            }
        }
        self.listen_to_questions(context);
        let first = self.stored_part().and_then(|part| part.first_valid());
        if let Some(first) = first {
            context.link().send_message(Message::AccountChosen(first));
        }
    }

    /// An account is chosen. A code that was typed for another one is forgotten with its frame.
    pub(in crate::page) fn choose_account(&mut self, at: usize) {
        let options = self.session.options();
        let (session, handle) = (self.session.clone(), self.handle.clone());
        let Some(part) = self.stored_part().filter(|part| part.chosen != Some(at)) else { return };
        let Some(entry) = part.entries.get(at).filter(|entry| entry.is_offered && !entry.is_blocked()).cloned() else {
            return;
        };
        part.chosen = Some(at);
        let requires_code = part.requires_code || options.require_stored_code;
        for (other, entry) in part.entries.iter().enumerate() {
            if let Some(group) = entry.group.cast::<Element>() {
                dom::toggle_class(&group, "wpwl-selected", other == at);
            }
            if let Some(radio) = entry.radio.cast::<HtmlInputElement>() {
                radio.set_checked(other == at);
                // Scripts look for the attribute.
                let _ =
                    if other == at { radio.set_attribute("checked", "") } else { radio.remove_attribute("checked") };
            }
        }
        self.brand.clone_from(&entry.account.brand);
        handle.pays_by_card.set(entry.account.is_card);
        self.is_halted = false;
        self.fields.retain(|field| field.frame().is_none());
        handle.frames.borrow_mut().clear();
        for (position, field) in self.fields.iter_mut().enumerate() {
            field.fault = None;
            field.enabled = [entry.holder, entry.date].contains(&Some(position));
            if let Some(input) = field.control().and_then(|control| control.dyn_into::<HtmlInputElement>().ok()) {
                input.set_disabled(!field.enabled);
            }
        }
        if entry.account.is_card && requires_code {
            let title = session.text(field::SECURITY_CODE.label);
            let frame = frames::make_frame(&session.loader, &handle.nonce, FrameField::Code, "cvv", &title);
            handle.frames.borrow_mut().push((FrameField::Code, frame.clone()));
            self.fields.push(Field::in_frame(&field::SECURITY_CODE, FrameField::Code, frame, false));
        }
    }

    /// An account has been removed, or not.
    pub(in crate::page) fn account_removed(&mut self, at: usize, is_removed: bool) {
        let (session, handle) = (self.session.clone(), self.handle.clone());
        let Some(part) = self.stored_part() else { return };
        let Some(entry) = part.entries.get_mut(at) else { return };
        entry.is_leaving = false;
        if !is_removed {
            self.show_question(at, false);
            self.notice = Some(Notice::error(session.text(keys::REMOVE_ERROR)));
            return;
        }
        entry.is_offered = false;
        // The group leaves the page, and stays in yew's picture: the others keep their places there.
        if let Some(group) = entry.group.cast::<Element>() {
            group.remove();
        }
        let Some(next) = part.first_valid().or(part.first_offered()) else {
            session.forms.borrow_mut().retain(|form| *form != handle);
            if let Some(outer) = handle.container.parent_element() {
                outer.remove();
            }
            return show_initial_forms(&session, &handle);
        };
        let radio = part.entries.get(next).map(|entry| entry.radio.clone());
        let is_valid = part.first_valid().is_some();
        part.chosen = None;
        self.disable_fields();
        self.announcement = session.text(keys::REMOVED);
        if is_valid {
            self.choose_account(next);
        }
        if let Some(radio) = radio.and_then(|radio| radio.cast::<HtmlElement>()) {
            let _ = radio.focus();
        }
    }

    /// Disables all fields, because no account is chosen that needs one.
    fn disable_fields(&mut self) {
        for field in &mut self.fields {
            field.fault = None;
            field.enabled = false;
        }
    }

    /// Shows the accounts that are offered now.
    pub(super) fn follow_stored_offer(&mut self, config: &Config) {
        let handle = self.handle.clone();
        let Some(part) = self.stored_part() else { return };
        let was_gone = part.first_offered().is_none();
        for entry in &mut part.entries {
            let is_offered = config.registrations.iter().any(|account| account.id == entry.account.id);
            entry.is_offered = is_offered;
            if let Some(group) = entry.group.cast::<HtmlElement>() {
                dom::set_visible(&group, is_offered);
            }
            if let Some(radio) = entry.radio.cast::<HtmlInputElement>() {
                radio.set_disabled(!is_offered || entry.is_blocked());
            }
        }
        let first = part.first_offered();
        let valid = part.first_valid();
        let is_chosen_offered = part.chosen.and_then(|at| part.entries.get(at)).is_some_and(|entry| entry.is_offered);
        let name = part.chosen_account().map(|account| account.name.clone()).unwrap_or_default();
        if let Some(form) = handle.form_node() {
            form.set_visible(first.is_some());
        }
        if !is_chosen_offered && valid.is_none() {
            part.chosen = None;
            self.disable_fields();
        }
        match first {
            None => self.notice = Some(Notice::error(self.session.text_about(keys::UNAVAILABLE, &name))),
            Some(_) => {
                if was_gone && !self.is_busy {
                    self.notice = None;
                }
                if let Some(valid) = valid.filter(|_| !is_chosen_offered) {
                    self.choose_account(valid);
                }
            }
        }
    }
}
