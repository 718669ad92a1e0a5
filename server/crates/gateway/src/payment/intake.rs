//! First stage: reads a request. [`Gateway::route_request`] determines channel, brand and card number,
//! [`Gateway::read_intake`] account and amount. Afterwards these are typed values, and the card parameters are removed.

use std::sync::Arc;

use tillgate_connector::{FullAccount, FullCard, Order};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_shared::parameter::{Parameters, Requirements};
use tillgate_store::keys::wallet::UsedWalletToken;

use super::super::{Failure, Gateway};
use crate::access::routing;
use crate::access::sender::Sender;
use crate::checkout::requirements;
use crate::keys::wallet::DecryptedToken;
use crate::payment::account_parameters::StorableAccount;
use crate::payment::order;

/// Parameter with the ECI of a wallet's token.
const WALLET_ECI: &str = "threeDSecure.eci";

/// A request with its channel, brand and card number.
pub(crate) struct RoutedRequest {
    /// The entity that processes the payment: a merchant without channels, or a channel.
    pub(crate) payer: Arc<Entity>,
    /// The brand that was sent or that the card number determines. `None` if there is no known brand.
    pub(crate) brand: Option<&'static Brand>,
    /// The card number that was sent.
    pub(crate) number: Option<CardNumber>,
    /// All parameters of the request.
    pub(crate) parameters: Parameters,
}

/// A complete request.
pub(crate) struct Intake {
    /// The entity that processes the payment: a merchant without channels, or a channel.
    pub(crate) payer: Arc<Entity>,
    /// Brand, account, amount and all other data for the connector.
    pub(crate) order: Order,
    /// The account as a registration stores it. `None` if it is known to the provider only.
    pub(crate) account: Option<StorableAccount>,
    /// The parameters of the request, without those of a card.
    pub(crate) parameters: Parameters,
    /// The wallet token that contained the account. It can be used once.
    pub(crate) wallet_token: Option<UsedWalletToken>,
    /// Names of the parameters that the gateway has set.
    pub(crate) from_gateway: Vec<String>,
}

impl Gateway {
    /// Selects the channel of an entity for a request, and the brand. The entity itself is the channel if it has none.
    /// Sets `paymentBrand` if the card number implies the brand.
    ///
    /// # Errors
    /// A refusal that names what no channel accepts, or a brand that is not offered.
    pub(crate) fn route_request(
        &self,
        entity: &Arc<Entity>,
        mut parameters: Parameters,
    ) -> Result<RoutedRequest, Refusal> {
        let chosen =
            routing::select_channel_and_brand(entity, &self.directory.merchant_channels(&entity.id), &parameters)?;
        if let Some(brand) = chosen.brand.filter(|_| chosen.is_brand_implied) {
            parameters.set("paymentBrand", brand.code);
        }
        // An invalid number is no error here, because the second step of the intake refuses it by name.
        let number = parameters.get("card.number").and_then(|number| CardNumber::parse(number).ok());
        let payer = chosen.channel.unwrap_or_else(|| Arc::clone(entity));
        Ok(RoutedRequest { payer, brand: chosen.brand, number, parameters })
    }

    /// Reads account and amount of a request, and removes the card parameters from its parameters. A wallet's token is
    /// decrypted with the channel's key. `stored`: the account is a registration's. `needs_browser`: its cardholder is
    /// authenticated in a browser, so the data of the browser are required.
    ///
    /// # Errors
    /// Every missing or contradictory parameter, by name; the fault of a token; the unmet requirements of the checkout.
    pub(crate) fn read_intake(
        &self,
        received: RoutedRequest,
        sender: Sender<'_>,
        stored: bool,
        needs_browser: bool,
    ) -> Result<Intake, Failure> {
        let RoutedRequest { payer, brand, mut parameters, .. } = received;
        let requirements = Requirements { runs_three_ds: needs_browser, ..sender.requirements(&payer) };
        let mut wallet_token = None;
        let mut order = order::read_order(&requirements, &parameters, brand, stored, |text| {
            let DecryptedToken { card, token } = self.decrypt_wallet_token(&payer, text, self.now())?;
            wallet_token = Some(token);
            Ok(card)
        })?;
        order.accepts_any_number = payer.settings.sandbox_any_number;
        // The shopper has read the mandate of the checkout's entity, whichever channel pays.
        let creditor = || sender.checkout().map_or(&payer.id, |checkout| &checkout.entity).clone();
        order.creditor_id = self.find_creditor_id(&order, creditor);
        let mut from_gateway = Vec::new();
        if let (Some(_), FullAccount::Card(card)) = (&wallet_token, &order.account) {
            // A registration stores the parameters of its account, so the data of a decrypted card are added to them.
            set_decrypted_card(&mut parameters, card);
            from_gateway.push(WALLET_ECI.to_owned());
        }
        if let Some(checkout) = sender.checkout() {
            requirements::check_form(checkout, &payer.settings.channel, &order, &parameters, stored)?;
        }
        let account = StorableAccount::from_request(&order, &parameters);
        // Removed this early, so that no later stage can store or log a card number.
        parameters.retain(|name, _| !name.starts_with("card."));
        Ok(Intake { payer, order, account, parameters, wallet_token, from_gateway })
    }
}

/// Sets the parameters of a card from a wallet's token, as if the merchant had decrypted the token. Card numbers in the
/// holder's name are masked. Of the cryptogram, only the ECI is set.
fn set_decrypted_card(parameters: &mut Parameters, card: &FullCard) {
    parameters.set("card.number", card.number.digits());
    parameters.set("card.expiryMonth", card.expiry.month_text());
    parameters.set("card.expiryYear", card.expiry.year_text());
    if let Some(holder) = &card.holder {
        // The holder's name is stored in clear text, so it must not contain a card number.
        parameters.set("card.holder", mask_card_numbers(holder));
    }
    if let Some(proof) = &card.cryptogram {
        parameters.set(WALLET_ECI, proof.eci.as_str());
    }
}
