//! Stored credentials: registrations, their sealed accounts, and standing instructions.
//!
//! A sealed account has a row of its own. The row is deleted when the registration ends. The
//! registration's emptied document stays.

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::effects;
use tillgate_domain::id::{EntityId, RegistrationId};
use tillgate_domain::registration::Registration;
use tillgate_domain::registration::standing_instruction::StandingInstruction;
use tillgate_engine::{Session, params};
use tillgate_vault::Sealed;

use crate::delivery::event;
use crate::document::{encode_document, read_document};
use crate::keys::sealed::read_sealed_option;
use crate::ledger;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Sources, Store, StoreError, schedule};

/// Keys of the stored credentials to load for a decision.
#[derive(Debug, Clone, Default)]
pub struct StoredCredentialKeys {
    /// A registration of an entity, to be changed.
    pub registration: Option<(EntityId, RegistrationId)>,
    /// A registration of an entity whose account must still be stored.
    pub registration_in_use: Option<(EntityId, RegistrationId)>,
    /// A standing instruction of an entity, by its `initialTransactionId`.
    pub standing_instruction: Option<(EntityId, String)>,
}

/// Stored credentials loaded under the write lock.
#[derive(Debug, Default)]
pub struct StoredCredentials {
    /// The requested registration, if it exists.
    pub registration: Option<Registration>,
    /// True if the account of the registration in use is still stored. It is deleted when the registration ends. False
    /// if none was requested.
    pub account_stored: bool,
    /// The requested standing instruction, if it exists.
    pub standing_instruction: Option<StandingInstruction>,
}

/// A registration and account to be stored.
#[derive(Debug, Clone)]
pub struct NewRegistration {
    /// The registration, with the account data that may be shown.
    pub registration: Registration,
    /// The account, sealed for the registration.
    pub account: Sealed,
}

impl NewRegistration {
    /// Adds the registration and its sealed account to `changes`. An account that is already stored gets another
    /// registration: the id of the existing one would reveal that the numbers are equal.
    pub fn write_to(self, changes: Changes) -> (Changes, Registration) {
        let changes = changes.with_registration(&self.registration).with_account(&self.registration, self.account);
        (changes, self.registration)
    }
}

/// The account of a registration.
#[derive(Debug)]
struct AccountRow {
    entity: EntityId,
    registration: RegistrationId,
    account: Sealed,
    /// True if it takes the place of the account that is stored.
    replaces: bool,
}

impl Changes {
    /// Writes a new or changed registration, with the resulting event. If it has ended, deletes its sealed account and
    /// its standing instructions.
    #[must_use]
    pub fn with_registration(self, registration: &Registration) -> Self {
        self.with(registration.clone())
    }

    /// Stores the sealed account of a new registration that is written in the same commit. Fails if it has one.
    #[must_use]
    pub fn with_account(self, registration: &Registration, account: Sealed) -> Self {
        let (entity, registration) = (registration.entity.clone(), registration.id.clone());
        self.with(AccountRow { entity, registration, account, replaces: false })
    }

    /// Replaces the sealed account of a registration that is written in the same commit.
    #[must_use]
    pub fn with_account_replaced(self, registration: &Registration, account: Sealed) -> Self {
        let (entity, registration) = (registration.entity.clone(), registration.id.clone());
        self.with(AccountRow { entity, registration, account, replaces: true })
    }

    /// Writes a new or changed standing instruction.
    #[must_use]
    pub fn with_standing_instruction(self, instruction: &StandingInstruction) -> Self {
        self.with(instruction.clone())
    }
}

impl Change for AccountRow {
    fn stage(&self) -> Stage {
        Stage::Account
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let Self { entity, registration, account, replaces } = self;
        if *replaces {
            // Not an update: the trigger that refuses records under a retired key guards inserts.
            let query = "DELETE FROM registration_account WHERE registration = ?1 AND entity = ?2";
            context.session.send(query, [registration.as_str(), entity.as_str()])?;
        }
        context.session.send(
            "INSERT INTO registration_account (registration, entity, sealed) VALUES (?1, ?2, ?3)",
            params![registration.as_str(), entity.as_str(), account.as_bytes()],
        )?;
        Ok(false)
    }
}

impl Change for Registration {
    fn stage(&self) -> Stage {
        Stage::Registration
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let wrote_message = write_registration(context.session, context.sources, self)?;
        record_end(context, self)?;
        Ok(wrote_message)
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.entity)
    }
}

impl Change for StandingInstruction {
    fn stage(&self) -> Stage {
        Stage::StandingInstruction
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        context.session.send(
            "INSERT INTO standing_instruction (entity, initial, registration, document) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (entity, initial) DO UPDATE
                     SET registration = coalesce(?3, standing_instruction.registration), document = ?4",
            params![
                self.entity.as_str(),
                self.initial,
                self.registration.as_ref().map(RegistrationId::as_str),
                encode_document(self)
            ],
        )?;
        Ok(false)
    }
}

/// Writes a new or changed registration, and its event. If it has ended, deletes its sealed account and its standing
/// instructions, and ends its schedules; otherwise updates the time until which its account is retained. Returns true
/// if a message was written.
fn write_registration(
    session: &dyn Session,
    sources: &Sources,
    registration: &Registration,
) -> Result<bool, StoreError> {
    let (entity, id) = (registration.entity.as_str(), registration.id.as_str());
    let document = encode_document(registration);
    let is_new = session.execute(
        "INSERT INTO registration (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT (entity, id) DO NOTHING",
        params![entity, id, document],
    )? == 1;
    // Loaded before the update, because the event depends on the difference.
    let before = if is_new { None } else { load_registration(session, &registration.entity, &registration.id)? };
    if !is_new {
        session.send(
            "UPDATE registration SET document = ?3 WHERE entity = ?1 AND id = ?2",
            params![entity, id, document],
        )?;
    }
    let mut ended_schedules = false;
    if registration.ended.is_some() {
        delete_account(session, id)?;
        ended_schedules = schedule::end_schedules(session, sources, id)?;
    } else {
        session.send(
            "UPDATE registration_account SET purge_at = ?2 WHERE registration = ?1",
            params![id, registration.retained_until.map(Timestamp::as_millisecond)],
        )?;
    }
    let event = effects::registration_event(before.as_ref(), registration);
    Ok(event::publish_events(session, sources, &registration.entity, &[event], &document)? || ended_schedules)
}

/// Writes the entry of a registration that a request has deleted. Those that end by themselves have none.
fn record_end(context: &WriteContext<'_>, registration: &Registration) -> Result<(), StoreError> {
    let (Some(_), Some(_)) = (registration.ended, context.actor) else { return Ok(()) };
    let now = context.sources.now();
    let entry = context.name_actor(AuditEntry::new(now, "registration delete", registration.id.as_str()));
    ledger::write_entry(context.session, Some(&registration.entity), &entry, now)
}

/// A registration, and its sealed account as long as that is stored.
pub type RegistrationWithAccount = (Registration, Option<Sealed>);

impl Store {
    /// Loads a registration of an entity by id, as last committed.
    pub fn load_registration(
        &self,
        entity: &EntityId,
        id: &RegistrationId,
    ) -> Result<Option<Registration>, StoreError> {
        self.run_read(|session| load_registration(session, entity, id))
    }

    /// Loads a registration by id, with its sealed account as long as that is stored. Returns `None` if it belongs to
    /// none of these entities.
    pub fn load_registration_with_account(
        &self,
        entities: &[EntityId],
        id: &RegistrationId,
    ) -> Result<Option<RegistrationWithAccount>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT document, sealed FROM registration LEFT JOIN registration_account AS account
                     ON account.registration = registration.id AND account.entity = registration.entity
                 WHERE registration.entity = ?1 AND id = ?2";
            for entity in entities {
                let found = session.query_optional(query, [entity.as_str(), id.as_str()], |row| {
                    Ok::<_, StoreError>((read_document(row, 0)?, read_sealed_option(row, 1)?))
                })?;
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })
    }
}

/// Deletes the sealed account and the standing instructions of a registration, and its account in payments that would
/// renew it.
pub(super) fn delete_account(session: &dyn Session, registration: &str) -> Result<(), StoreError> {
    let query = "UPDATE promise SET sealed = NULL
         WHERE sealed IS NOT NULL AND json_extract(CAST(document AS TEXT), '$[0].id') = ?1";
    session.send(query, [registration])?;
    session.send("DELETE FROM registration_account WHERE registration = ?1", [registration])?;
    session.send("DELETE FROM standing_instruction WHERE registration = ?1", [registration])?;
    Ok(())
}

/// Loads the stored credentials with these keys. Values that are not requested or not stored are `None` or false.
pub(crate) fn load_requested(
    session: &dyn Session,
    keys: &StoredCredentialKeys,
) -> Result<StoredCredentials, StoreError> {
    let registration = match &keys.registration {
        Some((entity, id)) => load_registration(session, entity, id)?,
        None => None,
    };
    // The registration may end while a payment with its account is prepared, and must not be charged after that.
    let account_stored = match &keys.registration_in_use {
        Some((entity, id)) => {
            let query = "SELECT EXISTS (SELECT 1 FROM registration_account WHERE registration = ?1 AND entity = ?2)";
            session.query_one(query, [id.as_str(), entity.as_str()], |row| row.get(0))?
        }
        None => false,
    };
    let standing_instruction = match &keys.standing_instruction {
        Some((entity, initial)) => {
            let query = "SELECT document FROM standing_instruction WHERE entity = ?1 AND initial = ?2";
            let parameters = params![entity.as_str(), initial];
            session.query_optional(query, parameters, |row| read_document(row, 0))?
        }
        None => None,
    };
    Ok(StoredCredentials { registration, account_stored, standing_instruction })
}

/// Loads a registration of an entity by id, also one that has ended.
pub(super) fn load_registration(
    session: &dyn Session,
    entity: &EntityId,
    id: &RegistrationId,
) -> Result<Option<Registration>, StoreError> {
    let query = "SELECT document FROM registration WHERE entity = ?1 AND id = ?2";
    let parameters = params![entity.as_str(), id.as_str()];
    session.query_optional(query, parameters, |row| read_document(row, 0))
}
