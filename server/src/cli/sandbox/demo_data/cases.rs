//! The disputes of the demo data: one for each way that a dispute can go, and some that wait for an answer.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::dispute::DisputeAction;

use super::plan::{DemoOrder, DemoStep, PaidWith, Plan, PlannedStep};

/// A move of a dispute.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DisputeMove {
    /// Days from the payment to the move.
    days: i64,
    pub(super) action: DisputeAction,
    pub(super) note: Option<&'static str>,
    /// Days for the merchant's answer. `None` for those of the card scheme.
    pub(super) response_days: Option<u16>,
}

/// A dispute with its moves. The first one opens it.
#[derive(Debug)]
pub(super) struct DisputeCase {
    /// Day of the month on which the payment was made, 0 for the first one.
    day: usize,
    /// Code of the reason.
    pub(super) reason: &'static str,
    /// Reason code of the card scheme.
    pub(super) scheme_reason: &'static str,
    pub(super) moves: &'static [DisputeMove],
}

const fn new_move(days: i64, action: DisputeAction) -> DisputeMove {
    DisputeMove { days, action, note: None, response_days: None }
}

const fn answer(days: i64, note: &'static str) -> DisputeMove {
    DisputeMove { days, action: DisputeAction::Represent, note: Some(note), response_days: None }
}

const fn with_deadline(moved: DisputeMove, days: u16) -> DisputeMove {
    DisputeMove { response_days: Some(days), ..moved }
}

use DisputeAction::{Accept, ChargeBack, Close, Lose, PreArbitrate, RequestRetrieval, Reverse};

/// The disputes. Those of the second half of the month are still open.
#[rustfmt::skip] // a case reads as a line
pub(super) static CASES: [DisputeCase; 10] = [
    new_case(1, ["000.100.222", "10.4"], &[
        new_move(6, RequestRetrieval), answer(8, "Order confirmation and delivery note are in the post."), new_move(14, Close)]),
    new_case(2, ["000.100.221", "13.1"], &[
        new_move(7, ChargeBack), answer(10, "The carrier has the shopper's signature of the delivery."), new_move(19, Reverse)]),
    new_case(3, ["000.100.220", "10.4"], &[
        new_move(8, ChargeBack), answer(9, "The shopper had ordered to the same address before."),
        with_deadline(new_move(20, PreArbitrate), 12)]),
    new_case(4, ["000.100.225", "13.6"], &[new_move(6, ChargeBack), new_move(8, Accept)]),
    new_case(5, ["000.100.224", "12.6"], &[
        new_move(7, ChargeBack), answer(9, "Two orders of the same day, with two deliveries."), new_move(19, Lose)]),
    new_case(6, ["000.100.222", "10.4"], &[with_deadline(new_move(6, ChargeBack), 7)]),
    new_case(9, ["000.100.221", "13.1"], &[
        new_move(8, ChargeBack), answer(13, "The parcel was left with a neighbour; the carrier's receipt is attached.")]),
    new_case(12, ["000.100.220", "10.4"], &[with_deadline(new_move(10, ChargeBack), 10)]),
    new_case(15, ["000.100.222", "10.4"], &[with_deadline(new_move(9, RequestRetrieval), 14)]),
    new_case(18, ["000.100.221", "13.1"], &[new_move(9, ChargeBack)]),
];

const fn new_case(
    day: usize,
    [reason, scheme_reason]: [&'static str; 2],
    moves: &'static [DisputeMove],
) -> DisputeCase {
    DisputeCase { day, reason, scheme_reason, moves }
}

impl Plan {
    /// Adds the steps of the disputes. Each is about an order that is only paid.
    pub(super) fn add_disputes(&mut self, days: usize, until: Timestamp) {
        let mut steps_of = vec![0; self.orders.len()];
        for step in &self.steps {
            steps_of[step.order] += 1;
        }
        let mut next = 0;
        for (number, case) in CASES.iter().enumerate() {
            let first = next.max(self.orders.len() * case.day / days.max(1));
            let is_possible = |index: &usize| steps_of[*index] == 1 && is_disputable(&self.orders[*index]);
            let Some(order) = (first..self.orders.len()).find(is_possible) else { return };
            next = order + 1;
            let Some(paid) = self.steps.iter().find(|step| step.order == order).map(|step| step.at) else { continue };
            for (index, moved) in case.moves.iter().enumerate() {
                // Banks work in the morning, and not all at the same minute.
                let at =
                    paid + SignedDuration::from_hours(24 * moved.days - 5) + SignedDuration::from_mins(7 * moved.days);
                if at < until {
                    self.steps.push(PlannedStep { at, order, step: DemoStep::Dispute { case: number, index } });
                }
            }
        }
    }
}

/// Returns true if an order may be disputed: a card was charged at once, by the gateway's simulator.
fn is_disputable(order: &DemoOrder) -> bool {
    order.paid_with == PaidWith::Card && !order.is_preauthorized && !order.is_suspicious && !order.is_external
}
