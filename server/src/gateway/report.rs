//! Reports about the payments of an entity and of those below it. They are read page by page, so the memory is that of
//! a page and of the report's rows.

use std::collections::VecDeque;

use super::Failure;
use crate::directory::Directory;
use crate::domain::id::EntityId;
use crate::domain::payment::Payment;
use crate::domain::query::PaymentRange;
use crate::domain::refusal::Refusal;
use crate::domain::report::{MAX_ROWS, PaymentReport};
use crate::store::{PaymentHistory, StoreError};

/// A position in the payments of a report: entities in the order of their ids, and the payments of each by time.
#[derive(Debug, Clone)]
pub struct ReportPosition {
    /// The entities from here on.
    entities: VecDeque<EntityId>,
    /// The whole period.
    period: PaymentRange,
    /// The part of it that is left for the first entity.
    rest: PaymentRange,
}

impl ReportPosition {
    /// Returns the position before the first payment of an entity and of those below it that take payments.
    pub fn start(directory: &Directory, entity: &EntityId, period: PaymentRange) -> Self {
        let entities = directory.entities_at_and_below(entity);
        let entities = entities.iter().filter(|entity| entity.level.allows_payments()).map(|entity| entity.id.clone());
        Self { entities: entities.collect(), rest: period.clone(), period }
    }

    /// Reads the payments from here on, at most 100, and the position after them. It is `None` after the last one. A
    /// page may be empty although it is not the last.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read_page(mut self, history: &PaymentHistory) -> Result<(Vec<Payment>, Option<Self>), StoreError> {
        let Some(entity) = self.entities.front() else { return Ok((Vec::new(), None)) };
        let (payments, rest) = history.load_payments(entity, &self.rest)?;
        self.rest = rest.unwrap_or_else(|| {
            self.entities.pop_front();
            self.period.clone()
        });
        let is_last = self.entities.is_empty();
        Ok((payments, (!is_last).then_some(self)))
    }

    /// Adds payments from here on to a report, page by page. Calls `goes_on` with their number after each page, and
    /// stops if it returns false. Returns the report, and the position after the last page. It is `None` at the end.
    ///
    /// # Errors
    /// 400 if there are more than 100,000 rows; if the store cannot be read.
    pub fn add_payments<R: PaymentReport>(
        self,
        history: &PaymentHistory,
        mut report: R,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(R, Option<Self>), Failure> {
        let (mut read, mut next) = (0, Some(self));
        while let Some(position) = next {
            let payments;
            (payments, next) = position.read_page(history)?;
            payments.iter().for_each(|payment| report.add_payment(payment));
            if report.row_count() > MAX_ROWS {
                return Err(refuse_rows());
            }
            read += u64::try_from(payments.len()).unwrap_or(u64::MAX);
            if !goes_on(read) {
                break;
            }
        }
        Ok((report, next))
    }
}

fn refuse_rows() -> Failure {
    let message = format!("leads to more than {MAX_ROWS} rows: ask for a shorter period or fewer columns");
    Refusal::invalid_parameter("groupBy", None, message).into()
}
