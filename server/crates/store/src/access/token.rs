//! Access tokens: their stored data, and the key of their hashes.

use std::collections::HashMap;
use std::sync::Once;

use jiff::Timestamp;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Session, params};
use tillgate_vault::Vault;

use crate::access::credential::{Credential, HashKey, Usage};
use crate::admin::Act;
use crate::keys::sealed_key;
use crate::keys::sealed_key::SealedKeyError;
use crate::{AdminStore, Store, StoreError};

/// The name of the hash key, both of its row and of its record in the vault.
const HASH_KEY: &str = "token hash key";

/// A token in the output of `token list`. Its secret half is not stored.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    /// The public half of the pair.
    pub user_id: String,
    /// The entity that it authenticates.
    pub entity_id: String,
    /// Its purpose, in the operator's words.
    pub label: String,
    /// The time of creation.
    pub created: Timestamp,
    /// The time of its revocation.
    pub revoked: Option<Timestamp>,
    /// The time from which it is refused.
    pub expires: Option<Timestamp>,
    /// Networks from which it may be used. Empty allows all.
    pub networks: Vec<String>,
    /// The kinds of requests that it may make.
    pub scopes: Vec<String>,
    /// The time of the latest use, to the minute.
    pub last_used: Option<Timestamp>,
}

/// Loads the tokens that are not revoked, by user id, including expired ones. Leaves out tokens with an unreadable
/// entity or network, and logs a warning about them once in a process.
pub(crate) fn load_unrevoked_tokens(session: &dyn Session) -> Result<HashMap<String, Credential>, StoreError> {
    let (mut by_user, mut unreadable) = (HashMap::new(), Vec::new());
    // Expired tokens are loaded as well, so that their users are refused with the right reason.
    let query = "SELECT user_id, hash, entity, keyed, expires, networks, scopes, used FROM token WHERE revoked IS NULL";
    let mut rows = session.query(query, ())?;
    while let Some(row) = rows.next()? {
        let (entity, networks, scopes): (String, String, String) = (row.get(2)?, row.get(5)?, row.get(6)?);
        let user_id: String = row.get(0)?;
        // Without its networks, a token could be used from anywhere.
        let networks: Result<Vec<_>, _> = split_list(&networks).map(str::parse).collect();
        let (Some(entity), Ok(networks)) = (EntityId::parse(&entity), networks) else {
            unreadable.push(user_id);
            continue;
        };
        let credential = Credential {
            user_id,
            hash: row.get(1)?,
            keyed: row.get(3)?,
            entity,
            expires: row.get::<Option<i64>>(4)?.map(timestamp_from_milliseconds),
            networks,
            scopes: Scopes::parse(&scopes),
            usage: Usage::from_stored(row.get(7)?).into(),
        };
        by_user.insert(credential.user_id.clone(), credential);
    }
    if !unreadable.is_empty() {
        // The tokens are loaded after each write of another process, so that every load would repeat the warning.
        static WARNED: Once = Once::new();
        WARNED.call_once(|| {
            let users = unreadable.join(", ");
            tracing::warn!(
                users,
                "reading the entity or the networks of tokens failed: they are refused until they are mended"
            );
        });
    }
    Ok(by_user)
}

impl AdminStore {
    /// Adds a token. Only the hash of its secret half is stored: keyed, unless no server has made a key yet.
    ///
    /// # Errors
    /// If the store cannot be written, or there is no such entity.
    pub fn add_token(&self, credential: &Credential, label: &str, now: Timestamp) -> Result<(), StoreError> {
        let networks: Vec<String> = credential.networks.iter().map(ToString::to_string).collect();
        let (networks, scopes) = (networks.join(","), credential.scopes.to_string());
        let details = [("label", label), ("networks", &networks), ("scopes", &scopes)];
        let (user_id, entity) = (&*credential.user_id, Some(&credential.entity));
        // A server accepts only keyed hashes once it has a key, so the hash is keyed as soon as there is one.
        let keyed_hash = self.hash_key.as_ref().filter(|_| !credential.keyed).map(|key| key.apply(&credential.hash));
        let act = Act { action: "token create", subject: user_id, entity, details: &details };
        self.execute_act(
            &act,
            "INSERT INTO token (user_id, entity, hash, label, created, keyed, expires, networks, scopes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                credential.user_id,
                credential.entity.as_str(),
                keyed_hash.unwrap_or(credential.hash),
                label,
                now.as_millisecond(),
                credential.keyed || keyed_hash.is_some(),
                credential.expires.map(|expires| expires.as_millisecond()),
                networks,
                scopes
            ],
        )?;
        Ok(())
    }

    /// Loads the tokens of an entity, or of all, oldest first, including revoked ones.
    pub fn load_tokens(&self, entity: Option<&EntityId>) -> Result<Vec<TokenInfo>, StoreError> {
        let query = "SELECT user_id, entity, label, created, revoked, expires, networks, scopes, used FROM token
             WHERE CAST(?1 AS TEXT) IS NULL OR entity = ?1 ORDER BY created, user_id";
        self.session.query_all(query, [entity.map(EntityId::as_str)], |row| {
            let (networks, scopes): (String, String) = (row.get(6)?, row.get(7)?);
            Ok(TokenInfo {
                user_id: row.get(0)?,
                entity_id: row.get(1)?,
                label: row.get(2)?,
                created: timestamp_from_milliseconds(row.get(3)?),
                revoked: row.get::<Option<i64>>(4)?.map(timestamp_from_milliseconds),
                expires: row.get::<Option<i64>>(5)?.map(timestamp_from_milliseconds),
                networks: split_list(&networks).map(str::to_owned).collect(),
                scopes: split_list(&scopes).map(str::to_owned).collect(),
                last_used: row.get::<Option<i64>>(8)?.map(timestamp_from_milliseconds),
            })
        })
    }

    /// Revokes a token. Returns false if there is none with this user id, or it is revoked already.
    pub fn revoke_token(&self, user_id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let query = "SELECT entity FROM token WHERE user_id = ?1";
        let entity: Option<String> = self.session.query_optional(query, [user_id], |row| row.get(0))?;
        let entity = entity.as_deref().and_then(EntityId::parse);
        let act = Act { action: "token revoke", subject: user_id, entity: entity.as_ref(), details: &[] };
        self.execute_act(
            &act,
            "UPDATE token SET revoked = ?2 WHERE user_id = ?1 AND revoked IS NULL",
            params![user_id, now.as_millisecond()],
        )
    }
}

impl Store {
    /// Opens the key of the token hashes, and creates it on first use. It is random and sealed, not derived from the
    /// vault's key, so that the hashes stay valid after a change of the vault's key.
    ///
    /// # Errors
    /// If the store cannot be read or written, or the vault has another key than the one that sealed the hash key.
    pub async fn load_token_hash_key(&self, vault: &Vault) -> Result<HashKey, SealedKeyError> {
        Ok(HashKey::new(*self.open_sealed_key(HASH_KEY, vault).await?))
    }

    /// Records the latest use of tokens: user ids, and times in milliseconds since 1970. A later recorded use stays.
    pub async fn record_token_use(&self, mut used: Vec<(String, i64)>) -> Result<(), StoreError> {
        // In one order at all nodes, because two of them may write about the same tokens at once.
        used.sort_unstable();
        self.run_row_write(move |session| {
            for (user_id, used) in &used {
                // Uses are stored in batches, so a batch may arrive after one with a later use.
                let query = "UPDATE token SET used = max(coalesce(used, 0), ?2) WHERE user_id = ?1";
                session.execute(query, params![user_id, used])?;
            }
            Ok(())
        })
        .await
    }
}

/// Opens the key of the token hashes. `None` if no server has made one yet, or the vault does not open it.
pub(crate) fn find_hash_key(session: &dyn Session, vault: &Vault) -> Option<HashKey> {
    let key = sealed_key::open_stored_key(session, HASH_KEY, vault).ok().flatten();
    key.map(|key| HashKey::new(*key))
}

/// Keys the hashes of the tokens that were created before a server had the key. A server does it once, before it seals
/// the store: later, a hash without a key is not the program's.
pub(crate) fn key_hashes(session: &dyn Session, vault: &Vault) -> Result<(), SealedKeyError> {
    let key = HashKey::new(*sealed_key::make_stored_key(session, HASH_KEY, vault)?);
    let query = "SELECT user_id, hash FROM token WHERE NOT keyed";
    // Collected first, because the updates below change the rows of this query.
    let unkeyed: Vec<(String, [u8; 32])> = session.query_all(query, (), |row| row.read()).map_err(StoreError::from)?;
    for (user_id, hash) in unkeyed {
        // The condition keeps a hash from being keyed twice, after which no password would match it.
        let query = "UPDATE token SET hash = ?2, keyed = TRUE WHERE user_id = ?1 AND NOT keyed";
        session.execute(query, params![user_id, key.apply(&hash)]).map_err(StoreError::from)?;
    }
    Ok(())
}

/// Splits a comma-separated list. An empty text gives no items.
fn split_list(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|word| !word.is_empty())
}

/// Returns the time of a column in milliseconds since 1970, or 1970 if it is out of range.
fn timestamp_from_milliseconds(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
