//! Completion of a pending payment: its result comes from the brand's page, the issuer's page or the connector, or from
//! a timeout. The completion also updates the checkout and the stored credentials, and reverses a payment that its
//! shopper has abandoned.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::super::asynchronous::page_not_found;
use super::super::response_recorder::ResponseRecorder;
use super::super::risk_check::RiskCheck;
use super::super::{Failure, Gateway, deferred_effects, follow_up};
use crate::connector::{ConnectorResult, Modification};
use crate::domain::asynchronous::{OutcomeEffects, apply_outcome};
use crate::domain::id::PaymentId;
use crate::domain::payment::{ConnectorTxIds, ModificationType, NOTIFICATION_URL, Payment, PaymentType};
use crate::domain::refusal::Refusal;
use crate::domain::review_decision::ReviewDecision;
use crate::store::{Changes, DeferredEffects, LoadedRecords, RecordKeys, StoredCredentials};

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
struct Completion {
    result: ConnectorResult,
    /// The risk check of the payment, if the result is an approval and the payment was not checked before.
    risk_check: Option<RiskCheck>,
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
    /// The operation that reverses an approved payment now: a refund after its connector's cut-off.
    reversal_type: ModificationType,
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
        change: impl FnOnce(&mut Payment) -> bool + Send + 'static,
    ) -> Result<CompletionResult, Failure> {
        self.complete_with_response(payment, result, change, ResponseRecorder::disabled()).await
    }

    /// Same as [`Gateway::complete_payment`], and replaces the response that was recorded while the payment was
    /// pending.
    ///
    /// # Errors
    /// Same as [`Gateway::complete_payment`].
    pub(super) async fn complete_with_response(
        &self,
        payment: &Payment,
        result: ConnectorResult,
        change: impl FnOnce(&mut Payment) -> bool + Send + 'static,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<CompletionResult, Failure> {
        self.complete_with(payment, result, change, recorder, None).await
    }

    /// Same as [`Gateway::complete_payment`] for a held payment. Records the decision that ends its review.
    ///
    /// # Errors
    /// Same as [`Gateway::complete_payment`].
    pub(in crate::gateway) async fn complete_review(
        &self,
        payment: &Payment,
        result: ConnectorResult,
        decision: ReviewDecision,
    ) -> Result<CompletionResult, Failure> {
        let change = |payment: &mut Payment| payment.is_held();
        self.complete_with(payment, result, change, ResponseRecorder::disabled(), Some(decision)).await
    }

    /// Completes a payment, with the response to its request and the decision of its review.
    async fn complete_with(
        &self,
        payment: &Payment,
        result: ConnectorResult,
        change: impl FnOnce(&mut Payment) -> bool + Send + 'static,
        recorder: ResponseRecorder<Payment>,
        decision: Option<ReviewDecision>,
    ) -> Result<CompletionResult, Failure> {
        let risk_check = if result.code.is_success() { self.screen_approval(payment, &result) } else { None };
        let risk_counters = risk_check.as_ref().map(RiskCheck::counter_keys).unwrap_or_default();
        // Follow-up payments change no stored credentials.
        let deferred_effects = match payment.referenced {
            Some(_) => None,
            None => self.store.load_deferred_effects(payment)?,
        };
        let credential_keys =
            deferred_effects.as_ref().map(|effects| effects.required_keys(payment)).unwrap_or_default();
        let has_effects = deferred_effects.is_some();
        let reversal = self.prepare_reversal(payment).await?;
        let now = self.now_of_id(&payment.entity);
        let card_window = self.options.card_window;
        let machine_time = self.now();
        let reversal_type = self.reversal_type(payment, now);
        let completion = Completion {
            result,
            risk_check,
            deferred_effects,
            now,
            machine_time,
            card_window,
            reversal,
            reversal_type,
            recorder,
            decision,
        };
        let keys = RecordKeys {
            checkout: payment.checkout.clone(),
            stored_credentials: credential_keys,
            risk_counters,
            ..RecordKeys::for_payment(&payment.entity, &payment.id)
        };
        let completed = self.store.update(keys, move |loaded| completion.decide_changes(loaded, change)).await??;
        self.security_codes.remove_code(&completed.payment.id);
        if completed.changed && !completed.payment.result.is_pending() {
            self.velocity.end_pending(&completed.payment.id, completed.payment.is_approved(), self.now());
        }
        if has_effects || !completed.payment.is_approved_or_pending() {
            self.store.mark_wal_dirty();
        }
        Ok(completed)
    }

    /// Returns the operation that reverses an approved payment: a reversal, or after the cut-off of a debit or credit a
    /// refund. A preauthorization has no cut-off.
    fn reversal_type(&self, payment: &Payment, now: Timestamp) -> ModificationType {
        let is_booked = payment.type_at_connector() != PaymentType::Preauthorization
            && now.duration_since(payment.created) >= self.time_limits_of(payment).reversal_window;
        if is_booked { ModificationType::Refund } else { ModificationType::Reversal }
    }

    /// Makes the id of a reversal of a payment, and asks an in-process connector for its result.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub(super) async fn prepare_reversal(&self, payment: &Payment) -> Result<(PaymentId, ResultCode), Failure> {
        let reversal = Self::new_payment_id(self.next_id_time_of_id(&payment.entity))?;
        let result = self.reverse_in_process(payment, &reversal).await;
        Ok((reversal, result))
    }

    /// Asks an in-process connector to reverse a payment, and returns the result. Such a connector is a pure function,
    /// so it may be asked before it is known whether a reversal is needed. Returns pending for an external connector,
    /// for which the intent of a reversal is written instead, and the code of a missing configuration if the connector
    /// no longer exists.
    async fn reverse_in_process(&self, payment: &Payment, reversal: &PaymentId) -> ResultCode {
        if payment.connector.is_some() {
            return codes::PENDING;
        }
        let modification = Modification {
            reference: reversal.as_str().to_owned(),
            original_reference: payment.id.as_str().to_owned(),
            merchant_id: payment.acquirer_merchant_id().to_owned(),
            connector_tx_ids: ConnectorTxIds::default(),
            amount: payment.amount,
            forced_result_code: None,
            is_repeated: false,
        };
        let Some(route) = self.route_of(payment) else { return codes::METHOD_NOT_CONFIGURED };
        route.connector.reverse(&modification).await.result().map_or(codes::PENDING, |result| result.code)
    }
}

impl Completion {
    /// Applies the result to the payment, its checkout and its stored credentials, and returns the changes to write.
    /// Runs under the write lock. Returns no changes if the payment has ended already or `change` returns false. Adds
    /// the reversal of an approved payment that was abandoned.
    ///
    /// # Errors
    /// 404 if the payment is gone.
    fn decide_changes(
        self,
        loaded: LoadedRecords,
        change: impl FnOnce(&mut Payment) -> bool,
    ) -> Result<(Changes, CompletionResult), Refusal> {
        let Self { result, deferred_effects, now, machine_time, card_window, reversal, .. } = self;
        let (reversal_type, recorder, decision) = (self.reversal_type, self.recorder, self.decision);
        let mut payment = loaded.payment.ok_or_else(page_not_found)?;
        let has_requested_result = payment.result == result.code;
        // Only a decision ends a held payment, whatever a shopper or a connector says meanwhile.
        let is_open = payment.result.is_pending() && payment.is_held() == decision.is_some();
        if has_requested_result || !is_open || !change(&mut payment) {
            let payment = Arc::new(payment);
            return Ok((Changes::default(), CompletionResult { payment, has_requested_result, changed: false }));
        }
        let code = result.code;
        let mut updated = with_result_details(payment, result);
        let (refused, counters) = match self.risk_check {
            Some(check) => {
                let (ruling, counters) = check.decide(&mut updated, &loaded.risk_counters);
                (ruling.refusal_code(), counters)
            }
            None => (None, Changes::default()),
        };
        let is_held =
            refused.is_none() && code.is_success() && updated.stage_to_hold().is_some() && !updated.is_abandoned();
        let is_cancelled = updated.is_executed_in_review() && !code.is_success();
        if is_held {
            updated = Payment { result: code, ..updated }.into_held(now);
        }
        let outcome = if is_held { codes::RISK_HELD } else { refused.unwrap_or(code) };
        let OutcomeEffects { mut payment, checkout, must_reverse } = apply_outcome(updated, loaded.checkout, outcome);
        let must_reverse = must_reverse || refused.is_some() || is_cancelled;
        let mut changes = match deferred_effects {
            Some(effects) if is_held => keep_deferred_effects(effects, &payment, card_window),
            Some(effects) => {
                apply_deferred_effects(effects, &mut payment, loaded.stored_credentials, must_reverse, now, card_window)
            }
            None => Changes::default(),
        };
        changes = changes.merged_with(counters);
        let payment = Arc::new(payment);
        changes = recorder.replace_response(changes.with_payment(Arc::clone(&payment)), &payment, payment.created);
        if payment.connector.is_some() {
            changes = changes.without_intent(&payment.id);
        }
        if let Some(checkout) = &checkout {
            changes = changes.with_checkout(checkout);
        }
        if !payment.is_approved_or_pending() {
            changes = changes.without_card(&payment.id, payment.created + card_window);
        }
        if must_reverse {
            let reversal = draft_reversal(&payment, reversal_type, reversal, now);
            if reversal.awaits_connector() {
                changes = changes.with_intent(&reversal, machine_time);
            }
            changes = changes.with_payment(reversal);
        }
        if let Some(decision) = decision {
            changes = changes.with_review_decision(decision);
        }
        let has_requested_result = refused.is_none();
        Ok((changes, CompletionResult { payment, has_requested_result, changed: true }))
    }
}

/// Returns a payment with the details of its connector's result, but not with its code. Keeps earlier check results,
/// transfer account and transaction ids if the result has none.
fn with_result_details(payment: Payment, result: ConnectorResult) -> Payment {
    Payment {
        details: result.details,
        avs: result.avs.or(payment.avs),
        cvv: result.cvv.or(payment.cvv),
        pay_to: result.transfer_account.or(payment.pay_to),
        connector_tx_ids: if result.connector_tx_ids.is_empty() {
            payment.connector_tx_ids
        } else {
            result.connector_tx_ids
        },
        unannounced: false,
        ..payment
    }
}

/// Keeps the deferred effects of an executed payment that is held. Its sealed card is stored for follow-up payments, as
/// that of an approved payment, unless a registration will store it.
fn keep_deferred_effects(mut effects: DeferredEffects, payment: &Payment, card_window: SignedDuration) -> Changes {
    let is_stored_elsewhere = payment.registration.is_some() || effects.registration.is_some();
    let card = effects.card.take().filter(|_| !is_stored_elsewhere);
    let mut changes = Changes::default().without_deferred_effects(&payment.id);
    if effects.registration.is_some() || effects.instruction.is_some() {
        changes = changes.with_deferred_effects(payment, effects, payment.created + deferred_effects::LIFETIME);
    }
    match card {
        Some(card) => changes.with_card(&payment.id, card, payment.created + card_window),
        None => changes,
    }
}

/// Applies the deferred effects of an approved payment, or reverts those of any other and of one that is reversed.
/// Deletes them in either case. Keeps the sealed card of an approved payment for follow-up payments, for `card_window`
/// after its creation, unless a registration stores it.
fn apply_deferred_effects(
    mut effects: DeferredEffects,
    payment: &mut Payment,
    loaded: StoredCredentials,
    must_reverse: bool,
    now: Timestamp,
    card_window: SignedDuration,
) -> Changes {
    let card = effects.card.take();
    let changes = Changes::default().without_deferred_effects(&payment.id);
    let changes = changes.merged_with(if payment.is_approved() && !must_reverse {
        effects.on_success(payment, loaded, now)
    } else {
        effects.on_failure(loaded)
    });
    // The account of a registration is stored there and nowhere else.
    match card.filter(|_| payment.is_approved() && payment.registration.is_none()) {
        Some(card) => changes.with_card(&payment.id, card, payment.created + card_window),
        None => changes,
    }
}

/// Makes the reversal, or refund (`modification_type`), of the whole amount of a payment that its shopper has
/// abandoned, or that its risk check has refused after the approval. It belongs to no request, so its notifications are
/// sent to the address of the payment.
pub(super) fn draft_reversal(
    payment: &Payment,
    modification_type: ModificationType,
    (id, result): (PaymentId, ResultCode),
    now: Timestamp,
) -> Payment {
    let mut parameters = Parameters::default();
    if let Some(address) = payment.parameters.get(NOTIFICATION_URL) {
        parameters.set(NOTIFICATION_URL, address);
    }
    let reversal = follow_up::draft_payment(id, now, payment, modification_type, payment.amount, result, parameters);
    // The reversal has no request of its own, so it carries the request identifier of the payment.
    Payment { ndc: Some(payment.ndc()), unannounced: reversal.awaits_connector(), ..reversal }
}
