//! What is kept on file for later payments: registrations, their sealed accounts, and card-on-file chains.
//!
//! A sealed account stands in a row of its own, with its blind index, and is deleted with both; the registration's
//! document stays, emptied.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::rows::{document, read};
use super::{Changes, Sources, Store, StoreError, event};
use crate::domain::effects;
use crate::domain::id::{EntityId, RegistrationId};
use crate::domain::registration::{Ended, Registration};
use crate::domain::standing_instruction::Chain;
use crate::vault::BlindIndex;

/// What a decision about things on file wants loaded.
#[derive(Debug, Clone, Default)]
pub struct OnFileKeys {
    /// A registration of an entity, to be changed.
    pub registration: Option<(EntityId, RegistrationId)>,
    /// A registration of an entity, of which is asked whether its account is still there.
    pub used: Option<(EntityId, RegistrationId)>,
    /// A chain of an entity, by its `initialTransactionId`.
    pub chain: Option<(EntityId, String)>,
}

/// What was loaded under the write lock.
#[derive(Debug, Default)]
pub struct OnFile {
    /// The registration asked for, when there is one.
    pub registration: Option<Registration>,
    /// Whether the registration that is used holds its account, which goes when it ends.
    pub used: bool,
    /// The chain asked for, when there is one.
    pub chain: Option<Chain>,
}

/// An account that is about to be stored.
#[derive(Debug)]
pub struct NewRegistration {
    /// What may be shown of it.
    pub registration: Registration,
    /// The keyed index of the account, by which the operator finds every registration that holds it. No answer depends on it.
    pub blind: BlindIndex,
    /// The account, sealed for the registration.
    pub sealed: Vec<u8>,
}

/// Changes of what is on file.
#[derive(Debug, Default)]
pub(super) struct OnFileChanges {
    registrations: Vec<Registration>,
    accounts: Vec<SealedAccount>,
    chains: Vec<Chain>,
}

/// The account of a registration, sealed by the vault.
#[derive(Debug)]
struct SealedAccount {
    entity: EntityId,
    registration: RegistrationId,
    blind: BlindIndex,
    sealed: Vec<u8>,
}

impl Changes {
    /// Writes a registration, new or changed. With one that has ended go its sealed account and its chains.
    #[must_use]
    pub fn registration(mut self, registration: &Registration) -> Self {
        self.on_file.registrations.push(registration.clone());
        self
    }

    /// Keeps the sealed account of a registration that is written in the same commit.
    #[must_use]
    pub fn account(mut self, registration: &Registration, blind: BlindIndex, sealed: Vec<u8>) -> Self {
        let (entity, registration) = (registration.entity.clone(), registration.id.clone());
        self.on_file.accounts.push(SealedAccount { entity, registration, blind, sealed });
        self
    }

    /// Writes a chain, new or changed.
    #[must_use]
    pub fn chain(mut self, chain: &Chain) -> Self {
        self.on_file.chains.push(chain.clone());
        self
    }
}

impl OnFileChanges {
    /// Entity of the first registration that is written.
    pub(super) fn owner(&self) -> Option<&EntityId> {
        self.registrations.first().map(|registration| &registration.entity)
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.registrations.extend(more.registrations);
        self.accounts.extend(more.accounts);
        self.chains.extend(more.chains);
    }

    /// Returns true if a message is among what was written.
    pub(super) fn apply(&self, connection: &Connection, sources: &Sources) -> Result<bool, StoreError> {
        for SealedAccount { entity, registration, blind, sealed } in &self.accounts {
            connection
                .prepare_cached(
                    "INSERT INTO registration_account (registration, entity, blind, sealed) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![registration.as_str(), entity.as_str(), blind.as_bytes(), sealed])?;
        }
        let mut wrote_message = false;
        for registration in &self.registrations {
            wrote_message |= write_registration(connection, sources, registration)?;
        }
        for chain in &self.chains {
            connection
                .prepare_cached(
                    "INSERT INTO standing_instruction (entity, initial, registration, document) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (entity, initial) DO UPDATE SET registration = coalesce(?3, registration), document = ?4",
                )?
                .execute(params![
                    chain.entity.as_str(),
                    chain.initial,
                    chain.registration.as_ref().map(RegistrationId::as_str),
                    document(chain)
                ])?;
        }
        Ok(wrote_message)
    }
}

/// Writes a registration, new or changed. Returns true if a message is among what follows from it.
fn write_registration(
    connection: &Connection,
    sources: &Sources,
    registration: &Registration,
) -> Result<bool, StoreError> {
    let (entity, id) = (registration.entity.as_str(), registration.id.as_str());
    let document = document(registration);
    let is_new = connection
        .prepare_cached(
            "INSERT INTO registration (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT (entity, id) DO NOTHING",
        )?
        .execute(params![entity, id, document])?
        == 1;
    let before = if is_new { None } else { load_registration(connection, &registration.entity, &registration.id)? };
    if !is_new {
        connection
            .prepare_cached("UPDATE registration SET document = ?3 WHERE entity = ?1 AND id = ?2")?
            .execute(params![entity, id, document])?;
    }
    if registration.ended.is_some() {
        connection.prepare_cached("DELETE FROM registration_account WHERE registration = ?1")?.execute([id])?;
        connection.prepare_cached("DELETE FROM standing_instruction WHERE registration = ?1")?.execute([id])?;
    } else {
        connection
            .prepare_cached("UPDATE registration_account SET purge_at = ?2 WHERE registration = ?1")?
            .execute(params![id, registration.retained_until.map(Timestamp::as_millisecond)])?;
    }
    match effects::of_registration(before.as_ref(), registration) {
        Some(event) => event::publish(connection, sources, &registration.entity, event, &document),
        None => Ok(false),
    }
}

/// A registration, and its sealed account while there is one.
pub type WithAccount = (Registration, Option<Vec<u8>>);

impl Store {
    /// A registration of an entity by id, as last committed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn registration(&self, entity: &EntityId, id: &RegistrationId) -> Result<Option<Registration>, StoreError> {
        self.read(|connection| load_registration(connection, entity, id))
    }

    /// A registration of one of some entities, with its sealed account while there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn registration_with_account(
        &self,
        entities: &[EntityId],
        id: &RegistrationId,
    ) -> Result<Option<WithAccount>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT document, sealed FROM registration LEFT JOIN registration_account AS account
                     ON account.registration = registration.id AND account.entity = registration.entity
                 WHERE registration.entity = ?1 AND id = ?2",
            )?;
            for entity in entities {
                let row = |row: &Row<'_>| Ok((read(row.get_ref(0)?.as_blob()?), row.get(1)?));
                if let Some((document, sealed)) = statement.query_row([entity.as_str(), id.as_str()], row).optional()? {
                    return Ok(Some((document?, sealed)));
                }
            }
            Ok(None)
        })
    }

    /// Whether there is a sealed account whose retention is over.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn registrations_due(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.read(|connection| {
            let query = "SELECT EXISTS (SELECT 1 FROM registration_account WHERE purge_at <= ?1)";
            Ok(connection.prepare_cached(query)?.query_row([now.as_millisecond()], |row| row.get(0))?)
        })
    }

    /// Ends some of the registrations whose retention is over. Returns how many.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn end_registrations(&self, now: Timestamp) -> Result<usize, StoreError> {
        let sources = self.sources.clone();
        let ended = self.run(move |connection| end_due(connection, &sources, now)).await?;
        if ended > 0 {
            self.something_was_deleted();
        }
        Ok(ended)
    }
}

/// A batch is short, for it holds up who writes meanwhile; the rest is due at the next look.
const BATCH: i64 = 100;

fn end_due(connection: &Connection, sources: &Sources, now: Timestamp) -> Result<usize, StoreError> {
    let due: Vec<(String, String)> = connection
        .prepare_cached("SELECT entity, registration FROM registration_account WHERE purge_at <= ?1 LIMIT ?2")?
        .query_map(params![now.as_millisecond(), BATCH], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut changes = Changes::default();
    for (entity, id) in &due {
        if let (Some(entity), Some(id)) = (EntityId::parse(entity), RegistrationId::parse(id))
            && let Some(registration) = load_registration(connection, &entity, &id)?
        {
            changes = changes.registration(&registration.ended(Ended::Expired));
        }
    }
    changes.apply(connection, sources)?;
    Ok(due.len())
}

pub(super) fn load(connection: &Connection, keys: &OnFileKeys) -> Result<OnFile, StoreError> {
    let registration = match &keys.registration {
        Some((entity, id)) => load_registration(connection, entity, id)?,
        None => None,
    };
    let used = match &keys.used {
        Some((entity, id)) => {
            let query = "SELECT EXISTS (SELECT 1 FROM registration_account WHERE registration = ?1 AND entity = ?2)";
            connection.prepare_cached(query)?.query_row([id.as_str(), entity.as_str()], |row| row.get(0))?
        }
        None => false,
    };
    let chain = match &keys.chain {
        Some((entity, initial)) => {
            let query = "SELECT document FROM standing_instruction WHERE entity = ?1 AND initial = ?2";
            let mut statement = connection.prepare_cached(query)?;
            let parameters = params![entity.as_str(), initial];
            statement.query_row(parameters, |row| Ok(read(row.get_ref(0)?.as_blob()?))).optional()?.transpose()?
        }
        None => None,
    };
    Ok(OnFile { registration, used, chain })
}

fn load_registration(
    connection: &Connection,
    entity: &EntityId,
    id: &RegistrationId,
) -> Result<Option<Registration>, StoreError> {
    let query = "SELECT document FROM registration WHERE entity = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(query)?;
    let parameters = params![entity.as_str(), id.as_str()];
    Ok(statement.query_row(parameters, |row| Ok(read(row.get_ref(0)?.as_blob()?))).optional()?.transpose()?)
}
