//! Bank accounts: by IBAN or national number. Which of their parameters a brand needs is the catalogue's to say; a brand
//! that sends the shopper to the bank may need none.

use tillgate_shared::format::iban::Iban;
use tillgate_shared::parameter::Parameters;

use crate::connector::{BankNumber, FullAccount, FullBank, NationalNumber};
use crate::domain::payment::BankSummary;
use crate::domain::refusal::Refusal;

/// Reads a bank account; an unknown one when nothing of it was sent.
pub(super) fn read(parameters: &Parameters) -> Result<FullAccount, Refusal> {
    if parameters.with_prefix("bankAccount.").next().is_none() {
        return Ok(FullAccount::Unknown);
    }
    let number = match (parameters.get("bankAccount.iban"), parameters.get("bankAccount.number")) {
        (Some(iban), _) => Some(BankNumber::Iban(
            Iban::parse(iban).map_err(|message| Refusal::parameter("bankAccount.iban", None, message))?,
        )),
        (None, Some(number)) => Some(BankNumber::National(NationalNumber::new(number))),
        (None, None) => None,
    };
    let text = |name: &str| parameters.get(name).map(str::to_owned);
    let country = match &number {
        Some(BankNumber::Iban(iban)) => Some(iban.country().to_owned()),
        _ => None,
    };
    let about = BankSummary {
        holder: text("bankAccount.holder"),
        iban: None,
        last4: None,
        bic: text("bankAccount.bic"),
        bank_code: text("bankAccount.bankCode"),
        bank_name: text("bankAccount.bankName"),
        country: text("bankAccount.country").or(country),
    };
    Ok(FullAccount::Bank(FullBank { number, about }))
}
