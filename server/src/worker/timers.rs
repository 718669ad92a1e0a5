//! Does what timers are for when their time has come.

use jiff::Timestamp;

use crate::domain::checkout::REMINDER;
use crate::domain::id::{PaymentId, log_tag};
use crate::gateway::{Failure, Gateway};
use crate::store::timer::{Kind, Timer};

/// So many are looked up at once.
const BATCH: u32 = 100;

/// Does everything that is due. What fails stays due, is tried again at the next look, and keeps nothing else from happening.
pub(super) async fn run_due(gateway: &Gateway, now: Timestamp) -> Result<(), Failure> {
    gateway.take_reminders_back().await?;
    // A payment that ends may let a reminder run.
    for (kind, wait) in [(Kind::End, gateway.options.pending_lifetime), (Kind::Remind, REMINDER)] {
        // An operator may choose a wait that is longer than time.
        let since = now.checked_sub(wait).unwrap_or(Timestamp::MIN);
        loop {
            let due = gateway.store.timers_due(kind, since, BATCH)?;
            let mut failed = false;
            for timer in &due {
                if let Err(error) = run(gateway, kind, timer).await {
                    tracing::warn!(%error, subject = log_tag(&timer.subject), ?kind, "doing what is due");
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

async fn run(gateway: &Gateway, kind: Kind, timer: &Timer) -> Result<(), Failure> {
    match (kind, PaymentId::parse(&timer.subject)) {
        (Kind::Remind, _) => gateway.remind(timer).await,
        (Kind::End, Some(payment)) => gateway.time_out(&timer.entity, &payment).await,
        (Kind::Ask, Some(payment)) => gateway.resolve(&timer.entity, &payment).await,
        (Kind::End | Kind::Ask, None) => Ok(gateway.store.stop_timer(kind, timer.subject.clone()).await?),
    }
}
