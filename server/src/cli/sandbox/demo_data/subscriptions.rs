//! The subscriptions of the demo data: registrations with schedules, whose runs are paid like any other payment.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_gateway::Gateway;
use tillgate_gateway::payment::response_recorder::ResponseRecorder;
use tillgate_shared::parameter::Parameters;

use super::plan::{DemoStep, Plan, PlannedStep};
use super::request::{add_card, add_shopper};
use super::shoppers::SHOPPERS;

/// A subscription.
#[derive(Debug)]
pub(super) struct Subscription {
    /// Place of the shopper.
    shopper: usize,
    /// Hours from the begin of the month.
    begins: i64,
    name: &'static str,
    amount: &'static str,
    /// The times of the runs.
    times: &'static [(&'static str, &'static str)],
}

static SUBSCRIPTIONS: [Subscription; 4] = [
    Subscription {
        shopper: 1,
        begins: 20,
        name: "Cup of the week",
        amount: "24.00",
        times: &[("job.dayOfWeek", "2"), ("job.hour", "06")],
    },
    Subscription {
        shopper: 13,
        begins: 67,
        name: "Studio membership",
        amount: "45.00",
        times: &[("job.dayOfMonth", "15"), ("job.hour", "06")],
    },
    Subscription {
        shopper: 20,
        begins: 91,
        name: "Cup of the week",
        amount: "24.00",
        times: &[("job.dayOfWeek", "6"), ("job.hour", "09")],
    },
    Subscription {
        shopper: 36,
        begins: 236,
        name: "Studio membership",
        amount: "45.00",
        times: &[("job.dayOfMonth", "1"), ("job.hour", "06")],
    },
];

impl Plan {
    /// Adds the begins of the subscriptions.
    pub(super) fn add_subscriptions(&mut self, from: Timestamp) {
        for (index, subscription) in SUBSCRIPTIONS.iter().enumerate() {
            let at = from + SignedDuration::from_hours(subscription.begins) + SignedDuration::from_secs(1_313);
            self.steps.push(PlannedStep { at, order: 0, step: DemoStep::Subscribe(index) });
        }
    }
}

/// Stores the card of a subscription's shopper, and schedules its payments.
pub(super) async fn subscribe(gateway: &Gateway, entity: &Arc<Entity>, index: usize) -> anyhow::Result<()> {
    let subscription = &SUBSCRIPTIONS[index];
    let shopper = &SHOPPERS[subscription.shopper];
    let mut request: Parameters = [
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.source", "CIT"),
        ("standingInstruction.type", "RECURRING"),
    ]
    .into_iter()
    .collect();
    let today = jiff::tz::TimeZone::UTC.to_datetime(gateway.now()).date();
    add_card(&mut request, shopper.card, (shopper, false), today);
    add_shopper(&mut request, shopper);
    let registration = gateway.register_account(entity, request, ResponseRecorder::disabled()).await?;
    let number = format!("SUB-{}", shopper.number());
    let mut request: Parameters = [
        ("paymentType", "SD"),
        ("registrationId", registration.id.as_str()),
        ("amount", subscription.amount),
        ("currency", shopper.currency()),
        ("merchantTransactionId", &number),
        ("job.name", subscription.name),
    ]
    .into_iter()
    .collect();
    for (name, value) in subscription.times {
        request.set(*name, *value);
    }
    add_shopper(&mut request, shopper);
    gateway.create_schedule(entity, &request, &Parameters::default(), ResponseRecorder::disabled()).await?;
    Ok(())
}
