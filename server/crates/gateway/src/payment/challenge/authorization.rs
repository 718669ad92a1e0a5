//! The authorization of a payment after 3-D Secure, or its review before the authorization.

use std::sync::Arc;

use tillgate_connector::{ConnectorResult, FullAccount};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::retry_rules::RetryRefusal;
use tillgate_domain::review::ReviewStage;
use tillgate_domain::three_ds::Proof;
use tillgate_shared::result::codes;
use tillgate_store::{Changes, RecordKeys};

use crate::payment::asynchronous::page_not_found;
use crate::payment::attempt_check::{AttemptCheck, is_authenticated, refused_result};
use crate::payment::complete::CompletionResult;
use crate::payment::response_recorder::ResponseRecorder;
use crate::payment::{ConnectorRequest, PaymentIdentity};
use crate::{Failure, Gateway};

/// Next step of a payment after the result of 3-D Secure.
pub(super) enum AfterThreeDs {
    /// The payment ends.
    Ended(ConnectorResult),
    /// The payment is held for review.
    Held,
    /// The connector has to be asked. It is external, so the intent is recorded first.
    AwaitsConnector(Box<ConnectorRequest>),
}

impl Gateway {
    /// Authorizes a payment whose cardholder is authenticated, at an in-process connector, or prepares the request to
    /// an external one. The payment ends without authorization if its required security code is lost, or if its card is
    /// no longer held or it was abandoned, because the shopper has chosen another way to pay.
    pub(super) async fn authorize_authenticated(
        &self,
        payment: &Payment,
        account: Option<FullAccount>,
        proof: Option<Proof>,
    ) -> AfterThreeDs {
        // Security codes are in memory only, so a restart during the challenge loses them.
        if self.has_lost_code(payment, account.as_ref()) {
            return AfterThreeDs::Ended(codes::CODE_MISSING.into());
        }
        // The review comes before the connector is asked, so that no amount is reserved for a payment that may be
        // cancelled.
        if payment.stage_to_hold() == Some(ReviewStage::NotExecuted) && !payment.is_abandoned() {
            return AfterThreeDs::Held;
        }
        let order = account.and_then(|account| self.rebuild_order(payment, account, proof));
        // The shopper of an abandoned payment may have paid with another brand, and must not pay twice.
        let (Some(order), Some(route), false) = (order, self.route_of(payment), payment.is_abandoned()) else {
            return AfterThreeDs::Ended(codes::THREEDS_ABANDONED.into());
        };
        if route.connector.capabilities().is_external {
            return AfterThreeDs::AwaitsConnector(Box::new(self.prepare_connector_request(payment, order, &route, "")));
        }
        let identity = PaymentIdentity::of_payment(payment, self.now_of_id(&payment.entity));
        let outcome = route.connector.authorize(&identity.order_request(&order)).await;
        AfterThreeDs::Ended(outcome.result().cloned().unwrap_or_else(|| codes::PENDING.into()))
    }

    /// Ends a payment after 3-D Secure with its result, or records the intent and then asks its external connector.
    /// `change` is the same as in [`Gateway::complete_payment`]. Changes nothing if the payment no longer awaits its
    /// shopper or another request about it is in flight.
    pub(super) async fn finish_three_ds(
        &self,
        payment: Arc<Payment>,
        next_step: AfterThreeDs,
        change: impl FnOnce(&mut Payment) -> bool + Clone + Send + 'static,
    ) -> Result<CompletionResult, Failure> {
        let change = move |payment: &mut Payment| payment.awaits_shopper() && change(payment);
        match next_step {
            AfterThreeDs::Ended(result) => self.complete_payment(&payment, result, change).await,
            AfterThreeDs::Held => self.hold_authenticated(&payment, change).await,
            // Another request about this payment is in flight.
            AfterThreeDs::AwaitsConnector(request) if !request.is_guarded() => {
                Ok(CompletionResult { payment, has_requested_result: false, changed: false })
            }
            AfterThreeDs::AwaitsConnector(request) => {
                // The intent is committed before the request. After a crash in between, the worker finds the outcome by
                // it.
                let reserved = match self.record_request(&payment, change.clone()).await? {
                    Ok(reserved) => reserved,
                    Err(refusal) => return self.complete_payment(&payment, refused_result(refusal), change).await,
                };
                if !reserved.changed {
                    return Ok(reserved);
                }
                let payment =
                    self.send_connector_request(Some(*request), reserved.payment, ResponseRecorder::disabled()).await;
                Ok(CompletionResult { payment, ..reserved })
            }
        }
    }

    /// Holds a payment for review after 3-D Secure, before it is executed. Keeps its sealed card, but not its security
    /// code. Writes nothing if the payment was abandoned or `change` returns false.
    ///
    /// # Errors
    /// 404 if the payment is gone.
    async fn hold_authenticated(
        &self,
        payment: &Payment,
        change: impl FnOnce(&mut Payment) -> bool + Clone + Send + 'static,
    ) -> Result<CompletionResult, Failure> {
        let effects = self.store.load_deferred_effects(payment)?;
        let until = payment.created + self.options.card_window;
        let keys = RecordKeys::for_payment(&payment.entity, &payment.id);
        let held = self.store.update(keys, move |loaded| {
            let mut payment = loaded.payment.ok_or_else(page_not_found)?;
            // Checked under the write lock, because the shopper may abandon the payment until this write.
            let changed = !payment.is_abandoned() && change(&mut payment);
            let mut changes = Changes::default();
            if changed {
                let since = payment.created;
                payment = payment.into_held(since);
                changes = changes.without_deferred_effects(&payment.id).with_payment(payment.clone());
                if let Some(effects) = effects {
                    changes = changes.with_deferred_effects(&payment, effects, until);
                }
            }
            let payment = Arc::new(payment);
            Ok((changes, CompletionResult { payment, has_requested_result: changed, changed }))
        });
        let held = held.await??;
        if held.changed {
            // A review may take a day. A security code must not be kept for that long.
            self.security_codes.remove_code(&held.payment.id);
        }
        Ok(held)
    }

    /// Records that the connector of a payment is about to be asked, after 3-D Secure. Writes nothing if the payment
    /// was abandoned or `change` returns false; the result then says that nothing changed. Also writes nothing, and
    /// returns the refusal, if the rules of the card's scheme forbid the attempt by now.
    ///
    /// # Errors
    /// 404 if the payment is gone.
    async fn record_request(
        &self,
        payment: &Payment,
        change: impl FnOnce(&mut Payment) -> bool + Clone + Send + 'static,
    ) -> Result<Result<CompletionResult, RetryRefusal>, Failure> {
        let check = self.find_attempt_check(payment);
        let attempts = check.as_ref().map(AttemptCheck::keys);
        let keys = RecordKeys { attempts, ..RecordKeys::for_payment(&payment.entity, &payment.id) };
        let now = self.now_of_id(&payment.entity);
        let reserved = self.store.update(keys, move |loaded| {
            let mut payment = loaded.payment.ok_or_else(page_not_found)?;
            let changed = !payment.is_abandoned() && change(&mut payment);
            if !changed {
                let payment = Arc::new(payment);
                let unchanged = CompletionResult { payment, has_requested_result: false, changed };
                return Ok((Changes::default(), Ok(unchanged)));
            }
            let mut changes = Changes::default();
            if let Some(check) = check {
                // Checked again: the shopper may have been away while other attempts were declined.
                if let Some(refusal) = check.find_refusal(&loaded.attempts, now, is_authenticated(&payment)) {
                    return Ok((changes, Err(refusal)));
                }
                changes = check.count_attempt(&mut payment, &loaded.attempts, now);
            }
            if let Some(page) = &mut payment.redirect {
                // The age of a request counts from this time. The payment itself may be much older, because the shopper
                // was away.
                page.asked = Some(now);
            }
            let payment = Arc::new(payment);
            let changes = changes.with_payment(Arc::clone(&payment));
            Ok((changes, Ok(CompletionResult { payment, has_requested_result: true, changed })))
        });
        Ok(reserved.await??)
    }
}
