//! Timers: actions on a payment or a checkout that are due a certain time after it began.
//!
//! A row is written in the commit of its cause and deleted in the commit of its effect. So the effect happens exactly
//! once, even if the process dies. The row holds the start time by the machine's clock. Moving the clock of a sandbox
//! moves its rows.

use jiff::Timestamp;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::effects::Reminder;
use tillgate_domain::id::{CheckoutId, EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_engine::{Session, ToValue, params};

use crate::cluster::background_work::BackgroundWork;
use crate::cluster::inquiries::load_due_inquiries;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Sources, Store, StoreError};

/// The action of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerKind {
    /// Ends a pending payment whose shopper has not come back.
    End,
    /// Cancels a held payment about which no analyst has decided.
    Review,
    /// Reminds the merchant of a checkout whose outcome has not been read. There is one per checkout, for its last
    /// attempt.
    Remind,
    /// Looks up the outcome of a payment at its external connector. The row is written before the request is sent, in
    /// the commit that reserves the amount, and is due at once: if the process dies in between, it shows which outcome
    /// is unknown.
    Inquire,
    /// Settles the payments of an entity, at each of its settlement cut-offs. Its subject is the entity. Starts with
    /// the entity's first movement of money, and is postponed from cut-off to cut-off.
    Settle,
    /// Reminds the merchant of the deadline of a dispute, ends the dispute at the deadline, and deletes its evidence
    /// some time after its end. Its row has the next moment of these.
    Dispute,
}

/// A timer that is due.
#[derive(Debug, Clone)]
pub struct Timer {
    /// The id of the payment, checkout or dispute.
    pub subject: String,
    /// The entity that owns it.
    pub entity: EntityId,
    /// Address that a reminder is sent to. Of an inquiry, the process of a cluster that has asked the connector.
    pub detail: Option<String>,
    /// The attempt that a reminder is about: the id of a payment or registration.
    pub attempt: Option<String>,
}

/// The end of a timer of a payment or checkout.
#[derive(Debug)]
struct TimerStop {
    kind: TimerKind,
    subject: String,
}

impl TimerKind {
    /// Returns the name in the column `kind`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Review => "review",
            Self::Remind => "remind",
            Self::Inquire => "ask",
            Self::Settle => "settle",
            Self::Dispute => "dispute",
        }
    }
}

impl Changes {
    /// Starts the reminder of the last attempt of a checkout, made at `since` by the entity's clock. It replaces the
    /// reminder of an earlier attempt, and uses that one's address if this attempt names none. Does nothing if there is
    /// no address. A paused reminder starts when the attempt has ended.
    #[must_use]
    pub fn with_reminder(
        self,
        checkout: &Checkout,
        address: Option<String>,
        since: Timestamp,
        is_paused: bool,
    ) -> Self {
        match Reminder::from_attempt(checkout, address, since, is_paused) {
            Some(reminder) => self.with(reminder),
            None => self,
        }
    }

    /// Stops a timer of a payment or checkout, if it runs.
    #[must_use]
    pub fn without_timer(self, kind: TimerKind, subject: &str) -> Self {
        self.with(TimerStop { kind, subject: subject.to_owned() })
    }
}

impl Change for Reminder {
    fn stage(&self) -> Stage {
        Stage::Reminder
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        start_reminder(context.session, self)?;
        Ok(false)
    }
}

impl Change for TimerStop {
    fn stage(&self) -> Stage {
        Stage::TimerStop
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        stop_timer(context.session, self.kind, &self.subject)?;
        Ok(false)
    }
}

/// Starts a timer that ends a pending payment or a review, unless it is running already. `since` is by the clock of the
/// entity, and is stored by the machine's. Does nothing if the entity is not stored.
pub(crate) fn start_end_timer(
    session: &dyn Session,
    kind: TimerKind,
    payment: &str,
    entity: &str,
    since: Timestamp,
) -> Result<(), StoreError> {
    // The advance of that clock is read here under the write lock, so that it cannot change meanwhile.
    session.send(
        "INSERT INTO timer (kind, subject, entity, since)
             SELECT ?4, ?1, ?2, ?3 - coalesce(owner.ahead, entity.ahead)
             FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?2
             ON CONFLICT DO NOTHING",
        params![payment, entity, since.as_millisecond(), kind.as_str()],
    )?;
    Ok(())
}

/// Starts a reminder, or restarts it for a new attempt. Without an address, uses the one of the running reminder, or
/// does nothing if none runs.
fn start_reminder(session: &dyn Session, reminder: &Reminder) -> Result<(), StoreError> {
    let query = "SELECT detail FROM timer WHERE kind = 'remind' AND subject = ?1";
    let earlier = session.query_optional(query, [reminder.checkout.as_str()], |row| row.get(0));
    let Some(reminder) = reminder.clone().replace_earlier(earlier?.flatten()) else { return Ok(()) };
    let Reminder { checkout, entity, attempt, since, address, is_paused } = reminder;
    session.send(
        "INSERT INTO timer (kind, subject, entity, since, detail, attempt, waits)
             SELECT 'remind', ?1, ?2, ?3 - coalesce(owner.ahead, entity.ahead), ?4, ?5, ?6
             FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?2
             ON CONFLICT (kind, subject) DO UPDATE SET since = excluded.since, detail = excluded.detail,
                 attempt = excluded.attempt, waits = excluded.waits",
        params![checkout.as_str(), entity.as_str(), since.as_millisecond(), address, attempt, is_paused],
    )?;
    Ok(())
}

/// Returns true if a checkout has a reminder that is not sent yet.
pub(crate) fn has_reminder(session: &dyn Session, checkout: &CheckoutId) -> Result<bool, StoreError> {
    Ok(session.has_row("SELECT 1 FROM timer WHERE kind = 'remind' AND subject = ?1", [checkout.as_str()])?)
}

/// Starts the paused reminder of an attempt that has ended. Does nothing if the checkout has none, or one of a later
/// attempt.
pub(crate) fn resume_reminder(session: &dyn Session, checkout: &str, attempt: &str) -> Result<(), StoreError> {
    session.send(
        "UPDATE timer SET waits = 0 WHERE kind = 'remind' AND subject = ?1 AND attempt = ?2",
        params![checkout, attempt],
    )?;
    Ok(())
}

/// Starts the timer that looks up the outcome of a payment at its connector, now by the machine's clock and for this
/// process, which asks the connector. Does nothing if it is running already.
pub(crate) fn start_inquiry_timer(
    session: &dyn Session,
    payment: &Payment,
    sources: &Sources,
) -> Result<(), StoreError> {
    let (kind, since) = (TimerKind::Inquire.as_str(), sources.now().as_millisecond());
    session.send(
        "INSERT INTO timer (kind, subject, entity, since, detail) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
        params![kind, payment.id.as_str(), payment.entity.as_str(), since, sources.process.as_deref()],
    )?;
    Ok(())
}

/// Starts the timer of the settlements of an entity at a moment of the machine's clock, unless it is running already.
/// Entities without payments of their own have none.
pub(crate) fn start_settlement_timer(
    session: &dyn Session,
    entity: &EntityId,
    since: Timestamp,
) -> Result<(), StoreError> {
    session.send(
        "INSERT INTO timer (kind, subject, entity, since) SELECT ?1, ?2, ?2, ?3
             WHERE NOT EXISTS (SELECT 1 FROM entity WHERE id = ?2 AND level IN ('psp', 'division'))
             ON CONFLICT DO NOTHING",
        params![TimerKind::Settle.as_str(), entity.as_str(), since.as_millisecond()],
    )?;
    Ok(())
}

/// Sets the timer of a dispute to its next moment by the clock of the entity, or stops it. Does nothing if the entity
/// is not stored.
pub(crate) fn set_dispute_timer(
    session: &dyn Session,
    dispute: &str,
    entity: &str,
    next: Option<Timestamp>,
) -> Result<(), StoreError> {
    let Some(next) = next else { return stop_timer(session, TimerKind::Dispute, dispute) };
    session.send(
        "INSERT INTO timer (kind, subject, entity, since)
             SELECT ?4, ?1, ?2, ?3 - coalesce(owner.ahead, entity.ahead)
             FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?2
             ON CONFLICT (kind, subject) DO UPDATE SET since = excluded.since",
        params![dispute, entity, next.as_millisecond(), TimerKind::Dispute.as_str()],
    )?;
    Ok(())
}

/// Stops a timer of a payment or checkout, if it runs.
pub(crate) fn stop_timer(session: &dyn Session, kind: TimerKind, subject: &str) -> Result<(), StoreError> {
    session.send("DELETE FROM timer WHERE kind = ?1 AND subject = ?2", params![kind.as_str(), subject])?;
    Ok(())
}

/// Reads the timers that a query finds. Leaves out those whose entity is not valid.
pub(crate) fn read_timers(
    session: &dyn Session,
    query: &str,
    parameters: &[&dyn ToValue],
) -> Result<Vec<Timer>, StoreError> {
    let mut rows = session.query(query, parameters)?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        let entity: String = row.get(1)?;
        let Some(entity) = EntityId::parse(&entity) else { continue };
        due.push(Timer { subject: row.get(0)?, entity, detail: row.get(2)?, attempt: row.get(3)? });
    }
    Ok(due)
}

impl Store {
    /// Loads the timers of a kind that began at or before a moment of the machine's clock, oldest first, at most
    /// `limit`. Leaves out paused reminders.
    pub fn load_due_timers(&self, kind: TimerKind, before: Timestamp, limit: u32) -> Result<Vec<Timer>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT subject, entity, detail, attempt FROM timer
                 WHERE kind = ?1 AND since <= ?2 AND waits = 0 ORDER BY since LIMIT ?3";
            read_timers(session, query, &params![kind.as_str(), before.as_millisecond(), limit])
        })
    }

    /// Loads the timers of [`TimerKind::Inquire`] that are due for this process, as [`Store::load_due_timers`] does. In
    /// a cluster these are its own; the process that may do [`BackgroundWork::Inquiries`] has those of processes that
    /// have ended as well.
    pub fn load_due_inquiries(&self, before: Timestamp, limit: u32) -> Result<Vec<Timer>, StoreError> {
        match &self.sources.process {
            None => self.load_due_timers(TimerKind::Inquire, before, limit),
            Some(process) => {
                let of = (&**process, self.may_work(BackgroundWork::Inquiries));
                self.run_read(|session| load_due_inquiries(session, of, before, limit))
            }
        }
    }

    /// Stops a timer of a payment or checkout, if it runs.
    pub async fn stop_timer(&self, kind: TimerKind, subject: String) -> Result<(), StoreError> {
        self.run_row_write(move |session| stop_timer(session, kind, &subject)).await
    }

    /// Postpones the next lookup of a payment's outcome to a moment of the machine's clock. Does nothing if no outcome
    /// of the payment is awaited.
    pub async fn postpone_inquiry(&self, payment: &PaymentId, until: Timestamp) -> Result<(), StoreError> {
        let payment = payment.as_str().to_owned();
        self.run_row_write(move |session| {
            let query = "UPDATE timer SET since = ?3 WHERE kind = ?1 AND subject = ?2";
            let kind = TimerKind::Inquire.as_str();
            session.send(query, params![kind, payment, until.as_millisecond()])?;
            Ok(())
        })
        .await
    }

    /// Stops reminders, each identified by its checkout and its attempt. The reminder of a later attempt is kept.
    pub async fn stop_reminders(&self, attempts: Vec<(String, String)>) -> Result<(), StoreError> {
        self.run_write(move |session| {
            let query = "DELETE FROM timer WHERE kind = 'remind' AND subject = ?1 AND attempt = ?2";
            for (checkout, attempt) in &attempts {
                session.send(query, [checkout, attempt])?;
            }
            Ok(())
        })
        .await
    }
}
