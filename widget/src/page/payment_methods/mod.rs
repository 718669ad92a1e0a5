//! Kinds of forms: what is particular to cards, to other brands, and to stored accounts; and which of them a checkout
//! offers.

pub mod billing;
pub mod brand;
pub mod brand_part;
pub mod card;
pub mod card_part;
pub mod logos;
pub mod mark;
pub mod stored;
pub mod stored_part;

mod card_brand;
mod card_offer;
mod card_view;
mod removal;
mod stored_view;

use std::rc::Rc;

use tillgate_shared::brand::{AccountType, FormKind};
use tillgate_shared::frame_messages::Config;

use super::bridge::Value;
use super::callbacks::ErrorName;
use super::engine::form::{Form, Part};
use super::engine::form_message::Message;
use super::handle::{FormHandle, HandleKind};
use super::options::{Options, Style};
use super::session::Session;
use super::text::keys;

/// Returns true if the page needs the relay frame although it shows cards only: for the names of the logos.
pub fn wants_relay(options: &Options<Value>) -> bool {
    options.style == Style::Logos
}

/// Returns true if a form is that of a wallet.
pub fn is_wallet(config: &Config, form: &FormHandle) -> bool {
    let brand = form.brands.first().and_then(|code| config.find_brand(code));
    brand.is_some_and(|brand| brand.kind == AccountType::Wallet)
}

/// Returns the name of the brand that a form pays with, for shoppers.
pub fn brand_name(form: &Form) -> String {
    match &form.part {
        Part::Brand(part) => part.offered.name.clone(),
        Part::Stored(part) => part.chosen_account().map(|account| account.name.clone()).unwrap_or_default(),
        Part::Card(_) | Part::None => form.brand.clone(),
    }
}

/// Creates the forms that the checkout offers, and hides the others. Called again if the merchant has changed the
/// checkout.
pub fn offer(session: &Rc<Session>, config: &Rc<Config>) {
    if let Some(closed) = &config.closed {
        return show_closed(session, closed);
    }
    let forms: Vec<_> = session.forms.borrow().iter().chain(session.away.borrow().iter()).cloned().collect();
    let mut missing = Vec::new();
    for form in &forms {
        let offered = form.brands.first().and_then(|code| config.find_brand(code));
        match form.kind.get() {
            HandleKind::Stored => {}
            HandleKind::Card | HandleKind::Brand(_) => form.send(Message::Offered(config.clone())),
            HandleKind::Unknown => match offered {
                Some(_) if has_other_form(session, config, form) => session.put_away(form),
                Some(brand) => {
                    session.away.borrow_mut().retain(|other| other != form);
                    if !session.forms.borrow().contains(form) {
                        session.forms.borrow_mut().push(form.clone());
                    }
                    brand::mount(session, form, brand, config);
                }
                None => {
                    if !session.away.borrow().contains(form) {
                        missing.extend(form.brands.iter().filter(|code| config.find_brand(code).is_none()).cloned());
                        session.put_away(form);
                    }
                }
            },
        }
    }
    report_missing(session, &missing);
    stored::offer(session, config);
    if session.forms.borrow().is_empty() {
        show_nothing_offered(session);
    }
    logos::show(session, config);
    session.loader.show_choice();
}

/// Tells the developer that the page names no brand that is offered. Shoppers read that the form could not be loaded,
/// as the checkout itself is not at fault.
pub fn show_nothing_offered(session: &Rc<Session>) {
    session.report_mistake("none of the brands is offered by this channel");
    let first = session.away.borrow().first().cloned();
    if let Some(form) = first {
        form.container.set_class_name("wpwl-container");
        form.container.set_hidden(false);
        super::message::show_in_place(session, &form, &session.text(keys::FAILED));
    }
}

/// Returns true if another form stands for the same direct debit: it has two names.
fn has_other_form(session: &Session, config: &Config, form: &FormHandle) -> bool {
    let is_debit = |form: &FormHandle| {
        let brand = form.brands.first().and_then(|code| config.find_brand(code));
        brand.is_some_and(|brand| brand.form == FormKind::DirectDebit)
    };
    let is_twin = |other: &Rc<FormHandle>| {
        **other != *form && other.is_mounted() && is_debit(other) && other.result_address() == form.result_address()
    };
    is_debit(form) && session.forms.borrow().iter().any(is_twin)
}

/// Tells the developer which brands of the page are not offered. Shoppers have the others.
pub fn report_missing(session: &Session, codes: &[String]) {
    if !codes.is_empty() {
        session.loader.explain(&["brands ", &codes.join(" ")].concat());
    }
}

/// Shows in all forms that the checkout cannot be paid.
fn show_closed(session: &Rc<Session>, closed: &tillgate_shared::frame_messages::ClosedReason) {
    session.loader.show_choice();
    let has_cards = session.forms.borrow().iter().any(|form| form.kind.get() == HandleKind::Card);
    let key = if closed.paid { keys::PAID_ERROR } else { keys::CHECKOUT_ERROR };
    session.each_form(|form| {
        if form.is_mounted() {
            if form.kind.get() != HandleKind::Card {
                form.send(Message::End(key));
            }
            return;
        }
        super::message::show_in_place(session, form, &session.text(key));
    });
    if !has_cards {
        session.raise(ErrorName::InvalidCheckout, &closed.message);
    }
}
