//! Bank accounts, by IBAN or national number. The parameter catalogue says which parameters a brand requires; a brand
//! that redirects the shopper to the bank may require none.

use tillgate_connector::{BankNumber, FullAccount, FullBank, NationalNumber};
use tillgate_domain::payment::BankSummary;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::format::iban::Iban;
use tillgate_shared::parameter::Parameters;

/// Reads a bank account, by its IBAN or else its national number. Returns an unknown account if no `bankAccount.`
/// parameter was sent. The country of the IBAN is used if none was sent.
///
/// # Errors
/// `bankAccount.iban` by name, if it is not valid.
pub(super) fn read_bank_account(parameters: &Parameters) -> Result<FullAccount, Refusal> {
    if parameters.with_prefix("bankAccount.").next().is_none() {
        return Ok(FullAccount::Unknown);
    }
    let number = match (parameters.get("bankAccount.iban"), parameters.get("bankAccount.number")) {
        (Some(iban), _) => Some(BankNumber::Iban(
            Iban::parse(iban).map_err(|message| Refusal::invalid_parameter("bankAccount.iban", None, message))?,
        )),
        (None, Some(number)) => Some(BankNumber::National(NationalNumber::new(number))),
        (None, None) => None,
    };
    let text = |name: &str| parameters.get(name).map(str::to_owned);
    let country = match &number {
        Some(BankNumber::Iban(iban)) => Some(iban.country().to_owned()),
        _ => None,
    };
    let summary = BankSummary {
        holder: text("bankAccount.holder"),
        iban: None,
        last4: None,
        bic: text("bankAccount.bic"),
        bank_code: text("bankAccount.bankCode"),
        bank_name: text("bankAccount.bankName"),
        country: text("bankAccount.country").or(country),
    };
    Ok(FullAccount::Bank(FullBank { number, summary }))
}
