//! Resolves payments with an unknown outcome at their connectors: by an inquiry, or by repeating the request if that is
//! safe. A payment that the connector does not know is reversed there, so that it cannot succeed later.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jiff::SignedDuration;
use tillgate_connector::recorded_messages::collect_messages;
use tillgate_connector::{CaptureTerms, Connector, ConnectorOutcome, EarlierPayment, Inquiry, Modification};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::{ModificationType, Payment, PaymentType};
use tillgate_shared::result::codes;
use tillgate_store::timer::{Timer, TimerKind};
use tillgate_store::{Changes, RecordKeys};

use super::super::{Failure, Gateway};
use super::connector_request::{CONNECTOR_TIMEOUT, ConnectorAnswer, wait_for_outcome};
use super::debit_steps::capture_debit;
use super::in_flight::{InFlightPayment, NextAnswer};
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;

/// Minimum age at which a payment is reversed if its connector does not know it.
///
/// It is shorter than the longest wait for a connector, a minute. A request of this process still cannot be given up
/// while it is in flight, because [`Gateway::resolve_payment`] leaves such payments alone. The request of another
/// process, or of a lost connection, may still be on its way. The payment is declined only after the connector has
/// confirmed the reversal, and a connector declines a request that arrives after its reversal.
const UNKNOWN_PAYMENT_AGE: SignedDuration = SignedDuration::from_secs(30);
/// Minimum time between two inquiries about a payment.
const MIN_INTERVAL: SignedDuration = SignedDuration::from_secs(1);
/// Maximum time between two inquiries about a payment.
const MAX_INTERVAL: SignedDuration = SignedDuration::from_mins(10);

impl Gateway {
    /// Finds the outcome of a payment with an intent at its connector and writes it. Does nothing if this process is
    /// asking that connector already, and deletes the timer of a payment that no longer needs an outcome. If the
    /// outcome stays unknown, the next attempt is after half of the payment's age, at least 1 second and at most 10
    /// minutes.
    pub async fn resolve_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        match self.payments_in_flight.mark_payment(id) {
            Some(guard) => self.resolve_in_flight(entity, id, guard).await,
            None => Ok(()),
        }
    }

    /// Like [`Self::resolve_payment`], with an inquiry that begins after this call. One that is under way is waited
    /// for: its answer may be older. Callers that wait together share the inquiry after it.
    pub(super) async fn resolve_payment_afresh(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        // The inquiry under way may have begun before this call. One that another caller begins after it is as good as
        // our own.
        let mut next: Option<NextAnswer> = None;
        for _ in 0..2 {
            // It may have ended before this caller went on.
            if next.as_ref().is_some_and(|next| next.load(Ordering::Acquire)) {
                break;
            }
            if let Some(guard) = self.payments_in_flight.mark_payment(id) {
                self.resolve_in_flight(entity, id, guard).await?;
                if let Some(next) = next {
                    next.store(true, Ordering::Release);
                }
                break;
            }
            next = self.payments_in_flight.wait_for_end(id).await;
        }
        Ok(())
    }

    async fn resolve_in_flight(
        &self,
        entity: &EntityId,
        id: &PaymentId,
        _guard: InFlightPayment,
    ) -> Result<(), Failure> {
        let Some(payment) = self.store.load_payment(entity, id)?.filter(Payment::can_be_inquired) else {
            return self.stop_unneeded_timer(entity, id).await;
        };
        let (found, messages) = collect_messages(self.find_outcome(&payment)).await;
        let answer = ConnectorAnswer { outcome: found?, messages };
        let settled = self.write_outcome(&Arc::new(payment), answer, ResponseRecorder::disabled()).await?;
        if settled.can_be_inquired() {
            let age = self.now_of_id(entity).duration_since(settled.connector_request_time());
            // A connector that is down for long gets fewer and fewer inquiries, and a short failure is resolved
            // quickly.
            let wait = (age / 2).clamp(MIN_INTERVAL, MAX_INTERVAL);
            self.store.postpone_inquiry(id, self.now() + wait).await?;
        }
        Ok(())
    }

    /// Finds the outcome of a payment at its connector: repeats its request if that is safe, or inquires about it.
    async fn find_outcome(&self, payment: &Payment) -> Result<ConnectorOutcome, Failure> {
        let connector = self.route_of(payment).map(|route| route.connector);
        Ok(match (connector, &payment.referenced) {
            (None, _) => {
                // The payment stays pending: the connector may be set up again, and only it knows the outcome.
                tracing::error!(
                    connector = payment.connector,
                    "a payment is pending at a connector that is not set up"
                );
                ConnectorOutcome::Unknown
            }
            (Some(connector), Some(referenced)) => {
                let referenced = self.store.load_payment(&payment.entity, referenced)?;
                match referenced {
                    Some(referenced) => {
                        // A repeated request under the same key is executed once, so no separate inquiry is needed.
                        wait_for_outcome(send_modification(connector.as_ref(), payment, &referenced, true)).await
                    }
                    None => ConnectorOutcome::Unknown,
                }
            }
            (Some(connector), None) if payment.capture_reference().is_some() => {
                wait_for_outcome(capture_debit(connector.as_ref(), payment, true)).await
            }
            (Some(connector), None) => self.inquire_or_reverse(connector.as_ref(), payment).await,
        })
    }

    /// Loads the intents whose outcome this process has to look up now, oldest first, at most `limit`. Leaves out
    /// payments that it is asking a connector about: their intents are due too, and would take the place of others.
    pub fn load_due_intents(&self, limit: usize) -> Result<Vec<Timer>, Failure> {
        let in_flight = self.payments_in_flight.payment_ids();
        // The limit grows by the number of payments that are left out, so that the list is still full.
        let more = u32::try_from(limit.saturating_add(in_flight.len())).unwrap_or(u32::MAX);
        let mut due = self.store.load_due_inquiries(self.now(), more)?;
        due.retain(|timer| PaymentId::parse(&timer.subject).is_none_or(|payment| !in_flight.contains(&payment)));
        due.truncate(limit);
        Ok(due)
    }

    /// Stops the timer of a payment that needs no outcome, unless it does under the write lock.
    async fn stop_unneeded_timer(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        let (keys, id) = (RecordKeys::for_payment(entity, id), id.clone());
        let deleted = self.store.update(keys, move |loaded| {
            // The payment may have got a new request since it was read, and would lose its intent.
            let is_needed = loaded.payment.as_ref().is_some_and(Payment::can_be_inquired);
            let changes = Changes::default();
            Ok((if is_needed { changes } else { changes.without_timer(TimerKind::Inquire, id.as_str()) }, ()))
        });
        Ok(deleted.await??)
    }

    /// Asks a connector for the outcome of a payment. Reverses the payment there if the connector answers after 30
    /// seconds without an outcome, or if its shopper has not returned in time. Returns an unknown outcome unless the
    /// connector has confirmed the reversal; the payment then ends as uncertain or timed out. Never reverses a payment
    /// of whose outcome the connector has said nothing: the shopper may have paid.
    async fn inquire_or_reverse(&self, connector: &dyn Connector, payment: &Payment) -> ConnectorOutcome {
        let (id, amount) = (&payment.id, payment.connector_amount());
        let reference = id.as_str().to_owned();
        let merchant_id = payment.acquirer_merchant_id().to_owned();
        let inquiry = Inquiry { reference, merchant_id, payment_type: payment.type_at_connector(), amount };
        let inquired = tokio::time::timeout(CONNECTOR_TIMEOUT, connector.inquire(&inquiry)).await;
        let known = inquired.unwrap_or(Some(ConnectorOutcome::Unknown));
        if known == Some(ConnectorOutcome::Unknown) {
            return ConnectorOutcome::Unknown;
        }
        let now = self.now_of_id(&payment.entity);
        let can_redirect = payment.redirect.as_ref().is_some_and(|page| page.authentication.is_none());
        let code_of_reversal = match (&known, payment.awaits_shopper()) {
            (Some(ConnectorOutcome::Approved(_) | ConnectorOutcome::Declined(_)), _) => None,
            (_, true) => (now >= self.shopper_deadline(payment)).then_some(codes::TIMED_OUT),
            (Some(ConnectorOutcome::Pending(_)), false) => None,
            (Some(ConnectorOutcome::Redirect(..)), false) if can_redirect => None,
            // A shopper who cannot be redirected cannot decide on the connector's page.
            (_, false) => {
                let age = now.duration_since(payment.connector_request_time());
                (age >= UNKNOWN_PAYMENT_AGE).then_some(codes::OUTCOME_UNCERTAIN)
            }
        };
        let Some(code) = code_of_reversal else { return known.unwrap_or(ConnectorOutcome::Unknown) };
        // The key is always the same, because the reversal is repeated until the connector confirms it.
        let reversal = Modification::reversal_of(payment, format!("{id}-reversal"), true);
        match wait_for_outcome(connector.reverse(&reversal)).await {
            ConnectorOutcome::Approved(_) => ConnectorOutcome::from(code),
            // Without the confirmation the payment could still succeed at the connector, so it stays pending.
            _ => ConnectorOutcome::Unknown,
        }
    }
}

/// Asks a connector for a capture, an increment, a refund or, for any other payment type, a reversal. Writes nothing.
/// Repeating the request is safe: the id of the payment is the idempotency key. `is_repeated`: the request may have
/// been sent before.
pub(crate) async fn send_modification(
    connector: &dyn Connector,
    payment: &Payment,
    referenced: &Payment,
    is_repeated: bool,
) -> ConnectorOutcome {
    let modification_type = match payment.payment_type {
        PaymentType::Capture => ModificationType::Capture,
        PaymentType::Refund => ModificationType::Refund,
        PaymentType::Preauthorization => ModificationType::Increment,
        _ => ModificationType::Reversal,
    };
    let original_reference = referenced.reference_for(modification_type);
    let modification = Modification {
        reference: payment.id.as_str().to_owned(),
        earlier: EarlierPayment::of_request(referenced, &original_reference),
        original_reference,
        place: payment.place.clone(),
        merchant_id: referenced.acquirer_merchant_id().to_owned(),
        connector_tx_ids: referenced.connector_tx_ids.clone(),
        amount: if modification_type == ModificationType::Reversal {
            referenced.connector_amount()
        } else {
            payment.amount
        },
        descriptor: Some(payment.descriptor.clone()),
        capture: CaptureTerms::of_payment(payment),
        forced_result_code: payment.parameters.get(order::FORCED_RESULT).map(str::to_owned),
        is_repeated,
    };
    match modification_type {
        ModificationType::Capture => connector.capture(&modification).await,
        ModificationType::Increment => connector.increment(&modification).await,
        ModificationType::Refund => connector.refund(&modification).await,
        ModificationType::Reversal | ModificationType::Chargeback | ModificationType::ChargebackReversal => {
            reverse_payment(connector, referenced, &modification).await
        }
    }
}

/// Reverses a payment at its connector. Of a debit that was captured after its preauthorization, the capture is
/// reversed first.
async fn reverse_payment(
    connector: &dyn Connector,
    referenced: &Payment,
    modification: &Modification,
) -> ConnectorOutcome {
    if let Some(capture) = referenced.capture_reference() {
        let of_capture = Modification {
            // The reversals of capture and preauthorization are two requests, and each needs its own idempotency key.
            reference: format!("{}-capture", modification.reference),
            earlier: EarlierPayment::of_request(referenced, &capture),
            original_reference: capture,
            place: None,
            // Of a part that was approved, only the part was captured.
            amount: referenced.amount,
            ..modification.clone()
        };
        let reversed = connector.reverse(&of_capture).await;
        if !matches!(reversed, ConnectorOutcome::Approved(_)) {
            return reversed;
        }
    }
    connector.reverse(modification).await
}
