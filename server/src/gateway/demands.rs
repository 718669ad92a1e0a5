//! Demands on the form of a checkout that the server keeps, whatever its page shows and its browser sends: the security code,
//! the brands on offer, and a signed mandate.

use tillgate_shared::brand::{Brand, Kind, Method, detect};
use tillgate_shared::format::brands;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::parameter::Parameters;

use super::Gateway;
use crate::connector::{Entry, FullAccount, FullCard, Order};
use crate::domain::channel::Channel;
use crate::domain::checkout::Checkout;
use crate::domain::payment::{Account, Payment};
use crate::domain::refusal::Refusal;

const CODE: &str = "card.cvv";
const SIGNED: &str = "bankAccount.mandate.dateOfSignature";

/// Returns true if the merchant named a mandate, and the shopper has still to sign it.
pub fn wants_mandate(checkout: &Checkout) -> bool {
    let has = |name: &str| checkout.parameters.contains(name);
    (has("bankAccount.mandate.id") || has("bankAccount.mandate.reference")) && !has(SIGNED)
}

/// Returns true if the checkout or its channel demands the code of a card that is typed, or `stored`.
pub(super) fn wants_code(checkout: &Checkout, channel: &Channel, stored: bool) -> bool {
    let (name, demanded) = match stored {
        true => ("registrationsRequireCvv", channel.registrations_require_cvv),
        false => ("requireCvv", channel.require_cvv),
    };
    demanded || checkout.parameters.get(name) == Some("true")
}

/// Checks what a form makes of a checkout; `stored` says that a registration holds the account.
///
/// # Errors
/// The parameter that is demanded and missing.
pub(super) fn check(
    checkout: &Checkout,
    channel: &Channel,
    order: &Order,
    parameters: &Parameters,
    stored: bool,
) -> Result<(), Refusal> {
    match &order.account {
        FullAccount::Card(card) if lacks_code(card, order.brand) && wants_code(checkout, channel, stored) => {
            Err(Refusal::parameter(CODE, None, "may not be empty: this merchant asks for the security code"))
        }
        FullAccount::Bank(_)
            if !stored
                && order.brand.method == Method::DirectDebit
                && wants_mandate(checkout)
                && !parameters.contains(SIGNED) =>
        {
            Err(Refusal::parameter(SIGNED, None, "may not be empty: the shopper has to sign the mandate"))
        }
        _ => Ok(()),
    }
}

/// Returns true if a card could have brought its code and did not.
fn lacks_code(card: &FullCard, brand: &'static Brand) -> bool {
    // A wallet hands out a cryptogram in place of the code, and its shoppers know no code of what is stored from it.
    let by_wallet = card.entry == Entry::Wallet || brand.kind == Kind::Wallet;
    card.code.is_none() && !by_wallet && !may_lack_code(&card.number, brand)
}

/// Returns true if cards of a brand may have no code and the number is one of its own. Others ride on many schemes' ranges:
/// a browser may not choose such a brand to leave the code out.
fn may_lack_code(number: &CardNumber, brand: &'static Brand) -> bool {
    brand.code_optional() && detect(number.digits(), &[brand]).next().is_some()
}

/// Returns the brands that a checkout is restricted to, `None` for all.
pub(super) fn offered_brands(parameters: &Parameters) -> Option<Vec<&'static Brand>> {
    parameters.get("brands").map(|codes| brands::parse(codes).collect())
}

impl Gateway {
    /// Returns true if a form has to ask for the code of stored cards: some channel that may take the payment demands it.
    pub fn wants_stored_code(&self, checkout: &Checkout) -> bool {
        let Some(entity) = self.directory.entity(&checkout.entity) else { return false };
        let channels = self.directory.channels(&entity.id);
        let wants = |channel: &Channel| wants_code(checkout, channel, true);
        wants(&entity.settings.channel) || channels.iter().any(|channel| wants(&channel.settings.channel))
    }

    /// Returns true if a pending payment may not be authorised any more because its code is demanded and gone: a restart
    /// forgets codes, and so does a flood of payments that wait.
    pub(super) fn has_lost_code(&self, payment: &Payment, account: Option<&FullAccount>) -> bool {
        let (Some(FullAccount::Card(card)), Some(id), Account::Card(_)) =
            (account, &payment.checkout, &payment.account)
        else {
            return false;
        };
        let Some(brand) = Brand::find(&payment.brand).filter(|brand| lacks_code(card, brand)) else { return false };
        let checkout = self.store.checkout(id).ok().flatten();
        let channel = self.directory.entity(&payment.entity);
        let (Some(checkout), Some(channel)) = (checkout, channel) else { return false };
        tracing::debug!(brand = brand.code, "security code is gone");
        wants_code(&checkout, &channel.settings.channel, payment.registration.is_some())
    }
}
