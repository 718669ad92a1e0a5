//! The key pairs that wallets encrypt their tokens for: creation, retirement, and tokens to try out a sandbox with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::SignedDuration;
use tillgate_domain::access::approval::act::KeyAct;
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_store::keys::wallet::StoredWalletKey;
pub use tillgate_vault::wallet::Derivation as TokenDerivation;
use tillgate_vault::wallet::{Derivation, PublicWalletKey, Token, WalletTokenContent};

use super::wallet::{generate_key, seal_key};
use crate::administration::{ActError, Administration};
use crate::random_bytes;

/// A token to make in place of a wallet. The card is not checked.
#[derive(Debug)]
pub struct TestTokenRequest {
    /// The id of one of the entity's active keys. `None` selects the newest one.
    pub key: Option<String>,
    /// The derivation of the token's key.
    pub derivation: Derivation,
    /// The card number.
    pub number: String,
    /// The month in which the card expires, two digits.
    pub expiry_month: String,
    /// The year in which the card expires, four digits.
    pub expiry_year: String,
    /// The name on the card.
    pub holder: Option<String>,
    /// The electronic commerce indicator.
    pub eci: String,
    /// The time for which the token is valid. A negative time gives an expired token.
    pub valid: SignedDuration,
}

impl Administration {
    /// Creates a key pair for a merchant or channel, with the secret half sealed for it.
    ///
    /// # Errors
    /// If there is no such entity, it is a PSP or a division, or a second person is needed.
    pub fn create_wallet_key(&self, entity: &EntityId) -> Result<StoredWalletKey, ActError> {
        let entity = self.load_entity(entity)?;
        if !entity.level.allows_payments() {
            let (id, level) = (&entity.id, entity.level.display_name());
            let message = format!("{id} is a {level}: each merchant or channel below it has keys");
            return Err(ActError::refuse("entity", message));
        }
        self.check_key_approval(&entity, KeyAct::WalletKey)?;
        let vault = self.open_vault()?;
        let key = generate_key()?;
        let stored = StoredWalletKey {
            sealed: seal_key(&vault, &entity.id, &key)?,
            entity: entity.id,
            id: key.public_key().id(),
            public: key.public_key().to_bytes(),
            created: self.now(),
            retired: None,
        };
        self.store.add_wallet_key(&stored)?;
        Ok(stored)
    }

    /// Loads an entity's keys, oldest first, including retired ones.
    ///
    /// # Errors
    /// If there is no such entity.
    pub fn load_wallet_keys(&self, entity: &EntityId) -> Result<Vec<StoredWalletKey>, ActError> {
        let entity = self.load_entity(entity)?;
        Ok(self.store.load_wallet_keys(&entity.id)?)
    }

    /// Retires an active key of an entity, which deletes its secret half. Returns the key.
    ///
    /// # Errors
    /// If the entity has no active key with this id.
    pub fn retire_wallet_key(&self, entity: &EntityId, key: &str) -> Result<StoredWalletKey, ActError> {
        let entity = self.load_entity(entity)?;
        if !self.store.retire_wallet_key(&entity.id, key, self.now())? {
            let message = format!("entity {} has no active wallet key {key}", entity.id);
            return Err(ActError::refuse("key", message));
        }
        let retired = self.store.load_wallet_keys(&entity.id)?.into_iter().find(|known| known.id == key);
        retired.ok_or_else(|| ActError::refuse("key", "the key is gone"))
    }

    /// Makes a token for an active key of a sandbox entity, as a wallet would. Stores nothing.
    ///
    /// # Errors
    /// If the entity is live, or has no such key.
    pub fn make_wallet_token(&self, entity: &EntityId, request: TestTokenRequest) -> Result<Token, ActError> {
        let entity = self.load_entity(entity)?;
        if entity.live {
            let message = format!("entity {} is live: its tokens come from wallets only", entity.id);
            return Err(ActError::refuse("entity", message));
        }
        let is_selected =
            |key: &StoredWalletKey| key.retired.is_none() && request.key.as_ref().is_none_or(|id| *id == key.id);
        let key =
            self.store.load_wallet_keys(&entity.id)?.into_iter().rfind(is_selected).ok_or_else(|| {
                ActError::refuse("key", format!("entity {} has no such active wallet key", entity.id))
            })?;
        let public = PublicWalletKey::from_bytes(&key.public)
            .ok_or_else(|| ActError::refuse("key", "the stored key is damaged"))?;
        let content = WalletTokenContent {
            token_id: to_hex(&random_bytes::<16>()?),
            expires: self.now() + request.valid,
            number: request.number,
            expiry_month: request.expiry_month,
            expiry_year: request.expiry_year,
            holder: request.holder,
            cryptogram: STANDARD.encode(random_bytes::<20>()?),
            eci: request.eci,
        };
        let nonce = random_bytes()?;
        let token = Token::seal(&content, &entity.id, &public, request.derivation, &generate_key()?, nonce);
        token.ok_or_else(|| ActError::refuse("number", "the token cannot be encrypted"))
    }
}
