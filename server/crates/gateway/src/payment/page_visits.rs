//! Visits of shoppers to the simulated pages of brands, and the pages that they have left without an answer. They are
//! in memory only: after a restart, forms learn it from their windows alone.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tillgate_domain::id::PaymentId;

/// Maximum number of pages. Above it, the page whose last visit began first is forgotten.
const MAX_PAGES: usize = 10_000;

/// The last visit to a page.
struct PageVisit {
    number: u64,
    has_left: bool,
}

/// The last visit to the page of each payment.
#[derive(Default)]
pub struct PageVisits(Mutex<(u64, HashMap<PaymentId, PageVisit>)>);

impl PageVisits {
    /// Notes that a shopper sees the page of a payment. Returns the number of this visit.
    pub(crate) fn begin_visit(&self, payment: &PaymentId) -> u64 {
        let mut visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, pages) = &mut *visits;
        // Shoppers who never answer would otherwise fill the memory.
        if pages.len() >= MAX_PAGES
            && !pages.contains_key(payment)
            && let Some(oldest) = pages.iter().min_by_key(|(_, visit)| visit.number).map(|(id, _)| id.clone())
        {
            pages.remove(&oldest);
        }
        *last += 1;
        pages.insert(payment.clone(), PageVisit { number: *last, has_left: false });
        *last
    }

    /// Notes that a shopper has ended a visit. A page that is loaded again reports the end of its earlier visit when
    /// the next has begun, so only the last one counts.
    pub(crate) fn end_visit(&self, payment: &PaymentId, number: u64) {
        let mut visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visit) = visits.1.get_mut(payment).filter(|visit| visit.number == number) {
            visit.has_left = true;
        }
    }

    /// Returns true if the shopper of a payment has left its page, and has not come back.
    pub(crate) fn has_left(&self, payment: &PaymentId) -> bool {
        let visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        visits.1.get(payment).is_some_and(|visit| visit.has_left)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn payment(number: usize) -> PaymentId {
        PaymentId::parse(&format!("{number:032x}")).unwrap()
    }

    #[test]
    fn only_the_end_of_the_last_visit_counts() {
        let visits = PageVisits::default();
        let id = payment(1);
        assert!(!visits.has_left(&id));
        let first = visits.begin_visit(&id);
        let second = visits.begin_visit(&id);
        visits.end_visit(&id, first);
        assert!(!visits.has_left(&id), "a reload");
        visits.end_visit(&id, second);
        assert!(visits.has_left(&id));
        visits.begin_visit(&id);
        assert!(!visits.has_left(&id), "the shopper is back");
        visits.end_visit(&payment(2), second);
        assert!(!visits.has_left(&payment(2)), "a page that nobody has visited");
    }

    #[test]
    fn shoppers_who_never_answer_do_not_fill_the_memory() {
        let visits = PageVisits::default();
        let last = (0..=MAX_PAGES).map(|number| visits.begin_visit(&payment(number))).last().unwrap();
        assert_eq!(visits.0.lock().unwrap().1.len(), MAX_PAGES);
        visits.end_visit(&payment(MAX_PAGES), last);
        assert!(visits.has_left(&payment(MAX_PAGES)));
    }
}
