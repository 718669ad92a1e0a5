//! Completion of a pending payment: its result comes from the brand's page, the issuer's page or the connector, or from
//! a timeout. The completion also updates the checkout and the stored credentials, and reverses a payment that its
//! shopper has abandoned.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_connector::ConnectorResult;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::asynchronous::OutcomeEffects;
use tillgate_domain::payment::asynchronous::apply_outcome;
use tillgate_domain::payment::connector_message::ConnectorMessage;
use tillgate_domain::payment::debit_step::DebitStep;
use tillgate_domain::payment::{ModificationType, Payment, PaymentType};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::review::decision::ReviewDecision;
use tillgate_domain::review::queue::ReviewClock;
use tillgate_shared::result::{ResultCode, codes};
use tillgate_store::{AttemptKeys, Changes, DeferredEffects, LoadedRecords, RecordKeys, StoredCredentials};

use super::super::{Failure, Gateway};
use super::attempt_check::AttemptCheck;
use super::debit_steps::CaptureDecision;
use super::follow_up_draft::draft_reversal;
use super::partial_approval::{apply_approved_amount, refuse_part};
use super::reversal::{can_refund_instead, log_declined_reversal};
use crate::payment::asynchronous::page_not_found;
use crate::payment::deferred_effects::{self, required_keys};
use crate::payment::response_recorder::ResponseRecorder;
use crate::risk::check::RiskCheck;

/// Result of completing a payment.
#[derive(Debug)]
pub struct CompletionResult {
    /// The payment, with its outcome.
    pub payment: Arc<Payment>,
    /// True if the payment has the requested result. A payment that had ended before keeps its own.
    pub has_requested_result: bool,
    /// True if this call has ended the payment.
    pub changed: bool,
}

/// Everything that the completion of a payment depends on.
#[derive(Clone)]
struct Completion {
    result: ConnectorResult,
    /// True if the connector has approved a part of the amount and the merchant accepts no part: `result` is a decline.
    is_part_refused: bool,
    /// The risk check of the payment, if the result is an approval and the payment was not checked before.
    risk_check: Option<RiskCheck>,
    /// The check of the attempt by the rules of the card's scheme, which the result settles.
    attempt: Option<AttemptCheck>,
    /// Deferred effects on stored credentials, applied or reverted by the completion.
    deferred_effects: Option<DeferredEffects>,
    /// The current time by the entity's clock.
    now: Timestamp,
    /// The current time by the machine's clock.
    machine_time: Timestamp,
    /// Time for which the account of a payment is kept.
    card_window: SignedDuration,
    /// The id and result of the reversal, for the case that the payment has to be reversed.
    reversal: (PaymentId, ResultCode),
    /// The step for which the result is, of a debit in two steps.
    step: Option<DebitStep>,
    /// Result of the capture by an in-process connector, for a debit in two steps that is preauthorized.
    capture: Option<ConnectorResult>,
    /// Time in which the connector reverses a debit or credit, counted from its creation. `None` for no limit.
    reversal_window: Option<SignedDuration>,
    /// The payment to refund, because the payment is its reversal and was declined.
    refunded: Option<Payment>,
    /// The response to the request that made the payment.
    recorder: ResponseRecorder<Payment>,
    /// The decision that ends the review of the payment, if it was held.
    decision: Option<ReviewDecision>,
}

impl Gateway {
    /// Gives a pending payment its result. `change` runs under the write lock before that; it may change the payment
    /// further, or returns false and changes nothing if the result no longer applies. A payment that has ended already
    /// stays unchanged, without a call of `change`. Also updates checkout, stored credentials and velocity counts, and
    /// reverses an approved payment that its shopper has abandoned.
    ///
    /// # Errors
    /// 404 if the payment is gone; also if the store fails.
    pub async fn complete_payment(
        &self,
        payment: &Payment,
        result: ConnectorResult,
        change: impl FnOnce(&mut Payment) -> bool + Clone + Send + 'static,
    ) -> Result<CompletionResult, Failure> {
        self.complete_with((payment, Vec::new()), result, change, ResponseRecorder::disabled(), None).await
    }

    /// Same as [`Gateway::complete_payment`], with the messages to the external connector that has given the result.
    /// Replaces the response that was recorded while the payment was pending.
    ///
    /// # Errors
    /// Same as [`Gateway::complete_payment`].
    pub(super) async fn complete_with_answer(
        &self,
        payment: &Payment,
        result: ConnectorResult,
        messages: Vec<ConnectorMessage>,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<CompletionResult, Failure> {
        self.complete_with((payment, messages), result, |_| true, recorder, None).await
    }

    /// Same as [`Gateway::complete_payment`] for a held payment. Records the decision that ends its review.
    ///
    /// # Errors
    /// Same as [`Gateway::complete_payment`].
    pub(crate) async fn complete_review(
        &self,
        payment: &Payment,
        result: ConnectorResult,
        decision: ReviewDecision,
    ) -> Result<CompletionResult, Failure> {
        let change = |payment: &mut Payment| payment.is_held();
        self.complete_with((payment, Vec::new()), result, change, ResponseRecorder::disabled(), Some(decision)).await
    }

    /// Completes a payment, with the messages to its connector, the response to its request and the decision of its
    /// review.
    async fn complete_with(
        &self,
        (payment, messages): (&Payment, Vec<ConnectorMessage>),
        result: ConnectorResult,
        change: impl FnOnce(&mut Payment) -> bool + Clone + Send + 'static,
        recorder: ResponseRecorder<Payment>,
        decision: Option<ReviewDecision>,
    ) -> Result<CompletionResult, Failure> {
        let (result, is_part_refused) = refuse_part(payment, result);
        let risk_check = if result.code.is_success() { self.screen_approval(payment, &result) } else { None };
        let risk_counters = risk_check.as_ref().map(RiskCheck::counter_keys).unwrap_or_default();
        // Follow-up payments change no stored credentials.
        let deferred_effects = match payment.referenced {
            Some(_) => None,
            None => self.store.load_deferred_effects(payment)?,
        };
        let credential_keys = deferred_effects.as_ref().map(|effects| required_keys(effects, payment));
        let has_effects = deferred_effects.is_some();
        // Prepared before the write lock, because it asks a connector and all writes wait for the lock.
        let reversal = self.prepare_reversal(payment).await?;
        let now = self.now_of_id(&payment.entity);
        let capture = if result.code.is_success() { self.capture_in_process(payment).await } else { None };
        let charged = self.find_charged_payment(payment, &result)?;
        let is_charged = charged.is_some();
        let completion = Completion {
            refunded: charged.filter(|charged| can_refund_instead(payment, charged)),
            result,
            is_part_refused,
            risk_check,
            attempt: self.find_attempt_check(payment),
            deferred_effects,
            now,
            machine_time: self.now(),
            card_window: self.options.card_window,
            reversal,
            step: payment.debit_step(),
            capture,
            reversal_window: self.connector_reversal_window(payment),
            recorder,
            decision,
        };
        let keys = RecordKeys {
            attempts: completion.attempt_keys(payment),
            checkout: payment.checkout.clone(),
            review: completion.decision.as_ref().map(|decision| decision.payment.clone()),
            stored_credentials: credential_keys.unwrap_or_default(),
            risk_counters,
            ..RecordKeys::for_payment(&payment.entity, &payment.id)
        };
        let messages = self.date_messages(payment, messages);
        let completed = self.store.update(keys, move |loaded| {
            let (changes, completed) = completion.decide_changes(loaded, change)?;
            // Also if another call has ended the payment, because the connector was asked.
            Ok((changes.with_connector_messages(&completed.payment, messages), completed))
        });
        let completed = completed.await??;
        // A call that changed nothing may be late, while the payment waits for another challenge and needs its code.
        if completed.changed || !completed.payment.result.is_pending() {
            self.security_codes.remove_code(&completed.payment.id);
        }
        if completed.changed && is_charged {
            log_declined_reversal(&completed.payment);
        }
        // Only the call that ended the payment counts it. A repeated result would count a decline twice.
        if completed.changed && !completed.payment.result.is_pending() {
            self.velocity.end_pending(&completed.payment.id, completed.payment.is_approved(), self.now());
        }
        // A sealed card was deleted, but the write-ahead log still contains it until it is truncated.
        if has_effects || !completed.payment.is_approved_or_pending() {
            self.store.mark_wal_dirty();
        }
        Ok(completed)
    }
}

/// A payment with the result that it gets.
struct DecidedResult {
    payment: Payment,
    /// The updated checkout, if it waited for the payment.
    checkout: Option<Checkout>,
    /// True if the payment is declined after its connector's approval.
    is_refused: bool,
    /// True if the payment is approved at its connector and must not stay charged.
    must_reverse: bool,
    /// True if the payment stays pending, because its external connector has to capture it now.
    must_capture: bool,
    /// The changes of the risk check.
    changes: Changes,
}

impl DecidedResult {
    /// Makes the decision to capture a payment.
    fn to_capture(payment: Payment, changes: Changes) -> Self {
        Self { payment, checkout: None, is_refused: false, must_reverse: false, must_capture: true, changes }
    }
}

impl Completion {
    /// Applies the result to the payment, its checkout and its stored credentials, and returns the changes to write.
    /// Runs under the write lock. Returns no changes if the payment has ended already or `change` returns false. Adds
    /// the reversal of an approved payment that was abandoned or refused, and the refund in place of a declined one.
    ///
    /// # Errors
    /// 404 if the payment is gone; 409 if another analyst has claimed it than the one who decides.
    fn decide_changes(
        mut self,
        mut loaded: LoadedRecords,
        change: impl FnOnce(&mut Payment) -> bool,
    ) -> Result<(Changes, CompletionResult), Refusal> {
        let mut payment = loaded.payment.take().ok_or_else(page_not_found)?;
        let has_requested_result = payment.result == self.result.code;
        // Only a decision ends a held payment, whatever a shopper or a connector says meanwhile.
        let is_decided_now = payment.is_held() == self.decision.is_some();
        // A late response to the first step of a debit does not end it in its second step.
        let is_open = payment.result.is_pending() && is_decided_now && payment.debit_step() == self.step;
        // `change` comes last, because it already changes the payment.
        if has_requested_result || !is_open || !change(&mut payment) {
            let payment = Arc::new(payment);
            return Ok((Changes::default(), CompletionResult { payment, has_requested_result, changed: false }));
        }
        if let Some(decision) = &self.decision {
            let clock = ReviewClock { now: self.machine_time, ahead: self.now.duration_since(self.machine_time) };
            // Checked under the write lock, because another analyst may have claimed the payment meanwhile.
            decision.check_claim(loaded.review.as_ref(), clock)?;
        }
        let attempt_changes = self.settle_attempt(&payment, &loaded);
        let DecidedResult { mut payment, checkout, is_refused, must_reverse, must_capture, changes } =
            self.decide_result(payment, &mut loaded);
        // The connector has answered, so the attempt is settled with this write.
        payment.retry = None;
        let mut changes = changes.merged_with(attempt_changes);
        if must_capture {
            // Nothing has ended yet: its intent, its card, its checkout and its deferred effects stay.
            let payment = Arc::new(payment);
            let changes = changes.with_payment(Arc::clone(&payment));
            return Ok((changes, CompletionResult { payment, has_requested_result: true, changed: true }));
        }
        changes =
            self.decide_deferred_effects(&mut payment, loaded.stored_credentials, must_reverse).merged_with(changes);
        let payment = Arc::new(payment);
        // The stored response still says pending. A repeated request must get the final one.
        changes = self.recorder.replace_response(changes.with_payment(Arc::clone(&payment)), &payment, payment.created);
        if let Some(checkout) = &checkout {
            changes = changes.with_checkout(checkout);
        }
        if !payment.is_approved_or_pending() {
            // A payment that failed has no follow-up payments, so its card number is not needed any more.
            changes = changes.without_card(&payment.id, payment.created + self.card_window);
        }
        changes = match &self.refunded {
            // The reversal is part of this commit. A crash after the commit would otherwise leave the shopper charged.
            _ if must_reverse => self.add_reversal(changes, &payment, self.reversal_type(&payment)),
            Some(refunded) => self.add_reversal(changes, refunded, ModificationType::Refund),
            None => changes,
        };
        if let Some(decision) = self.decision {
            changes = changes.with_review_decision(decision);
        }
        Ok((changes, CompletionResult { payment, has_requested_result: !is_refused, changed: true }))
    }

    /// Returns the keys of the records of the attempt, unless its mark tells that its approval needs none.
    fn attempt_keys(&self, payment: &Payment) -> Option<AttemptKeys> {
        let needs_records = !self.result.code.is_success() || payment.connector.is_none();
        self.attempt.as_ref().filter(|_| needs_records).map(AttemptCheck::keys)
    }

    /// Returns the changes of the records of the attempt that follow from the result of the connector, whatever the
    /// risk check makes of it.
    fn settle_attempt(&self, payment: &Payment, loaded: &LoadedRecords) -> Changes {
        // A payment without a mark has settled its attempt with an earlier result.
        let attempt = self.attempt.as_ref().filter(|_| payment.retry.is_some());
        attempt.map_or_else(Changes::default, |check| {
            check.settle_attempt(payment, (self.result.code, &self.result.details), &loaded.attempts, self.now)
        })
    }

    /// Sets the result of the payment: that of its connector, or another one if its risk check refuses or holds it.
    /// Updates the checkout that waits for it.
    fn decide_result(&mut self, payment: Payment, loaded: &mut LoadedRecords) -> DecidedResult {
        let code = self.result.code;
        // Kept for a payment that still has to be captured: setting the result details clears the mark.
        let was_unannounced = payment.unannounced;
        let mut updated = with_result_details(apply_approved_amount(payment, &self.result), self.result.clone());
        // The check runs under the write lock, because it reads the velocity counters and counts this payment.
        let (refused, changes) = match self.risk_check.take() {
            Some(check) => {
                let (ruling, counters) = check.decide(&mut updated, &loaded.risk_counters);
                (ruling.refusal_code(), counters)
            }
            None => (None, Changes::default()),
        };
        let is_held =
            refused.is_none() && code.is_success() && updated.stage_to_hold().is_some() && !updated.is_abandoned();
        let is_cancelled = updated.is_executed_in_review() && !code.is_success();
        let mut outcome = if is_held { codes::RISK_HELD } else { refused.unwrap_or(code) };
        if is_held {
            updated = Payment { result: code, ..updated }.into_held(self.now);
        }
        let capture = self.decide_capture(&mut updated, outcome);
        match capture {
            CaptureDecision::Request => {
                let payment = Payment { unannounced: was_unannounced, ..updated.into_capture(self.now) };
                return DecidedResult::to_capture(payment, changes);
            }
            CaptureDecision::Declined(declined) => outcome = declined,
            CaptureDecision::Unneeded => {}
        }
        let is_uncaptured = matches!(capture, CaptureDecision::Declined(_));
        let OutcomeEffects { payment, checkout, must_reverse } =
            apply_outcome(updated, loaded.checkout.take(), outcome);
        let is_refused = refused.is_some();
        DecidedResult {
            payment,
            checkout,
            is_refused: outcome != code && !is_held,
            must_reverse: must_reverse || is_refused || is_cancelled || is_uncaptured || self.is_part_refused,
            must_capture: false,
            changes,
        }
    }

    /// Decides about the capture of a payment with this outcome, and sets the step of a debit in two steps: to the
    /// capture if an in-process connector has captured it, or back to the preauthorization if its capture is declined,
    /// so that only the preauthorization is reversed.
    fn decide_capture(&mut self, payment: &mut Payment, outcome: ResultCode) -> CaptureDecision {
        match payment.debit_step() {
            Some(DebitStep::Authorization) if outcome.is_success() && !payment.is_abandoned() => {
                match self.capture.take().map(|capture| capture.code) {
                    None => CaptureDecision::Request,
                    Some(code) if code.is_success() => {
                        payment.set_debit_step(DebitStep::Capture);
                        CaptureDecision::Unneeded
                    }
                    Some(code) => CaptureDecision::Declined(code),
                }
            }
            Some(DebitStep::Capture) if !outcome.is_success() => {
                // Only the preauthorization was executed, so only that is reversed.
                payment.set_debit_step(DebitStep::Authorization);
                CaptureDecision::Declined(outcome)
            }
            _ => CaptureDecision::Unneeded,
        }
    }

    /// Applies or reverts the deferred effects of a payment that has its result, or keeps those of a held one. Returns
    /// the changes to write besides the payment.
    fn decide_deferred_effects(
        &mut self,
        payment: &mut Payment,
        loaded: StoredCredentials,
        must_reverse: bool,
    ) -> Changes {
        match self.deferred_effects.take() {
            Some(effects) if payment.is_held() => deferred_effects::keep_for_review(effects, payment, self.card_window),
            Some(effects) => {
                deferred_effects::settle_effects(effects, payment, loaded, must_reverse, self.now, self.card_window)
            }
            None => Changes::default(),
        }
    }

    /// Returns the operation that reverses an approved payment: a reversal, or a refund if the reversal window of its
    /// connector has ended. A preauthorization has no reversal window, and the limit for reversals of merchants does
    /// not apply.
    fn reversal_type(&self, payment: &Payment) -> ModificationType {
        let is_booked = payment.type_at_connector() != PaymentType::Preauthorization
            && self.reversal_window.is_some_and(|window| self.now.duration_since(payment.created) >= window);
        if is_booked { ModificationType::Refund } else { ModificationType::Reversal }
    }

    /// Adds the reversal or refund of a payment.
    fn add_reversal(&self, changes: Changes, payment: &Payment, modification_type: ModificationType) -> Changes {
        let reversal = draft_reversal(payment, modification_type, self.reversal.clone(), self.now);
        changes.with_payment(reversal)
    }
}

/// Returns a payment with the details of its connector's result, but not with its code. Keeps earlier check results,
/// transfer account and transaction ids if the result has none. The result of a capture is added to the details of the
/// preauthorization, and a declined one changes no transaction ids.
fn with_result_details(payment: Payment, result: ConnectorResult) -> Payment {
    let is_capture = payment.debit_step() == Some(DebitStep::Capture);
    let keeps_ids = result.connector_tx_ids.is_empty() || (is_capture && !result.code.is_success());
    let mut details = if is_capture { payment.details } else { BTreeMap::new() };
    details.extend(result.details);
    Payment {
        details,
        avs: result.avs.or(payment.avs),
        cvv: result.cvv.or(payment.cvv),
        pay_to: result.transfer_account.or(payment.pay_to),
        connector_tx_ids: if keeps_ids { payment.connector_tx_ids } else { result.connector_tx_ids },
        unannounced: false,
        ..payment
    }
}
