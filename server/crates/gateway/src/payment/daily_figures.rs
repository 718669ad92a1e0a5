//! Figures of the last days for people: volume, payments, approvals and refunds, counted from the payments themselves.
//!
//! The cost is bounded: the newest payments are counted first, and the days that were not reached are left out.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::PaymentType;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_store::{Cancellation, ListedPayment, PaymentIndex};

use crate::payment::listing::ListedState;
use crate::{Failure, Gateway};

/// Maximum number of payments that are counted.
const MAX_COUNTED: u32 = 10_000;

/// Sums of a currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MoneySums {
    /// Approved payments to the merchant, in hundredths.
    pub volume: u64,
    /// Approved refunds, in hundredths.
    pub refunds: u64,
}

/// Figures of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DayFigures {
    /// Number of payment attempts: payments that refer to no other one.
    pub attempts: u64,
    /// Number of those that succeeded.
    pub approved: u64,
    /// Number of those that were declined.
    pub declined: u64,
    /// Sums by currency.
    pub money: BTreeMap<String, MoneySums>,
}

/// Figures of some days.
#[derive(Debug, Default)]
pub struct DailyFigures {
    /// Figures of each counted day. A day without payments is there as well.
    pub days: BTreeMap<Date, DayFigures>,
}

impl DayFigures {
    fn add(&mut self, payment: &ListedPayment<'_>) {
        use PaymentType as T;
        let state = ListedState::of(payment.payment_type, payment.result);
        if payment.referenced.is_none() {
            self.attempts += 1;
            self.approved += u64::from(state == ListedState::Approved);
            self.declined += u64::from(state == ListedState::Declined);
        }
        if state != ListedState::Approved {
            return;
        }
        let (amount, currency) = &payment.amount;
        let hundredths = amount.replace('.', "").parse::<u64>().unwrap_or(0);
        let sums = self.money.entry(currency.to_string()).or_default();
        match payment.payment_type {
            T::Debit | T::TwoStepDebit | T::Capture => sums.volume = sums.volume.saturating_add(hundredths),
            T::Refund => sums.refunds = sums.refunds.saturating_add(hundredths),
            T::Preauthorization | T::Credit | T::Reversal | T::Chargeback | T::ChargebackReversal => {}
        }
    }
}

impl Gateway {
    /// Counts the payments of some entities from a day to `last`, in a time zone.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count_daily_figures(
        &self,
        entities: &[EntityId],
        (first, last): (Date, Date),
        zone: &TimeZone,
        cancelled: &Cancellation<'_>,
    ) -> Result<DailyFigures, Failure> {
        let mut figures = DailyFigures::default();
        let mut next = Some(first);
        while let Some(day) = next.filter(|day| *day <= last) {
            figures.days.insert(day, DayFigures::default());
            next = day.tomorrow().ok();
        }
        let begin = first.to_zoned(zone.clone()).map(|moment| PaymentId::new(moment.timestamp(), [0; 9]));
        let all = PaymentRange::all_time();
        let range = PaymentRange { from: begin.unwrap_or(all.from), until: None };
        let begin_of = |day: Date| day.to_zoned(zone.clone()).map_or(Timestamp::MIN, |moment| moment.timestamp());
        // The clock of a sandbox may be ahead of `last`. Payments after it belong to no counted day.
        let mut day = last.tomorrow().unwrap_or(last);
        let mut day_begin = begin_of(day);
        let (mut counted, mut reached) = (0, None);
        self.store.visit_latest_payments(entities, &PaymentIndex::All, &range, cancelled, |payment| {
            // Payments come newest first, so the day changes only a few times.
            while payment.created < day_begin {
                let Ok(earlier) = day.yesterday() else { return ControlFlow::Break(()) };
                (day, day_begin) = (earlier, begin_of(earlier));
            }
            if counted == MAX_COUNTED {
                reached = Some(day);
                return ControlFlow::Break(());
            }
            counted += 1;
            if let Some(figures) = figures.days.get_mut(&day) {
                figures.add(payment);
            }
            ControlFlow::Continue(())
        })?;
        // The day on which the count ended is incomplete.
        if let Some(reached) = reached {
            figures.days.retain(|day, _| *day > reached);
        }
        Ok(figures)
    }
}
