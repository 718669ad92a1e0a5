//! Payments that get their answer later: where their shopper goes meanwhile, what the shopper decides there, and what the
//! form that waits is told.

use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::checkout::unknown;
use super::{Failure, Gateway, random, reference};
use crate::connector::{ConnectorResult, Modification, ShopperPage};
use crate::domain::asynchronous::{Ended, end};
use crate::domain::checkout::{Checkout, Standing};
use crate::domain::id::{CheckoutId, EntityId, PageId, PaymentId};
use crate::domain::payment::{Command, NOTIFICATION_URL, Payment, Redirect};
use crate::domain::refusal::Refusal;
use crate::store::timer::Kind;
use crate::store::{Changes, Keys};

/// What became of a payment whose shopper has decided.
#[derive(Debug)]
pub struct Decided {
    /// The payment, with its outcome.
    pub payment: Payment,
    /// Whether the outcome is the one that the shopper wanted; a payment that had ended before keeps its own.
    pub as_wanted: bool,
    /// Whether this is what has ended it.
    pub changed: bool,
}

/// The page that a connector sends the shopper to, who comes back to `result_url`.
///
/// # Errors
/// When the system gives no random bytes.
pub(super) fn redirect(
    public: &str,
    result_url: String,
    target: ShopperPage,
    now: Timestamp,
) -> Result<Redirect, Failure> {
    let (url, method, parameters, page) = match target {
        ShopperPage::Own(path) => {
            let page = PageId::new(now, random()?);
            (format!("{public}{path}{}", page.as_str()), "GET".to_owned(), Vec::new(), Some(page))
        }
        ShopperPage::Foreign { url, method, parameters } => (url, method, parameters, None),
    };
    Ok(Redirect {
        url,
        method,
        parameters,
        preconditions: Vec::new(),
        result_url,
        shop_origin: None,
        page,
        abandoned: false,
        authentication: None,
    })
}

pub(super) fn no_page() -> Refusal {
    Refusal::not_found("There is no payment here")
}

impl Gateway {
    /// The payment that sent its shopper to a page of ours.
    ///
    /// # Errors
    /// 404 when none did.
    pub fn payment_of_page(&self, page: &str) -> Result<Payment, Failure> {
        let payment = match PageId::parse(page) {
            Some(page) => self.store.payment_of_page(&page)?,
            None => None,
        };
        // Where a cardholder is authenticated, a brand's page has nothing to say.
        payment.filter(|payment| payment.authentication().is_none()).ok_or_else(|| no_page().into())
    }

    /// Does to a pending payment what its shopper has decided on the page. Deciding the same again changes nothing, and
    /// neither does deciding later.
    ///
    /// # Errors
    /// 404 when no payment sent its shopper to this page.
    pub async fn decide_on_page(&self, page: &str, result: ConnectorResult) -> Result<Decided, Failure> {
        self.end_pending(self.payment_of_page(page)?, result, |_| true).await
    }

    /// Ends a payment whose shopper has not come back in time. One that has ended meanwhile stays as it is.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn time_out(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        match self.store.payment(entity, id)?.filter(Payment::waits) {
            Some(payment) => self.end_pending(payment, codes::TIMED_OUT.into(), |_| true).await.map(drop),
            None => {
                let changes = Changes::default().without_timer(Kind::End, id.as_str());
                Ok(self.store.update(Keys::none(), move |_| Ok((changes, ()))).await??)
            }
        }
    }

    /// Gives a pending payment its answer; whatever the answer, its checkout, what it puts on file and the reversal of one
    /// that its shopper has given up follow by themselves. `change` is asked under the write lock, may write what else is
    /// known into the payment, and says whether the answer still counts. One that has ended stays as it is.
    ///
    /// # Errors
    /// 404 when the payment is gone; when the store fails.
    pub async fn end_pending(
        &self,
        payment: Payment,
        answer: ConnectorResult,
        change: impl FnOnce(&mut Payment) -> bool + Send + 'static,
    ) -> Result<Decided, Failure> {
        let promise = self.store.promise(&payment)?;
        let on_file = promise.as_ref().map(|promise| promise.keys(&payment)).unwrap_or_default();
        let promised = promise.is_some();
        let now = self.now_of_id(&payment.entity);
        let reversal = Self::new_payment_id(self.next_id_time_of_id(&payment.entity))?;
        let kept = self.options.card_window;
        // The reversal of a payment that was given up. Where the connector is a pure function, it can be asked beforehand.
        let reversed = self.reversed(&payment, &reversal).await;
        let Payment { entity, id, checkout, .. } = payment;
        let keys = Keys { checkout, on_file, ..Keys::payment(&entity, &id) };
        let decided = self
            .store
            .update(keys, move |loaded| {
                let payment = loaded.payment.ok_or_else(no_page)?;
                let as_wanted = payment.result == answer.code;
                let mut told = Payment {
                    details: answer.details,
                    avs: answer.avs.or(payment.avs),
                    cvv: answer.cvv.or(payment.cvv),
                    ..payment.clone()
                };
                if as_wanted || !payment.result.is_pending() || !change(&mut told) {
                    return Ok((Changes::default(), Decided { payment, as_wanted, changed: false }));
                }
                let Ended { mut payment, checkout, reverse } = end(told, loaded.checkout, answer.code);
                let mut changes = Changes::default();
                if let Some(mut promise) = promise {
                    let card = promise.card.take();
                    changes = changes.without_promise(&payment.id);
                    changes = changes.and(if payment.approved() && !reverse {
                        promise.keep(&mut payment, loaded.on_file, now)
                    } else {
                        promise.fail(loaded.on_file)
                    });
                    // An account on file is kept there, and nowhere else.
                    if let Some(card) = card.filter(|_| payment.approved() && payment.registration.is_none()) {
                        changes = changes.card(&payment.id, card, payment.created + kept);
                    }
                }
                changes = changes.payment(&payment);
                if let Some(checkout) = &checkout {
                    changes = changes.checkout(checkout);
                }
                if !payment.counts() {
                    changes = changes.without_card(&payment.id, payment.created + kept);
                }
                if reverse {
                    // Nobody has asked for it: the merchant is told where it is told about the payment.
                    let mut parameters = Parameters::default();
                    if let Some(address) = payment.parameters.get(NOTIFICATION_URL) {
                        parameters.set(NOTIFICATION_URL, address);
                    }
                    let reversal = reference::payment(
                        reversal,
                        now,
                        payment.clone(),
                        Command::Reversal,
                        payment.amount,
                        reversed,
                        parameters,
                    );
                    // The order is found by the request of the payment, for the reversal has none of its own.
                    changes = changes.payment(&Payment { ndc: Some(payment.ndc()), ..reversal });
                }
                Ok((changes, Decided { payment, as_wanted: true, changed: true }))
            })
            .await??;
        self.codes.remove(&decided.payment.id);
        if decided.changed {
            self.velocity.end_pending(&decided.payment.id, decided.payment.approved(), self.now());
        }
        if promised || !decided.payment.counts() {
            self.store.something_was_deleted();
        }
        Ok(decided)
    }

    /// Reverses a payment at its connector.
    async fn reversed(&self, payment: &Payment, reversal: &PaymentId) -> ResultCode {
        let modification = Modification {
            reference: reversal.as_str().to_owned(),
            referenced: payment.id.as_str().to_owned(),
            connector_tx_ids: Vec::new(),
            amount: payment.amount,
            forced: None,
        };
        let entity = self.directory.entity(&payment.entity);
        match entity.and_then(|entity| self.route(&entity, &payment.parameters).ok()) {
            Some(route) => {
                route.connector.reverse(&modification).await.result().map_or(codes::PENDING, |result| result.code)
            }
            None => codes::METHOD_NOT_CONFIGURED,
        }
    }

    /// Whether the payment of a checkout is still to be decided.
    pub fn is_pending(&self, checkout: &Checkout) -> bool {
        self.attempt_of(checkout).is_ok_and(|attempt| attempt.is_some_and(|payment| payment.result.is_pending()))
    }

    /// Where a checkout stands, for the shopper's browser: nothing of how a payment ended.
    ///
    /// # Errors
    /// 404 for an unknown checkout.
    pub fn standing_for_shopper(&self, id: &str) -> Result<Standing, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown)?;
        let (checkout, attempt) = self.store.checkout_with_attempt(&id)?.ok_or_else(unknown)?;
        let now = self.now_of_id(&checkout.entity);
        Ok(match attempt {
            Some(attempt) => checkout.standing(&attempt, now),
            None => Standing::of_registration(checkout.state(now)),
        })
    }
}
