//! The rows of the catalogue, one file for each group of the specification.

mod airline;
mod asynchronous;
mod authentication;
mod bank_account;
mod basic_payment;
mod billing;
mod card;
mod cart;
mod corporate;
mod custom;
mod customer;
mod delivery;
mod form;
mod gift_card;
mod job;
mod merchant;
mod merchant_billing;
mod merchant_shipping;
mod person;
mod query;
mod recurring_migration;
mod registration;
mod reporting;
mod risk;
mod shipping;
mod shipping_customer;
mod standing_instruction;
mod three_ds;
mod virtual_account;
mod wallet;

use super::Parameter;
use crate::format::{Class, Format};

/// All rows, in the order of the reference page.
pub(super) static ALL: &[&[Parameter]] = &[
    basic_payment::ROWS,
    authentication::ROWS,
    card::ROWS,
    wallet::ROWS,
    virtual_account::ROWS,
    bank_account::ROWS,
    customer::ROWS,
    shipping_customer::ROWS,
    billing::ROWS,
    shipping::ROWS,
    corporate::ROWS,
    merchant::ROWS,
    merchant_billing::ROWS,
    merchant_shipping::ROWS,
    cart::ITEMS,
    cart::PAYMENTS,
    airline::ROWS,
    registration::ROWS,
    recurring_migration::ROWS,
    three_ds::ROWS,
    custom::ROWS,
    asynchronous::ROWS,
    reporting::ROWS,
    query::ROWS,
    gift_card::ROWS,
    risk::ROWS,
    job::ROWS,
    standing_instruction::ROWS,
    reporting::CHARGEBACK,
    form::ROWS,
];

// Short names for formats that rows repeat.

const fn text(min: u16, max: u16) -> Format {
    Format::Text { min, max }
}

const fn verbatim(min: u16, max: u16) -> Format {
    Format::Verbatim { min, max }
}

const fn digits(min: u16, max: u16) -> Format {
    Format::Characters { class: Class::Digits, min, max }
}
