//! A checkout: half an hour in which a shopper may pay, once.
//!
//! The rules: at most one successful or pending payment, a decline leaves it open for another try, and the merchant may
//! change it until it is paid.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Parameters;

use super::id::{CheckoutId, EntityId, PaymentId, RegistrationId};
use super::payment::Payment;
use super::refusal::Refusal;
use super::registration::Registration;

/// How long a checkout may be paid (specification, document 1, limits).
pub const LIFETIME: SignedDuration = SignedDuration::from_mins(30);

/// Time from the last submit of a checkout to the reminder of a merchant who does not ask for the outcome (specification,
/// document 1, events).
pub const REMINDER: SignedDuration = SignedDuration::from_mins(29);

/// A checkout as it is stored. Who only asks where it stands may leave its parameters unread (another `P`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkout<P = Parameters> {
    /// Its id, the capability that the shopper's browser holds.
    pub id: CheckoutId,
    /// Whose it is.
    pub entity: EntityId,
    /// When it was made.
    pub created: Timestamp,
    /// Counts the writes; an answer prepared on an older version is prepared again.
    pub version: u64,
    /// The build of the form that its `integrity` was given for.
    pub build: String,
    /// What the merchant set, server to server.
    pub parameters: P,
    /// The last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<PaymentId>,
    /// The channel that took that attempt, where the checkout is the merchant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<EntityId>,
    /// The registration that the last attempt of a tokenisation checkout made, approved or rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationId>,
    /// Whether that attempt succeeded, or may yet: while one is pending, nobody pays again.
    pub paid: bool,
    /// How often somebody has tried to pay.
    #[serde(default)]
    pub attempts: u32,
}

/// Where a checkout stands at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It may be paid.
    Open,
    /// It has been paid, or a payment of it is pending.
    Paid,
    /// Its half hour is over and it was not paid.
    Expired,
}

/// Where a checkout stands, as its status tells the merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The shopper may pay, for the first time or again after a decline.
    Open,
    /// A payment is on its way.
    Pending,
    /// It has been paid.
    Paid,
    /// The account of a tokenisation checkout has been stored.
    Registered,
    /// Its half hour is over, and it was not paid.
    Expired,
}

impl Standing {
    /// Where a tokenisation checkout stands.
    pub fn of_registration(state: State) -> Self {
        match state {
            State::Open => Self::Open,
            State::Paid => Self::Registered,
            State::Expired => Self::Expired,
        }
    }

    /// Where an open checkout stands after an attempt.
    pub fn of_payment(payment: &Payment) -> Self {
        match payment.counts() {
            true if payment.result.is_pending() => Self::Pending,
            true => Self::Paid,
            false => Self::Open,
        }
    }

    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Pending => "PENDING",
            Self::Paid => "PAID",
            Self::Registered => "REGISTERED",
            Self::Expired => "EXPIRED",
        }
    }
}

impl<P> Checkout<P> {
    /// Returns the id of its last attempt: a payment, or the registration of a tokenisation checkout.
    pub fn last_attempt(&self) -> Option<&str> {
        let payment = self.attempt.as_ref().map(PaymentId::as_str);
        payment.or_else(|| self.registration.as_ref().map(RegistrationId::as_str))
    }

    /// Whose its last attempt is: a channel's, where the checkout is the merchant's.
    pub fn owner_of_attempt(&self) -> &EntityId {
        self.channel.as_ref().unwrap_or(&self.entity)
    }

    /// Where it stands at a moment, with the outcome of its last attempt.
    pub fn standing(&self, attempt: &Payment, now: Timestamp) -> Standing {
        match self.state(now) {
            State::Paid if attempt.result.is_pending() => Standing::Pending,
            State::Paid => Standing::Paid,
            State::Open => Standing::Open,
            State::Expired => Standing::Expired,
        }
    }

    /// Where it stands.
    pub fn state(&self, now: Timestamp) -> State {
        if self.paid {
            State::Paid
        } else if now.duration_since(self.created) >= LIFETIME {
            State::Expired
        } else {
            State::Open
        }
    }
}

impl Checkout {
    /// A new, open checkout.
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

    /// Whether it can be paid now.
    ///
    /// # Errors
    /// A refusal where it is paid or expired.
    pub fn check_open(&self, now: Timestamp) -> Result<(), Refusal> {
        match self.state(now) {
            State::Open => Ok(()),
            State::Paid => Err(Refusal::checkout_closed()),
            State::Expired => Err(Refusal::checkout_expired()),
        }
    }

    /// Whether it may be tried once more, where at most `limit` attempts are allowed: numbers are not tested here.
    ///
    /// # Errors
    /// 429 from the last attempt to the end of the half hour.
    pub fn may_be_tried(&self, limit: Option<u32>, now: Timestamp) -> Result<(), Refusal> {
        if limit.is_none_or(|limit| self.attempts < limit) {
            return Ok(());
        }
        let left = (self.created + LIFETIME).duration_since(now).as_secs();
        Err(Refusal::checkout_exhausted(u32::try_from(left).unwrap_or_default() + 1))
    }

    /// The path under which the merchant reads the outcome.
    pub fn resource_path(&self) -> String {
        let what = if self.is_tokenisation() { "registration" } else { "payment" };
        format!("/v1/checkouts/{}/{what}", self.id.as_str())
    }

    /// Whether it stores an account and charges nobody (contract, 3.1).
    pub fn is_tokenisation(&self) -> bool {
        is_tokenisation(&self.parameters)
    }

    /// Whether a registration is one of those that the checkout offers to the shopper.
    pub fn offers(&self, registration: &str) -> bool {
        self.parameters.with_prefix("registrations[").any(|(_, id)| id == registration)
    }

    /// Whether the shopper may delete the registrations that it offers. The merchant says so; a browser cannot.
    pub fn lets_delete(&self) -> bool {
        self.parameters.get("registrationsDeletable") == Some("true")
    }

    /// The merchant's update: what it sends replaces what it sent before.
    ///
    /// # Errors
    /// A paid or expired checkout cannot change.
    pub fn updated(&self, update: &Parameters, now: Timestamp) -> Result<Self, Refusal> {
        self.check_open(now)?;
        let mut next = self.clone();
        for (name, value) in update.iter() {
            next.parameters.set(name, value);
        }
        next.version += 1;
        Ok(next)
    }

    /// Takes the outcome of an attempt.
    ///
    /// # Errors
    /// An expired checkout takes none. Whether it has been paid meanwhile is for the caller to look at first: a second
    /// click is not a mistake of the shopper's.
    pub fn attempted(&self, payment: &Payment, now: Timestamp) -> Result<Self, Refusal> {
        self.check_open(now)?;
        Ok(Self {
            version: self.version + 1,
            attempts: self.attempts.saturating_add(1),
            attempt: Some(payment.id.clone()),
            channel: (payment.entity != self.entity).then(|| payment.entity.clone()),
            // It may have been for a registration before, which failed.
            registration: None,
            paid: payment.counts(),
            ..self.clone()
        })
    }

    /// Takes the outcome of an attempt to register.
    ///
    /// # Errors
    /// As [`Checkout::attempted`].
    pub fn registered(&self, registration: &Registration, now: Timestamp) -> Result<Self, Refusal> {
        self.check_open(now)?;
        Ok(Self {
            version: self.version + 1,
            registration: Some(registration.id.clone()),
            paid: registration.approved(),
            attempts: self.attempts.saturating_add(1),
            ..self.clone()
        })
    }
}

/// Whether a checkout with these parameters stores an account and charges nobody.
pub fn is_tokenisation(parameters: &Parameters) -> bool {
    parameters.get("createRegistration") == Some("true") && !parameters.contains("paymentType")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::money::{Amount, Currency};
    use tillgate_shared::result::codes;

    use super::super::payment::{Account, CardSummary, PaymentType};
    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        let mut parameters = Parameters::default();
        for (name, value) in pairs {
            parameters.set(*name, *value);
        }
        parameters
    }

    fn checkout() -> Checkout {
        Checkout::new(
            CheckoutId::new(Timestamp::UNIX_EPOCH, [1; 10], "tx01"),
            EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            Timestamp::UNIX_EPOCH,
            "build".to_owned(),
            parameters(&[("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")]),
        )
    }

    fn payment(approved: bool) -> Payment {
        Payment {
            id: PaymentId::new(Timestamp::UNIX_EPOCH, [3; 9]),
            entity: checkout().entity,
            checkout: Some(checkout().id),
            ndc: None,
            created: Timestamp::UNIX_EPOCH,
            payment_type: PaymentType::Debit,
            brand: "VISA".to_owned(),
            amount: Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap(),
            result: if approved { codes::TEST_INTERNAL } else { codes::CARD_EXPIRED },
            descriptor: String::new(),
            referenced: None,
            registration: None,
            avs: None,
            cvv: None,
            details: std::collections::BTreeMap::new(),
            redirect: None,
            pay_to: None,
            connector: None,
            connector_tx_ids: Vec::new(),
            account: Account::Card(CardSummary {
                bin: "420000".to_owned(),
                last4: "0000".to_owned(),
                holder: None,
                expiry_month: "12".to_owned(),
                expiry_year: "2034".to_owned(),
            }),
            parameters: Parameters::default(),
            shares: None,
        }
    }

    fn minutes(minutes: i64) -> Timestamp {
        Timestamp::from_second(minutes * 60).unwrap()
    }

    #[test]
    fn a_checkout_may_be_tried_again_after_a_decline_and_never_after_a_success() {
        let declined = checkout().attempted(&payment(false), minutes(1)).unwrap();
        assert_eq!(declined.state(minutes(1)), State::Open);
        let paid = declined.attempted(&payment(true), minutes(2)).unwrap();
        assert_eq!(paid.state(minutes(2)), State::Paid);
        assert!(paid.attempted(&payment(true), minutes(3)).is_err());
        assert!(paid.updated(&Parameters::default(), minutes(3)).is_err());
    }

    #[test]
    fn a_checkout_may_be_tried_as_often_as_is_allowed_and_says_when_it_ends() {
        let once = checkout().attempted(&payment(false), minutes(1)).unwrap();
        let twice = once.attempted(&payment(false), minutes(2)).unwrap();
        assert!(once.may_be_tried(Some(2), minutes(2)).is_ok());
        let refusal = twice.may_be_tried(Some(2), minutes(10)).unwrap_err();
        assert_eq!((refusal.status, refusal.retry_after), (429, Some(20 * 60 + 1)));
        assert!(twice.may_be_tried(None, minutes(10)).is_ok());
    }

    #[test]
    fn a_pending_payment_closes_the_checkout_as_a_success_does() {
        let pending = Payment { result: codes::PENDING, ..payment(false) };
        let next = checkout().attempted(&pending, minutes(1)).unwrap();
        assert_eq!(next.state(minutes(2)), State::Paid);
        assert!(next.attempted(&payment(true), minutes(2)).is_err());
    }

    #[test]
    fn a_checkout_tells_a_decline_that_may_be_tried_again_from_one_that_may_not() {
        let declined = checkout().attempted(&payment(false), minutes(1)).unwrap();
        assert_eq!(declined.standing(&payment(false), minutes(29)), Standing::Open);
        assert_eq!(declined.standing(&payment(false), minutes(30)), Standing::Expired);
        let paid = checkout().attempted(&payment(true), minutes(1)).unwrap();
        assert_eq!(paid.standing(&payment(true), minutes(31)), Standing::Paid);
        let pending = Payment { result: codes::PENDING, ..payment(false) };
        let waits = checkout().attempted(&pending, minutes(1)).unwrap();
        assert_eq!(waits.standing(&pending, minutes(31)), Standing::Pending);
    }

    #[test]
    fn a_checkout_expires_after_thirty_minutes_and_a_paid_one_does_not() {
        assert_eq!(checkout().state(minutes(29)), State::Open);
        assert_eq!(checkout().state(minutes(30)), State::Expired);
        assert!(checkout().attempted(&payment(true), minutes(30)).is_err());
        let paid = checkout().attempted(&payment(true), minutes(1)).unwrap();
        assert_eq!(paid.state(minutes(31)), State::Paid);
    }
}
