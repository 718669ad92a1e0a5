//! The work of a running gateway that becomes due during the month of the demo data.

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_gateway::{Failure, Gateway};

use crate::worker::timers::run_timer;

/// Largest number of timers that are loaded at once.
const BATCH: u32 = 1_000;

/// Largest number of schedules that are loaded at once.
const MAX_SCHEDULES: usize = 1_000;

/// Runs the timers and schedules of an entity that are due, and settles its payments up to the latest cut-off. Leaves
/// the work of other entities to their gateway.
pub(super) async fn do_due_work(gateway: &Gateway, entity: &Entity) -> Result<(), Failure> {
    let own = gateway.directory.entities_at_and_below(&entity.id);
    for (kind, wait) in gateway.timer_waits() {
        let since = gateway.now().checked_sub(wait).unwrap_or_default();
        for timer in gateway.store.load_due_timers(kind, since, BATCH)? {
            if own.iter().any(|owner| owner.id == timer.entity) {
                run_timer(gateway, kind, &timer).await?;
            }
        }
    }
    run_schedules(gateway, &own).await?;
    for due in gateway.load_due_settlements(BATCH)? {
        if own.iter().any(|owner| owner.id == due) {
            gateway.settle_entity(&due, &|| true).await?;
        }
    }
    Ok(())
}

/// Runs the schedules of some entities until none is due any more.
async fn run_schedules(gateway: &Gateway, owners: &[Arc<Entity>]) -> Result<(), Failure> {
    let mut has_run = true;
    while has_run {
        has_run = false;
        for schedule in gateway.load_due_schedules(MAX_SCHEDULES, "")?.schedules {
            if owners.iter().any(|owner| owner.id == schedule.entity) {
                has_run |= gateway.run_schedule(schedule).await?;
            }
        }
    }
    Ok(())
}
