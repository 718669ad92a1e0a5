//! Checkouts: 30 minutes in which a shopper may pay once.
//!
//! A checkout has at most one successful or pending payment. A decline leaves it open for another attempt. The
//! merchant may change it until it is paid.

pub mod form_input;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

use super::id::{CheckoutId, EntityId, PaymentId, RegistrationId};
use super::payment::{Payment, parse_requested_amount};
use super::refusal::Refusal;
use super::registration::Registration;

/// Time in which a checkout can be paid (specification, document 1, limits).
pub const CHECKOUT_LIFETIME: SignedDuration = SignedDuration::from_mins(30);

/// Time from the last submit of a checkout to the reminder of a merchant that has not read the outcome (specification,
/// document 1, events).
pub const REMINDER_DELAY: SignedDuration = SignedDuration::from_mins(29);

/// A checkout in its stored form. Code that needs only its state may use another `P` and skip the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkout<P = Parameters> {
    /// The id: the capability that the shopper's browser holds.
    pub id: CheckoutId,
    /// The entity that owns it.
    pub entity: EntityId,
    /// The time of creation.
    pub created: Timestamp,
    /// Number of writes. A response that was prepared for an older version is prepared again.
    pub version: u64,
    /// Id of the build of the form that the checkout's `integrity` belongs to.
    pub build: String,
    /// Parameters set by the merchant, server to server.
    pub parameters: P,
    /// The last payment attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<PaymentId>,
    /// The channel that processed the last attempt, if the checkout belongs to the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<EntityId>,
    /// The registration made by the last attempt of a tokenisation checkout, approved or rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationId>,
    /// True if the last attempt succeeded or may still succeed. While a payment is pending, no other one is accepted.
    pub paid: bool,
    /// Number of attempts to pay.
    #[serde(default)]
    pub attempts: u32,
}

/// State of a checkout at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutState {
    /// It can be paid.
    Open,
    /// It is paid, or has a pending payment.
    Paid,
    /// Its 30 minutes passed without payment.
    Expired,
}

/// Status of a checkout as reported to the merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutStatus {
    /// The shopper may pay, for the first time or again after a decline.
    Open,
    /// A payment is pending.
    Pending,
    /// A payment is pending, and its shopper has left the brand's page. Only browsers are told.
    Left,
    /// A payment is held until an analyst has decided.
    Held,
    /// It is paid.
    Paid,
    /// The account of a tokenisation checkout is stored.
    Registered,
    /// Its 30 minutes passed without payment.
    Expired,
}

impl CheckoutStatus {
    /// Returns the status of a tokenisation checkout: [`Self::Registered`] instead of paid.
    pub fn from_tokenisation_state(state: CheckoutState) -> Self {
        match state {
            CheckoutState::Open => Self::Open,
            CheckoutState::Paid => Self::Registered,
            CheckoutState::Expired => Self::Expired,
        }
    }

    /// Returns the status of a checkout after an attempt: pending, held, paid, or open if the payment was declined.
    /// Ignores the checkout's 30 minutes and whether the shopper abandoned the payment.
    pub fn from_payment(payment: &Payment) -> Self {
        match payment.is_approved_or_pending() {
            true if payment.is_held() => Self::Held,
            true if payment.result.is_pending() => Self::Pending,
            true => Self::Paid,
            false => Self::Open,
        }
    }

    /// Returns the status in its JSON form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Pending => "PENDING",
            Self::Left => "LEFT",
            Self::Held => "HELD",
            Self::Paid => "PAID",
            Self::Registered => "REGISTERED",
            Self::Expired => "EXPIRED",
        }
    }
}

impl<P> Checkout<P> {
    /// Checks that it may be tried once more. At most `limit` attempts are allowed, successful or not; `None` allows
    /// any number. The limit prevents card testing.
    ///
    /// # Errors
    /// 429 if the limit is reached, with the seconds until the checkout expires.
    pub fn check_attempt_limit(&self, limit: Option<u32>, now: Timestamp) -> Result<(), Refusal> {
        if limit.is_none_or(|limit| self.attempts < limit) {
            return Ok(());
        }
        let remaining = (self.created + CHECKOUT_LIFETIME).duration_since(now).as_secs();
        Err(Refusal::checkout_exhausted(u32::try_from(remaining).unwrap_or_default() + 1))
    }

    /// Returns the id of its last attempt: a payment, or the registration of a tokenisation checkout. Returns `None`
    /// before the first attempt.
    pub fn last_attempt_id(&self) -> Option<&str> {
        let payment = self.attempt.as_ref().map(PaymentId::as_str);
        payment.or_else(|| self.registration.as_ref().map(RegistrationId::as_str))
    }

    /// Returns the entity that owns the last attempt: a channel, if the checkout belongs to the merchant and a channel
    /// processed the attempt.
    pub fn attempt_owner(&self) -> &EntityId {
        self.channel.as_ref().unwrap_or(&self.entity)
    }

    /// Returns the status of a checkout for payments at a given time. `attempt` is its last attempt; its result decides
    /// between pending and paid.
    pub fn status_at(&self, attempt: &Payment, now: Timestamp) -> CheckoutStatus {
        match self.state_at(now) {
            CheckoutState::Paid if attempt.is_held() => CheckoutStatus::Held,
            CheckoutState::Paid if attempt.result.is_pending() => CheckoutStatus::Pending,
            CheckoutState::Paid => CheckoutStatus::Paid,
            CheckoutState::Open => CheckoutStatus::Open,
            CheckoutState::Expired => CheckoutStatus::Expired,
        }
    }

    /// Returns the state at a given time. A checkout that is paid, or has a pending payment, does not expire.
    pub fn state_at(&self, now: Timestamp) -> CheckoutState {
        if self.paid {
            CheckoutState::Paid
        } else if now.duration_since(self.created) >= CHECKOUT_LIFETIME {
            CheckoutState::Expired
        } else {
            CheckoutState::Open
        }
    }
}

impl Checkout {
    /// Creates an open checkout of version 0, without attempts.
    pub fn new(id: CheckoutId, entity: EntityId, created: Timestamp, build: String, parameters: Parameters) -> Self {
        Self {
            id,
            entity,
            created,
            version: 0,
            build,
            parameters,
            attempt: None,
            channel: None,
            registration: None,
            paid: false,
            attempts: 0,
        }
    }

    /// Checks that it can be paid now.
    ///
    /// # Errors
    /// 400 if it is paid, has a pending payment, or is expired.
    pub fn check_open(&self, now: Timestamp) -> Result<(), Refusal> {
        match self.state_at(now) {
            CheckoutState::Open => Ok(()),
            CheckoutState::Paid => Err(Refusal::checkout_closed()),
            CheckoutState::Expired => Err(Refusal::checkout_expired()),
        }
    }

    /// Returns the path at which the merchant reads the outcome: `/v1/checkouts/{id}/payment`, or `…/registration` for
    /// a tokenisation checkout.
    pub fn resource_path(&self) -> String {
        let resource = if self.is_tokenisation() { "registration" } else { "payment" };
        format!("/v1/checkouts/{}/{resource}", self.id.as_str())
    }

    /// Returns the amount to pay. `None` if the checkout has no amount, as most tokenisations.
    pub fn amount(&self) -> Option<Amount> {
        parse_requested_amount(&self.parameters).ok()
    }

    /// Returns true if the checkout stores an account and charges nothing (contract, 3.1).
    pub fn is_tokenisation(&self) -> bool {
        is_tokenisation(&self.parameters)
    }

    /// Returns true if a registration is one of those that the merchant offers to the shopper (`registrations[n].id`).
    pub fn has_offered_registration(&self, registration: &str) -> bool {
        self.parameters.with_prefix("registrations[").any(|(_, id)| id == registration)
    }

    /// Returns true if the shopper may delete the offered registrations (`registrationsDeletable`). Only the merchant
    /// can allow it, not the browser.
    pub fn allows_registration_deletion(&self) -> bool {
        self.parameters.get("registrationsDeletable") == Some("true")
    }

    /// Returns the checkout after an update by the merchant: new values replace earlier ones, and other parameters
    /// stay. The version increases.
    ///
    /// # Errors
    /// 400 if the checkout is paid, has a pending payment, or is expired.
    pub fn with_update(&self, update: &Parameters, now: Timestamp) -> Result<Self, Refusal> {
        self.check_open(now)?;
        let mut next = self.clone();
        for (name, value) in update.iter() {
            next.parameters.set(name, value);
        }
        next.version += 1;
        Ok(next)
    }

    /// Returns the checkout after an attempt, with one attempt and one version more. It is paid if the payment is
    /// approved or pending, and open otherwise. The limit of attempts is not checked.
    ///
    /// # Errors
    /// 400 if the checkout is paid, has a pending payment, or is expired. The caller has to check for an earlier
    /// payment first, because a second click is not the shopper's mistake.
    pub fn with_attempt(&self, payment: &Payment, now: Timestamp) -> Result<Self, Refusal> {
        self.check_open(now)?;
        Ok(Self {
            version: self.version + 1,
            attempts: self.attempts.saturating_add(1),
            attempt: Some(payment.id.clone()),
            channel: (payment.entity != self.entity).then(|| payment.entity.clone()),
            // An earlier attempt may have been a registration that failed.
            registration: None,
            paid: payment.is_approved_or_pending(),
            ..self.clone()
        })
    }

    /// Returns the checkout after an attempt to register an account, with one attempt and one version more. It is paid
    /// if the account was stored.
    ///
    /// # Errors
    /// Same as [`Checkout::with_attempt`].
    pub fn with_registration(&self, registration: &Registration, now: Timestamp) -> Result<Self, Refusal> {
        self.check_open(now)?;
        Ok(Self {
            version: self.version + 1,
            registration: Some(registration.id.clone()),
            paid: registration.is_approved(),
            attempts: self.attempts.saturating_add(1),
            ..self.clone()
        })
    }
}

/// Returns true if a checkout with these parameters stores an account and charges nothing: `createRegistration` is
/// true, and there is no `paymentType`.
pub fn is_tokenisation(parameters: &Parameters) -> bool {
    parameters.get("createRegistration") == Some("true") && !parameters.contains("paymentType")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::result::codes;

    use super::super::payment::sample::sample_payment;
    use super::*;

    fn build_parameters(pairs: &[(&str, &str)]) -> Parameters {
        let mut parameters = Parameters::default();
        for (name, value) in pairs {
            parameters.set(*name, *value);
        }
        parameters
    }

    fn create_checkout() -> Checkout {
        Checkout::new(
            CheckoutId::new(Timestamp::UNIX_EPOCH, [1; 10], "tx01"),
            EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            Timestamp::UNIX_EPOCH,
            "build".to_owned(),
            build_parameters(&[("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")]),
        )
    }

    /// Creates a payment of the checkout, approved or declined.
    fn create_payment(approved: bool) -> Payment {
        let result = if approved { codes::TEST_INTERNAL } else { codes::CARD_EXPIRED };
        Payment { checkout: Some(create_checkout().id), ..sample_payment(3, Timestamp::UNIX_EPOCH, result) }
    }

    fn at_minute(minutes: i64) -> Timestamp {
        Timestamp::from_second(minutes * 60).unwrap()
    }

    #[test]
    fn a_checkout_may_be_tried_again_after_a_decline_and_never_after_a_success() {
        let declined = create_checkout().with_attempt(&create_payment(false), at_minute(1)).unwrap();
        assert_eq!(declined.state_at(at_minute(1)), CheckoutState::Open);
        let paid = declined.with_attempt(&create_payment(true), at_minute(2)).unwrap();
        assert_eq!(paid.state_at(at_minute(2)), CheckoutState::Paid);
        assert!(paid.with_attempt(&create_payment(true), at_minute(3)).is_err());
        assert!(paid.with_update(&Parameters::default(), at_minute(3)).is_err());
    }

    #[test]
    fn a_checkout_may_be_tried_as_often_as_is_allowed_and_says_when_it_ends() {
        let tried_once = create_checkout().with_attempt(&create_payment(false), at_minute(1)).unwrap();
        let tried_twice = tried_once.with_attempt(&create_payment(false), at_minute(2)).unwrap();
        assert!(tried_once.check_attempt_limit(Some(2), at_minute(2)).is_ok());
        let refusal = tried_twice.check_attempt_limit(Some(2), at_minute(10)).unwrap_err();
        assert_eq!((refusal.status, refusal.retry_after), (429, Some(20 * 60 + 1)));
        assert!(tried_twice.check_attempt_limit(None, at_minute(10)).is_ok());
    }

    #[test]
    fn a_pending_payment_closes_the_checkout_as_a_success_does() {
        let pending = Payment { result: codes::PENDING, ..create_payment(false) };
        let next = create_checkout().with_attempt(&pending, at_minute(1)).unwrap();
        assert_eq!(next.state_at(at_minute(2)), CheckoutState::Paid);
        assert!(next.with_attempt(&create_payment(true), at_minute(2)).is_err());
    }

    #[test]
    fn a_checkout_tells_a_decline_that_may_be_tried_again_from_one_that_may_not() {
        let declined = create_checkout().with_attempt(&create_payment(false), at_minute(1)).unwrap();
        assert_eq!(declined.status_at(&create_payment(false), at_minute(29)), CheckoutStatus::Open);
        assert_eq!(declined.status_at(&create_payment(false), at_minute(30)), CheckoutStatus::Expired);
        let paid = create_checkout().with_attempt(&create_payment(true), at_minute(1)).unwrap();
        assert_eq!(paid.status_at(&create_payment(true), at_minute(31)), CheckoutStatus::Paid);
        let pending = Payment { result: codes::PENDING, ..create_payment(false) };
        let checkout = create_checkout().with_attempt(&pending, at_minute(1)).unwrap();
        assert_eq!(checkout.status_at(&pending, at_minute(31)), CheckoutStatus::Pending);
    }

    #[test]
    fn a_checkout_expires_after_thirty_minutes_and_a_paid_one_does_not() {
        assert_eq!(create_checkout().state_at(at_minute(29)), CheckoutState::Open);
        assert_eq!(create_checkout().state_at(at_minute(30)), CheckoutState::Expired);
        assert!(create_checkout().with_attempt(&create_payment(true), at_minute(30)).is_err());
        let paid = create_checkout().with_attempt(&create_payment(true), at_minute(1)).unwrap();
        assert_eq!(paid.state_at(at_minute(31)), CheckoutState::Paid);
    }
}
