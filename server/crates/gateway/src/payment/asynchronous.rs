//! Asynchronous payments: the pages that their shoppers visit, the shoppers' decisions there, and the status for the
//! waiting form.

use tillgate_connector::ConnectorResult;
use tillgate_connector::sandbox::PageAddress;
use tillgate_domain::checkout::{Checkout, CheckoutState, CheckoutStatus};
use tillgate_domain::id::{CheckoutId, EntityId, PageId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::decline_advice::DeclineAdvice;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::result::codes;
use tillgate_store::timer::TimerKind;
use tillgate_store::{Changes, RecordKeys};

use crate::checkout::unknown_checkout;
use crate::payment::complete::CompletionResult;
use crate::{Failure, Gateway};

/// Returns the refusal for a page that no payment has: 404.
pub(crate) fn page_not_found() -> Refusal {
    Refusal::not_found("There is no payment here")
}

impl Gateway {
    /// Loads the payment, of any entity, whose shopper was redirected to a page of the gateway that replaces the
    /// brand's. Pages of external connectors and of 3-D Secure are not found.
    ///
    /// # Errors
    /// 404 if there is none.
    pub fn load_payment_of_page(&self, address: PageAddress, page: &str) -> Result<Payment, Failure> {
        let payment = match PageId::parse(page) {
            Some(page) => self.store.load_payment_of_page(&page)?,
            None => None,
        };
        let has_page = |payment: &Payment| {
            // The outcome of an external connector comes from that connector. A shopper must not be able to choose it
            // on this page.
            payment.connector.is_none()
                && payment.redirect.as_ref().is_some_and(|redirect| address.is_page_url(&redirect.url, page))
        };
        payment.filter(has_page).ok_or_else(|| page_not_found().into())
    }

    /// Handles the return of a shopper from a page of an external connector: asks the connector for the outcome unless
    /// the payment has ended. An inquiry from before the return does not count: the shopper has decided since. Returns
    /// the payment with its current state.
    ///
    /// # Errors
    /// 404 if no payment of an external connector has this page; also if the store fails.
    pub async fn handle_shopper_return(&self, page: &str) -> Result<Payment, Failure> {
        let payment = match PageId::parse(page) {
            Some(page) => self.store.load_payment_of_page(&page)?,
            None => None,
        };
        let is_at_connector = |payment: &Payment| payment.three_ds_session().is_none() && payment.connector.is_some();
        let payment = payment.filter(is_at_connector).ok_or_else(page_not_found)?;
        if !payment.can_be_inquired() {
            return Ok(payment);
        }
        // An earlier answer may say pending, and the shopper would see that although the payment is decided.
        self.resolve_payment_afresh(&payment.entity, &payment.id).await?;
        Ok(self.store.load_payment(&payment.entity, &payment.id)?.unwrap_or(payment))
    }

    /// Gives a pending payment the result that its shopper has chosen on the page. A repeated choice changes nothing,
    /// and neither does the choice to decide later.
    ///
    /// # Errors
    /// 404 if no payment redirected its shopper to this page.
    pub async fn complete_on_page(
        &self,
        address: PageAddress,
        page: &str,
        result: ConnectorResult,
    ) -> Result<CompletionResult, Failure> {
        self.complete_payment(&self.load_payment_of_page(address, page)?, result, |_| true).await
    }

    /// Notes that the shopper of a payment sees the page that replaces the brand's. Returns the number of this visit.
    pub fn begin_page_visit(&self, payment: &Payment) -> u64 {
        self.page_visits.begin_visit(&payment.id)
    }

    /// Notes that the shopper of a payment has ended a visit to the page without an answer. The form asks for this
    /// where a window tells nothing.
    pub fn end_page_visit(&self, payment: &Payment, visit: u64) {
        self.page_visits.end_visit(&payment.id, visit);
    }

    /// Ends a payment whose shopper has not returned, as timed out. At an external connector, where the shopper may
    /// still pay, it is reversed first: only the inquiry is made due now. Deletes the timer of a payment that no longer
    /// awaits its shopper.
    pub async fn expire_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        match self.store.load_payment(entity, id)?.filter(Payment::awaits_shopper) {
            // The shopper may still pay on the connector's page, so the payment is reversed there first.
            Some(payment) if payment.can_be_inquired() => {
                // A timer that is not deleted stays due, and the worker would come back to this payment in every round.
                self.stop_end_timer(id).await?;
                Ok(self.store.postpone_inquiry(id, self.now()).await?)
            }
            Some(payment) => self
                // Checked again under the write lock, because the shopper may decide at this moment.
                .complete_payment(&payment, codes::TIMED_OUT.into(), |payment| payment.awaits_shopper())
                .await
                .map(drop),
            None => self.stop_end_timer(id).await,
        }
    }

    /// Deletes the timer that ends a pending payment.
    async fn stop_end_timer(&self, id: &PaymentId) -> Result<(), Failure> {
        let changes = Changes::default().without_timer(TimerKind::End, id.as_str());
        Ok(self.store.update(RecordKeys::none(), move |_| Ok((changes, ()))).await??)
    }

    /// Returns true if the last payment of a checkout is pending. False if it cannot be read.
    pub fn is_pending(&self, checkout: &Checkout) -> bool {
        self.load_last_attempt(checkout).is_ok_and(|attempt| attempt.is_some_and(|payment| payment.result.is_pending()))
    }

    /// Returns the status of a checkout for the shopper's browser. It does not reveal the payment's result code. A
    /// payment that is held for review is `Paid`, and a pending one whose shopper has left the brand's page is `Left`.
    ///
    /// # Errors
    /// 404 for an unknown checkout.
    pub fn status_for_shopper(&self, id: &str) -> Result<CheckoutStatus, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown_checkout)?;
        let (checkout, attempt) = self.store.load_checkout_with_attempt(&id)?.ok_or_else(unknown_checkout)?;
        let now = self.now_of_id(&checkout.entity);
        Ok(match attempt {
            Some(attempt) => match checkout.status_at(&attempt, now) {
                // The shopper goes on to the shop, and does not learn that the payment is suspicious.
                CheckoutStatus::Held => CheckoutStatus::Paid,
                CheckoutStatus::Pending if self.page_visits.has_left(&attempt.id) => CheckoutStatus::Left,
                status => status,
            },
            None => CheckoutStatus::from_tokenisation_state(checkout.state_at(now)),
        })
    }

    /// Returns the advice for a shopper whose attempt has just been declined, for a form that stays, or that it may
    /// stay if a pending one is declined later. `None` if the checkout is paid or has no attempt left, or if the
    /// merchant hides declines from browsers. Only the answer to an attempt, which counts towards the limits, may
    /// contain it.
    ///
    /// # Errors
    /// 404 for an unknown checkout.
    pub fn decline_advice(&self, id: &str) -> Result<Option<DeclineAdvice>, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown_checkout)?;
        let (checkout, attempt) = self.store.load_checkout_with_attempt(&id)?.ok_or_else(unknown_checkout)?;
        let now = self.now_of_id(&checkout.entity);
        let is_told = self.directory.find_entity(&checkout.entity).is_some_and(|entity| {
            let limit = self.options.limits.checkout_attempts(&entity);
            !entity.settings.hide_declines && checkout.check_attempt_limit(limit, now).is_ok()
        });
        let advice = match attempt {
            Some(attempt) if attempt.result.is_pending() => Some(DeclineAdvice::Other),
            _ if checkout.attempts == 0 || checkout.state_at(now) != CheckoutState::Open => None,
            Some(attempt) => Some(attempt.result.into()),
            // A rejected registration has no payment.
            None => Some(DeclineAdvice::Other),
        };
        Ok(advice.filter(|_| is_told))
    }
}
