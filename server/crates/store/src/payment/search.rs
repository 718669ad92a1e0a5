//! Search for payments by the terms that people know: the last four digits of an account, an e-mail address, and the
//! registration that paid.
//!
//! The rows are written with a new payment and never change, because neither does. The registration may be created when
//! a pending payment ends.

use tillgate_domain::id::RegistrationId;
use tillgate_domain::payment::{Account, Payment};
use tillgate_engine::{Session, params};

use crate::StoreError;

/// A term by which payments are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTerm {
    /// The last four characters of a card number, IBAN or account number.
    LastFour(String),
    /// The customer's e-mail address, in any case.
    Mail(String),
    /// The registration that a payment created or used.
    Registration(RegistrationId),
}

impl SearchTerm {
    /// Returns the stored form, in which the first letter is the kind of the term.
    pub(super) fn to_stored(&self) -> String {
        match self {
            Self::LastFour(digits) => format!("d{digits}"),
            Self::Mail(address) => format!("m{}", address.to_ascii_lowercase()),
            Self::Registration(id) => format!("r{id}"),
        }
    }
}

/// Writes the terms of a new payment.
pub(super) fn write_terms(session: &dyn Session, payment: &Payment) -> Result<(), StoreError> {
    let last_four = match &payment.account {
        Account::Card(card) => Some(card.last4.clone()),
        Account::Bank(bank) => bank.last4.clone(),
        Account::Virtual(_) | Account::Unknown => None,
    };
    let mail = payment.parameters.get("customer.email").map(|mail| SearchTerm::Mail(mail.to_owned()));
    for term in last_four.map(SearchTerm::LastFour).into_iter().chain(mail) {
        write_term(session, payment, &term)?;
    }
    Ok(())
}

/// Writes the row by which a new or changed payment is found by its registration. Does nothing if it has none, or if
/// the row is there.
pub(super) fn write_registration_term(session: &dyn Session, payment: &Payment) -> Result<(), StoreError> {
    match &payment.registration {
        Some(registration) => write_term(session, payment, &SearchTerm::Registration(registration.clone())),
        None => Ok(()),
    }
}

fn write_term(session: &dyn Session, payment: &Payment, term: &SearchTerm) -> Result<(), StoreError> {
    session.send(
        "INSERT INTO payment_search (entity, term, payment) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        params![payment.entity.as_str(), term.to_stored(), payment.id.as_str()],
    )?;
    Ok(())
}
