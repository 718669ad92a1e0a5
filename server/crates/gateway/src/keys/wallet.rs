//! Encrypted wallet tokens: decrypted with the channel's key, and valid for one payment. In a test system the gateway
//! also creates tokens, in place of a wallet.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use tillgate_connector::sandbox::{SheetCard, WalletSheet};
use tillgate_connector::{CardSource, Cryptogram, FullCard};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::parameter::find_parameter;
use tillgate_store::keys::wallet::{StoredWalletKey, UsedWalletToken};
use tillgate_vault::wallet::{Derivation, PublicWalletKey, Token, WalletKey, WalletTokenContent, WalletTokenError};
use tillgate_vault::{Sealed, Vault, VaultError};

use crate::checkout::unknown_checkout;
use crate::registry;
use crate::{Failure, Gateway, random_bytes};

/// The parameter that refusals of a token name.
const TOKEN_PARAMETER: &str = "walletPay.paymentToken";

/// Validity of a simulated token.
const TOKEN_VALIDITY: SignedDuration = SignedDuration::from_mins(10);

/// Content of a decrypted token.
pub(crate) struct DecryptedToken {
    pub(crate) card: FullCard,
    /// Identifies the token. Stored with the payment, so that the token cannot be used again.
    pub(crate) token: UsedWalletToken,
}

impl Gateway {
    /// Returns the sheet that replaces a wallet's own in a sandbox. `None` if the channel is live or has no key to
    /// encrypt for, or if its connector has no sheet.
    pub fn wallet_sheet(&self, checkout: &Checkout, brand: &Brand) -> Option<&'static WalletSheet> {
        let (entity, _) = self.select_wallet_key(checkout, brand).ok()?;
        registry::sandbox_of(&entity.settings.channel).wallet_sheet.as_ref()
    }

    /// Creates a token for a test card, in place of a wallet: valid for ten minutes, encrypted for the newest key of
    /// the channel. Stores nothing.
    ///
    /// # Errors
    /// 404 if the channel is live or has no key to encrypt for; a refusal if no channel accepts the brand; a failure if
    /// the system provides no random bytes.
    pub fn create_wallet_token(&self, checkout: &Checkout, brand: &Brand, card: &SheetCard) -> Result<String, Failure> {
        let (entity, key) = self.select_wallet_key(checkout, brand)?;
        let public = PublicWalletKey::from_bytes(&key.public).ok_or(VaultError::damaged())?;
        let content = WalletTokenContent {
            token_id: to_hex(&random_bytes::<16>()?),
            expires: self.now() + TOKEN_VALIDITY,
            number: card.number.to_owned(),
            expiry_month: "05".to_owned(),
            expiry_year: "2034".to_owned(),
            holder: Some("Jane Jones".to_owned()),
            cryptogram: STANDARD.encode(random_bytes::<20>()?),
            eci: "05".to_owned(),
        };
        let token = Token::seal(&content, &entity.id, &public, Derivation::Hkdf, &generate_key()?, random_bytes()?);
        token.and_then(|token| serde_json::to_string(&token).ok()).ok_or(Failure::Random)
    }

    /// Returns the channel that a wallet payment is routed to, and the newest key of that channel that is not retired.
    ///
    /// # Errors
    /// 404 if the channel is live or has no such key; a refusal if no channel accepts the brand.
    fn select_wallet_key(&self, checkout: &Checkout, brand: &Brand) -> Result<(Arc<Entity>, StoredWalletKey), Failure> {
        let entity = self.directory.find_entity(&checkout.entity).ok_or_else(unknown_checkout)?;
        let mut parameters = checkout.parameters.clone();
        parameters.set("paymentBrand", brand.code);
        let payer = self.route_request(&entity, parameters)?.payer;
        let keys = if payer.live { Vec::new() } else { self.store.load_wallet_keys(&payer.id)? };
        let key = keys.into_iter().rfind(|key| key.retired.is_none());
        Ok((payer, key.ok_or_else(|| Refusal::not_found("No wallet is set up"))?))
    }

    /// Decrypts a token that was sent to a channel, and reads the card in it. Does not check that the token is unused:
    /// the write does.
    ///
    /// # Errors
    /// A refusal that names the parameter if the token is malformed or has expired, its key is unknown or retired, or
    /// its content is not valid.
    pub(crate) fn decrypt_wallet_token(
        &self,
        entity: &Entity,
        text: &str,
        now: Timestamp,
    ) -> Result<DecryptedToken, Failure> {
        let token = Token::parse(text).map_err(token_refusal)?;
        let stored = self
            .store
            .load_wallet_key(&entity.id, token.key_id())?
            .ok_or_else(|| token_refusal(WalletTokenError::UnknownKey))?;
        if stored.retired.is_some() {
            return Err(token_refusal(WalletTokenError::RetiredKey).into());
        }
        let secret = self.vault.open(&vault_record_id(&entity.id, &stored.id), &stored.sealed)?;
        let key = WalletKey::from_bytes(&secret).ok_or(VaultError::damaged())?;
        let content = token.open(&entity.id, &key, now).map_err(token_refusal)?;
        let card = read_card(&content).ok_or_else(|| token_refusal(WalletTokenError::InvalidContent))?;
        // Used tokens are stored with their expiry in milliseconds, so the expiry is compared at that precision.
        let until = Timestamp::from_millisecond(content.expires.as_millisecond()).unwrap_or(content.expires);
        Ok(DecryptedToken {
            card,
            token: UsedWalletToken { entity: entity.id.clone(), id: content.token_id.clone(), until },
        })
    }
}

/// Returns the refusal of a token that has been used already.
pub(crate) fn used_token_refusal() -> Refusal {
    token_refusal(WalletTokenError::AlreadyUsed)
}

/// Returns the refusal of a token, which names the parameter and the fault: 400.
fn token_refusal(fault: WalletTokenError) -> Refusal {
    Refusal::invalid_parameter(TOKEN_PARAMETER, None, fault.to_string())
}

/// Creates a new key pair. Stores nothing.
pub fn generate_key() -> Result<WalletKey, Failure> {
    // One of 2^32 random numbers is no valid key of the curve.
    for _ in 0..8 {
        let bytes = zeroize::Zeroizing::new(random_bytes::<32>()?);
        if let Some(key) = WalletKey::from_bytes(&*bytes) {
            return Ok(key);
        }
    }
    Err(Failure::Random)
}

/// Seals the private key of a key pair for its record.
pub fn seal_key(vault: &Vault, entity: &EntityId, key: &WalletKey) -> Result<Sealed, VaultError> {
    vault.seal(&vault_record_id(entity, &key.public_key().id()), &key.secret_bytes())
}

/// Returns the name of a key's record in the vault. Names of other records have another form.
fn vault_record_id(entity: &EntityId, key: &str) -> String {
    format!("wallet key {entity} {key}")
}

/// Reads the card in a token. Returns `None` if a field violates the format in the parameter catalogue. A missing
/// holder is allowed.
fn read_card(content: &WalletTokenContent) -> Option<FullCard> {
    let fields = [
        ("card.expiryMonth", content.expiry_month.as_str()),
        ("card.expiryYear", &content.expiry_year),
        ("threeDSecure.verificationId", &content.cryptogram),
        ("threeDSecure.eci", &content.eci),
    ];
    let holder = content.holder.as_deref().map(|holder| ("card.holder", holder));
    let is_valid =
        |(name, value): (&str, &str)| find_parameter(name).is_some_and(|row| row.format.check_value(value).is_ok());
    if !fields.into_iter().chain(holder).all(is_valid) {
        return None;
    }
    Some(FullCard {
        number: CardNumber::parse(&content.number).ok()?,
        expiry: Expiry::parse(&content.expiry_month, &content.expiry_year).ok()?,
        holder: content.holder.clone(),
        security_code: None,
        cryptogram: Some(Cryptogram { value: content.cryptogram.clone().into(), eci: content.eci.clone() }),
        source: CardSource::Wallet,
    })
}
