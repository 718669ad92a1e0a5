//! Runs due timers.

use jiff::Timestamp;
use tillgate_domain::id::{PaymentId, log_tag};
use tillgate_gateway::{Failure, Gateway};
use tillgate_store::cluster::background_work::BackgroundWork;
use tillgate_store::timer::{Timer, TimerKind};

/// Maximum number of timers that are loaded at once.
const BATCH: u32 = 100;

/// Cancels the reminders of outcomes that were read here, and then runs the due timers that end payments and send
/// reminders, if this process may. A timer that fails is logged, stays due and is tried again in the next run. It does
/// not stop the other timers of its batch.
///
/// # Errors
/// If the store cannot be read, or reminders cannot be cancelled.
pub(super) async fn run_due_timers(gateway: &Gateway, now: Timestamp) -> Result<(), Failure> {
    gateway.cancel_reminders().await?;
    if !gateway.store.may_work(BackgroundWork::Timers) {
        return Ok(());
    }
    for (kind, wait) in gateway.timer_waits() {
        // The operator may choose a wait beyond the range of timestamps.
        let since = now.checked_sub(wait).unwrap_or(Timestamp::MIN);
        loop {
            let due = gateway.store.load_due_timers(kind, since, BATCH)?;
            let mut failed = false;
            for timer in &due {
                // Asked before each, because a long batch may outlast the lease.
                if !gateway.store.may_work(BackgroundWork::Timers) {
                    return Ok(());
                }
                if let Err(error) = run_timer(gateway, kind, timer).await {
                    tracing::warn!(%error, subject = log_tag(&timer.subject), ?kind, "running a due timer failed");
                    failed = true;
                }
            }
            if failed || due.len() < BATCH as usize {
                break;
            }
        }
    }
    Ok(())
}

/// Runs one timer: ends its payment, reminds the merchant of its checkout, finds the outcome of its payment, or moves
/// its dispute. Deletes a timer without a valid payment id.
pub(crate) async fn run_timer(gateway: &Gateway, kind: TimerKind, timer: &Timer) -> Result<(), Failure> {
    match (kind, PaymentId::parse(&timer.subject)) {
        (TimerKind::Remind, _) => gateway.send_reminder(timer).await,
        (TimerKind::Dispute, _) => gateway.run_dispute_timer(&timer.entity, &timer.subject).await,
        (TimerKind::End, Some(payment)) => gateway.expire_payment(&timer.entity, &payment).await,
        (TimerKind::Inquire, Some(payment)) => gateway.resolve_payment(&timer.entity, &payment).await,
        (TimerKind::Review, Some(payment)) => gateway.expire_review(&timer.entity, &payment).await,
        (TimerKind::End | TimerKind::Review | TimerKind::Inquire, None) => {
            Ok(gateway.store.stop_timer(kind, timer.subject.clone()).await?)
        }
        // Settlements have a thread of their own.
        (TimerKind::Settle, _) => Ok(()),
    }
}
