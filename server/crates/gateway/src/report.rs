//! Reports about the payments of an entity and of those below it. They are read page by page, so the memory is that of
//! a page and of the report's rows.

use std::collections::VecDeque;

use tillgate_domain::id::EntityId;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::payment::{Payment, ReportedPayment};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::report::transaction_csv::RowWriter;
use tillgate_domain::report::{MAX_ROWS, PaymentReport};
use tillgate_store::entity_directory::Directory;
use tillgate_store::{PaymentHistory, StoreError};

use super::Failure;

/// Reads the payments of a report: of one entity after the other in the order of their ids, and of each by time.
pub struct ReportReader {
    history: PaymentHistory,
    /// The entities that are left.
    entities: VecDeque<EntityId>,
    /// The whole period.
    period: PaymentRange,
    /// The part of it that is left for the first entity.
    rest: PaymentRange,
}

impl ReportReader {
    /// Begins before the first payment of an entity and of those below it that take payments.
    pub fn new(directory: &Directory, entity: &EntityId, period: PaymentRange, history: PaymentHistory) -> Self {
        let entities = directory.entities_at_and_below(entity);
        let entities = entities.iter().filter(|entity| entity.level.allows_payments()).map(|entity| entity.id.clone());
        Self { history, entities: entities.collect(), rest: period.clone(), period }
    }

    /// Returns true after the last payment.
    pub fn is_at_end(&self) -> bool {
        self.entities.is_empty()
    }

    /// Reads the next payments, at most 100. There may be none although the end is not reached.
    pub fn read_page(&mut self) -> Result<Vec<Payment>, StoreError> {
        let Some(entity) = self.entities.front() else { return Ok(Vec::new()) };
        let (payments, rest) = self.history.load_payments(entity, &self.rest)?;
        self.continue_with(rest);
        Ok(payments)
    }

    /// Calls `report` with the next payments, at most 1,000, of which only the fields for reports are read. There may
    /// be none although the end is not reached.
    pub fn visit_page(&mut self, report: &mut dyn FnMut(&ReportedPayment<'_>)) -> Result<(), StoreError> {
        let Some(entity) = self.entities.front() else { return Ok(()) };
        let rest = self.history.visit_reported(entity, &self.rest, report)?;
        self.continue_with(rest);
        Ok(())
    }

    /// Reads the next payments, at most 1,000, as rows of CSV. There may be none although the end is not reached.
    pub fn read_rows(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut rows = RowWriter::default();
        self.visit_page(&mut |payment| rows.write_payment(payment))?;
        Ok(rows.into_bytes())
    }

    /// Goes on with the rest of the first entity, or with the next entity.
    fn continue_with(&mut self, rest: Option<PaymentRange>) {
        self.rest = rest.unwrap_or_else(|| {
            self.entities.pop_front();
            self.period.clone()
        });
    }

    /// Adds the next payments to a report, page by page. Calls `goes_on` with their number after each page, and stops
    /// if it returns false.
    ///
    /// # Errors
    /// 400 if there are more than 100,000 rows; if the store cannot be read.
    pub fn fill_report(
        &mut self,
        report: &mut impl PaymentReport,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Failure> {
        let mut read = 0;
        while !self.is_at_end() {
            self.visit_page(&mut |payment| {
                report.add_payment(payment);
                read += 1;
            })?;
            if report.row_count() > MAX_ROWS {
                return Err(refuse_rows("groupBy"));
            }
            if !goes_on(read) {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the refusal of a report with too many rows, which names the parameter that can lead to fewer.
pub(super) fn refuse_rows(parameter: &'static str) -> Failure {
    let message = format!("leads to more than {MAX_ROWS} rows: ask for a shorter period or fewer columns");
    Refusal::invalid_parameter(parameter, None, message).into()
}
