//! Queries: payments by id, by the number on the statement, by the merchant's reference, and by day.
//!
//! What a request costs has a bound: of a long range a page is read, and the answer says where it goes on.

use std::ops::ControlFlow;

use tillgate_shared::parameter::Parameters;

use super::{Failure, Gateway};
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::Payment;
use crate::domain::query::{Filter, NUMBERED, PAGE, Range};
use crate::domain::refusal::Refusal;
use crate::store::{Cancelled, PaymentRow, StoreError, Watched};

/// Most payments that a request reads, wanted or not.
const READ: u32 = 1000;
/// Most payments that a request reads beside payments, without waiting for its turn among long reads.
const BRIEF: u32 = 20;

/// Reach of a query on the thread that it runs on.
#[derive(Clone, Copy)]
pub enum Effort<'a> {
    /// A few rows at known places, on a thread that payments run on.
    Brief,
    /// Everything, on a thread for long reads.
    Long(&'a Cancelled<'a>),
}

impl Effort<'_> {
    /// Most payments to read; one more than that of a brief query means that it takes a long one.
    fn most(self) -> u32 {
        match self {
            Self::Brief => BRIEF + 1,
            Self::Long(_) => READ,
        }
    }

    /// Returns true if a query that read so many payments has to be repeated as a long one.
    fn is_exceeded_by(self, read: usize) -> bool {
        matches!(self, Self::Brief) && read > BRIEF as usize
    }
}

/// Payments that were found, oldest first.
#[derive(Debug)]
pub struct Page {
    /// What was found.
    pub payments: Vec<Payment>,
    /// The last payment that was looked at, where there may be more behind it.
    pub cursor: Option<PaymentId>,
    /// How many pages the whole list has, where one of them was asked for by its number.
    pub pages: Option<usize>,
    /// What would change it, where that can be watched.
    pub watched: Option<Watched>,
}

/// What is found by an id.
#[derive(Debug)]
pub enum Found {
    /// The payment alone.
    One(Box<Payment>),
    /// Everything that belongs together with it.
    Linked(Vec<Payment>),
}

impl Gateway {
    /// A payment by its id or by its short id, alone or with what belongs to it. `None` if that takes a long read.
    ///
    /// # Errors
    /// 404 with 700.400.580 where there is none that is wanted; a refusal that names the parameter at fault.
    pub fn query_id(
        &self,
        entity: &Entity,
        id: &str,
        parameters: &Parameters,
        effort: Effort<'_>,
    ) -> Result<Option<Found>, Failure> {
        let filter = Filter::read(parameters);
        let entities = self.entities_of(entity);
        let payment = match (PaymentId::parse(id), effort) {
            (Some(id), _) => self.store.payment_of(&entities, &id)?,
            (None, Effort::Brief) => return Ok(None),
            (None, Effort::Long(cancelled)) => self.by_short_id(&entities, id, &Range::all(), cancelled)?.pop(),
        };
        let payment = payment.ok_or_else(Refusal::nothing_found)?;
        if parameters.get("includeLinkedTransactions") != Some("true") {
            return if filter.wants(&payment) {
                Ok(Some(Found::One(Box::new(payment))))
            } else {
                Err(Refusal::nothing_found().into())
            };
        }
        let mut linked = self.store.linked_payments(&payment, effort.most())?;
        if effort.is_exceeded_by(linked.len()) {
            return Ok(None);
        }
        linked.retain(|payment| filter.wants(payment));
        if linked.is_empty() { Err(Refusal::nothing_found().into()) } else { Ok(Some(Found::Linked(linked))) }
    }

    /// Payments by `merchantTransactionId`, by `shortId`, or by `date.from` and `date.to`; those of a reference come with
    /// what refers to them. Several of them narrow each other down. `None` if that takes a long read.
    ///
    /// # Errors
    /// 404 with 700.400.580 where there is none; a refusal that names the parameter at fault.
    pub fn query(&self, entity: &Entity, parameters: &Parameters, effort: Effort<'_>) -> Result<Option<Page>, Failure> {
        let filter = Filter::read(parameters);
        let days = Range::read(parameters)?;
        let limit = parameters.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(PAGE).clamp(1, PAGE);
        let cursor = parameters.get("cursor").and_then(PaymentId::parse);
        let number: Option<usize> = parameters.get("pageNo").and_then(|number| number.parse().ok());
        if let (Some(number), Some(_)) = (number, &cursor) {
            let message = "may not be sent together with cursor";
            return Err(Refusal::parameter("pageNo", Some(&number.to_string()), message).into());
        }
        let (reference, short_id) = (parameters.get("merchantTransactionId"), parameters.get("shortId"));
        if reference.is_none() && short_id.is_none() && days.is_none() {
            let message = "may not be empty unless shortId, or date.from and date.to, are sent";
            return Err(Refusal::parameter("merchantTransactionId", None, message).into());
        }
        let mut range = days.unwrap_or_else(Range::all);
        if let Some(cursor) = &cursor {
            range = range.after(cursor);
        }
        let entities = self.entities_of(entity);
        let numbered = number.map(|number| Numbered { before: limit * (number - 1), found: 0, total: None });
        let page = Page { payments: Vec::new(), cursor: None, pages: None, watched: None };
        let mut take = Take { filter, limit, numbered, read: 0, last: None, page };
        match (reference, short_id, effort) {
            (Some(reference), _, _) => {
                if !self.take_reference(&mut take, &entities, &range, (reference, short_id), effort)? {
                    return Ok(None);
                }
            }
            (None, _, Effort::Brief) => return Ok(None),
            (None, Some(short_id), Effort::Long(cancelled)) => {
                take.all(self.by_short_id(&entities, short_id, &range, cancelled)?)?;
            }
            (None, None, Effort::Long(cancelled)) => self.take_range(&mut take, &entities, &range, cancelled)?,
        }
        let page = take.done()?;
        if page.payments.is_empty() && page.cursor.is_none() && cursor.is_none() && page.pages.unwrap_or(0) == 0 {
            return Err(Refusal::nothing_found().into());
        }
        Ok(Some(page))
    }

    /// Fills a page with the payments of a reference. Returns false if that takes a long read.
    fn take_reference(
        &self,
        take: &mut Take,
        entities: &[EntityId],
        range: &Range,
        (reference, short_id): (&str, Option<&str>),
        effort: Effort<'_>,
    ) -> Result<bool, Failure> {
        let moment = self.store.changed.moment();
        let found = self.store.payments_of_reference(entities, reference, effort.most())?;
        if effort.is_exceeded_by(found.len()) {
            return Ok(false);
        }
        // What a merchant with channels is told depends on which these are.
        if let [entity] = entities {
            let ids = found.iter().map(|payment| &payment.id);
            take.page.watched = Watched::reference(moment, entity, reference, ids);
        }
        let wanted = |payment: &Payment| short_id.is_none_or(|short_id| payment.id.short_id() == short_id);
        take.all(found.into_iter().filter(|payment| range.contains(&payment.id) && wanted(payment)))?;
        Ok(true)
    }

    /// Fills a page with the payments of a range.
    fn take_range(
        &self,
        take: &mut Take,
        entities: &[EntityId],
        range: &Range,
        cancelled: &Cancelled<'_>,
    ) -> Result<(), Failure> {
        if let Some(numbered) = &mut take.numbered
            && take.filter.wants_all()
        {
            let total = self.store.count_payments(entities, range, NUMBERED + 1)?;
            if total > NUMBERED {
                return Err(too_long().into());
            }
            numbered.total = Some(total as usize);
        }
        Ok(self.store.walk_payments(entities, range, cancelled, |row| take.one(Candidate::Row(row)))?)
    }

    /// The payments with a short id, oldest first. Nothing where it is none.
    fn by_short_id(
        &self,
        entities: &[EntityId],
        short_id: &str,
        range: &Range,
        cancelled: &Cancelled<'_>,
    ) -> Result<Vec<Payment>, Failure> {
        let mut found = Vec::new();
        let Some(entity) = entities.first() else { return Ok(found) };
        let seconds = Range::of_short_id(short_id, self.latest_id_time(entity)).unwrap_or_default();
        for second in seconds.into_iter().rev() {
            self.store.walk_payments(entities, &second.and(range), cancelled, |row| {
                if row.id.short_id() == short_id {
                    found.push(row.payment()?);
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(found)
    }
}

/// The refusal of a numbered page of a list that is too long to be counted.
fn too_long() -> Refusal {
    let message = format!("goes with at most {NUMBERED} payments: ask for fewer days, or go on by cursor");
    Refusal::parameter("pageNo", None, message)
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

    fn is_wanted(&self, filter: &Filter) -> Result<bool, StoreError> {
        match self {
            Self::Row(_) if filter.wants_all() => Ok(true),
            Self::Row(row) => {
                let kind = row.kind()?;
                Ok(filter.wants_kind(kind.payment_type, &kind.brand, kind.is_card()))
            }
            Self::Payment(payment) => Ok(filter.wants(payment)),
        }
    }

    fn into_payment(self) -> Result<Payment, StoreError> {
        match self {
            Self::Row(row) => row.payment(),
            Self::Payment(payment) => Ok(*payment),
        }
    }
}

/// Fills a page.
struct Take {
    filter: Filter,
    limit: usize,
    numbered: Option<Numbered>,
    read: u32,
    last: Option<PaymentId>,
    page: Page,
}

/// A page that is asked for by its number. The whole list is counted, so that the answer says how many there are.
struct Numbered {
    /// How many stand on the pages before.
    before: usize,
    /// How many were found so far.
    found: usize,
    /// Their number, if they were counted beforehand.
    total: Option<usize>,
}

impl Take {
    fn one(&mut self, candidate: Candidate<'_>) -> Result<ControlFlow<()>, StoreError> {
        if let Some(numbered) = &mut self.numbered {
            self.read += 1;
            if candidate.is_wanted(&self.filter)? {
                numbered.found += 1;
                if numbered.found > numbered.before && self.page.payments.len() < self.limit {
                    self.page.payments.push(candidate.into_payment()?);
                }
            }
            let is_filled = numbered.total.is_some() && self.page.payments.len() == self.limit;
            let ends = is_filled || self.read > NUMBERED;
            return Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        if self.page.payments.len() == self.limit || self.read == READ {
            // There is this one more, so the list goes on behind the last that was read.
            self.page.cursor = self.last.take();
            return Ok(ControlFlow::Break(()));
        }
        self.read += 1;
        self.last = Some(candidate.id().clone());
        if candidate.is_wanted(&self.filter)? {
            self.page.payments.push(candidate.into_payment()?);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The page, once everything has been looked at.
    ///
    /// # Errors
    /// The list is too long to be counted.
    fn done(mut self) -> Result<Page, Refusal> {
        if let Some(numbered) = self.numbered {
            if self.read > NUMBERED {
                return Err(too_long());
            }
            self.page.pages = Some(numbered.total.unwrap_or(numbered.found).div_ceil(self.limit));
        }
        Ok(self.page)
    }

    fn all(&mut self, payments: impl IntoIterator<Item = Payment>) -> Result<(), StoreError> {
        for payment in payments {
            if self.one(Candidate::Payment(Box::new(payment)))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
