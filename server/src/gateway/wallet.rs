//! Encrypted wallet tokens: opened with the channel's key, and good for one payment.

use jiff::Timestamp;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::parameter::{Parameters, find};

use super::{Failure, Gateway, order};
use crate::connector::{Cryptogram, Entry, FullAccount, FullCard, Order};
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::refusal::Refusal;
use crate::store::wallet::WalletToken;
use crate::vault::{Vault, VaultError};
use crate::wallet::{Content, Fault, Token, WalletKey};

/// The parameter that every refusal of a token names.
const NAME: &str = "walletPay.paymentToken";

/// What came out of a token.
struct Opened {
    card: FullCard,
    /// The token itself, to be remembered with the payment.
    token: WalletToken,
}

impl Gateway {
    /// Reads an order. A wallet's token among the parameters is opened with the channel's key, and what it holds stands among
    /// them afterwards as if the merchant had decrypted it.
    ///
    /// # Errors
    /// What [`order::read`] says, and what is wrong with the token.
    pub(super) fn read_order(
        &self,
        entity: &Entity,
        parameters: &mut Parameters,
        stored: bool,
    ) -> Result<(Order, Option<WalletToken>), Failure> {
        let mut token = None;
        let order = order::read(entity, parameters, stored, |text| {
            let Opened { card, token: opened } = self.open_wallet_token(entity, text, self.now())?;
            token = Some(opened);
            Ok(card)
        })?;
        if let (Some(_), FullAccount::Card(card)) = (&token, &order.account) {
            parameters.set("card.number", card.number.digits());
            parameters.set("card.expiryMonth", card.expiry.month_text());
            parameters.set("card.expiryYear", card.expiry.year_text());
            if let Some(holder) = &card.holder {
                parameters.set("card.holder", holder.as_str());
            }
            if let Some(proof) = &card.cryptogram {
                parameters.set("threeDSecure.eci", proof.eci.as_str());
            }
        }
        Ok((order, token))
    }

    /// Opens a token that was sent to a channel.
    fn open_wallet_token(&self, entity: &Entity, text: &str, now: Timestamp) -> Result<Opened, Failure> {
        let token = Token::parse(text).map_err(refusal)?;
        let kept = self.store.wallet_key(&entity.id, token.key_id())?.ok_or_else(|| refusal(Fault::Foreign))?;
        if kept.retired.is_some() {
            return Err(refusal(Fault::Retired).into());
        }
        let secret = self.vault.open(&record(&entity.id, &kept.id), &kept.sealed)?;
        let key = WalletKey::from_bytes(&secret).ok_or(VaultError::damaged())?;
        let content = token.open(&entity.id, &key, now).map_err(refusal)?;
        let card = card(&content).ok_or_else(|| refusal(Fault::Content))?;
        // Used tokens are told apart by the millisecond, as they are stored.
        let until = Timestamp::from_millisecond(content.expires.as_millisecond()).unwrap_or(content.expires);
        Ok(Opened { card, token: WalletToken { entity: entity.id.clone(), id: content.token_id.clone(), until } })
    }
}

/// The refusal of a token that has paid already.
pub(super) fn used() -> Refusal {
    refusal(Fault::Used)
}

fn refusal(fault: Fault) -> Refusal {
    Refusal::parameter(NAME, None, fault.to_string())
}

/// Seals a key's secret half for its record.
///
/// # Errors
/// When the system gives no randomness.
pub fn seal_key(vault: &Vault, entity: &EntityId, key: &WalletKey) -> Result<Vec<u8>, VaultError> {
    vault.seal(&record(entity, &key.public().id()), &key.secret())
}

/// The name of a key's record in the vault; no other record's name looks like it.
fn record(entity: &EntityId, key: &str) -> String {
    format!("wallet key {entity} {key}")
}

/// The card in a token; `None` when a field is not as the catalogue wants it.
fn card(content: &Content) -> Option<FullCard> {
    let fields = [
        ("card.expiryMonth", content.expiry_month.as_str()),
        ("card.expiryYear", &content.expiry_year),
        ("threeDSecure.verificationId", &content.cryptogram),
        ("threeDSecure.eci", &content.eci),
    ];
    let holder = content.holder.as_deref().map(|holder| ("card.holder", holder));
    let good = |(name, value): (&str, &str)| find(name).is_some_and(|row| row.format.check(value).is_ok());
    if !fields.into_iter().chain(holder).all(good) {
        return None;
    }
    Some(FullCard {
        number: CardNumber::parse(&content.number).ok()?,
        expiry: Expiry::parse(&content.expiry_month, &content.expiry_year).ok()?,
        holder: content.holder.clone(),
        code: None,
        cryptogram: Some(Cryptogram { value: content.cryptogram.clone().into(), eci: content.eci.clone() }),
        entry: Entry::Wallet,
    })
}
