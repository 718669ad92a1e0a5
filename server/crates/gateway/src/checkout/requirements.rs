//! Requirements of a checkout that the server enforces, whatever its page shows and its browser sends: the security
//! code, the offered brands, and a signed mandate.

use tillgate_connector::{CardSource, FullAccount, FullCard, Order};
use tillgate_domain::access::channel::Channel;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::payment::{Account, Payment};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::brand::{AccountType, Brand, PaymentMethod, detect};
use tillgate_shared::format::brands;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::parameter::Parameters;

use crate::Gateway;

const SECURITY_CODE: &str = "card.cvv";
const SIGNATURE_DATE: &str = "bankAccount.mandate.dateOfSignature";

/// Returns true if the merchant sent a mandate (id or reference) without a signature date, so that the shopper still
/// has to sign it.
pub fn requires_mandate(checkout: &Checkout) -> bool {
    let has = |name: &str| checkout.parameters.contains(name);
    (has("bankAccount.mandate.id") || has("bankAccount.mandate.reference")) && !has(SIGNATURE_DATE)
}

/// Returns true if the checkout (`requireCvv`, or `registrationsRequireCvv` for a stored card) or its channel requires
/// the security code. Does not look at the card.
pub(crate) fn requires_code(checkout: &Checkout, channel: &Channel, stored: bool) -> bool {
    let (name, required) = match stored {
        true => ("registrationsRequireCvv", channel.registrations_require_cvv),
        false => ("requireCvv", channel.require_cvv),
    };
    required || checkout.parameters.get(name) == Some("true")
}

/// Checks that a submitted form has the security code and the signed mandate that its checkout requires. `stored`: the
/// account is a registration's, which needs no mandate.
///
/// # Errors
/// The missing parameter, by name.
pub(crate) fn check_form(
    checkout: &Checkout,
    channel: &Channel,
    order: &Order,
    parameters: &Parameters,
    stored: bool,
) -> Result<(), Refusal> {
    match &order.account {
        FullAccount::Card(card)
            if lacks_expected_code(card, order.brand) && requires_code(checkout, channel, stored) =>
        {
            Err(Refusal::invalid_parameter(
                SECURITY_CODE,
                None,
                "may not be empty: this merchant asks for the security code",
            ))
        }
        FullAccount::Bank(_)
            if !stored
                && order.brand.method == PaymentMethod::DirectDebit
                && requires_mandate(checkout)
                && !parameters.contains(SIGNATURE_DATE) =>
        {
            Err(Refusal::invalid_parameter(
                SIGNATURE_DATE,
                None,
                "may not be empty: the shopper has to sign the mandate",
            ))
        }
        _ => Ok(()),
    }
}

/// Returns true if a card has no security code but should have one. No code is expected of a card from a wallet, nor of
/// a brand without codes if the number is in the brand's own ranges.
fn lacks_expected_code(card: &FullCard, brand: &'static Brand) -> bool {
    // A wallet provides a cryptogram instead of the security code, and a shopper does not know the code of a card that
    // was stored from a wallet.
    let by_wallet = card.source == CardSource::Wallet || brand.kind == AccountType::Wallet;
    card.security_code.is_none() && !by_wallet && !can_omit_code(&card.number, brand)
}

/// Returns true if cards of a brand may have no security code and the number is in the brand's own ranges. A browser
/// could otherwise choose such a brand for the number of another scheme to omit the code.
fn can_omit_code(number: &CardNumber, brand: &'static Brand) -> bool {
    brand.is_code_optional() && detect(number.digits(), &[brand]).next().is_some()
}

/// Reads `brands`, the brands that a checkout is restricted to. `None` if it is unrestricted. Unknown codes are left
/// out.
pub(crate) fn offered_brands(parameters: &Parameters) -> Option<Vec<&'static Brand>> {
    parameters.get("brands").map(|codes| brands::parse(codes).collect())
}

impl Gateway {
    /// Returns true if a form has to ask for the security code of stored cards: the checkout, its entity or at least
    /// one of the entity's channels requires it.
    pub fn requires_stored_code(&self, checkout: &Checkout) -> bool {
        let Some(entity) = self.directory.find_entity(&checkout.entity) else { return false };
        let channels = self.directory.merchant_channels(&entity.id);
        let requires = |channel: &Channel| requires_code(checkout, channel, true);
        requires(&entity.settings.channel) || channels.iter().any(|channel| requires(&channel.settings.channel))
    }

    /// Returns true if a card payment of a checkout can no longer be authorized, because its security code is required
    /// and no longer cached (after a restart, or because too many codes were cached). False if its checkout, entity or
    /// brand is gone.
    pub(crate) fn has_lost_code(&self, payment: &Payment, account: Option<&FullAccount>) -> bool {
        let (Some(FullAccount::Card(card)), Some(id), Account::Card(_)) =
            (account, &payment.checkout, &payment.account)
        else {
            return false;
        };
        let Some(brand) = Brand::find(&payment.brand).filter(|brand| lacks_expected_code(card, brand)) else {
            return false;
        };
        let checkout = self.store.load_checkout(id).ok().flatten();
        let channel = self.directory.find_entity(&payment.entity);
        let (Some(checkout), Some(channel)) = (checkout, channel) else { return false };
        tracing::debug!(brand = brand.code, "security code is gone");
        requires_code(&checkout, &channel.settings.channel, payment.registration.is_some())
    }
}
