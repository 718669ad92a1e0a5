//! Reserve, ask, settle: payments at a connector that leaves this process.
//!
//! The payment is written as pending, with its intent, before the connector is asked; no lock is held meanwhile. The outcome is
//! a second commit. When there is none (a time-out, a crash, a client that has hung up), the payment stays pending, and
//! [`super::resolve`] finds out.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::once::Once;
use super::super::{Failure, Gateway};
use crate::connector::{Connector, Order, OrderRequest, Outcome, Route};
use crate::domain::id::{PaymentId, log_tag};
use crate::domain::payment::{Payment, PaymentType};

/// Maximum time that a connector is waited for. Its own limits should be shorter.
const PATIENCE: Duration = Duration::from_secs(60);

/// The payments whose connectors this process is asking at the moment, so that nobody tries to find out what has become of
/// them. After a crash there are none.
#[derive(Debug, Clone, Default)]
pub struct Asking(Arc<Mutex<HashSet<PaymentId>>>);

/// A payment whose connector is being asked until this is dropped.
pub(in crate::gateway) struct AskingGuard {
    all: Asking,
    payment: PaymentId,
}

impl Asking {
    /// Marks a payment. Returns `None` if it is marked already.
    pub(in crate::gateway) fn begin(&self, payment: &PaymentId) -> Option<AskingGuard> {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(payment.clone());
        is_new.then(|| AskingGuard { all: self.clone(), payment: payment.clone() })
    }
}

impl Drop for AskingGuard {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.payment);
    }
}

/// A question to a connector about a payment that is about to be written.
pub(in crate::gateway) struct Ask {
    connector: Arc<dyn Connector>,
    order: Order,
    today: Date,
    _guard: Option<AskingGuard>,
}

impl Gateway {
    /// Makes the question about a payment. From now on nobody else finds out what has become of it.
    pub(super) fn question(&self, payment: &Payment, order: Order, route: &Route) -> Ask {
        Ask {
            connector: Arc::clone(&route.connector),
            order,
            today: payment.created.to_zoned(TimeZone::UTC).date(),
            _guard: self.asking.begin(&payment.id),
        }
    }

    /// Asks the connector of a payment that has been written, and writes the outcome. Returns the payment as it is then: pending
    /// if the outcome is unknown or could not be written.
    pub(in crate::gateway) async fn ask(&self, ask: Option<Ask>, payment: Payment, once: Once<Payment>) -> Payment {
        let Some(Ask { connector, order, today, _guard }) = ask.filter(|_| payment.awaits_connector()) else {
            return payment;
        };
        let (reference, descriptor) = (payment.id.as_str(), payment.descriptor.as_str());
        let request = OrderRequest { reference, descriptor, today, order: &order };
        let outcome = match payment.payment_type {
            PaymentType::Credit => with_patience(connector.credit(&request)).await,
            _ => with_patience(connector.authorize(&request)).await,
        };
        self.settle_or_wait(payment, outcome, once).await
    }

    /// Writes the outcome of a pending payment. One that cannot be written is found out again later.
    pub(in crate::gateway) async fn settle_or_wait(
        &self,
        payment: Payment,
        outcome: Outcome,
        once: Once<Payment>,
    ) -> Payment {
        match self.settle(payment.clone(), outcome, once).await {
            Ok(settled) => settled,
            Err(error) => {
                let tag = log_tag(payment.id.as_str());
                tracing::warn!(%error, payment = tag, "the outcome of a payment could not be written; it is asked for again");
                payment
            }
        }
    }

    /// Writes the outcome of a pending payment, if it is known. Returns the payment as it is then.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn settle(
        &self,
        payment: Payment,
        outcome: Outcome,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        match outcome {
            Outcome::Approved(result) | Outcome::Declined(result) => {
                Ok(self.complete_once(payment, result, |_| true, once).await?.payment)
            }
            Outcome::Pending(_) | Outcome::Redirect(..) | Outcome::Unknown => Ok(payment),
        }
    }
}

/// Waits for an outcome, at most as long as patience lasts.
pub(in crate::gateway) async fn with_patience(asked: impl Future<Output = Outcome>) -> Outcome {
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Outcome::Unknown)
}
