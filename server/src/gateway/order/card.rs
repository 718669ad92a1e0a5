//! Cards: number, expiry date, holder and code, as the shopper or the merchant sent them, or as they came out of a wallet
//! that the merchant decrypted.

use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::security_code::SecurityCode;
use tillgate_shared::parameter::{Parameters, Requirements};

use super::required;
use crate::connector::{Cryptogram, Entry, FullCard};
use crate::domain::refusal::Refusal;

/// Reads a card. It can have come out of a wallet only where a merchant's server sends it.
pub(super) fn read(parameters: &Parameters, requirements: &Requirements) -> Result<FullCard, Refusal> {
    let number = CardNumber::parse(required(parameters, "card.number")?)
        .map_err(|_| Refusal::parameter("card.number", None, "must match ^[0-9]{12,19}$"))?;
    let (month, year) = (required(parameters, "card.expiryMonth")?, required(parameters, "card.expiryYear")?);
    let expiry = Expiry::parse(month, year)
        .map_err(|_| Refusal::parameter("card.expiryMonth", Some(month), "must be a month, with card.expiryYear"))?;
    let code = match parameters.get("card.cvv") {
        Some(code) => Some(
            SecurityCode::parse(code).map_err(|_| Refusal::parameter("card.cvv", None, "must match ^[0-9]{3,4}$"))?,
        ),
        None => None,
    };
    let holder = parameters.get("card.holder").map(str::to_owned);
    let proof = (parameters.get("threeDSecure.verificationId"), parameters.get("threeDSecure.eci"));
    let decrypted = parameters.contains("walletPay.source") && !requirements.collected_by_form;
    let (entry, cryptogram) = match (decrypted, proof) {
        (true, (Some(value), Some(eci))) => {
            (Entry::Wallet, Some(Cryptogram { value: value.to_owned().into(), eci: eci.to_owned() }))
        }
        _ => (Entry::Keyed, None),
    };
    Ok(FullCard { number, expiry, holder, code, cryptogram, entry })
}
