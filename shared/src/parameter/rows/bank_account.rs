//! Bank accounts: direct debits with their mandates, transfers.

use super::super::Need::{Conditional, Required};
use super::super::{Need, Parameter, ParameterGroup};
use super::text;
use crate::format::{Class, Format};

/// Creates a row that the browser may set.
const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::BankAccount, name, need, format, note).allowed_in_browser()
}

const fn alphanumeric_format(min: u16, max: u16) -> Format {
    Format::Characters { class: Class::Alphanumeric, min, max }
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("bankAccount.holder", Required, text(4, 128), "Name of the account holder."),
    new_row("bankAccount.bankName", Conditional, text(1, 255), "Name of the bank."),
    new_row("bankAccount.number", Conditional, alphanumeric_format(3, 64), "Account number. Alternatively, send the IBAN.").marked_secret().with_single_value(),
    new_row("bankAccount.iban", Conditional, Format::Iban, "IBAN of the account. Alternatively, send the account number.").marked_secret().with_single_value(),
    new_row("bankAccount.bankCode", Conditional, alphanumeric_format(1, 12), "Bank code. Alternatively, send the BIC."),
    new_row("bankAccount.bic", Conditional, Format::Bic, "BIC of the bank. Alternatively, send the bank code."),
    new_row("bankAccount.country", Conditional, Format::CountryAnyCase, "Country of the account, two letters."),
    new_row("bankAccount.mandate.id", Conditional, alphanumeric_format(1, 35), "Id of the direct debit mandate."),
    new_row("bankAccount.mandate.dateOfSignature", Conditional, Format::Date, "Day on which the mandate was signed."),
    new_row("bankAccount.mandate.reference", Conditional, alphanumeric_format(1, 32), "Reference of the mandate."),
    // Only the merchant may set the due date.
    Parameter::new(ParameterGroup::BankAccount, "transactionDueDate", Conditional, Format::Date,
        "Day on which the account is debited."),
];
