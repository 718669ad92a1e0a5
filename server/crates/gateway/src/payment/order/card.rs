//! Cards: number, expiry date, holder and security code, as the shopper or the merchant sent them, or as the merchant
//! decrypted them from a wallet's token.

use tillgate_connector::{CardSource, Cryptogram, FullCard};
use tillgate_domain::payment::required_parameter;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::security_code::SecurityCode;
use tillgate_shared::parameter::{Parameters, Requirements};

/// Reads a card. Its source is a wallet only if a merchant's server sends `walletPay.source` with cryptogram and ECI.
///
/// # Errors
/// The missing or malformed parameter, by name. The security code may be missing.
pub(super) fn read_card(parameters: &Parameters, requirements: &Requirements) -> Result<FullCard, Refusal> {
    let number = CardNumber::parse(required_parameter(parameters, "card.number")?)
        .map_err(|_| Refusal::invalid_parameter("card.number", None, "must match ^[0-9]{12,19}$"))?;
    let (month, year) =
        (required_parameter(parameters, "card.expiryMonth")?, required_parameter(parameters, "card.expiryYear")?);
    let expiry = Expiry::parse(month, year).map_err(|_| {
        Refusal::invalid_parameter("card.expiryMonth", Some(month), "must be a month, with card.expiryYear")
    })?;
    let code = match parameters.get("card.cvv") {
        Some(code) => Some(
            SecurityCode::parse(code)
                .map_err(|_| Refusal::invalid_parameter("card.cvv", None, "must match ^[0-9]{3,4}$"))?,
        ),
        None => None,
    };
    let holder = parameters.get("card.holder").map(str::to_owned);
    let proof = (parameters.get("threeDSecure.verificationId"), parameters.get("threeDSecure.eci"));
    let decrypted = parameters.contains("walletPay.source") && !requirements.collected_by_form;
    let (source, cryptogram) = match (decrypted, proof) {
        (true, (Some(value), Some(eci))) => {
            (CardSource::Wallet, Some(Cryptogram { value: value.to_owned().into(), eci: eci.to_owned() }))
        }
        _ => (CardSource::Keyed, None),
    };
    Ok(FullCard { number, expiry, holder, security_code: code, cryptogram, source })
}
