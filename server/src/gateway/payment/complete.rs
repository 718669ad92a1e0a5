//! The end of a pending payment: its result comes from the brand's page, from the issuer's, from the connector, or because its
//! time is over. Its checkout, what it puts on file and the reversal of one that its shopper has given up follow by themselves.

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::super::asynchronous::no_page;
use super::super::once::Once;
use super::super::{Failure, Gateway, reference};
use crate::connector::{ConnectorResult, Modification};
use crate::domain::asynchronous::{Ended, end};
use crate::domain::id::PaymentId;
use crate::domain::payment::{Command, NOTIFICATION_URL, Payment};
use crate::domain::refusal::Refusal;
use crate::store::{Changes, Keys, Loaded, OnFile, Promise};

/// A payment that has been given a result.
#[derive(Debug)]
pub struct Decided {
    /// The payment, with its outcome.
    pub payment: Payment,
    /// True if the outcome is the one that was wanted; a payment that had ended before keeps its own.
    pub as_wanted: bool,
    /// True if this has ended the payment.
    pub changed: bool,
}

/// Everything that the end of a payment is decided by.
struct Completion {
    result: ConnectorResult,
    /// What the payment does on file, or has to take back.
    promise: Option<Promise>,
    /// Now, by the clock of the entity.
    now: Timestamp,
    /// Now, by the clock of the machine.
    machine_time: Timestamp,
    /// The time for which the account of a payment is kept.
    card_window: SignedDuration,
    /// The id of the reversal, and its result, should the payment have to be reversed.
    reversal: (PaymentId, ResultCode),
    /// The response to the request that made the payment.
    once: Once<Payment>,
}

impl Gateway {
    /// Gives a pending payment its result. `change` is called under the write lock, may write more into the payment, and says
    /// whether the result still counts. A payment that has ended stays as it is.
    ///
    /// # Errors
    /// 404 when the payment is gone; when the store fails.
    pub async fn complete(
        &self,
        payment: Payment,
        result: ConnectorResult,
        change: impl FnOnce(&mut Payment) -> bool + Send + 'static,
    ) -> Result<Decided, Failure> {
        self.complete_once(payment, result, change, Once::unnamed()).await
    }

    /// Same as [`Gateway::complete`], and replaces the response that was recorded while the payment was pending.
    ///
    /// # Errors
    /// Same as [`Gateway::complete`].
    pub(super) async fn complete_once(
        &self,
        payment: Payment,
        result: ConnectorResult,
        change: impl FnOnce(&mut Payment) -> bool + Send + 'static,
        once: Once<Payment>,
    ) -> Result<Decided, Failure> {
        let promise = self.store.promise(&payment)?;
        let on_file = promise.as_ref().map(|promise| promise.keys(&payment)).unwrap_or_default();
        let promised = promise.is_some();
        let reversal = Self::new_payment_id(self.next_id_time_of_id(&payment.entity))?;
        let reversed = self.reversed_in_process(&payment, &reversal).await;
        let now = self.now_of_id(&payment.entity);
        let card_window = self.options.card_window;
        let (reversal, machine_time) = ((reversal, reversed), self.now());
        let completion = Completion { result, promise, now, machine_time, card_window, reversal, once };
        let Payment { entity, id, checkout, .. } = payment;
        let keys = Keys { checkout, on_file, ..Keys::payment(&entity, &id) };
        let decided = self.store.update(keys, move |loaded| completion.decide(loaded, change)).await??;
        self.codes.remove(&decided.payment.id);
        if decided.changed {
            self.velocity.end_pending(&decided.payment.id, decided.payment.approved(), self.now());
        }
        if promised || !decided.payment.counts() {
            self.store.something_was_deleted();
        }
        Ok(decided)
    }

    /// Reverses a payment at a connector that is a pure function, which can be asked before it is known whether the payment has
    /// to be reversed. Returns pending if the connector leaves this process: the intent of the reversal is written then.
    async fn reversed_in_process(&self, payment: &Payment, reversal: &PaymentId) -> ResultCode {
        let modification = Modification {
            reference: reversal.as_str().to_owned(),
            referenced: payment.id.as_str().to_owned(),
            connector_tx_ids: Vec::new(),
            amount: payment.amount,
            forced: None,
            is_repeated: false,
        };
        if payment.connector.is_some() {
            return codes::PENDING;
        }
        let Some(route) = self.route_of(payment) else { return codes::METHOD_NOT_CONFIGURED };
        route.connector.reverse(&modification).await.result().map_or(codes::PENDING, |result| result.code)
    }
}

impl Completion {
    /// Decides under the write lock what is written.
    fn decide(self, loaded: Loaded, change: impl FnOnce(&mut Payment) -> bool) -> Result<(Changes, Decided), Refusal> {
        let Self { result, promise, now, machine_time, card_window, reversal, once } = self;
        let payment = loaded.payment.ok_or_else(no_page)?;
        let as_wanted = payment.result == result.code;
        let mut answered = Payment {
            details: result.details,
            avs: result.avs.or(payment.avs),
            cvv: result.cvv.or(payment.cvv),
            pay_to: result.transfer_account.or_else(|| payment.pay_to.clone()),
            connector_tx_ids: if result.connector_tx_ids.is_empty() {
                payment.connector_tx_ids.clone()
            } else {
                result.connector_tx_ids
            },
            ..payment.clone()
        };
        if as_wanted || !payment.result.is_pending() || !change(&mut answered) {
            return Ok((Changes::default(), Decided { payment, as_wanted, changed: false }));
        }
        let Ended { mut payment, checkout, reverse } = end(answered, loaded.checkout, result.code);
        let mut changes = match promise {
            Some(promise) => keep_promise(promise, &mut payment, loaded.on_file, reverse, now, card_window),
            None => Changes::default(),
        };
        changes = once.replace(changes.payment(&payment), &payment, payment.created);
        if payment.connector.is_some() {
            changes = changes.without_intent(&payment.id);
        }
        if let Some(checkout) = &checkout {
            changes = changes.checkout(checkout);
        }
        if !payment.counts() {
            changes = changes.without_card(&payment.id, payment.created + card_window);
        }
        if reverse {
            let reversal = reversal_of(&payment, reversal, now);
            changes = changes.payment(&reversal);
            if reversal.awaits_connector() {
                changes = changes.intent(&reversal, machine_time);
            }
        }
        Ok((changes, Decided { payment, as_wanted: true, changed: true }))
    }
}

/// Writes what an ended payment does on file, or takes it back.
fn keep_promise(
    mut promise: Promise,
    payment: &mut Payment,
    on_file: OnFile,
    reverse: bool,
    now: Timestamp,
    card_window: SignedDuration,
) -> Changes {
    let card = promise.card.take();
    let changes = Changes::default().without_promise(&payment.id);
    let changes = changes.and(if payment.approved() && !reverse {
        promise.keep(payment, on_file, now)
    } else {
        promise.fail(on_file)
    });
    // An account on file is kept there, and nowhere else.
    match card.filter(|_| payment.approved() && payment.registration.is_none()) {
        Some(card) => changes.card(&payment.id, card, payment.created + card_window),
        None => changes,
    }
}

/// Makes the reversal of a payment that its shopper had given up. Nobody has asked for it: the merchant is notified where it is
/// notified about the payment.
fn reversal_of(payment: &Payment, (id, result): (PaymentId, ResultCode), now: Timestamp) -> Payment {
    let mut parameters = Parameters::default();
    if let Some(address) = payment.parameters.get(NOTIFICATION_URL) {
        parameters.set(NOTIFICATION_URL, address);
    }
    let (command, amount) = (Command::Reversal, payment.amount);
    let reversal = reference::payment(id, now, payment, command, amount, result, parameters);
    // The order is found by the request of the payment, for the reversal has none of its own.
    Payment { ndc: Some(payment.ndc()), ..reversal }
}
