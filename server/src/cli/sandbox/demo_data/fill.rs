//! Carries out the plan of the demo data: each step through the use case of the gateway that the API calls.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::Context as _;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_gateway::payment::addresses::Addresses;
use tillgate_gateway::payment::response_recorder::ResponseRecorder;
use tillgate_gateway::{Failure, Gateway};
use tillgate_shared::parameter::Parameters;
use tokio::task::JoinSet;

use super::acts::{decide_held, is_refusal, move_dispute};
use super::plan::{DemoStep, Plan, PlannedStep};
use super::request::{follow_up_request, payment_request};
use super::settlement_files::ExternalPayment;
use super::subscriptions::subscribe;
use super::time::StepClock;
use super::upkeep::do_due_work;

/// Largest number of steps that run at a time. The store commits them together.
const MAX_RUNNING: usize = 64;
/// Largest number of payments of an order.
const MAX_LINKED: u32 = 20;
/// No shopper leaves the shop's page.
const ADDRESSES: Addresses<'_> = Addresses { public: "", result: None, shop_origin: None, shopper: None };

/// An entity that is filled with the steps of a plan.
pub(super) struct Filling {
    gateway: Arc<Gateway>,
    clock: Arc<StepClock>,
    entity: Arc<Entity>,
    plan: Arc<Plan>,
    /// The payment of each order that the next step of the order refers to.
    latest: HashMap<usize, PaymentId>,
    running: JoinSet<Result<(usize, Arc<Payment>), Failure>>,
    /// The orders whose steps run.
    running_orders: HashSet<usize>,
    /// The time up to which an earlier run has carried out the steps. `None` if there was none.
    done_until: Option<Timestamp>,
}

/// Interval of looks for work that has become due.
const UPKEEP: SignedDuration = SignedDuration::from_hours(3);

impl Filling {
    /// Prepares the filling of an entity.
    pub(super) fn new(gateway: Arc<Gateway>, clock: Arc<StepClock>, entity: Arc<Entity>, plan: Arc<Plan>) -> Self {
        let (latest, running, running_orders) = (HashMap::new(), JoinSet::new(), HashSet::new());
        Self { gateway, clock, entity, plan, latest, running, running_orders, done_until: None }
    }

    /// Continues an earlier run, which has made payments up to this time.
    pub(super) fn continue_after(&mut self, time: Timestamp) {
        self.done_until = Some(time);
    }

    /// Carries out the steps. Payments run several at a time, but they begin in the order of their times, so that the
    /// audit log has this order. Calls `progress` with the number of the step that begins.
    pub(super) async fn carry_out(&mut self, from: Timestamp, progress: impl Fn(usize)) -> anyhow::Result<()> {
        let plan = Arc::clone(&self.plan);
        let mut next_upkeep = from + UPKEEP;
        for (number, planned) in plan.steps.iter().enumerate() {
            progress(number);
            if self.done_until.is_some_and(|until| planned.at <= until) {
                continue;
            }
            while next_upkeep <= planned.at {
                if self.done_until.is_none_or(|until| next_upkeep > until) {
                    self.wait_for_all().await?;
                    self.clock.move_to(next_upkeep);
                    do_due_work(&self.gateway, &self.entity).await?;
                }
                next_upkeep += UPKEEP;
            }
            self.take_step(planned).await?;
        }
        self.wait_for_all().await
    }

    /// Takes a step: starts a payment, or waits for all payments and for an act of a person.
    async fn take_step(&mut self, planned: &PlannedStep) -> anyhow::Result<()> {
        // A step of an order refers to the payment of the step before.
        if planned.step.is_act() || self.running_orders.contains(&planned.order) {
            self.wait_for_all().await?;
        }
        if !planned.step.is_act() {
            if self.running.len() >= MAX_RUNNING {
                self.wait_for_one().await?;
            }
            self.start_payment(planned)?;
            // A review begins, and the outcome of an external payment is booked, at the time of the writer. That time
            // is later if other payments start meanwhile.
            let order = &self.plan.orders[planned.order];
            return if order.is_suspicious || order.is_external { self.wait_for_all().await } else { Ok(()) };
        }
        self.act(planned).await
    }

    /// Does what a person does in a step.
    async fn act(&self, planned: &PlannedStep) -> anyhow::Result<()> {
        let payment = match planned.step {
            DemoStep::Subscribe(_) => None,
            _ => self.find_latest(planned.order)?,
        };
        let (gateway, entity) = (Arc::clone(&self.gateway), Arc::clone(&self.entity));
        let step = planned.step.clone();
        let act = async move {
            match (step, payment) {
                (DemoStep::Subscribe(index), _) => subscribe(&gateway, &entity, index).await,
                (DemoStep::Decide { approves }, Some(payment)) => decide_held(&gateway, &payment, approves).await,
                (DemoStep::Dispute { case, index }, Some(payment)) => {
                    move_dispute(&gateway, &entity, &payment, (case, index)).await
                }
                // The order was not paid.
                _ => Ok(()),
            }
        };
        match self.clock.run_at(planned.at, act).await {
            // The earlier run may have taken the step before it was interrupted.
            Err(error) if self.done_until.is_some() && is_refusal(&error) => Ok(()),
            taken => taken,
        }
    }

    /// Starts a payment, or a change of one. Leaves out a change of an order that was not paid.
    fn start_payment(&mut self, planned: &PlannedStep) -> anyhow::Result<()> {
        let PlannedStep { at, order, ref step } = *planned;
        let planned_order = &self.plan.orders[order];
        let currency = planned_order.basket.currency;
        let request = match step {
            DemoStep::Pay => payment_request(planned_order, TimeZone::UTC.to_datetime(at).date()),
            DemoStep::Capture(amount) => follow_up_request("CP", Some((*amount, currency))),
            DemoStep::Refund(amount) => follow_up_request("RF", Some((*amount, currency))),
            DemoStep::Reverse => follow_up_request("RV", None),
            DemoStep::Decide { .. } | DemoStep::Dispute { .. } | DemoStep::Subscribe(_) => return Ok(()),
        };
        let referenced = match step {
            DemoStep::Pay => None,
            _ => match self.find_latest(order)? {
                Some(id) => Some(id),
                None => return Ok(()),
            },
        };
        let (gateway, entity) = (Arc::clone(&self.gateway), Arc::clone(&self.entity));
        let sent = async move { Ok((order, send_request(&gateway, &entity, referenced, request).await?)) };
        self.running_orders.insert(order);
        self.running.spawn(self.clock.run_at(at, sent));
        Ok(())
    }

    /// Returns the payment that the next step of an order refers to. It is looked up if an earlier run has made it.
    fn find_latest(&self, order: usize) -> anyhow::Result<Option<PaymentId>> {
        if let Some(id) = self.latest.get(&order) {
            return Ok(Some(id.clone()));
        }
        let entities: Vec<_> = self.gateway.directory.entities_at_and_below(&self.entity.id);
        let entities: Vec<_> = entities.iter().map(|entity| entity.id.clone()).collect();
        let reference = &self.plan.orders[order].reference;
        let mut payments = self.gateway.store.load_payments_by_reference(&entities, reference, MAX_LINKED)?;
        payments.retain(is_referred_to);
        Ok(payments.pop().map(|payment| payment.id))
    }

    /// Returns the approved payments that the acquirer's host has processed, in the order of their times.
    pub(super) fn external_payments(&self) -> anyhow::Result<Vec<ExternalPayment>> {
        let mut payments = Vec::new();
        for PlannedStep { at, order: index, step } in &self.plan.steps {
            let order = &self.plan.orders[*index];
            if *step != DemoStep::Pay || !order.is_external {
                continue;
            }
            let amount = (order.basket.total, order.basket.currency);
            let id = self.find_latest(*index)?;
            payments.extend(id.map(|id| ExternalPayment { id, reference: order.reference.clone(), amount, at: *at }));
        }
        Ok(payments)
    }

    /// Waits until a step has ended.
    async fn wait_for_one(&mut self) -> anyhow::Result<()> {
        let Some(ended) = self.running.join_next().await else { return Ok(()) };
        let (order, payment) = ended.context("a step was interrupted")??;
        self.running_orders.remove(&order);
        if is_referred_to(&payment) {
            self.latest.insert(order, payment.id.clone());
        }
        Ok(())
    }

    /// Waits until all steps have ended that run.
    async fn wait_for_all(&mut self) -> anyhow::Result<()> {
        while !self.running.is_empty() {
            self.wait_for_one().await?;
        }
        Ok(())
    }
}

/// Returns true if later steps of an order refer to a payment: a held or approved debit or preauthorization, or its
/// capture.
fn is_referred_to(payment: &Payment) -> bool {
    let types = [PaymentType::Debit, PaymentType::Preauthorization, PaymentType::Capture];
    (payment.is_approved() || payment.is_held()) && types.contains(&payment.payment_type)
}

/// Sends a request to pay, or to change the payment `referenced`.
async fn send_request(
    gateway: &Gateway,
    entity: &Arc<Entity>,
    referenced: Option<PaymentId>,
    request: Parameters,
) -> Result<Arc<Payment>, Failure> {
    let recorder = ResponseRecorder::disabled();
    match referenced {
        None => gateway.pay(entity, request, Scopes::all(), ADDRESSES, recorder).await,
        Some(id) => gateway.modify_payment(entity, id.as_str(), request, Scopes::all(), recorder).await,
    }
}
