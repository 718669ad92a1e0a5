//! Encrypted wallet tokens: opened with the channel's key, and good for one payment.

use jiff::Timestamp;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::parameter::find;

use super::{Failure, Gateway};
use crate::connector::{Cryptogram, Entry, FullCard};
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::refusal::Refusal;
use crate::store::wallet::WalletToken;
use crate::vault::{Vault, VaultError};
use crate::wallet::{Content, Fault, Token, WalletKey};

/// The parameter that every refusal of a token names.
const NAME: &str = "walletPay.paymentToken";

/// What came out of a token.
pub(super) struct Opened {
    pub(super) card: FullCard,
    /// The token itself, to be remembered with the payment.
    pub(super) token: WalletToken,
}

impl Gateway {
    /// Opens a token that was sent to a channel.
    pub(super) fn open_wallet_token(&self, entity: &Entity, text: &str, now: Timestamp) -> Result<Opened, Failure> {
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
