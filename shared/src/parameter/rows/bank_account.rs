//! Bank accounts: direct debits with their mandates, transfers.

use super::super::Need::{Conditional, Required};
use super::super::{Group, Need, Parameter};
use super::text;
use crate::format::{Class, Format};

const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::BankAccount, name, need, format, note).by_browser()
}

const fn characters(min: u16, max: u16) -> Format {
    Format::Characters { class: Class::Alphanumeric, min, max }
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("bankAccount.holder", Required, text(4, 128), "Whose account it is."),
    row("bankAccount.bankName", Conditional, text(1, 255), "Name of the bank."),
    row("bankAccount.number", Conditional, characters(3, 64), "Number of the account; or send the IBAN.").secret().once(),
    row("bankAccount.iban", Conditional, Format::Iban, "IBAN of the account; or send its number.").secret().once(),
    row("bankAccount.bankCode", Conditional, characters(1, 12), "Code of the bank; or send the BIC."),
    row("bankAccount.bic", Conditional, Format::Bic, "BIC of the bank; or send its code."),
    row("bankAccount.country", Conditional, Format::CountryAnyCase, "Country of the account, two letters."),
    row("bankAccount.mandate.id", Conditional, characters(1, 35), "Id of the mandate to debit the account."),
    row("bankAccount.mandate.dateOfSignature", Conditional, Format::Date, "Day on which the mandate was signed."),
    row("bankAccount.mandate.reference", Conditional, characters(1, 32), "Reference of the mandate."),
    // When money is due is the merchant's to say.
    Parameter::new(Group::BankAccount, "transactionDueDate", Conditional, Format::Date,
        "Day on which the account is debited."),
];
