//! Input of a decision: the keys that it requests, and the data loaded under the write lock.

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::id::{CheckoutId, EntityId, PaymentId, ScheduleId};
use tillgate_domain::payment::retry_rules::AttemptRecords;
use tillgate_domain::payment::{FollowUpSummary, Payment};
use tillgate_domain::review::queue::ReviewStatus;
use tillgate_domain::risk::rules::RiskState;
use tillgate_domain::schedule::Schedule;
use tillgate_engine::Session;
use tillgate_risk::CounterRow;

use crate::access::entity;
use crate::dispute::DisputeKey;
use crate::keys::wallet;
use crate::keys::wallet::UsedWalletToken;
use crate::payment::attempts::{self, AttemptKeys};
use crate::payment::load;
use crate::payment::queries;
use crate::registration::stored_credentials;
use crate::review::queue;
use crate::risk::counters;
use crate::risk::counters::RiskRowKeys;
use crate::risk::rules;
use crate::risk::rules::RiskKeys;
use crate::timer;
use crate::{StoreError, StoredCredentialKeys, StoredCredentials, StoredPayment, checkout, dispute, schedule};

/// Keys of the data to load for a decision.
#[derive(Debug, Clone, Default)]
pub struct RecordKeys {
    /// An entity of the merchant to whom everything belongs that the decision reads and writes. In a cluster, decisions
    /// of different merchants are made side by side. `None` for a decision beside which no other one may be made.
    pub owner: Option<EntityId>,
    /// A checkout, by id.
    pub checkout: Option<CheckoutId>,
    /// True if the reminder of that checkout is looked for.
    pub reminder: bool,
    /// An entity, by id.
    pub entity: Option<EntityId>,
    /// A payment of an entity.
    pub payment: Option<(EntityId, PaymentId)>,
    /// That payment as it was read before, which saves decoding it if it has not changed.
    pub known_payment: Option<Arc<StoredPayment>>,
    /// True if the follow-up payments of that payment are loaded, too.
    pub follow_ups: bool,
    /// `merchantTransactionId` to check for an earlier successful payment.
    pub reference: Option<(EntityId, String)>,
    /// Payment to ignore in that check: the pending one that this attempt replaces.
    pub ignored_payment: Option<PaymentId>,
    /// A wallet token to check for earlier use.
    pub wallet_token: Option<UsedWalletToken>,
    /// Registrations and a standing instruction.
    pub stored_credentials: StoredCredentialKeys,
    /// The review of a payment.
    pub review: Option<PaymentId>,
    /// Risk rules and lists of an entity.
    pub risk: Option<RiskKeys>,
    /// Velocity counters and first sightings of accounts.
    pub risk_counters: Vec<RiskRowKeys>,
    /// Records of the attempts on a card.
    pub attempts: Option<AttemptKeys>,
    /// A schedule, by the id of its first request.
    pub schedule: Option<ScheduleId>,
    /// A dispute.
    pub dispute: Option<DisputeKey>,
}

impl RecordKeys {
    /// Returns no keys, for decisions that only create new records.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns the key of one checkout.
    pub fn for_checkout(id: &CheckoutId) -> Self {
        Self { checkout: Some(id.clone()), ..Self::default() }
    }

    /// Returns the key of one entity.
    pub fn for_entity(id: &EntityId) -> Self {
        Self { entity: Some(id.clone()), ..Self::default() }
    }

    /// Returns the keys of risk rules and lists.
    pub fn for_risk(keys: RiskKeys) -> Self {
        Self { risk: Some(keys), ..Self::default() }
    }

    /// Returns the key of the review of a payment.
    pub fn for_review(payment: &PaymentId) -> Self {
        Self { review: Some(payment.clone()), ..Self::default() }
    }

    /// Returns the key of one payment of an entity, for a decision that reads and writes what belongs to its merchant.
    pub fn for_payment(entity: &EntityId, id: &PaymentId) -> Self {
        Self { payment: Some((entity.clone(), id.clone())), ..Self::none() }.owned_by(entity)
    }

    /// Returns the keys of a payment and of its review.
    pub fn for_review_decision(payment: &Payment) -> Self {
        Self { review: Some(payment.id.clone()), ..Self::for_payment(&payment.entity, &payment.id) }
    }

    /// Returns the keys of one payment of an entity and of its follow-up payments.
    pub fn for_modification(entity: &EntityId, id: &PaymentId) -> Self {
        Self { follow_ups: true, ..Self::for_payment(entity, id) }
    }

    /// Returns the same keys for a decision that reads and writes what belongs to one merchant. `entity` is the
    /// merchant or one of its channels.
    #[must_use]
    pub fn owned_by(self, entity: &EntityId) -> Self {
        Self { owner: Some(entity.clone()), ..self }
    }

    /// Returns the same keys with the payment as it was read before.
    #[must_use]
    pub fn with_known_payment(self, payment: &Arc<StoredPayment>) -> Self {
        Self { known_payment: Some(Arc::clone(payment)), ..self }
    }
}

/// Data loaded under the write lock.
#[derive(Debug, Default)]
pub struct LoadedRecords {
    /// The requested checkout, if it exists.
    pub checkout: Option<Checkout>,
    /// True if the checkout has a reminder that is not sent yet, if that is requested.
    pub has_reminder: bool,
    /// The requested entity, if it exists, with the advance of the clock that it uses.
    pub entity: Option<Entity>,
    /// The requested payment, if it exists.
    pub payment: Option<Payment>,
    /// Follow-up payments of that payment, oldest first, if they are requested.
    pub follow_ups: Vec<FollowUpSummary>,
    /// True if a payment with the requested `merchantTransactionId`, other than the ignored one, succeeded or may still
    /// succeed.
    pub reference_paid: bool,
    /// True if the requested wallet token has been used before.
    pub token_used: bool,
    /// The requested registrations and standing instruction.
    pub stored_credentials: StoredCredentials,
    /// The requested review, if the payment is or was held.
    pub review: Option<ReviewStatus>,
    /// The requested risk rules and lists; empty if none were requested.
    pub risk: RiskState,
    /// The requested velocity counters and sightings that are stored.
    pub risk_counters: Vec<CounterRow>,
    /// The requested records of attempts that are stored.
    pub attempts: AttemptRecords,
    /// The requested schedule, if it exists.
    pub schedule: Option<Schedule>,
    /// The requested dispute, if it exists.
    pub dispute: Option<Dispute>,
}

/// Loads the records with these keys. Records that are not requested or not stored are `None`, empty or false.
pub(crate) fn load_records(session: &dyn Session, keys: &RecordKeys) -> Result<LoadedRecords, StoreError> {
    let checkout = match &keys.checkout {
        Some(id) => checkout::load_checkout(session, id)?,
        None => None,
    };
    let has_reminder = match &keys.checkout {
        Some(id) if keys.reminder => timer::has_reminder(session, id)?,
        _ => false,
    };
    let entity = match &keys.entity {
        Some(id) => entity::load_entity(session, id)?,
        None => None,
    };
    let payment = match (&keys.known_payment, &keys.payment) {
        // Comparing bytes is cheaper than decoding a payment, and all writes wait for this one.
        (Some(known), _) => known.reload_payment(session)?,
        (None, Some((entity, id))) => load::load_payment(session, entity, id)?,
        (None, None) => None,
    };
    let follow_ups = match &payment {
        Some(payment) if keys.follow_ups => load::load_follow_ups(session, &payment.id)?,
        _ => Vec::new(),
    };
    let reference_paid = match &keys.reference {
        Some((entity, reference)) => {
            queries::is_reference_paid(session, entity, reference, keys.ignored_payment.as_ref())?
        }
        None => false,
    };
    let token_used = match &keys.wallet_token {
        Some(token) => wallet::is_token_used(session, token)?,
        None => false,
    };
    let stored_credentials = stored_credentials::load_requested(session, &keys.stored_credentials)?;
    let review = match &keys.review {
        Some(payment) => queue::load_status(session, payment)?,
        None => None,
    };
    let risk = match &keys.risk {
        Some(keys) => rules::load_state_for_change(session, keys)?,
        None => RiskState::default(),
    };
    let risk_counters = counters::load_rows(session, &keys.risk_counters)?;
    let attempts = keys.attempts.as_ref().map(|keys| attempts::load_attempts(session, keys)).transpose()?;
    let schedule = keys.schedule.as_ref().map(|id| schedule::load_schedule(session, id)).transpose()?.flatten();
    let dispute = keys.dispute.as_ref().map(|key| dispute::load_requested(session, key)).transpose()?.flatten();
    Ok(LoadedRecords {
        checkout,
        has_reminder,
        entity,
        payment,
        follow_ups,
        reference_paid,
        token_used,
        stored_credentials,
        review,
        risk,
        risk_counters,
        attempts: attempts.unwrap_or_default(),
        schedule,
        dispute,
    })
}
