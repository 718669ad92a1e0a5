//! The changes of a decision: values that are encoded and written together with their effects in one transaction.
//!
//! The list knows no subject. The file of a subject has its changes, their [`Change`], and the methods that add them.
//! [`Stage`] is the order of writing.

use std::any::Any;
use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;

use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::EntityId;
use tillgate_engine::Session;

use crate::read::change_log::Slot;
use crate::{Sources, StoreError};

/// A change of one subject.
pub(crate) trait Change: Any + Debug + Send + Sync {
    /// Returns the place of the change in the order of writing.
    fn stage(&self) -> Stage;

    /// Writes the change. Returns true if a message was written.
    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError>;

    /// Returns the entity that owns the changed data. Called only if the change's stage is one of [`OWNING_STAGES`].
    fn owner(&self) -> Option<&EntityId> {
        None
    }

    /// Adds the slots of the payments that are changed.
    fn add_changed_slots(&self, _slots: &mut Vec<Slot>) {}
}

/// The order of writing. Changes of the same stage are written in the order in which they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Comes first, so that a repeated request fails before anything else is written.
    Response,
    ReplacedResponse,
    Checkout,
    /// Comes before the payments: the write of a chargeback opens a dispute, unless it has one already.
    Dispute,
    /// Comes before the payments, because one payment of a commit may replace another one of the same checkout.
    CheckoutRelease,
    Payment,
    ConnectorMessage,
    WalletToken,
    /// Comes before the new cards, so that a card can be replaced.
    CardDeletion,
    Card,
    /// Comes before the new effects, so that a payment can get others.
    DeferredEffectsDeletion,
    DeferredEffects,
    Reminder,
    TimerStop,
    Clock,
    ReviewChange,
    RiskChange,
    RiskCounters,
    CardAttempts,
    OutgoingGet,
    /// Comes after the payments, because its callback contains the written payment.
    ReviewDecision,
    Account,
    /// Comes after the accounts, because it sets the time until which the account is retained.
    Registration,
    StandingInstruction,
    Schedule,
}

/// The stages that have an owner. The first change of the first of them names the owner of all changes.
const OWNING_STAGES: [Stage; 7] = [
    Stage::Payment,
    Stage::Registration,
    Stage::Checkout,
    Stage::RiskChange,
    Stage::ReviewChange,
    Stage::Schedule,
    Stage::Dispute,
];

impl Stage {
    /// Returns true if a commit has at most one change of the stage: a request has one response.
    fn is_single(self) -> bool {
        matches!(self, Self::Response | Self::ReplacedResponse)
    }
}

/// The transaction in which a change is written, and the request that makes it.
#[derive(Clone, Copy)]
pub(crate) struct WriteContext<'a> {
    /// A session that is in a transaction.
    pub(crate) session: &'a dyn Session,
    /// Time and randomness.
    pub(crate) sources: &'a Sources,
    /// The token or user whose request this is, for the audit log.
    pub(crate) actor: Option<&'a str>,
    /// The address of the user's browser, for the audit log.
    pub(crate) address: Option<IpAddr>,
}

impl WriteContext<'_> {
    /// Adds the token or user, and the address of the user's browser, to an entry of the audit log.
    pub(crate) fn name_actor(&self, entry: AuditEntry) -> AuditEntry {
        let entry = AuditEntry { actor: self.actor.map(str::to_owned), ..entry };
        match self.address {
            Some(address) => entry.with_detail("address", address.to_string()),
            None => entry,
        }
    }
}

/// Changes to write in one commit. A copy shares them.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The changes in the order of writing.
    list: Vec<Arc<dyn Change>>,
    response_owner: Option<EntityId>,
    /// The token or user whose request this is, for the audit log.
    actor: Option<String>,
    /// The address of the user's browser, for the audit log.
    address: Option<IpAddr>,
}

impl Changes {
    /// Adds a change. It replaces one of a stage that has only one.
    #[must_use]
    pub(crate) fn with(mut self, change: impl Change) -> Self {
        let stage = change.stage();
        if stage.is_single() {
            self.list.retain(|earlier| earlier.stage() != stage);
        }
        self.insert(Arc::new(change));
        self
    }

    /// Adds a change behind those of its stage.
    fn insert(&mut self, change: Arc<dyn Change>) {
        let stage = change.stage();
        // `<=` keeps the order within a stage: a later change of the same row has to be written later.
        let place = self.list.partition_point(|earlier| earlier.stage() <= stage);
        self.list.insert(place, change);
    }

    /// Names the token whose request this is, for the entries of the audit log.
    #[must_use]
    pub fn with_actor(self, user_id: Option<&str>) -> Self {
        Self { actor: user_id.map(str::to_owned), ..self }
    }

    /// Names the address of a user's browser, for the entries of the audit log.
    #[must_use]
    pub fn with_address(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    /// Names the entity that owns what a stored response is about, if nothing else is written.
    #[must_use]
    pub fn with_response_owner(mut self, owner: &EntityId) -> Self {
        self.response_owner = Some(owner.clone());
        self
    }

    /// Returns the entity of the first payment that is written, else of the first registration, else of the first
    /// checkout, else of the first change of risk rules, of a review, of a schedule or of a dispute, else the one that
    /// was named. Returns `None` if there is none of them.
    pub fn owning_entity(&self) -> Option<EntityId> {
        let first = |stage: &Stage| self.list.iter().find(|change| change.stage() == *stage)?.owner();
        OWNING_STAGES.iter().find_map(first).or(self.response_owner.as_ref()).cloned()
    }

    /// Returns the changes of a type, in the order in which they were added.
    pub(crate) fn changes_of_type<T: Change>(&self) -> impl Iterator<Item = &T> {
        self.list.iter().filter_map(|change| (&**change as &dyn Any).downcast_ref())
    }

    /// Returns these changes followed by others. If both have a response, this one's is kept.
    #[must_use]
    pub fn merged_with(mut self, others: Self) -> Self {
        for change in others.list {
            let stage = change.stage();
            if !(stage.is_single() && self.list.iter().any(|own| own.stage() == stage)) {
                self.insert(change);
            }
        }
        self.response_owner = self.response_owner.or(others.response_owner);
        self.actor = self.actor.or(others.actor);
        self.address = self.address.or(others.address);
        self
    }

    /// Returns the slots of the payments that are changed.
    pub(crate) fn changed_slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        for change in &self.list {
            change.add_changed_slots(&mut slots);
        }
        slots
    }

    /// Writes everything on a session that is in a transaction. Returns true if a message was written. After an
    /// error, some rows may be written, and the caller has to undo them.
    pub(crate) fn apply(&self, session: &dyn Session, sources: &Sources) -> Result<bool, StoreError> {
        let context = WriteContext { session, sources, actor: self.actor.as_deref(), address: self.address };
        let mut wrote_message = false;
        for change in &self.list {
            wrote_message |= change.apply(&context)?;
        }
        Ok(wrote_message)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[derive(Debug)]
    struct Sample(Stage, EntityId);

    impl Change for Sample {
        fn stage(&self) -> Stage {
            self.0
        }

        fn apply(&self, _context: &WriteContext<'_>) -> Result<bool, StoreError> {
            Ok(false)
        }

        fn owner(&self) -> Option<&EntityId> {
            Some(&self.1)
        }
    }

    fn sample_id(number: u8) -> EntityId {
        EntityId::new(Timestamp::UNIX_EPOCH, [number; 9])
    }

    /// Returns changes of these stages. The number is the owner's.
    fn build_changes(samples: &[(Stage, u8)]) -> Changes {
        samples
            .iter()
            .fold(Changes::default(), |changes, (stage, number)| changes.with(Sample(*stage, sample_id(*number))))
    }

    /// Returns the stages and the owners in the order of writing.
    fn list_changes(changes: &Changes) -> Vec<(Stage, EntityId)> {
        changes.changes_of_type().map(|Sample(stage, owner)| (*stage, owner.clone())).collect()
    }

    #[test]
    fn changes_are_written_by_stage_and_within_a_stage_in_the_order_in_which_they_were_added() {
        let first = build_changes(&[(Stage::Schedule, 1), (Stage::Payment, 2), (Stage::Checkout, 3)]);
        let others = build_changes(&[(Stage::Payment, 4), (Stage::Dispute, 5), (Stage::Checkout, 6)]);
        let expected = [
            (Stage::Checkout, 3),
            (Stage::Checkout, 6),
            (Stage::Dispute, 5),
            (Stage::Payment, 2),
            (Stage::Payment, 4),
            (Stage::Schedule, 1),
        ];
        assert_eq!(
            list_changes(&first.merged_with(others)),
            expected.map(|(stage, number)| (stage, sample_id(number)))
        );
    }

    #[test]
    fn the_last_response_that_is_added_is_written_but_none_of_merged_changes_if_there_is_one() {
        let changes = build_changes(&[(Stage::Response, 1), (Stage::ReplacedResponse, 2), (Stage::Response, 3)]);
        let others = build_changes(&[(Stage::Response, 4), (Stage::ReplacedResponse, 5)]);
        let expected = [(Stage::Response, sample_id(3)), (Stage::ReplacedResponse, sample_id(2))];
        assert_eq!(list_changes(&changes.merged_with(others)), expected);
        let merged = Changes::default().merged_with(build_changes(&[(Stage::Response, 4)]));
        assert_eq!(list_changes(&merged), [(Stage::Response, sample_id(4))]);
    }

    #[test]
    fn the_owner_is_that_of_a_payment_before_any_other() {
        let mut changes = Changes::default().with_response_owner(&sample_id(9));
        assert_eq!(changes.owning_entity(), Some(sample_id(9)));
        // A response has no owner, whatever its change says.
        changes = changes.with(Sample(Stage::Response, sample_id(8)));
        assert_eq!(changes.owning_entity(), Some(sample_id(9)));
        for (number, stage) in (0..).zip(OWNING_STAGES.iter().rev()) {
            changes = changes.with(Sample(*stage, sample_id(number))).with(Sample(*stage, sample_id(7)));
            assert_eq!(changes.owning_entity(), Some(sample_id(number)), "{stage:?}");
        }
    }
}
