//! Payments that get their answer later: where their shopper goes meanwhile, what the shopper decides there, and what the
//! form that waits is told.

use tillgate_shared::result::codes;

use super::checkout::unknown;
use super::payment::complete::Decided;
use super::{Failure, Gateway};
use crate::connector::ConnectorResult;
use crate::domain::checkout::{Checkout, Standing};
use crate::domain::id::{CheckoutId, EntityId, PageId, PaymentId};
use crate::domain::payment::Payment;
use crate::domain::refusal::Refusal;
use crate::store::timer::Kind;
use crate::store::{Changes, Keys};

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
        self.complete(self.payment_of_page(page)?, result, |_| true).await
    }

    /// Ends a payment whose shopper has not come back in time. One that has ended meanwhile stays as it is.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn time_out(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        match self.store.payment(entity, id)?.filter(Payment::waits) {
            Some(payment) => self.complete(payment, codes::TIMED_OUT.into(), |_| true).await.map(drop),
            None => {
                let changes = Changes::default().without_timer(Kind::End, id.as_str());
                Ok(self.store.update(Keys::none(), move |_| Ok((changes, ()))).await??)
            }
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
