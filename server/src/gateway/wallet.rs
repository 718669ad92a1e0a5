//! Encrypted wallet tokens: opened with the channel's key, and good for one payment. In a test system the gateway makes them
//! too, in a wallet's place.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::parameter::find;

use super::checkout::unknown;
use super::{Failure, Gateway, random};
use crate::connector::{Cryptogram, Entry, FullCard};
use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, hex};
use crate::domain::refusal::Refusal;
use crate::store::wallet::{KeptKey, WalletToken};
use crate::vault::{Vault, VaultError};
use crate::wallet::{Content, Derivation, Fault, PublicWalletKey, Token, WalletKey};

/// The parameter that every refusal of a token names.
const NAME: &str = "walletPay.paymentToken";

/// A card in the simulated wallet.
#[derive(Debug)]
pub struct SheetCard {
    /// What the shopper knows it as.
    pub name: &'static str,
    /// Its number, a documented test number.
    pub number: &'static str,
}

/// The cards in the simulated wallet.
pub static SHEET_CARDS: [SheetCard; 2] = [
    SheetCard { name: "Visa", number: "4200000000000000" },
    SheetCard { name: "Mastercard", number: "5454545454545454" },
];

/// How long a simulated token is valid.
const VALID: SignedDuration = SignedDuration::from_mins(10);

/// What came out of a token.
pub(super) struct Opened {
    pub(super) card: FullCard,
    /// The token itself, to be remembered with the payment.
    pub(super) token: WalletToken,
}

impl Gateway {
    /// Whether a simulation stands in for a wallet: the channel is a sandbox, and has a key to encrypt for.
    pub fn has_wallet_sheet(&self, checkout: &Checkout, brand: &Brand) -> bool {
        self.sheet(checkout, brand).is_ok()
    }

    /// Makes a token as a wallet would, of a test card.
    ///
    /// # Errors
    /// 404 where no simulation stands in for the wallet; when the system gives no random bytes.
    pub fn simulate_wallet(&self, checkout: &Checkout, brand: &Brand, card: &SheetCard) -> Result<String, Failure> {
        let (entity, key) = self.sheet(checkout, brand)?;
        let public = PublicWalletKey::from_bytes(&key.public).ok_or(VaultError::damaged())?;
        let content = Content {
            token_id: hex(&random::<16>()?),
            expires: self.now() + VALID,
            number: card.number.to_owned(),
            expiry_month: "05".to_owned(),
            expiry_year: "2034".to_owned(),
            holder: Some("Jane Jones".to_owned()),
            cryptogram: STANDARD.encode(random::<20>()?),
            eci: "05".to_owned(),
        };
        let token = Token::seal(&content, &entity.id, &public, Derivation::Hkdf, &fresh_key()?, random()?);
        token.and_then(|token| serde_json::to_string(&token).ok()).ok_or(Failure::Random)
    }

    /// The channel that a wallet's payment goes to, and the newest key that it takes tokens for.
    fn sheet(&self, checkout: &Checkout, brand: &Brand) -> Result<(Arc<Entity>, KeptKey), Failure> {
        let entity = self.directory.entity(&checkout.entity).ok_or_else(unknown)?;
        let mut parameters = checkout.parameters.clone();
        parameters.set("paymentBrand", brand.code);
        let payer = self.receive(&entity, parameters)?.payer;
        let keys = if payer.live { Vec::new() } else { self.store.wallet_keys(&payer.id)? };
        let key = keys.into_iter().rfind(|key| key.retired.is_none());
        Ok((payer, key.ok_or_else(|| Refusal::not_found("No wallet is set up"))?))
    }

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

/// A new key pair.
///
/// # Errors
/// When the system gives no randomness.
pub fn fresh_key() -> Result<WalletKey, Failure> {
    // One number in 2^32 is none of the curve.
    for _ in 0..8 {
        let bytes = zeroize::Zeroizing::new(random::<32>()?);
        if let Some(key) = WalletKey::from_bytes(&*bytes) {
            return Ok(key);
        }
    }
    Err(Failure::Random)
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
