//! Does what timers are for when their time has come.

use jiff::Timestamp;

use crate::domain::checkout::REMINDER;
use crate::domain::id::PaymentId;
use crate::gateway::{Failure, Gateway};
use crate::store::timer::Kind;

/// So many are looked up at once.
const BATCH: u32 = 100;

/// Does everything that is due. What fails stays due, and is tried again at the next look.
pub(super) async fn run_due(gateway: &Gateway, now: Timestamp) -> Result<(), Failure> {
    gateway.take_reminders_back().await?;
    loop {
        let unasked = gateway.store.timers_due(Kind::Remind, now - REMINDER, BATCH)?;
        for timer in &unasked {
            gateway.remind(timer).await?;
        }
        let overdue = gateway.store.timers_due(Kind::End, now - gateway.options.pending_lifetime, BATCH)?;
        for timer in &overdue {
            if let Some(payment) = PaymentId::parse(&timer.subject) {
                gateway.time_out(&timer.entity, &payment).await?;
            }
        }
        if overdue.len().max(unasked.len()) < BATCH as usize {
            return Ok(());
        }
    }
}
