//! Effects of a change: the events for webhooks, the merchant's notification, the timers that start and stop, the
//! booking in the ledger, and the dispute of a chargeback. They are computed only from the state before and after the
//! change.
//!
//! The store calls these functions during a write and stores the effects in the same transaction.

mod booking;
mod dispute_stage;

use jiff::Timestamp;

pub use booking::{Booking, BookingTime, payment_booking};
pub use dispute_stage::{Chargeback, DisputeEffect, compute_dispute_effect, concerned_chargeback, dispute_event};

use super::checkout::Checkout;
use super::id::{CheckoutId, EntityId};
use super::payment::{EarlierState, Payment};
use super::registration::Registration;
use super::schedule::{Schedule, ScheduleStep, StepType};

/// An event that is sent to webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A payment was created, with any result.
    PaymentCreated,
    /// The result of a payment changed.
    PaymentUpdated,
    /// An account was stored.
    RegistrationCreated,
    /// A registration changed.
    RegistrationUpdated,
    /// A registration ended: the merchant deleted it, or its retention ended.
    RegistrationDeleted,
    /// The risk check of a payment decided.
    RiskCreated,
    /// A payment that its risk check held has its final result.
    RiskUpdated,
    /// A schedule was created.
    ScheduleCreated,
    /// A schedule changed, ran or ended.
    ScheduleUpdated,
    /// A dispute was opened.
    DisputeCreated,
    /// A dispute moved to another stage.
    DisputeUpdated,
    /// The merchant's deadline of a dispute comes closer.
    DisputeReminder,
}

impl Event {
    /// Returns the name in a webhook's log and in the payload, such as `PAYMENT CREATED`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PaymentCreated => "PAYMENT CREATED",
            Self::PaymentUpdated => "PAYMENT UPDATED",
            Self::RegistrationCreated => "REGISTRATION CREATED",
            Self::RegistrationUpdated => "REGISTRATION UPDATED",
            Self::RegistrationDeleted => "REGISTRATION DELETED",
            Self::RiskCreated => "RISK CREATED",
            Self::RiskUpdated => "RISK UPDATED",
            Self::ScheduleCreated => "SCHEDULE CREATED",
            Self::ScheduleUpdated => "SCHEDULE UPDATED",
            Self::DisputeCreated => "DISPUTE CREATED",
            Self::DisputeUpdated => "DISPUTE UPDATED",
            Self::DisputeReminder => "DISPUTE REMINDER",
        }
    }

    /// Returns the type that a webhook subscribes to in order to receive the event.
    pub fn subscription_type(self) -> &'static str {
        match self {
            Self::PaymentCreated | Self::PaymentUpdated => "PAYMENT",
            Self::RegistrationCreated | Self::RegistrationUpdated | Self::RegistrationDeleted => "REGISTRATION",
            Self::RiskCreated | Self::RiskUpdated => "RISK",
            Self::ScheduleCreated | Self::ScheduleUpdated => "SCHEDULE",
            Self::DisputeCreated | Self::DisputeUpdated | Self::DisputeReminder => "DISPUTE",
        }
    }
}

/// Effect on a timer. `Since` is the moment at which it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerEffect<Since> {
    /// The timer does not change.
    Unchanged,
    /// The timer starts, unless it is already running.
    Start(Since),
    /// The timer is deleted.
    Stop,
}

/// The moment of the write, by the machine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWrite;

/// Effects of the write of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentEffects {
    /// The event for webhooks about the payment, if any.
    pub event: Option<Event>,
    /// The event for webhooks about its risk check, if any.
    pub risk_event: Option<Event>,
    /// The notification URL with its parameters, if the merchant is notified.
    pub notification: Option<String>,
    /// The effect on the timer that ends the payment, by the clock of its entity.
    pub end_timer: TimerEffect<Timestamp>,
    /// The effect on the review, and on the timer that ends it, by the clock of the payment's entity.
    pub review_timer: TimerEffect<Timestamp>,
    /// The effect on the timer that looks up the outcome at an external connector. It is the record that the connector
    /// is asked: it is written before the request is sent, and deleted with the outcome.
    pub inquiry_timer: TimerEffect<AtWrite>,
    /// Checkout whose reminder was paused by this payment and starts now.
    pub resumed_reminder: Option<CheckoutId>,
}

/// Computes the effects of the write of a payment. `before` is `None` for a new payment.
///
/// The event is "created" at the first write that announces the payment, and "updated" if the result changes, unless a
/// held payment is still pending at its connector, which an analyst's approval has asked. The merchant is notified of
/// an announced follow-up payment and of the outcome of a pending one, if the payment has a `notificationUrl`. The
/// timer starts while the payment waits for its shopper, and stops afterwards; the inquiry timer runs while its
/// external connector owes an outcome. The checkout's reminder resumes when nothing is awaited any more. For the event
/// of the risk check see [`risk_event`].
pub fn compute_payment_effects(before: Option<&EarlierState>, after: &Payment) -> PaymentEffects {
    let was_pending = before.is_some_and(|before| before.result.is_pending());
    // A payment whose connector answers in time causes a single event.
    let is_first_event = !after.unannounced && before.is_none_or(|before| before.unannounced);
    let event = match before {
        _ if is_first_event => Some(Event::PaymentCreated),
        Some(before) if before.was_held() && after.result.is_pending() => None,
        Some(before) if before.result != after.result => Some(Event::PaymentUpdated),
        _ => None,
    };
    // A new payment is returned in the response, so only later outcomes and follow-up payments are notified.
    let is_notified = (is_first_event && after.referenced.is_some()) || (was_pending && !after.result.is_pending());
    let awaits_outcome = after.awaits_outcome();
    let end_timer = match (after.awaits_shopper(), before.is_some_and(EarlierState::awaits_shopper)) {
        (true, _) => TimerEffect::Start(after.created),
        (false, true) => TimerEffect::Stop,
        (false, false) => TimerEffect::Unchanged,
    };
    let review_timer = match (after.is_held(), before.is_some_and(EarlierState::was_held)) {
        (true, false) => TimerEffect::Start(after.review().and_then(|review| review.since).unwrap_or(after.created)),
        (false, true) => TimerEffect::Stop,
        _ => TimerEffect::Unchanged,
    };
    let inquiry_timer = match (after.can_be_inquired(), before.is_some_and(EarlierState::could_be_inquired)) {
        (true, false) => TimerEffect::Start(AtWrite),
        (false, true) => TimerEffect::Stop,
        _ => TimerEffect::Unchanged,
    };
    PaymentEffects {
        event,
        risk_event: risk_event(before, after),
        notification: if is_notified { after.notification_address() } else { None },
        end_timer,
        review_timer,
        inquiry_timer,
        resumed_reminder: after.checkout.clone().filter(|_| was_pending && !awaits_outcome),
    }
}

/// Returns the event about the risk check of a payment: "created" at the write with its decision, and "updated" when a
/// payment that it holds, perhaps after an answer of its shopper or connector, gets its final result.
fn risk_event(before: Option<&EarlierState>, after: &Payment) -> Option<Event> {
    after.risk.as_ref()?.decision.as_ref()?;
    match before {
        Some(before) if before.has_risk_decision() => {
            let was_reviewed = before.was_held() || after.review().is_some();
            let has_ended = before.result.is_pending() && !after.result.is_pending();
            (was_reviewed && has_ended).then_some(Event::RiskUpdated)
        }
        _ => Some(Event::RiskCreated),
    }
}

/// Returns the event for the write of a registration. `before` is `None` for a new registration. A new one that was
/// rejected is not stored and causes no event; an ended one counts as deleted, and every other change as an update.
pub fn registration_event(before: Option<&Registration>, after: &Registration) -> Option<Event> {
    match before {
        None => after.is_approved().then_some(Event::RegistrationCreated),
        Some(_) if after.ended.is_some() => Some(Event::RegistrationDeleted),
        Some(_) => Some(Event::RegistrationUpdated),
    }
}

/// Returns the event for the write of a schedule: a request about it, a run, or its end. `None` for a look at a pending
/// payment that changes nothing.
pub fn schedule_event(after: &Schedule, step: Option<&ScheduleStep>, has_run: bool) -> Option<Event> {
    match step {
        Some(step) if step.step_type == StepType::Schedule => Some(Event::ScheduleCreated),
        _ if step.is_some() || has_run || !after.is_active() => Some(Event::ScheduleUpdated),
        _ => None,
    }
}

/// A reminder of a submit whose outcome the merchant has not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// The checkout. A checkout has at most one reminder.
    pub checkout: CheckoutId,
    /// The entity of the checkout.
    pub entity: EntityId,
    /// The id of the attempt: a payment's or a registration's.
    pub attempt: String,
    /// The moment of the attempt, by the clock of the entity.
    pub since: Timestamp,
    /// Address that the reminder is sent to. `None` if this attempt names none.
    pub address: Option<String>,
    /// True while the shopper of the attempt is at the issuer's or the brand's page. The reminder's time does not run
    /// meanwhile.
    pub is_paused: bool,
}

impl Reminder {
    /// Returns the reminder of the last attempt of a checkout, at `since`. Returns `None` if there is no attempt, or if
    /// it is the first one and names no `address`.
    pub fn from_attempt(
        checkout: &Checkout,
        address: Option<String>,
        since: Timestamp,
        is_paused: bool,
    ) -> Option<Self> {
        let attempt = checkout.last_attempt_id().filter(|_| address.is_some() || checkout.attempts > 1)?.to_owned();
        let (entity, checkout) = (checkout.entity.clone(), checkout.id.clone());
        Some(Self { checkout, entity, attempt, since, address, is_paused })
    }

    /// Returns the reminder that replaces the one of an earlier attempt. `earlier` is the address of that reminder, or
    /// `None` if no reminder runs; it is used if this attempt names no address. Returns `None` if neither names an
    /// address.
    pub fn replace_earlier(self, earlier: Option<String>) -> Option<Self> {
        let address = Some(self.address.or(earlier)?);
        Some(Self { address, ..self })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
