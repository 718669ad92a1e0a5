//! Stored payments in the order of their creation, read in pages for replays and reports.
//!
//! Each page is a read transaction of its own, which ends before its payments are used. A single long one would keep
//! the WAL from being checkpointed, and so grow while payments are made.

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::payment::{Payment, ReportedPayment};
use tillgate_domain::risk::list::ListHit;
use tillgate_engine::{Rows, Session, params};
use tillgate_risk::ListedValue;

use crate::document::read_document;
use crate::payment::load;
use crate::payment::queries::MAX_ID;
use crate::payment::shared_parameters;
use crate::risk::list;
use crate::{AdminStore, Store, StoreError, StoreLocation};

/// Largest number of payments on a page. It is small, so that a page takes a few milliseconds and little memory.
const PAGE: u16 = 100;

/// Largest number of payments on a page of which only the fields for reports are read.
const REPORTED_PAGE: u16 = 1000;

/// Finds the first documents of an entity's payments in a range.
const PAGE_QUERY: &str = "SELECT document FROM payment WHERE entity = ?1 AND id >= ?2 AND id < ?3 ORDER BY id LIMIT ?4";

/// A read-only session with the stored payments. It belongs to one replay or report.
pub struct PaymentHistory {
    session: Box<dyn Session>,
}

/// A page of an entity's payments.
pub struct HistoryPage {
    /// The payments, oldest first, with follow-up payments.
    pub payments: Vec<HistoricPayment>,
    /// The range after the page. `None` if the page is the last one.
    pub rest: Option<PaymentRange>,
}

/// A stored payment, and what became of it.
pub struct HistoricPayment {
    /// The payment, with the parameters that it shares with an earlier attempt.
    pub payment: Payment,
    /// The amount that was charged back, in hundredths of the payment's currency. `None` if nothing was, also for
    /// follow-up payments.
    pub charged_back: Option<i64>,
}

impl PaymentHistory {
    /// Returns the session, for reads of other rows.
    pub(crate) fn session(&self) -> &dyn Session {
        &*self.session
    }

    /// Loads the first payments of an entity in a range, at most 100.
    ///
    /// # Errors
    /// If the store cannot be read, or a payment is damaged.
    pub fn load_page(&self, entity: &EntityId, range: &PaymentRange) -> Result<HistoryPage, StoreError> {
        // Ends with the end of this function, also after an error.
        let snapshot = self.session.begin_snapshot()?;
        let (payments, rest) = read_payments(&*snapshot, entity, range)?;
        let add_chargebacks = |payment: Payment| {
            let may_be_charged_back = payment.referenced.is_none() && payment.is_approved();
            let charged_back = if may_be_charged_back { sum_chargebacks(&*snapshot, &payment.id)? } else { None };
            Ok(HistoricPayment { payment, charged_back })
        };
        let payments = payments.into_iter().map(add_chargebacks).collect::<Result<_, StoreError>>()?;
        Ok(HistoryPage { payments, rest })
    }

    /// Loads the first payments of an entity in a range, at most 100, and the range after them. It is `None` after the
    /// last page.
    ///
    /// # Errors
    /// Same as [`Self::load_page`].
    pub fn load_payments(
        &self,
        entity: &EntityId,
        range: &PaymentRange,
    ) -> Result<(Vec<Payment>, Option<PaymentRange>), StoreError> {
        let snapshot = self.session.begin_snapshot()?;
        read_payments(&*snapshot, entity, range)
    }

    /// Calls `report` with the first payments of an entity in a range, at most 1,000, and returns the range after them.
    /// It is `None` after the last page. Only the fields for reports are read.
    ///
    /// # Errors
    /// Same as [`Self::load_page`]. `report` has been called with the payments before a damaged one.
    pub fn visit_reported(
        &self,
        entity: &EntityId,
        range: &PaymentRange,
        report: &mut dyn FnMut(&ReportedPayment<'_>),
    ) -> Result<Option<PaymentRange>, StoreError> {
        let snapshot = self.session.begin_snapshot()?;
        let mut rows = query_page(&*snapshot, entity, range, REPORTED_PAGE)?;
        let mut last = None;
        for number in 1.. {
            let Some(row) = rows.next()? else { break };
            let payment: ReportedPayment<'_> = read_document(&row, 0)?;
            report(&payment);
            if number == REPORTED_PAGE {
                // Without it the report would end here.
                last = Some(
                    PaymentId::parse(&payment.id)
                        .ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of a payment"))?,
                );
            }
        }
        Ok(last.map(|last| range.after_payment(&last)))
    }

    /// Loads a payment of an entity.
    ///
    /// # Errors
    /// Same as [`Self::load_page`].
    pub fn load_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        load::load_payment(&*self.session, entity, id)
    }

    /// Finds list entries as [`Store::find_list_hits`] does.
    pub fn find_list_hits(
        &self,
        entities: &[EntityId],
        values: &[ListedValue],
        now: Timestamp,
    ) -> Result<Vec<ListHit>, StoreError> {
        list::find_hits(&*self.session, entities, values, now)
    }
}

/// Finds the first documents of an entity's payments in a range.
fn query_page<'a>(
    session: &'a dyn Session,
    entity: &EntityId,
    range: &PaymentRange,
    limit: u16,
) -> Result<Rows<'a>, StoreError> {
    let until = range.until.as_ref().map_or(MAX_ID, PaymentId::as_str);
    Ok(session.query(PAGE_QUERY, params![entity.as_str(), range.from.as_str(), until, limit])?)
}

/// Reads the first payments of an entity in a range, and the range after them.
fn read_payments(
    session: &dyn Session,
    entity: &EntityId,
    range: &PaymentRange,
) -> Result<(Vec<Payment>, Option<PaymentRange>), StoreError> {
    let mut rows = query_page(session, entity, range, PAGE)?;
    let mut payments = Vec::with_capacity(usize::from(PAGE));
    while let Some(row) = rows.next()? {
        let document = row.value(0)?.as_blob()?;
        payments.push(shared_parameters::decode_payment(session, document)?);
    }
    let last = payments.last().filter(|_| payments.len() == usize::from(PAGE));
    let rest = last.map(|last| range.after_payment(&last.id));
    Ok((payments, rest))
}

/// Returns the sum of the chargebacks of a payment and of its captures, in hundredths. `None` if there is none.
fn sum_chargebacks(session: &dyn Session, id: &PaymentId) -> Result<Option<i64>, StoreError> {
    let query = "SELECT CAST(sum(chargeback.hundredths) AS BIGINT)
         FROM (SELECT ?1 AS id UNION ALL
               SELECT id FROM payment_link WHERE referenced = ?1 AND type = 'CP' AND approved) AS charged
         JOIN payment_link AS chargeback ON chargeback.referenced = charged.id
         WHERE chargeback.type = 'CB' AND chargeback.approved";
    Ok(session.query_one(query, [id.as_str()], |row| row.get(0))?)
}

impl Store {
    /// Opens the stored payments for a replay or a report.
    pub fn open_history(&self) -> Result<PaymentHistory, StoreError> {
        Ok(PaymentHistory { session: self.place.open_reader()? })
    }
}

impl AdminStore {
    /// Opens the stored payments for a replay or a report. The store has to exist and be migrated, as
    /// [`AdminStore::open_existing`] leaves it.
    pub fn open_history(location: &StoreLocation) -> Result<PaymentHistory, StoreError> {
        Ok(PaymentHistory { session: location.open_reader()? })
    }
}
