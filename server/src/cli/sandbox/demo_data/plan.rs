//! The plan of the demo data: the orders of a month, with the times at which they are paid and changed. It follows from
//! the seed, the number of orders and the month alone.

use jiff::{SignedDuration, Timestamp};

use super::basket::{Basket, draw_basket};
use super::hours::HourPlan;
use super::seed::Draw;
use super::shoppers::{DemoCard, DemoShopper, SHOPPERS};

/// Number of the first order. A shop that has sold for a while does not begin with 1.
const FIRST_ORDER: u64 = 20_417;

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DemoStep {
    /// The shopper pays.
    Pay,
    /// The shop captures this amount of a preauthorization, in hundredths.
    Capture(i64),
    /// The shop refunds this amount, in hundredths.
    Refund(i64),
    /// The shop reverses the payment.
    Reverse,
    /// An analyst approves a held order, or cancels it.
    Decide { approves: bool },
    /// A dispute is opened or moved: the case and its move, by their indexes.
    Dispute { case: usize, index: usize },
    /// A shopper subscribes: the subscription, by its index. The step belongs to no order.
    Subscribe(usize),
}

impl DemoStep {
    /// Returns true if a person takes the step, and it is no request of the shop's server.
    pub(super) fn is_act(&self) -> bool {
        matches!(self, Self::Decide { .. } | Self::Dispute { .. } | Self::Subscribe(_))
    }
}

/// A step of an order, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedStep {
    pub(super) at: Timestamp,
    /// Index of the order.
    pub(super) order: usize,
    pub(super) step: DemoStep,
}

/// The way in which an order is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaidWith {
    /// The shopper's own card.
    Card,
    /// A card that its issuer declines.
    DeclinedCard(DemoCard),
    /// The shopper's own card, with an expiry date in the past.
    ExpiredCard,
}

/// An order of the shop.
#[derive(Debug)]
pub(super) struct DemoOrder {
    /// Reference of the payment attempt, which is unique.
    pub(super) reference: String,
    /// Reference of the order, which is the same when a declined payment is tried again.
    pub(super) invoice: String,
    pub(super) shopper: &'static DemoShopper,
    pub(super) basket: Basket,
    pub(super) paid_with: PaidWith,
    /// True if the amount is only reserved, and captured when the order is sent.
    pub(super) is_preauthorized: bool,
    /// True if the shop's risk rules hold it: a disposable mail address, and a delivery abroad.
    pub(super) is_suspicious: bool,
    /// True if the acquirer's host processes it, whose institute settles it by files.
    pub(super) is_external: bool,
}

/// The orders and steps of a month.
pub(super) struct Plan {
    pub(super) orders: Vec<DemoOrder>,
    /// The steps in the order of their times.
    pub(super) steps: Vec<PlannedStep>,
}

/// The suspicious orders about which nobody has decided yet: places from the end, and minutes before the end. Both are
/// within the time for a decision.
const UNDECIDED: [(u64, i64); 4] = [(2, 21), (4, 95), (7, 260), (11, 610)];

/// Number of orders that the acquirer's host processes.
const EXTERNAL: u64 = 24;

/// Cards that are declined, each with its share of the declines. Their numbers are documented test numbers.
#[rustfmt::skip] // a card reads as a line
const DECLINED: [(PaidWith, u64); 8] = [
    (declined_card("4200000000005546"), 34), // too little money
    (declined_card("4200000000005512"), 24), // no reason
    (declined_card("4200000000005538"), 13), // security code
    (PaidWith::ExpiredCard, 11),
    (declined_card("4200000000005587"), 8), // above its limit
    (declined_card("4200000000005579"), 5), // blocked
    (declined_card("4200000000005595"), 3), // lost
    (declined_card("4200000000005561"), 2), // stolen
];

const fn declined_card(number: &'static str) -> PaidWith {
    PaidWith::DeclinedCard(DemoCard { brand: "VISA", number })
}

impl Plan {
    /// Plans so many orders from `from` to `until`.
    pub(super) fn new(seed: u64, count: u32, from: Timestamp, until: Timestamp) -> Self {
        let hours = HourPlan::new(from, until);
        let mut plan = Self { orders: Vec::new(), steps: Vec::new() };
        let mut number = FIRST_ORDER;
        for index in 0..u64::from(count) {
            // Each order has its own stream, so that a change of one order leaves the others as they are.
            let mut draw = Draw::of_stream(seed, index);
            let at = hours.time_of(index, u64::from(count), &mut draw);
            let mut order = plan.draw_order(&mut draw, &mut number);
            order.is_external = order.is_plain() && is_external(index, u64::from(count));
            if let Some(at) = find_undecided(index, u64::from(count), until).filter(|at| *at > from) {
                let order =
                    DemoOrder { paid_with: PaidWith::Card, is_preauthorized: false, is_suspicious: true, ..order };
                plan.steps.push(PlannedStep { at, order: plan.orders.len(), step: DemoStep::Pay });
                plan.orders.push(order);
                continue;
            }
            plan.add_steps(&order, at, until, &mut draw);
            plan.orders.push(order);
        }
        plan.add_disputes(days_between(from, until), until);
        plan.add_subscriptions(from);
        plan.steps.sort_by_key(|step| (step.at, step.order));
        plan
    }

    /// Draws the next order. Most shoppers whose card was declined try again at once with their own.
    fn draw_order(&self, draw: &mut Draw, number: &mut u64) -> DemoOrder {
        let declined = self.orders.last().filter(|last| last.paid_with != PaidWith::Card);
        if let Some(declined) = declined.filter(|_| draw.per_mille(650)) {
            return DemoOrder {
                reference: format!("{}-2", declined.invoice),
                invoice: declined.invoice.clone(),
                shopper: declined.shopper,
                basket: declined.basket.clone(),
                paid_with: PaidWith::Card,
                is_preauthorized: declined.is_preauthorized,
                is_suspicious: false,
                is_external: false,
            };
        }
        *number += draw.between(1, 3);
        let invoice = format!("SO-{number}");
        let shopper = draw_shopper(draw);
        let basket = draw_basket(draw, shopper.currency());
        let is_preauthorized = draw.per_mille(140);
        let is_declined = draw.per_mille(85);
        let paid_with = draw.pick(&DECLINED, |row| row.1).filter(|_| is_declined).map_or(PaidWith::Card, |row| row.0);
        let is_suspicious = draw.per_mille(9) && paid_with == PaidWith::Card && !is_preauthorized;
        let reference = invoice.clone();
        DemoOrder {
            reference,
            invoice,
            shopper,
            basket,
            paid_with,
            is_preauthorized,
            is_suspicious,
            is_external: false,
        }
    }

    /// Adds the payment of an order at a time, and what the shop does with it until the end of the month.
    fn add_steps(&mut self, order: &DemoOrder, at: Timestamp, until: Timestamp, draw: &mut Draw) {
        let index = self.orders.len();
        let mut add = |at: Timestamp, step: DemoStep| {
            if at < until {
                self.steps.push(PlannedStep { at, order: index, step });
            }
        };
        add(at, DemoStep::Pay);
        if order.is_suspicious {
            // One of ten is forgotten, and ends by itself.
            return match draw.below(10) {
                0 => {}
                1..4 => add(at + draw_minutes(draw, 25, 500), DemoStep::Decide { approves: false }),
                _ => add(at + draw_minutes(draw, 15, 400), DemoStep::Decide { approves: true }),
            };
        }
        if order.paid_with != PaidWith::Card || order.is_external {
            return;
        }
        let (total, later) = (order.basket.total, |draw: &mut Draw, first, last| at + draw_minutes(draw, first, last));
        let mut paid = total;
        if order.is_preauthorized {
            match draw.below(100) {
                0..6 => return add(later(draw, 120, 2_000), DemoStep::Reverse),
                // Two pieces are sent, the third one is sold out.
                6..16 if order.basket.lines.len() > 1 => paid -= order.basket.lines[0].total(),
                // The shop forgets to send it.
                16..19 => return,
                _ => {}
            }
            add(later(draw, 300, 3_400), DemoStep::Capture(paid));
        }
        match draw.below(1000) {
            0..12 if !order.is_preauthorized => add(later(draw, 10, 600), DemoStep::Reverse),
            12..50 => add(later(draw, 4_400, 17_000), DemoStep::Refund(paid)),
            50..75 if order.basket.lines.len() > 1 => {
                let part = order.basket.lines.last().map_or(paid, super::basket::Line::total);
                add(later(draw, 4_400, 17_000), DemoStep::Refund(part.min(paid)));
            }
            _ => {}
        }
    }
}

impl DemoOrder {
    /// Returns true if an order is charged to the shopper's card at once, and nothing is special about it.
    fn is_plain(&self) -> bool {
        self.paid_with == PaidWith::Card && !self.is_preauthorized && !self.is_suspicious
    }
}

/// Returns true if the acquirer's host processes the order with this index, if it may: some, evenly spread.
fn is_external(index: u64, count: u64) -> bool {
    let spacing = (count / EXTERNAL).max(5);
    index % spacing == spacing / 2
}

/// Returns the time of a suspicious order that is still undecided. `None` for any other order.
fn find_undecided(index: u64, count: u64, until: Timestamp) -> Option<Timestamp> {
    let (_, minutes) = UNDECIDED.iter().find(|(place, _)| index + place == count)?;
    Some(until - SignedDuration::from_mins(*minutes))
}

fn days_between(from: Timestamp, until: Timestamp) -> usize {
    usize::try_from(until.duration_since(from).as_hours() / 24).unwrap_or_default()
}

/// Draws a shopper. A quarter of the shoppers orders more than half of the time.
fn draw_shopper(draw: &mut Draw) -> &'static DemoShopper {
    let count = SHOPPERS.len() as u64;
    // Regular shoppers are spread over the table, so that they come from several countries.
    let index = if draw.per_mille(450) { draw.below(count / 4) * 4 } else { draw.below(count) };
    &SHOPPERS[usize::try_from(index).unwrap_or_default() % SHOPPERS.len()]
}

fn draw_minutes(draw: &mut Draw, first: u64, last: u64) -> SignedDuration {
    let seconds = draw.between(first * 60, last * 60);
    SignedDuration::from_secs(i64::try_from(seconds).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cli::sandbox::demo_data::cases::CASES;

    fn month() -> (Timestamp, Timestamp) {
        ("2026-03-02T00:00:00Z".parse().unwrap(), "2026-04-01T09:30:00Z".parse().unwrap())
    }

    #[test]
    fn a_seed_makes_the_same_month_again_and_another_seed_another_one() {
        let (from, until) = month();
        let plan = |seed| Plan::new(seed, 200, from, until);
        assert_eq!(plan(1).steps, plan(1).steps);
        assert_ne!(plan(1).steps, plan(2).steps);
        let totals = |plan: Plan| plan.orders.iter().map(|order| order.basket.total).collect::<Vec<_>>();
        assert_eq!(totals(plan(1)), totals(Plan::new(1, 200, from, until - SignedDuration::from_hours(7))));
    }

    #[test]
    fn a_month_has_declines_captures_refunds_and_reversals_of_all_shoppers() {
        let (from, until) = month();
        let plan = Plan::new(1, 3_000, from, until);
        let count = |is: fn(&DemoStep) -> bool| plan.steps.iter().filter(|step| is(&step.step)).count();
        assert_eq!(count(|step| *step == DemoStep::Pay), 3_000);
        assert!((250..450).contains(&count(|step| matches!(step, DemoStep::Capture(_)))));
        assert!((80..220).contains(&count(|step| matches!(step, DemoStep::Refund(_)))));
        assert!((20..100).contains(&count(|step| *step == DemoStep::Reverse)));
        assert!((10..40).contains(&count(|step| matches!(step, DemoStep::Decide { .. }))));
        assert_eq!(count(|step| matches!(step, DemoStep::Dispute { index: 0, .. })), CASES.len());
        let held_since = until - SignedDuration::from_hours(11);
        let is_undecided = |step: &&PlannedStep| {
            let is_decision = |other: &PlannedStep| other.order == step.order && other.step != DemoStep::Pay;
            step.at > held_since && plan.orders[step.order].is_suspicious && !plan.steps.iter().any(is_decision)
        };
        assert!(plan.steps.iter().filter(is_undecided).count() >= UNDECIDED.len());
        assert!((18..=24).contains(&plan.orders.iter().filter(|order| order.is_external).count()));
        let declined = plan.orders.iter().filter(|order| order.paid_with != PaidWith::Card).count();
        assert!((150..320).contains(&declined), "{declined}");
        for shopper in &SHOPPERS {
            assert!(plan.orders.iter().any(|order| std::ptr::eq(order.shopper, shopper)), "{shopper:?}");
        }
        assert!(plan.steps.iter().all(|step| (from..until).contains(&step.at)));
        let mut references: Vec<&str> = plan.orders.iter().map(|order| order.reference.as_str()).collect();
        references.sort_unstable();
        references.dedup();
        assert_eq!(references.len(), 3_000);
    }
}
