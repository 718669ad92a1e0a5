//! Lists of payments for people: newest first, with filters, page by page.
//!
//! The cost of a page is bounded. A filter that few payments match ends the page early, and the next page continues
//! where this one stopped reading.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId, RegistrationId, ScheduleId};
use tillgate_domain::payment::PaymentType;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::risk::RiskOutcome;
use tillgate_shared::result::{ResultCode, codes};
use tillgate_store::{Cancellation, ListedPayment, PaymentIndex, SearchTerm};

use crate::{Failure, Gateway};

/// Maximum number of payments that a page reads, including those that the filter rejects.
const MAX_READ: usize = 5000;
/// Time after which a page ends, on a busy machine before it has read that many.
const MAX_TIME: Duration = Duration::from_millis(35);
/// Number of payments that every page reads, however long they take. The time is looked at after as many again.
const TIMED_READS: usize = 500;

/// State of a payment in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedState {
    /// It succeeded.
    Approved,
    /// It was refused.
    Declined,
    /// Its outcome is not known yet.
    Pending,
    /// It waits for the decision of an analyst.
    Held,
}

impl ListedState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Approved, Self::Declined, Self::Pending, Self::Held];

    /// Returns the state of a payment with a result.
    pub fn of(payment_type: PaymentType, result: ResultCode) -> Self {
        if result == codes::RISK_HELD {
            Self::Held
        } else if payment_type.is_approved_with(result) {
            Self::Approved
        } else if result.is_pending() {
            Self::Pending
        } else {
            Self::Declined
        }
    }

    /// Returns the name in addresses and of its text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Pending => "pending",
            Self::Held => "held",
        }
    }

    /// Parses the name. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// Filter of a list. The default matches every payment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// The state.
    pub state: Option<ListedState>,
    /// The payment type.
    pub payment_type: Option<PaymentType>,
    /// The brand's code.
    pub brand: Option<String>,
    /// The last four characters of the account number.
    pub last_four: Option<String>,
    /// The merchant's reference.
    pub reference: Option<String>,
    /// The customer's e-mail address, in lower case.
    pub mail: Option<String>,
    /// The registration that the payments created or used.
    pub registration: Option<RegistrationId>,
    /// The outcome of the risk check.
    pub risk: Option<RiskOutcome>,
    /// The schedule that the payments are runs of.
    pub schedule: Option<ScheduleId>,
    /// The lowest amount, in hundredths.
    pub lowest: Option<i64>,
    /// The highest amount, in hundredths.
    pub highest: Option<i64>,
}

impl ListFilter {
    /// Returns true if the filter matches a payment.
    fn matches(&self, payment: &ListedPayment<'_>) -> bool {
        let is = |wanted: &Option<String>, value: Option<&str>| wanted.as_deref().is_none_or(|it| value == Some(it));
        let state = || ListedState::of(payment.payment_type, payment.result);
        // Another index than that of the addresses says nothing about an attempt without one.
        let is_found_by_mail = self.registration.is_none() && self.reference.is_none();
        let has_mail = |mail: &String| {
            payment.parameters.mail.as_deref().map_or(is_found_by_mail, |it| it.eq_ignore_ascii_case(mail))
        };
        self.state.is_none_or(|wanted| state() == wanted)
            && self.payment_type.is_none_or(|wanted| payment.payment_type == wanted)
            && is(&self.brand, Some(&payment.brand))
            && is(&self.last_four, payment.last_four())
            && is(&self.reference, payment.parameters.reference.as_deref())
            // An attempt without an address shares that of an earlier attempt, by which the index has found it.
            && self.mail.as_ref().is_none_or(has_mail)
            && self.risk.is_none_or(|wanted| payment.risk_outcome() == Some(wanted))
            && self.schedule.as_ref().is_none_or(|id| payment.schedule.as_deref() == Some(id.as_str()))
            && self.has_amount(&payment.amount.0)
    }

    /// Returns true if an amount is between the lowest and the highest one.
    fn has_amount(&self, amount: &str) -> bool {
        if self.lowest.is_none() && self.highest.is_none() {
            return true;
        }
        // Stored amounts have two decimals.
        let Ok(hundredths) = amount.replace('.', "").parse::<i64>() else { return false };
        self.lowest.is_none_or(|lowest| hundredths >= lowest)
            && self.highest.is_none_or(|highest| hundredths <= highest)
    }

    /// Returns the index that leads to the fewest payments.
    fn choose_index(&self) -> PaymentIndex {
        use SearchTerm::{LastFour, Mail, Registration};
        // The registration is not decoded, so its index comes first.
        if let Some(registration) = &self.registration {
            PaymentIndex::Term(Registration(registration.clone()))
        } else if let Some(reference) = &self.reference {
            PaymentIndex::Reference(reference.clone())
        } else if let Some(mail) = &self.mail {
            PaymentIndex::Term(Mail(mail.clone()))
        } else if let Some(digits) = &self.last_four {
            PaymentIndex::Term(LastFour(digits.clone()))
        } else {
            PaymentIndex::All
        }
    }
}

/// A payment in a list.
#[derive(Debug, Clone)]
pub struct ListRow {
    /// Its id.
    pub id: String,
    /// The entity that owns it.
    pub entity: String,
    /// The time of creation.
    pub created: Timestamp,
    /// The payment type.
    pub payment_type: PaymentType,
    /// The brand's code.
    pub brand: String,
    /// The amount with two decimals.
    pub amount: String,
    /// The currency.
    pub currency: String,
    /// The outcome.
    pub result: ResultCode,
    /// The last four characters of the account number.
    pub last_four: Option<String>,
    /// The merchant's reference.
    pub reference: Option<String>,
    /// The customer's e-mail address.
    pub mail: Option<String>,
    /// The registration that it created or used.
    pub registration: Option<String>,
    /// The schedule that it is a run of.
    pub schedule: Option<String>,
    /// The outcome of the risk check. `None` if it was not checked.
    pub risk: Option<RiskOutcome>,
    /// The strongest follow-up payment that succeeded or may still do so, and true if it concerns the whole amount.
    pub follow_up: Option<(PaymentType, bool)>,
}

impl ListRow {
    fn new(payment: &ListedPayment<'_>) -> Self {
        Self {
            id: payment.id.to_string(),
            entity: payment.entity.to_string(),
            created: payment.created,
            payment_type: payment.payment_type,
            brand: payment.brand.to_string(),
            amount: payment.amount.0.to_string(),
            currency: payment.amount.1.to_string(),
            result: payment.result,
            last_four: payment.last_four().map(str::to_owned),
            reference: payment.parameters.reference.as_deref().map(str::to_owned),
            mail: payment.parameters.mail.as_deref().map(str::to_owned),
            registration: payment.registration.as_deref().map(str::to_owned),
            schedule: payment.schedule.as_deref().map(str::to_owned),
            risk: payment.risk_outcome(),
            follow_up: None,
        }
    }

    /// Returns the state.
    pub fn state(&self) -> ListedState {
        ListedState::of(self.payment_type, self.result)
    }
}

/// A page of a list.
#[derive(Debug, Default)]
pub struct ListPage {
    /// The payments, newest first.
    pub rows: Vec<ListRow>,
    /// The payment before which the next page begins, if there may be older ones.
    pub before: Option<PaymentId>,
    /// True if the page ended because too many payments did not match.
    pub is_cut: bool,
}

impl Gateway {
    /// Lists the newest payments of some entities in a range that a filter matches, at most `limit`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_payments(
        &self,
        entities: &[EntityId],
        filter: &ListFilter,
        range: &PaymentRange,
        limit: usize,
        cancelled: &Cancellation<'_>,
    ) -> Result<ListPage, Failure> {
        let mut page = ListPage::default();
        let (mut read, mut last) = (0_usize, None);
        let started = Instant::now();
        let index = self.find_index(filter)?;
        self.store.visit_latest_payments(entities, &index, range, cancelled, |payment| {
            let is_late = || read > 0 && read.is_multiple_of(TIMED_READS) && started.elapsed() > MAX_TIME;
            if page.rows.len() == limit || read == MAX_READ || is_late() {
                // This payment is one more, so the list continues before the last one that was read.
                page.is_cut = page.rows.len() < limit;
                page.before = last.take();
                return ControlFlow::Break(());
            }
            read += 1;
            last = PaymentId::parse(&payment.id);
            if filter.matches(payment) {
                page.rows.push(ListRow::new(payment));
            }
            ControlFlow::Continue(())
        })?;
        Ok(page)
    }

    /// Returns the index that leads to the fewest payments. Runs of a schedule are found by its registration, because
    /// schedules have no index of their payments.
    fn find_index(&self, filter: &ListFilter) -> Result<PaymentIndex, Failure> {
        let index = filter.choose_index();
        let (PaymentIndex::All, Some(schedule)) = (&index, &filter.schedule) else { return Ok(index) };
        let schedule = self.store.load_schedule_of_step(schedule)?;
        let registration = schedule.map(|schedule| schedule.registration);
        Ok(registration.map_or(index, |id| PaymentIndex::Term(SearchTerm::Registration(id))))
    }

    /// Adds the strongest follow-up payment to each approved payment of a page.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn add_follow_ups(&self, page: &mut ListPage) -> Result<(), Failure> {
        for row in page.rows.iter_mut().filter(|row| row.state() == ListedState::Approved) {
            let Some(id) = PaymentId::parse(&row.id) else { continue };
            row.follow_up = find_strongest(&self.store.load_follow_up_types(&id)?, &row.amount);
        }
        Ok(())
    }
}

/// Returns the follow-up payment that describes a payment best, and true if the parts of its type add up to the amount.
pub(super) fn find_strongest(follow_ups: &[(PaymentType, i64)], amount: &str) -> Option<(PaymentType, bool)> {
    use PaymentType as T;
    let order = [T::Reversal, T::ChargebackReversal, T::Chargeback, T::Refund, T::Capture];
    let strongest = order.into_iter().find(|wanted| follow_ups.iter().any(|(found, _)| found == wanted))?;
    let parts = follow_ups.iter().filter(|(found, _)| *found == strongest);
    let sum: i64 = parts.map(|(_, hundredths)| *hundredths).sum();
    // Increments raise the amount that captures and reversals are about.
    let increments = follow_ups.iter().filter(|(found, _)| *found == T::Preauthorization);
    let increased: i64 = increments.map(|(_, hundredths)| *hundredths).sum();
    Some((strongest, amount.replace('.', "").parse() == Ok(sum - increased)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_follow_up_describes_a_payment() {
        use PaymentType as T;
        assert_eq!(find_strongest(&[], "9.00"), None);
        assert_eq!(
            find_strongest(&[(T::Capture, 900), (T::Refund, 400), (T::Refund, 500)], "9.00"),
            Some((T::Refund, true))
        );
        assert_eq!(find_strongest(&[(T::Refund, 400), (T::Chargeback, 500)], "9.00"), Some((T::Chargeback, false)));
        assert_eq!(find_strongest(&[(T::Reversal, 900)], "9.00"), Some((T::Reversal, true)));
        let increment = (T::Preauthorization, 100);
        assert_eq!(find_strongest(&[increment], "9.00"), None);
        assert_eq!(find_strongest(&[increment, (T::Capture, 900)], "9.00"), Some((T::Capture, false)));
        assert_eq!(find_strongest(&[increment, (T::Capture, 1000)], "9.00"), Some((T::Capture, true)));
    }

    #[test]
    fn amounts_are_compared_as_numbers() {
        let filter = ListFilter { lowest: Some(900), highest: Some(10_000), ..ListFilter::default() };
        for (amount, expected) in [("8.99", false), ("9.00", true), ("100.00", true), ("100.01", false), ("x", false)] {
            assert_eq!(filter.has_amount(amount), expected, "{amount}");
        }
        assert!(ListFilter::default().has_amount("x"));
    }
}
