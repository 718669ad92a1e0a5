//! Reviews: analysts decide about held payments. A decision is recorded with its callback in the commit that carries it
//! out, or in the commit that records the request to an external connector.

pub mod administration;
pub mod analyst_queue;
pub mod callback;
pub mod callback_form;
pub mod operator;
pub mod outcomes;
pub mod queue;
pub mod similar_payments;

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_connector::{ConnectorOutcome, ConnectorResult, FullAccount, Order, PaymentRoute};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::debit_step::DebitStep;
use tillgate_domain::payment::retry_rules::RetryRefusal;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::review::ReviewStage;
use tillgate_domain::review::decision::review_transaction_id;
use tillgate_domain::review::decision::{DecisionType, RequestedDecision, ReviewDecision};
use tillgate_domain::review::queue::format_time;
use tillgate_domain::review::queue::{ReviewActionKind, ReviewClock, ReviewStatus};
use tillgate_domain::three_ds::Proof;
use tillgate_shared::result::{ResultCode, codes};
use tillgate_store::review::callback::StoredCallback;
use tillgate_store::review::reference::ReviewedPayments;
use tillgate_store::timer::TimerKind;
use tillgate_store::{Changes, RecordKeys};

use super::payment::{AttemptCheck, PaymentIdentity, capture_debit, is_authenticated, refused_result, wait_for_answer};
use super::{Failure, Gateway};
use crate::payment::response_recorder::ResponseRecorder;

/// The analyst in the audit of a payment that nobody has decided in time.
const SYSTEM_ANALYST: &str = "tillgate";

impl Gateway {
    /// Decides a held payment as an outside review system asks, which is authorised for the entity already. The same
    /// decision by the same user is accepted again and changes nothing.
    ///
    /// # Errors
    /// 404 if the entity has no held payment with this transaction id, or an analyst has claimed it; 400 if it has or
    /// had several, and the decision has no process date.
    pub async fn decide_review(&self, entity: &Entity, decision: &RequestedDecision) -> Result<(), Failure> {
        let Some(payment) = self.select_payment(entity, decision)? else { return Ok(()) };
        match self.decide_payment(&payment, decision.clone()).await {
            Err(Failure::Refused(refusal)) if refusal.status == 409 => Err(no_held_payment().into()),
            decided => decided.map(drop),
        }
    }

    /// Selects the payment that an outside review system decides about, of those that are or were held: the one with
    /// this id, or else one with this `merchantTransactionId`, which may look like an id. Returns `None` if the
    /// decision was carried out before.
    ///
    /// # Errors
    /// Same as [`Gateway::decide_review`].
    fn select_payment(&self, entity: &Entity, decision: &RequestedDecision) -> Result<Option<Payment>, Failure> {
        let entities = self.visible_entities(entity);
        let is_reviewed = |payment: &Payment| payment.review().is_some_and(|review| review.since.is_some());
        if let Some(id) = PaymentId::parse(&decision.transaction_id)
            && let Some(payment) = self.store.load_payment_of_any(&entities, &id)?.filter(is_reviewed)
        {
            return Ok(Some(payment));
        }
        match self.store.find_reviewed_payments(&entities, decision)? {
            ReviewedPayments::None => Err(no_held_payment().into()),
            ReviewedPayments::One(payment) => Ok(Some(*payment)),
            // A decision that is sent again, because its response got lost, must not decide the next payment of the
            // order. Without its date it looks like a decision about that one.
            ReviewedPayments::Several { .. } if decision.processed.is_none() => {
                Err(Refusal::ambiguous_decision().into())
            }
            ReviewedPayments::Several { is_decided: true, .. } => Ok(None),
            ReviewedPayments::Several { held, .. } => Ok(Some(*held.ok_or_else(no_held_payment)?)),
        }
    }

    /// Decides a held payment. The decision, its row in the audit and the callback to the merchant are one commit, with
    /// the outcome of an in-process connector or the intent of a request to an external one. Returns the payment with
    /// its current state. The same decision by the same user is accepted again and changes nothing.
    ///
    /// # Errors
    /// 409 if the payment is not held any more, or another analyst has claimed it; says who it was. 400 or 409 if its
    /// audit has no room for a decision to decide later.
    pub async fn decide_payment(
        &self,
        payment: &Payment,
        decision: RequestedDecision,
    ) -> Result<Arc<Payment>, Failure> {
        let (kind, analyst) = (ReviewActionKind::from(decision.decision), decision.user_id.clone());
        if payment.is_held() {
            if let Some(status) = self.store.load_review_status(&payment.id)? {
                if decision.is_pended(&status) {
                    return Ok(Arc::new(payment.clone()));
                }
                self.check_decidable(payment, &status, &analyst)?;
            }
            if let Some(decided) = self.carry_out(payment, decision).await? {
                return Ok(decided);
            }
        }
        // Somebody else was faster.
        let current = self.store.load_payment(&payment.entity, &payment.id)?.unwrap_or_else(|| payment.clone());
        let Some(status) = self.store.load_review_status(&payment.id)? else {
            return Err(Refusal::review_taken("This payment is not held").into());
        };
        match &status.review.decision {
            Some(last) if last.kind == kind && last.analyst == analyst => Ok(Arc::new(current)),
            _ => Err(Refusal::review_taken(status.review.describe_end()).into()),
        }
    }

    /// Checks that an analyst may decide a held payment now. The claim is checked again under the write lock.
    ///
    /// # Errors
    /// 409 if the time of its review is over, or another analyst has claimed it.
    fn check_decidable(&self, payment: &Payment, status: &ReviewStatus, analyst: &str) -> Result<(), Refusal> {
        let clock = self.clock_of_entity(&payment.entity);
        // The timer that ends the review may not have run yet, if no gateway was running at that time.
        match self.review_deadline(&status.review, payment).filter(|end| *end <= clock.entity_now()) {
            Some(end) => Err(Refusal::review_taken(describe_missed_end(end))),
            None => status.review.check_claim(analyst, clock),
        }
    }

    /// Returns the time of a request about a review of an entity.
    fn clock_of_entity(&self, entity: &EntityId) -> ReviewClock {
        let ahead = self.directory.find_entity(entity).map(|entity| entity.ahead).unwrap_or_default();
        ReviewClock { now: self.now(), ahead }
    }

    /// Cancels a held payment about which nobody has decided in time. Deletes the timer of a payment that is not held.
    pub async fn expire_review(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        let Some(payment) = self.store.load_payment(entity, id)?.filter(Payment::is_held) else {
            let changes = Changes::default().without_timer(TimerKind::Review, id.as_str());
            return Ok(self.store.update(RecordKeys::none(), move |_| Ok((changes, ()))).await??);
        };
        let decision = RequestedDecision::about(&payment, DecisionType::Cancel, SYSTEM_ANALYST);
        let decision = ReviewDecision { is_expiry: true, ..self.record_of(&payment, decision) };
        self.cancel_held(&payment, decision).await.map(drop)
    }

    /// Loads the callback configuration that applies to an entity: its own, or else that of the nearest entity above.
    pub fn find_review_callback(&self, entity: &Entity) -> Result<Option<StoredCallback>, Failure> {
        Ok(self.store.find_review_callback(&entity.id)?)
    }

    /// Carries a decision out. Returns the payment with its current state, or `None` if it was not held any more.
    async fn carry_out(&self, payment: &Payment, request: RequestedDecision) -> Result<Option<Arc<Payment>>, Failure> {
        let decision = self.record_of(payment, request.clone());
        let stage = payment.review().map_or(ReviewStage::NotExecuted, |review| review.stage);
        match (decision.decision, stage) {
            (DecisionType::Pending, _) => self.record_pending(payment, request, decision).await,
            (DecisionType::Cancel, _) => self.cancel_held(payment, decision).await,
            (DecisionType::Approve, ReviewStage::NotExecuted) => self.execute_held(payment, decision).await,
            (DecisionType::Approve, ReviewStage::Authorized) => self.capture_held(payment, decision).await,
            (DecisionType::Approve, ReviewStage::Executed | ReviewStage::Captured) => {
                self.end_review(payment, approval_of_held(payment), decision).await
            }
        }
    }

    /// Makes the record of a requested decision about a payment.
    fn record_of(&self, payment: &Payment, decision: RequestedDecision) -> ReviewDecision {
        let RequestedDecision { decision, user_id, cancel_reason, note, processed, actor, .. } = decision;
        let at = self.now_of_id(&payment.entity);
        ReviewDecision {
            payment: payment.id.clone(),
            entity: payment.entity.clone(),
            transaction_id: review_transaction_id(payment).to_owned(),
            decision,
            user_id,
            cancel_reason,
            note,
            processed: processed.unwrap_or(at),
            at,
            is_expiry: false,
            actor,
        }
    }

    /// Records the decision to decide later. The payment stays held. Nothing changes if it is already pended so.
    async fn record_pending(
        &self,
        payment: &Payment,
        request: RequestedDecision,
        decision: ReviewDecision,
    ) -> Result<Option<Arc<Payment>>, Failure> {
        let clock = self.clock_of_entity(&payment.entity);
        let recorded = self.store.update(RecordKeys::for_review_decision(payment), move |loaded| {
            let Some(payment) = loaded.payment.filter(Payment::is_held).map(Arc::new) else {
                return Ok((Changes::default(), None));
            };
            if let Some(status) = &loaded.review {
                if request.is_pended(status) {
                    return Ok((Changes::default(), Some(payment)));
                }
                status.review.check_claim(&request.user_id, clock)?;
                status.check_room(request.note.is_some())?;
            }
            Ok((Changes::default().with_review_decision(decision), Some(payment)))
        });
        Ok(recorded.await??)
    }

    /// Declines a held payment, and reverses what was executed.
    async fn cancel_held(&self, payment: &Payment, decision: ReviewDecision) -> Result<Option<Arc<Payment>>, Failure> {
        let code = payment.risk.as_ref().map_or(codes::RISK_DENY, |risk| risk.cancellation_code());
        self.end_review(payment, result_of_held(payment, code), decision).await
    }

    /// Ends the review of a held payment with its result.
    async fn end_review(
        &self,
        payment: &Payment,
        result: ConnectorResult,
        decision: ReviewDecision,
    ) -> Result<Option<Arc<Payment>>, Failure> {
        let completed = self.complete_review(payment, result, decision).await?;
        Ok(Some(completed.payment).filter(|_| completed.changed))
    }

    /// Executes a held payment: asks its connector, now that an analyst has approved it. A payment whose account or
    /// connector is gone is declined.
    async fn execute_held(&self, payment: &Payment, decision: ReviewDecision) -> Result<Option<Arc<Payment>>, Failure> {
        let order = self.held_order(payment)?;
        let (Some(order), Some(route)) = (order, self.route_of(payment)) else {
            return self.end_review(payment, codes::METHOD_NOT_CONFIGURED.into(), decision).await;
        };
        if route.connector.capabilities().is_external {
            return self.send_held(payment, order, &route, decision).await;
        }
        let identity = PaymentIdentity::of_payment(payment, self.now_of_id(&payment.entity));
        let request = identity.order_request(&order);
        let outcome = match payment.payment_type {
            PaymentType::Credit => route.connector.credit(&request).await,
            _ => route.connector.authorize(&request).await,
        };
        let result = match outcome {
            ConnectorOutcome::Approved(result) | ConnectorOutcome::Declined(result) => result,
            // The shopper is gone, so that nobody can visit a page.
            _ => codes::OUTCOME_UNCERTAIN.into(),
        };
        self.end_review(payment, result, decision).await
    }

    /// Rebuilds the order of a held payment, with its account and without its security code. `None` if the account is
    /// no longer kept.
    fn held_order(&self, payment: &Payment) -> Result<Option<Order>, Failure> {
        let account = self.held_account(payment)?;
        let account = account.or_else(|| FullAccount::from_stored(&payment.account, None));
        let proof = Proof::from_parameters(&payment.parameters);
        let is_agreed = payment.parameters.get("standingInstruction.source") == Some("MIT");
        let order = account.and_then(|account| self.rebuild_order(payment, account, proof));
        Ok(order.map(|order| Order { shopper_present: !is_agreed, ..order }))
    }

    /// Records the intent of a held payment, and sends it to its external connector.
    async fn send_held(
        &self,
        payment: &Payment,
        order: Order,
        route: &PaymentRoute,
        decision: ReviewDecision,
    ) -> Result<Option<Arc<Payment>>, Failure> {
        let request = self.prepare_connector_request(payment, order, route, "");
        let check = self.find_attempt_check(payment);
        let sent = match self.record_sent(payment, (None, check), decision.clone()).await? {
            Ok(sent) => sent,
            Err(refusal) => return self.end_review(payment, refused_result(refusal), decision).await,
        };
        let Some(sent) = sent else { return Ok(None) };
        Ok(Some(self.send_connector_request(Some(request), sent, ResponseRecorder::disabled()).await))
    }

    /// Captures a held payment whose amount is reserved.
    async fn capture_held(&self, payment: &Payment, decision: ReviewDecision) -> Result<Option<Arc<Payment>>, Failure> {
        let Some(route) = self.route_of(payment) else {
            return self.end_review(payment, codes::METHOD_NOT_CONFIGURED.into(), decision).await;
        };
        let connector = route.connector.as_ref();
        if !connector.capabilities().is_external {
            // Captured by the completion.
            return self.end_review(payment, approval_of_held(payment), decision).await;
        }
        let _guard = self.payments_in_flight.mark_payment(&payment.id);
        let sent = self.record_sent(payment, (Some(DebitStep::Capture), None), decision).await?;
        // A capture is no attempt, so no rule of the scheme refuses it.
        let Ok(Some(sent)) = sent else { return Ok(None) };
        let answer = wait_for_answer(capture_debit(connector, &sent, false)).await;
        Ok(Some(self.try_write_outcome(sent, answer, ResponseRecorder::disabled()).await))
    }

    /// Records that the external connector of a held payment is about to be asked, with the decision and, for a debit
    /// in two steps, the step. Returns `None`, and writes nothing, if the payment is not held any more. Also writes
    /// nothing, and returns the refusal, if the rules of the card's scheme forbid the attempt.
    ///
    /// # Errors
    /// 409 if another analyst has claimed it.
    async fn record_sent(
        &self,
        payment: &Payment,
        (step, check): (Option<DebitStep>, Option<AttemptCheck>),
        decision: ReviewDecision,
    ) -> Result<Result<Option<Arc<Payment>>, RetryRefusal>, Failure> {
        let clock = self.clock_of_entity(&payment.entity);
        let attempts = check.as_ref().map(AttemptCheck::keys);
        let keys = RecordKeys { attempts, ..RecordKeys::for_review_decision(payment) };
        let recorded = self.store.update(keys, move |loaded| {
            let Some(mut payment) = loaded.payment.filter(Payment::is_held) else {
                return Ok((Changes::default(), Ok(None)));
            };
            decision.check_claim(loaded.review.as_ref(), clock)?;
            let mut changes = Changes::default();
            if let Some(check) = check {
                // Checked again: the payment may have been held for a day.
                let now = clock.entity_now();
                if let Some(refusal) = check.find_refusal(&loaded.attempts, now, is_authenticated(&payment)) {
                    return Ok((changes, Err(refusal)));
                }
                changes = check.count_attempt(&mut payment, &loaded.attempts, now);
            }
            payment.result = codes::PENDING;
            if let Some(review) = payment.risk.as_mut().and_then(|risk| risk.review.as_mut()) {
                review.asked = Some(clock.entity_now());
            }
            if let Some(step) = step {
                payment.set_debit_step(step);
            }
            if let Some(page) = &mut payment.redirect {
                page.asked = Some(clock.entity_now());
            }
            let payment = Arc::new(payment);
            let changes = changes.with_payment(Arc::clone(&payment)).with_review_decision(decision);
            Ok((changes, Ok(Some(payment))))
        });
        Ok(recorded.await??)
    }
}

/// Returns the refusal of a decision that finds no payment.
fn no_held_payment() -> Refusal {
    Refusal::not_found("There is no held payment with this transaction id")
}

/// Returns a sentence about a review whose time is over, without its period.
fn describe_missed_end(end: Timestamp) -> String {
    format!("This payment is not held any more: its review expired without a decision at {}", format_time(end))
}

/// Returns the connector's approval of a held payment.
fn approval_of_held(payment: &Payment) -> ConnectorResult {
    let approval = payment.review().and_then(|review| review.approval);
    result_of_held(payment, approval.unwrap_or(codes::OUTCOME_UNCERTAIN))
}

/// Returns the connector's answer of a held payment, with the code that ends its review.
fn result_of_held(payment: &Payment, code: ResultCode) -> ConnectorResult {
    ConnectorResult { details: payment.details.clone(), ..code.into() }
}
