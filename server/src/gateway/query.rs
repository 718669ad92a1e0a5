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
use crate::store::Watched;

/// Most payments that a request reads, wanted or not.
const READ: u32 = 1000;

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
    /// A payment by its id or by its short id, alone or with what belongs to it.
    ///
    /// # Errors
    /// 404 with 700.400.580 where there is none that is wanted; a refusal that names the parameter at fault.
    pub fn query_id(&self, entity: &Entity, id: &str, parameters: &Parameters) -> Result<Found, Failure> {
        let filter = Filter::read(parameters);
        let entities = self.entities_of(entity);
        let payment = match PaymentId::parse(id) {
            Some(id) => self.store.payment_of(&entities, &id)?,
            None => self.by_short_id(&entities, id, &Range::all())?.pop(),
        };
        let payment = payment.ok_or_else(Refusal::nothing_found)?;
        if parameters.get("includeLinkedTransactions") != Some("true") {
            return if filter.wants(&payment) {
                Ok(Found::One(Box::new(payment)))
            } else {
                Err(Refusal::nothing_found().into())
            };
        }
        let mut linked = self.store.linked_payments(&payment, READ)?;
        linked.retain(|payment| filter.wants(payment));
        if linked.is_empty() { Err(Refusal::nothing_found().into()) } else { Ok(Found::Linked(linked)) }
    }

    /// Payments by `merchantTransactionId`, by `shortId`, or by `date.from` and `date.to`; those of a reference come with
    /// what refers to them. Several of them narrow each other down.
    ///
    /// # Errors
    /// 404 with 700.400.580 where there is none; a refusal that names the parameter at fault.
    pub fn query(&self, entity: &Entity, parameters: &Parameters) -> Result<Page, Failure> {
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
        let numbered = number.map(|number| Numbered { before: limit * (number - 1), found: 0 });
        let page = Page { payments: Vec::new(), cursor: None, pages: None, watched: None };
        let mut take = Take { filter, limit, numbered, read: 0, last: None, page };
        match (reference, short_id) {
            (Some(reference), _) => {
                let moment = self.store.changed.moment();
                let found = self.store.payments_of_reference(&entities, reference, READ)?;
                // What a merchant with channels is told depends on which these are.
                if let [entity] = &entities[..] {
                    let ids = found.iter().map(|payment| &payment.id);
                    take.page.watched = Watched::reference(moment, entity, reference, ids);
                }
                let wanted = |payment: &Payment| short_id.is_none_or(|short_id| payment.id.short_id() == short_id);
                let found = found.into_iter().filter(|payment| range.contains(&payment.id) && wanted(payment));
                take.all(found);
            }
            (None, Some(short_id)) => take.all(self.by_short_id(&entities, short_id, &range)?.into_iter()),
            (None, None) => self.store.payments_in(&entities, &range, |payment| take.one(payment))?,
        }
        let page = take.done()?;
        if page.payments.is_empty() && page.cursor.is_none() && cursor.is_none() && page.pages.unwrap_or(0) == 0 {
            return Err(Refusal::nothing_found().into());
        }
        Ok(page)
    }

    /// The payments with a short id, oldest first. Nothing where it is none.
    fn by_short_id(&self, entities: &[EntityId], short_id: &str, range: &Range) -> Result<Vec<Payment>, Failure> {
        let mut found = Vec::new();
        let now = entities.first().map_or_else(|| self.now(), |entity| self.now_of_id(entity));
        let seconds = Range::of_short_id(short_id, now).unwrap_or_default();
        for second in seconds.into_iter().rev() {
            self.store.payments_in(entities, &second.and(range), |payment| {
                if payment.id.short_id() == short_id {
                    found.push(payment);
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(found)
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
}

impl Take {
    fn one(&mut self, payment: Payment) -> ControlFlow<()> {
        if let Some(numbered) = &mut self.numbered {
            self.read += 1;
            if self.filter.wants(&payment) {
                numbered.found += 1;
                if numbered.found > numbered.before && self.page.payments.len() < self.limit {
                    self.page.payments.push(payment);
                }
            }
            return if self.read > NUMBERED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        if self.page.payments.len() == self.limit || self.read == READ {
            // There is this one more, so the list goes on behind the last that was read.
            self.page.cursor = self.last.take();
            return ControlFlow::Break(());
        }
        self.read += 1;
        self.last = Some(payment.id.clone());
        if self.filter.wants(&payment) {
            self.page.payments.push(payment);
        }
        ControlFlow::Continue(())
    }

    /// The page, once everything has been looked at.
    ///
    /// # Errors
    /// The list is too long to be counted.
    fn done(mut self) -> Result<Page, Refusal> {
        if let Some(numbered) = self.numbered {
            if self.read > NUMBERED {
                let message = format!("goes with at most {NUMBERED} payments: ask for fewer days, or go on by cursor");
                return Err(Refusal::parameter("pageNo", None, message));
            }
            self.page.pages = Some(numbered.found.div_ceil(self.limit));
        }
        Ok(self.page)
    }

    fn all(&mut self, payments: impl Iterator<Item = Payment>) {
        for payment in payments {
            if self.one(payment).is_break() {
                break;
            }
        }
    }
}
