//! Reports about the payments of an entity and of those below it. They are read page by page on a thread for long
//! reads, so that payments do not wait and the memory stays the same for any period.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Failure, Gateway};
use crate::directory::Directory;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::query::PaymentRange;
use crate::domain::refusal::Refusal;
use crate::domain::report::{MAX_ROWS, PaymentReport};
use crate::store::{PaymentHistory, StoreError};

/// The payments that a report reads.
pub struct ReportSource {
    /// The entities that take payments, at and below that of the report.
    entities: Vec<Arc<Entity>>,
    period: PaymentRange,
    history: PaymentHistory,
}

impl ReportSource {
    /// Makes the source for an entity, those below it, and a period.
    pub fn new(directory: &Directory, entity: &EntityId, period: PaymentRange, history: PaymentHistory) -> Self {
        let mut entities = directory.entities_at_and_below(entity);
        entities.retain(|entity| entity.level.allows_payments());
        Self { entities, period, history }
    }

    /// Adds all payments to a report. Calls `on_page` with their number after each page. Returns `None` if it breaks.
    ///
    /// # Errors
    /// 400 if there are more than 100,000 rows; if the store cannot be read.
    pub fn fill_report<R: PaymentReport>(
        &self,
        mut report: R,
        on_page: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<R>, Failure> {
        let mut read = 0;
        for entity in &self.entities {
            let mut rest = Some(self.period.clone());
            while let Some(range) = rest {
                let (payments, after) = self.history.load_payments(&entity.id, &range)?;
                payments.iter().for_each(|payment| report.add_payment(payment));
                if report.row_count() > MAX_ROWS {
                    return Err(refuse_rows());
                }
                read += u64::try_from(payments.len()).unwrap_or(u64::MAX);
                rest = after;
                if on_page(read).is_break() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(report))
    }
}

fn refuse_rows() -> Failure {
    let message = format!("leads to more than {MAX_ROWS} rows: ask for a shorter period or fewer columns");
    Refusal::invalid_parameter("groupBy", None, message).into()
}

impl Gateway {
    /// Prepares the payments of an entity for a report.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn open_report(&self, entity: &Entity, period: PaymentRange) -> Result<ReportSource, StoreError> {
        Ok(ReportSource::new(&self.directory, &entity.id, period, self.store.open_history()?))
    }
}
