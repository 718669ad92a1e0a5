//! Payments at an external connector: reserve the amount, send the request, write the outcome.
//!
//! The payment is written as pending, with its intent, before the connector is asked; no lock is held meanwhile. A
//! second transaction writes the outcome. Without an outcome (a timeout, a crash, a disconnected client) the payment
//! stays pending, and [`super::resolve`] finds the outcome.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tillgate_connector::recorded_messages::collect_messages;
use tillgate_connector::{Connector, ConnectorOutcome, Order, OrderRequest, PaymentRoute, ShopperPage};
use tillgate_domain::id::log_tag;
use tillgate_domain::payment::connector_message::ConnectorMessage;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_store::{Changes, RecordKeys};

use super::super::{Failure, Gateway};
use super::in_flight::InFlightPayment;
use crate::payment::asynchronous::page_not_found;
use crate::payment::response_recorder::ResponseRecorder;

/// Maximum time to wait for a connector. The connector's own limits should be shorter.
pub(super) const CONNECTOR_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum time from the making of a request to its sending. It is shorter than the time after which another process
/// reverses the payment.
const SEND_LIMIT: Duration = Duration::from_secs(20);

/// A request to a connector about a payment that is about to be written.
pub(crate) struct ConnectorRequest {
    connector: Arc<dyn Connector>,
    order: Order,
    /// The time of the payment by the entity's clock.
    now: Timestamp,
    /// The gateway's page that the shopper returns to from a page of the connector.
    return_url: Option<String>,
    /// The time at which the request was made, by a clock that never jumps.
    prepared: Instant,
    guard: Option<InFlightPayment>,
}

/// The outcome of the requests to a connector, with their messages, which are written together with the outcome.
pub(crate) struct ConnectorAnswer {
    pub(crate) outcome: ConnectorOutcome,
    /// Oldest first, by the machine's clock. Empty for an in-process connector.
    pub(crate) messages: Vec<ConnectorMessage>,
}

impl ConnectorRequest {
    /// Returns true if this request has marked its payment as in flight. False if another request had done so before.
    pub(super) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }
}

impl Gateway {
    /// Makes the request about a payment, and marks the payment as in flight. `public` is the address under which
    /// browsers reach this gateway, with a trailing slash. Sends nothing.
    pub(crate) fn prepare_connector_request(
        &self,
        payment: &Payment,
        order: Order,
        route: &PaymentRoute,
        public: &str,
    ) -> ConnectorRequest {
        let page = payment.redirect.as_ref().filter(|page| page.authentication.is_none());
        let page = page.and_then(|page| page.page.as_ref());
        ConnectorRequest {
            connector: Arc::clone(&route.connector),
            order,
            now: payment.created,
            return_url: page.map(|page| format!("{public}v1/return/{}", page.as_str())),
            prepared: Instant::now(),
            // Marked before the payment is written. Otherwise the worker could find the new intent and ask the
            // connector as well.
            guard: self.payments_in_flight.mark_payment(&payment.id),
        }
    }

    /// Sends the request about a payment that has been written, if there is one and the payment awaits it, and writes
    /// the outcome. Returns the payment with its current state, which is pending if the outcome is unknown or could not
    /// be written.
    pub(crate) async fn send_connector_request(
        &self,
        request: Option<ConnectorRequest>,
        payment: Arc<Payment>,
        recorder: ResponseRecorder<Payment>,
    ) -> Arc<Payment> {
        match request.filter(|_| payment.awaits_connector()) {
            // Boxed, because most payments send no request, and all would have to reserve its memory.
            Some(request) => Box::pin(self.ask_connector(request, payment, recorder)).await,
            None => payment,
        }
    }

    /// Asks the connector to authorize or credit a written payment, and writes the outcome. Returns the payment with
    /// its current state. The payment is in flight until then.
    async fn ask_connector(
        &self,
        request: ConnectorRequest,
        payment: Arc<Payment>,
        recorder: ResponseRecorder<Payment>,
    ) -> Arc<Payment> {
        // The guard is kept until the outcome is written, so that no inquiry runs at the same time.
        let ConnectorRequest { connector, mut order, now, return_url, prepared, guard: _guard } = request;
        // Decided in the write of the payment: a debit may be preauthorized first, because it is checked or reviewed
        // before its capture.
        order.payment_type = payment.type_at_connector();
        let payment = match self.place_request(connector.as_ref(), &order, Arc::clone(&payment)).await {
            Ok(payment) if payment.awaits_connector() => payment,
            Ok(payment) => return payment,
            Err(error) => {
                let tag = log_tag(payment.id.as_str());
                tracing::warn!(%error, payment = tag, "the place of a request could not be written; it is not sent");
                return payment;
            }
        };
        if prepared.elapsed() > SEND_LIMIT {
            // This process has stood still. Others may reverse the payment already, as one without an outcome.
            let answer = ConnectorAnswer { outcome: ConnectorOutcome::Unknown, messages: Vec::new() };
            return self.try_write_outcome(payment, answer, recorder).await;
        }
        let (reference, descriptor) = (payment.id.as_str(), payment.descriptor.as_str());
        let merchant_id = payment.acquirer_merchant_id();
        let return_url = return_url.as_deref();
        let place = payment.place.as_ref();
        let request = OrderRequest { reference, merchant_id, return_url, place, descriptor, now, order: &order };
        let answer = match payment.payment_type {
            PaymentType::Credit => wait_for_answer(connector.credit(&request)).await,
            _ => wait_for_answer(connector.authorize(&request)).await,
        };
        self.try_write_outcome(payment, answer, recorder).await
    }

    /// Writes the place of a payment's request at its acquirer, if it has none, or if the stored one cannot be reached
    /// any more. Returns the payment with its current state.
    async fn place_request(
        &self,
        connector: &dyn Connector,
        order: &Order,
        payment: Arc<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        let place = connector.place_order(order, payment.place.as_ref());
        if place.is_none() || place == payment.place {
            return Ok(payment);
        }
        let placed = self.store.update(RecordKeys::for_payment(&payment.entity, &payment.id), move |loaded| {
            let mut payment = loaded.payment.ok_or_else(page_not_found)?;
            if !payment.awaits_connector() {
                return Ok((Changes::default(), Arc::new(payment)));
            }
            payment.place = place;
            let payment = Arc::new(payment);
            Ok((Changes::default().with_payment(Arc::clone(&payment)), payment))
        });
        Ok(placed.await??)
    }

    /// Writes the outcome of a pending payment, and returns the payment with its current state. If the write fails,
    /// logs a warning and returns the payment as it was; [`super::resolve`] finds the outcome later. If the outcome is
    /// unknown, notifies the merchant of a pending payment, as in the response to the request.
    pub(crate) async fn try_write_outcome(
        &self,
        payment: Arc<Payment>,
        answer: ConnectorAnswer,
        recorder: ResponseRecorder<Payment>,
    ) -> Arc<Payment> {
        let settled = match answer.outcome {
            // One write has both the messages and the notification.
            ConnectorOutcome::Pending(_) | ConnectorOutcome::Unknown => {
                self.announce_pending(Arc::clone(&payment), answer.messages).await
            }
            _ => match self.write_outcome(&payment, answer, recorder).await {
                Ok(settled) if settled.unannounced => self.announce_pending(settled, Vec::new()).await,
                settled => settled,
            },
        };
        match settled {
            Ok(settled) => settled,
            Err(error) => {
                let tag = log_tag(payment.id.as_str());
                tracing::warn!(%error, payment = tag, "the outcome of a payment could not be written; it is asked for again");
                payment
            }
        }
    }

    /// Writes the connector's page that the shopper has to visit, and returns the payment with its current state.
    /// Writes nothing if the payment has ended or has such a page already, if its shopper cannot be redirected, or if
    /// the page is not a foreign one.
    async fn write_connector_page(
        &self,
        payment: Arc<Payment>,
        shopper_page: ShopperPage,
        messages: Vec<ConnectorMessage>,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        let ShopperPage::Foreign { url, method, parameters } = shopper_page else { return Ok(payment) };
        let messages = self.date_messages(&payment, messages);
        let written = self.store.update(RecordKeys::for_payment(&payment.entity, &payment.id), move |loaded| {
            let mut payment = loaded.payment.unwrap_or_else(|| Arc::unwrap_or_clone(payment));
            let is_pending = payment.result.is_pending();
            // A page that is written already stays, because the shopper may be on it.
            let page = payment.redirect.as_mut().filter(|page| page.authentication.is_none() && page.asked.is_some());
            let Some(page) = page.filter(|_| is_pending) else {
                return Ok((Changes::default().with_connector_messages(&payment, messages), Arc::new(payment)));
            };
            (page.url, page.method, page.parameters, page.asked) = (url, method, parameters, None);
            payment.unannounced = false;
            let payment = Arc::new(payment);
            let changes = Changes::default().with_payment(Arc::clone(&payment));
            let changes = changes.with_connector_messages(&payment, messages);
            Ok((recorder.replace_response(changes, &payment, payment.created), payment))
        });
        Ok(written.await??)
    }

    /// Notifies the merchant of a pending payment, unless that was done before, and writes messages about the payment.
    /// Returns the payment with its current state.
    async fn announce_pending(
        &self,
        payment: Arc<Payment>,
        messages: Vec<ConnectorMessage>,
    ) -> Result<Arc<Payment>, Failure> {
        if messages.is_empty() && !payment.unannounced {
            return Ok(payment);
        }
        let messages = self.date_messages(&payment, messages);
        let announced = self.store.update(RecordKeys::for_payment(&payment.entity, &payment.id), move |loaded| {
            let mut payment = loaded.payment.unwrap_or_else(|| Arc::unwrap_or_clone(payment));
            if !payment.unannounced {
                return Ok((Changes::default().with_connector_messages(&payment, messages), Arc::new(payment)));
            }
            payment.unannounced = false;
            let payment = Arc::new(payment);
            let changes = Changes::default().with_payment(Arc::clone(&payment));
            Ok((changes.with_connector_messages(&payment, messages), payment))
        });
        Ok(announced.await??)
    }

    /// Writes the outcome of a pending payment: ends it, writes the page that its shopper has to visit, or captures the
    /// debit that its risk check has accepted after its preauthorization. Writes only the messages if the outcome is
    /// pending or unknown. Returns the payment with its current state.
    ///
    /// # Errors
    /// If the store fails, or the payment is gone.
    pub(super) async fn write_outcome(
        &self,
        payment: &Arc<Payment>,
        answer: ConnectorAnswer,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        let messages = answer.messages;
        match answer.outcome {
            ConnectorOutcome::Approved(result) | ConnectorOutcome::Declined(result) => {
                let completed = self.complete_with_answer(payment, result, messages, recorder.clone()).await?;
                // Only the call that accepted the payment captures it. Otherwise two calls could send the same capture.
                if completed.changed {
                    self.capture_accepted(completed.payment, recorder).await
                } else {
                    Ok(completed.payment)
                }
            }
            ConnectorOutcome::Redirect(_, page) => {
                self.write_connector_page(Arc::clone(payment), page, messages, recorder).await
            }
            // The payment keeps its intent, and the worker asks again later.
            ConnectorOutcome::Pending(_) | ConnectorOutcome::Unknown => {
                self.write_messages(payment, messages).await?;
                Ok(Arc::clone(payment))
            }
        }
    }
}

/// Waits for the outcome of a request, at most for [`CONNECTOR_TIMEOUT`]. The outcome is unknown after that, and the
/// request is dropped.
pub(crate) async fn wait_for_outcome(request: impl Future<Output = ConnectorOutcome>) -> ConnectorOutcome {
    tokio::time::timeout(CONNECTOR_TIMEOUT, request).await.unwrap_or(ConnectorOutcome::Unknown)
}

/// Waits for the outcome of a request as [`wait_for_outcome`] does, and collects its messages.
pub(crate) async fn wait_for_answer(request: impl Future<Output = ConnectorOutcome>) -> ConnectorAnswer {
    let (outcome, messages) = collect_messages(wait_for_outcome(request)).await;
    ConnectorAnswer { outcome, messages }
}
