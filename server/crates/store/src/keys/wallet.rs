//! Key pairs for wallets' encrypted tokens, and the tokens that have been used.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::id::EntityId;
use tillgate_engine::{Session, params};
use tillgate_vault::Sealed;

use crate::admin::Act;
use crate::keys::sealed::read_sealed;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Changes, Store, StoreError};

/// A channel's key pair in its stored form.
#[derive(Debug, Clone)]
pub struct StoredWalletKey {
    /// The entity that owns it.
    pub entity: EntityId,
    /// The name, which is derived from the public half.
    pub id: String,
    /// The public half.
    pub public: Vec<u8>,
    /// The secret half, sealed by the vault.
    pub sealed: Sealed,
    /// The time of creation.
    pub created: Timestamp,
    /// The time of its retirement, when its secret half was deleted. `None` while it is in use.
    pub retired: Option<Timestamp>,
}

/// A wallet token used for a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedWalletToken {
    /// The channel of the payment.
    pub entity: EntityId,
    /// The token's own id.
    pub id: String,
    /// The time of its expiry.
    pub until: Timestamp,
}

/// Time for which the record of a used token outlives the token. A node whose clock is behind that of this one still
/// accepts the token, which would pay a second time without its record.
const CLOCK_MARGIN: SignedDuration = SignedDuration::from_hours(1);

impl Changes {
    /// Records a wallet token as used for a payment. The whole write fails if it has been used before.
    #[must_use]
    pub fn with_used_token(self, token: &UsedWalletToken) -> Self {
        self.with(token.clone())
    }
}

impl Change for UsedWalletToken {
    fn stage(&self) -> Stage {
        Stage::WalletToken
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        record_used_token(context.session, self)?;
        Ok(false)
    }
}

impl Store {
    /// Loads a channel's keys, oldest first, including retired ones, whose `sealed` is empty.
    pub fn load_wallet_keys(&self, entity: &EntityId) -> Result<Vec<StoredWalletKey>, StoreError> {
        self.run_read(|session| load_channel_keys(session, entity))
    }

    /// Loads a channel's key by name, also a retired one.
    pub fn load_wallet_key(&self, entity: &EntityId, id: &str) -> Result<Option<StoredWalletKey>, StoreError> {
        self.run_read(|session| Ok(load_channel_keys(session, entity)?.into_iter().find(|key| key.id == id)))
    }

    /// Deletes the records of used tokens that expired an hour before `now`. Checks with a reader first, so that an
    /// idle server writes nothing.
    pub async fn delete_expired_wallet_tokens(&self, now: Timestamp) -> Result<(), StoreError> {
        let expired = (now - CLOCK_MARGIN).as_millisecond();
        let has_expired: bool = self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM wallet_token WHERE until <= ?1)";
            Ok(session.query_one(query, [expired], |row| row.get(0))?)
        })?;
        if has_expired {
            let delete = "DELETE FROM wallet_token WHERE until <= ?1";
            self.run_write(move |session| Ok(session.execute(delete, [expired])?)).await?;
        }
        Ok(())
    }
}

/// Loads the keys of a channel, oldest first, including retired ones, whose `sealed` is empty.
fn load_channel_keys(session: &dyn Session, entity: &EntityId) -> Result<Vec<StoredWalletKey>, StoreError> {
    let query = "SELECT id, public, sealed, created, retired FROM wallet_key WHERE entity = ?1 ORDER BY created, id";
    let timestamp = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    session.query_all(query, [entity.as_str()], |row| {
        Ok(StoredWalletKey {
            entity: entity.clone(),
            id: row.get(0)?,
            public: row.get(1)?,
            sealed: read_sealed(row, 2)?,
            created: timestamp(row.get(3)?),
            retired: row.get::<Option<i64>>(4)?.map(timestamp),
        })
    })
}

impl AdminStore {
    /// Loads a channel's keys, oldest first, including retired ones, whose `sealed` is empty.
    pub fn load_wallet_keys(&self, entity: &EntityId) -> Result<Vec<StoredWalletKey>, StoreError> {
        load_channel_keys(&*self.session, entity)
    }

    /// Adds a key pair in use; `retired` is not stored.
    ///
    /// # Errors
    /// If the store cannot be written, or there is no such entity.
    pub fn add_wallet_key(&self, key: &StoredWalletKey) -> Result<(), StoreError> {
        let act = Act { action: "wallet-key create", subject: &key.id, entity: Some(&key.entity), details: &[] };
        self.execute_act(
            &act,
            "INSERT INTO wallet_key (entity, id, public, sealed, created) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key.entity.as_str(), key.id, key.public, key.sealed.as_bytes(), key.created.as_millisecond()],
        )?;
        Ok(())
    }

    /// Retires a key and deletes its secret half for good. Returns false if there is no such key, or it is retired
    /// already.
    pub fn retire_wallet_key(&self, entity: &EntityId, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let act = Act { action: "wallet-key retire", subject: id, entity: Some(entity), details: &[] };
        self.execute_act(
            &act,
            "UPDATE wallet_key SET retired = ?3, sealed = x'' WHERE entity = ?1 AND id = ?2 AND retired IS NULL",
            params![entity.as_str(), id, now.as_millisecond()],
        )
    }
}

/// Returns true if a token is recorded as used by its channel.
pub(crate) fn is_token_used(session: &dyn Session, token: &UsedWalletToken) -> Result<bool, StoreError> {
    Ok(session.has_row(
        // The primary key begins with the expiry, so that expired tokens are deleted from its beginning without another
        // index.
        "SELECT 1 FROM wallet_token WHERE until = ?1 AND entity = ?2 AND id = ?3",
        params![token.until.as_millisecond(), token.entity.as_str(), token.id],
    )?)
}

/// Records that a token has been used. Fails if it is recorded already.
fn record_used_token(session: &dyn Session, token: &UsedWalletToken) -> Result<(), StoreError> {
    session.send(
        "INSERT INTO wallet_token (until, entity, id) VALUES (?1, ?2, ?3)",
        params![token.until.as_millisecond(), token.entity.as_str(), token.id],
    )?;
    Ok(())
}
