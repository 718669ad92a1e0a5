//! First stage: reads a request. Channel, brand and card number are decided in [`Gateway::receive`], account and amount in
//! [`Gateway::read_intake`]; afterwards they are types, and no parameter about a card is left.

use std::sync::Arc;

use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::mask::mask_numbers;
use tillgate_shared::parameter::{Parameters, Requirements};

use super::super::on_file::AccountParameters;
use super::super::sender::Sender;
use super::super::wallet::Opened;
use super::super::{Failure, Gateway, demands, dispatch, order};
use crate::connector::{FullAccount, FullCard, Order};
use crate::domain::entity::Entity;
use crate::domain::refusal::Refusal;
use crate::store::wallet::WalletToken;

/// A request whose channel, brand and card number are decided.
pub(in crate::gateway) struct Received {
    /// The entity that takes the payment: a merchant without channels, or a channel.
    pub(in crate::gateway) payer: Arc<Entity>,
    /// The brand that was sent, or the one that the card number tells. `None` if it is neither known nor told.
    pub(in crate::gateway) brand: Option<&'static Brand>,
    /// The card number that was sent.
    pub(in crate::gateway) number: Option<CardNumber>,
    /// Everything that was sent.
    pub(in crate::gateway) parameters: Parameters,
}

/// A complete request.
pub(in crate::gateway) struct Intake {
    /// The entity that takes the payment: a merchant without channels, or a channel.
    pub(in crate::gateway) payer: Arc<Entity>,
    /// Brand, account, amount and everything else that a connector needs.
    pub(in crate::gateway) order: Order,
    /// The account as a registration stores it.
    pub(in crate::gateway) account: AccountParameters,
    /// Everything else that was sent.
    pub(in crate::gateway) parameters: Parameters,
    /// The wallet token that the account comes from; it can be used once.
    pub(in crate::gateway) wallet_token: Option<WalletToken>,
}

impl Gateway {
    /// Decides which channel of an entity takes a request, and its brand.
    ///
    /// # Errors
    /// A refusal that says what no channel takes.
    pub(in crate::gateway) fn receive(
        &self,
        entity: &Arc<Entity>,
        mut parameters: Parameters,
    ) -> Result<Received, Refusal> {
        let chosen = dispatch::choose(entity, &self.directory.channels(&entity.id), &parameters)?;
        if let Some(brand) = chosen.brand.filter(|_| chosen.is_told) {
            parameters.set("paymentBrand", brand.code);
        }
        let number = parameters.get("card.number").and_then(|number| CardNumber::parse(number).ok());
        let payer = chosen.channel.unwrap_or_else(|| Arc::clone(entity));
        Ok(Received { payer, brand: chosen.brand, number, parameters })
    }

    /// Reads account and amount of a request. A wallet's token among the parameters is opened with the channel's key. `stored`
    /// says that a registration holds the account, `needs_browser` that its cardholder is authenticated in a browser.
    ///
    /// # Errors
    /// Everything that is missing or contradictory, by name; what is wrong with the token; what the checkout demands.
    pub(in crate::gateway) fn read_intake(
        &self,
        received: Received,
        sender: Sender<'_>,
        stored: bool,
        needs_browser: bool,
    ) -> Result<Intake, Failure> {
        let Received { payer, brand, mut parameters, .. } = received;
        let requirements = Requirements { authenticates: needs_browser, ..sender.requirements(&payer) };
        let mut wallet_token = None;
        let mut order = order::read(&requirements, &parameters, brand, stored, |text| {
            let Opened { card, token } = self.open_wallet_token(&payer, text, self.now())?;
            wallet_token = Some(token);
            Ok(card)
        })?;
        order.any_number = payer.settings.sandbox_any_number;
        if let (Some(_), FullAccount::Card(card)) = (&wallet_token, &order.account) {
            set_opened_card(&mut parameters, card);
        }
        if let Some(checkout) = sender.checkout() {
            demands::check(checkout, &payer.settings.channel, &order, &parameters, stored)?;
        }
        let account = AccountParameters::of(&parameters);
        parameters.retain(|name, _| !name.starts_with("card."));
        Ok(Intake { payer, order, account, parameters, wallet_token })
    }
}

/// Sets the parameters of a card that came out of a wallet's token, as if the merchant had decrypted it.
fn set_opened_card(parameters: &mut Parameters, card: &FullCard) {
    parameters.set("card.number", card.number.digits());
    parameters.set("card.expiryMonth", card.expiry.month_text());
    parameters.set("card.expiryYear", card.expiry.year_text());
    if let Some(holder) = &card.holder {
        parameters.set("card.holder", mask_numbers(holder));
    }
    if let Some(proof) = &card.cryptogram {
        parameters.set("threeDSecure.eci", proof.eci.as_str());
    }
}
