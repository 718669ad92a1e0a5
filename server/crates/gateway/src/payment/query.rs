//! Queries: payments by id, by short id, by the merchant's reference, and by day.
//!
//! The cost of a request is bounded: a long range is read page by page, and each response has the cursor of the next
//! page.

use std::ops::ControlFlow;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::{MAX_NUMBERED_PAYMENTS, PAGE_SIZE, PaymentFilter, PaymentRange};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::Parameters;
use tillgate_store::{CacheStamp, Cancellation, PaymentRow, StoreError};

use crate::{Failure, Gateway};

/// Maximum number of payments that a request reads, including those that the filter rejects.
const MAX_READ: u32 = 1000;
/// Maximum number of payments that a brief query reads. It runs on the threads of payments, without a slot for long
/// reads.
const MAX_BRIEF_READ: u32 = 20;

/// Cost class of a query, by the thread that it runs on.
#[derive(Clone, Copy)]
pub enum QueryCost<'a> {
    /// A few rows at known places, on a thread that also processes payments.
    Brief,
    /// Any number of rows, on a thread for long reads.
    Long(&'a Cancellation<'a>),
}

impl QueryCost<'_> {
    /// Returns the maximum number of payments to read. For a brief query it is one above the limit, to detect that a
    /// long query is needed.
    fn read_limit(self) -> u32 {
        match self {
            Self::Brief => MAX_BRIEF_READ + 1,
            Self::Long(_) => MAX_READ,
        }
    }

    /// Returns true if a query that read this many payments has to be repeated as a long query.
    fn is_exceeded_by(self, read: usize) -> bool {
        matches!(self, Self::Brief) && read > MAX_BRIEF_READ as usize
    }
}

/// Payments that match a query, oldest first.
#[derive(Debug)]
pub struct QueryPage {
    /// The payments.
    pub payments: Vec<Payment>,
    /// The last payment that was read, if there may be more after it.
    pub cursor: Option<PaymentId>,
    /// The number of pages of the whole list, if a page was requested by its number.
    pub pages: Option<usize>,
    /// The changes that make this page outdated, if they can be tracked.
    pub cache_stamp: Option<CacheStamp>,
}

/// Result of a query by id.
#[derive(Debug)]
pub enum QueryResult {
    /// The payment alone.
    One(Box<Payment>),
    /// The payment and all payments linked to it.
    Linked(Vec<Payment>),
}

impl Gateway {
    /// Finds a payment by its id or short id, alone or, with `includeLinkedTransactions`, with its linked payments.
    /// Applies the filter in `parameters` to each. Returns `None` if a brief query would read too much.
    ///
    /// # Errors
    /// 404 with 700.400.580 if no payment matches; also if the store cannot be read.
    pub fn query_by_id(
        &self,
        entity: &Entity,
        id: &str,
        parameters: &Parameters,
        cost: QueryCost<'_>,
    ) -> Result<Option<QueryResult>, Failure> {
        let filter = PaymentFilter::from_parameters(parameters);
        let entities = self.visible_entities(entity);
        let payment = match (PaymentId::parse(id), cost) {
            (Some(id), _) => self.store.load_payment_of_any(&entities, &id)?,
            // There is no index by short id, so the search reads all payments of several seconds.
            (None, QueryCost::Brief) => return Ok(None),
            (None, QueryCost::Long(cancelled)) => {
                self.find_by_short_id(&entities, id, &PaymentRange::all_time(), cancelled)?.pop()
            }
        };
        let payment = payment.ok_or_else(Refusal::no_payment_found)?;
        if parameters.get("includeLinkedTransactions") != Some("true") {
            return if filter.matches_payment(&payment) {
                Ok(Some(QueryResult::One(Box::new(payment))))
            } else {
                Err(Refusal::no_payment_found().into())
            };
        }
        let mut linked = self.store.load_related_payments(&payment, cost.read_limit())?;
        if cost.is_exceeded_by(linked.len()) {
            return Ok(None);
        }
        linked.retain(|payment| filter.matches_payment(payment));
        if linked.is_empty() { Err(Refusal::no_payment_found().into()) } else { Ok(Some(QueryResult::Linked(linked))) }
    }

    /// Finds payments by `merchantTransactionId`, by `shortId`, or by `date.from` and `date.to`; several criteria are
    /// combined with "and". Payments with a `merchantTransactionId` come with their follow-up payments. Returns a page,
    /// or `None` if a brief query would read too much.
    ///
    /// # Errors
    /// 404 with 700.400.580 if no payment matches; a refusal that names the parameter at fault. An empty page after a
    /// cursor is no error.
    pub fn query_payments(
        &self,
        entity: &Entity,
        parameters: &Parameters,
        cost: QueryCost<'_>,
    ) -> Result<Option<QueryPage>, Failure> {
        let filter = PaymentFilter::from_parameters(parameters);
        let days = PaymentRange::from_parameters(parameters)?;
        let limit =
            parameters.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(PAGE_SIZE).clamp(1, PAGE_SIZE);
        let cursor = parameters.get("cursor").and_then(PaymentId::parse);
        let number: Option<usize> = parameters.get("pageNo").and_then(|number| number.parse().ok());
        if let (Some(number), Some(_)) = (number, &cursor) {
            let message = "may not be sent together with cursor";
            return Err(Refusal::invalid_parameter("pageNo", Some(&number.to_string()), message).into());
        }
        let (reference, short_id) = (parameters.get("merchantTransactionId"), parameters.get("shortId"));
        if reference.is_none() && short_id.is_none() && days.is_none() {
            let message = "may not be empty unless shortId, or date.from and date.to, are sent";
            return Err(Refusal::invalid_parameter("merchantTransactionId", None, message).into());
        }
        let mut range = days.unwrap_or_else(PaymentRange::all_time);
        if let Some(cursor) = &cursor {
            range = range.after_payment(cursor);
        }
        let entities = self.visible_entities(entity);
        let numbered = number.map(|number| NumberedPage { before: limit * (number - 1), found: 0, total: None });
        let page = QueryPage { payments: Vec::new(), cursor: None, pages: None, cache_stamp: None };
        let mut builder = PageBuilder { filter, limit, numbered, read: 0, last: None, page };
        match (reference, short_id, cost) {
            (Some(reference), _, _) => {
                if !self.fill_by_reference(&mut builder, &entities, &range, (reference, short_id), cost)? {
                    return Ok(None);
                }
            }
            (None, _, QueryCost::Brief) => return Ok(None),
            (None, Some(short_id), QueryCost::Long(cancelled)) => {
                builder.add_payments(self.find_by_short_id(&entities, short_id, &range, cancelled)?)?;
            }
            (None, None, QueryCost::Long(cancelled)) => {
                self.fill_by_range(&mut builder, &entities, &range, cancelled)?
            }
        }
        let page = builder.finish_page()?;
        if page.payments.is_empty() && page.cursor.is_none() && cursor.is_none() && page.pages.unwrap_or(0) == 0 {
            return Err(Refusal::no_payment_found().into());
        }
        Ok(Some(page))
    }

    /// Adds the payments of a `merchantTransactionId`, within the range and with the short id if one is given. Returns
    /// false, and adds nothing, if that needs a long query. For a single entity, the page gets a cache stamp.
    fn fill_by_reference(
        &self,
        builder: &mut PageBuilder,
        entities: &[EntityId],
        range: &PaymentRange,
        (reference, short_id): (&str, Option<&str>),
        cost: QueryCost<'_>,
    ) -> Result<bool, Failure> {
        // Read before the payments, so that a change in between makes the stamp outdated instead of being missed.
        let commit = self.store.change_log.current_commit();
        let found = self.store.load_payments_by_reference(entities, reference, cost.read_limit())?;
        if cost.is_exceeded_by(found.len()) {
            return Ok(false);
        }
        // The result of a merchant with channels also depends on its list of channels, which is not tracked.
        if let [entity] = entities {
            let ids = found.iter().map(|payment| &payment.id);
            builder.page.cache_stamp = CacheStamp::for_reference(commit, entity, reference, ids);
        }
        let has_short_id = |payment: &Payment| short_id.is_none_or(|short_id| payment.id.short_id() == short_id);
        builder
            .add_payments(found.into_iter().filter(|payment| range.contains(&payment.id) && has_short_id(payment)))?;
        Ok(true)
    }

    /// Adds the payments of a range to a page, oldest first. Counts the list beforehand for a numbered page if every
    /// payment matches. A cancelled query leaves the page incomplete.
    ///
    /// # Errors
    /// If a numbered page is requested of too many payments, or the store cannot be read.
    fn fill_by_range(
        &self,
        builder: &mut PageBuilder,
        entities: &[EntityId],
        range: &PaymentRange,
        cancelled: &Cancellation<'_>,
    ) -> Result<(), Failure> {
        if let Some(numbered) = &mut builder.numbered
            && builder.filter.matches_all()
        {
            // One more than the limit is enough to see that the list is too long.
            let total = self.store.count_payments(entities, range, MAX_NUMBERED_PAYMENTS + 1)?;
            if total > MAX_NUMBERED_PAYMENTS {
                return Err(list_too_long().into());
            }
            numbered.total = Some(total as usize);
        }
        Ok(self.store.visit_payments(entities, range, cancelled, |row| builder.add_candidate(Candidate::Row(row)))?)
    }

    /// Returns the payments of these entities with a short id and within the range, oldest first. Returns none if the
    /// text is no short id, and only some of them if the query is cancelled.
    ///
    /// # Errors
    /// If the store cannot be read, or a payment is damaged.
    pub fn find_by_short_id(
        &self,
        entities: &[EntityId],
        short_id: &str,
        range: &PaymentRange,
        cancelled: &Cancellation<'_>,
    ) -> Result<Vec<Payment>, Failure> {
        let mut found = Vec::new();
        // The clocks of sandboxes differ.
        let Some(latest) = entities.iter().map(|entity| self.latest_id_time(entity)).max() else { return Ok(found) };
        let seconds = PaymentRange::from_short_id(short_id, latest).unwrap_or_default();
        for second in seconds.into_iter().rev() {
            self.store.visit_payments(entities, &second.intersect_with(range), cancelled, |row| {
                if row.id.short_id() == short_id {
                    found.push(row.decode_payment()?);
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(found)
    }
}

/// Returns the refusal of a numbered page of a list that is too long to count.
fn list_too_long() -> Refusal {
    let message = format!("goes with at most {MAX_NUMBERED_PAYMENTS} payments: ask for fewer days, or go on by cursor");
    Refusal::invalid_parameter("pageNo", None, message)
}

/// A payment that may be part of a page.
enum Candidate<'a> {
    Row(&'a PaymentRow<'a>),
    Payment(Box<Payment>),
}

impl Candidate<'_> {
    fn id(&self) -> &PaymentId {
        match self {
            Self::Row(row) => row.id,
            Self::Payment(payment) => &payment.id,
        }
    }

    /// Returns true if the payment matches the filter. Decodes only the needed columns of a row.
    fn matches_filter(&self, filter: &PaymentFilter) -> Result<bool, StoreError> {
        match self {
            Self::Row(_) if filter.matches_all() => Ok(true),
            Self::Row(row) => {
                let kind = row.decode_kind()?;
                Ok(filter.matches_properties(kind.payment_type, &kind.brand, kind.is_card()))
            }
            Self::Payment(payment) => Ok(filter.matches_payment(payment)),
        }
    }

    /// Returns the whole payment, decoded from its row if necessary.
    fn into_payment(self) -> Result<Payment, StoreError> {
        match self {
            Self::Row(row) => row.decode_payment(),
            Self::Payment(payment) => Ok(*payment),
        }
    }
}

/// Collects the payments of a page.
struct PageBuilder {
    filter: PaymentFilter,
    limit: usize,
    numbered: Option<NumberedPage>,
    read: u32,
    last: Option<PaymentId>,
    page: QueryPage,
}

/// A page that is requested by its number. The whole list is counted, because the response states the number of pages.
struct NumberedPage {
    /// The number of payments on the pages before.
    before: usize,
    /// The number of matching payments found so far.
    found: usize,
    /// The total number, if the payments were counted beforehand.
    total: Option<usize>,
}

impl PageBuilder {
    /// Counts the candidate as read and adds it to the page if it matches and belongs there. Breaks if the page is
    /// complete or the maximum number of payments was read; without page numbers, the cursor is then the payment
    /// before.
    fn add_candidate(&mut self, candidate: Candidate<'_>) -> Result<ControlFlow<()>, StoreError> {
        if let Some(numbered) = &mut self.numbered {
            self.read += 1;
            if candidate.matches_filter(&self.filter)? {
                numbered.found += 1;
                if numbered.found > numbered.before && self.page.payments.len() < self.limit {
                    self.page.payments.push(candidate.into_payment()?);
                }
            }
            // With the total known beforehand, the payments after this page need not be read.
            let is_filled = numbered.total.is_some() && self.page.payments.len() == self.limit;
            let ends = is_filled || self.read > MAX_NUMBERED_PAYMENTS;
            return Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        if self.page.payments.len() == self.limit || self.read == MAX_READ {
            // This payment is one more, so the list continues after the last payment that was read.
            self.page.cursor = self.last.take();
            return Ok(ControlFlow::Break(()));
        }
        self.read += 1;
        self.last = Some(candidate.id().clone());
        if candidate.matches_filter(&self.filter)? {
            self.page.payments.push(candidate.into_payment()?);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the page after all payments have been read, with the number of pages for a numbered page.
    ///
    /// # Errors
    /// If the list of a numbered page is too long to count.
    fn finish_page(mut self) -> Result<QueryPage, Refusal> {
        if let Some(numbered) = self.numbered {
            if self.read > MAX_NUMBERED_PAYMENTS {
                return Err(list_too_long());
            }
            self.page.pages = Some(numbered.total.unwrap_or(numbered.found).div_ceil(self.limit));
        }
        Ok(self.page)
    }

    /// Adds payments as candidates until the page is complete.
    fn add_payments(&mut self, payments: impl IntoIterator<Item = Payment>) -> Result<(), StoreError> {
        for payment in payments {
            if self.add_candidate(Candidate::Payment(Box::new(payment)))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
