//! Asynchronous payments, and the checkouts that wait for their outcome.
//!
//! A checkout waits for one payment at a time. While that payment is pending, its shopper may choose another brand,
//! which abandons the payment. An abandoned payment never pays its checkout; if it succeeds nevertheless, it is
//! reversed at once. So a checkout keeps at most one charge, in whatever order the outcomes arrive.

use jiff::Timestamp;
use tillgate_shared::result::ResultCode;

use crate::checkout::{CHECKOUT_LIFETIME, Checkout};
use crate::payment::Payment;

/// Effects of the outcome of a pending payment.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeEffects {
    /// The payment with its outcome.
    pub payment: Payment,
    /// The updated checkout if it waited for this payment: paid, or open for another attempt. `None` if it did not
    /// wait for it.
    pub checkout: Option<Checkout>,
    /// True if the payment succeeded after it was abandoned and has to be reversed.
    pub must_reverse: bool,
}

/// Sets the result of a pending payment. Also updates the checkout, with a new version, if this payment is its latest
/// attempt; the caller passes the checkout of the payment, or `None` if it has none.
pub fn apply_outcome(payment: Payment, checkout: Option<Checkout>, result: ResultCode) -> OutcomeEffects {
    let payment = Payment { result, ..payment };
    let awaits_payment = |checkout: &Checkout| checkout.attempt.as_ref() == Some(&payment.id);
    let checkout = checkout.filter(awaits_payment).map(|checkout| Checkout {
        version: checkout.version + 1,
        paid: payment.is_approved_or_pending(),
        ..checkout
    });
    let must_reverse = payment.is_abandoned() && payment.is_approved();
    OutcomeEffects { payment, checkout, must_reverse }
}

/// Abandons a pending payment whose shopper chose another brand. Returns the checkout, open for the next attempt and
/// with the same version, and the abandoned payment, which stays pending. Returns `None` if the checkout does not wait
/// for this payment, the payment has no redirect or is held for review, or the 30 minutes of the checkout are over.
pub fn abandon_payment(checkout: &Checkout, pending: Payment, now: Timestamp) -> Option<(Checkout, Payment)> {
    let is_open = pending.result.is_pending() && !pending.is_held();
    let awaits_payment = checkout.paid && checkout.attempt.as_ref() == Some(&pending.id) && is_open;
    let in_time = now.duration_since(checkout.created) < CHECKOUT_LIFETIME;
    let mut abandoned = pending;
    abandoned.redirect.as_mut().filter(|_| awaits_payment && in_time)?.abandoned = true;
    Some((Checkout { paid: false, ..checkout.clone() }, abandoned))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use tillgate_shared::parameter::Parameters;
    use tillgate_shared::result::codes;

    use crate::id::{CheckoutId, EntityId};
    use crate::payment::Redirect;
    use crate::payment::asynchronous::*;
    use crate::payment::sample::sample_payment;

    fn at_second(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn create_checkout() -> Checkout {
        let id = CheckoutId::new(at_second(0), [1; 10], "tx01");
        Checkout::new(id, EntityId::new(at_second(0), [2; 9]), at_second(0), "build".to_owned(), Parameters::default())
    }

    /// Creates a payment of the checkout. It has a redirect if it is pending.
    fn create_payment(number: u8, result: ResultCode) -> Payment {
        let redirect = Redirect {
            url: "https://pay.example/page".to_owned(),
            method: "GET".to_owned(),
            parameters: Vec::new(),
            preconditions: Vec::new(),
            result_url: "https://shop.example/".to_owned(),
            shop_origin: None,
            page: None,
            abandoned: false,
            authentication: None,
            asked: None,
        };
        Payment {
            entity: create_checkout().entity,
            checkout: Some(create_checkout().id),
            brand: "PAYPAL".to_owned(),
            redirect: Some(redirect).filter(|_| result.is_pending()),
            ..sample_payment(number, at_second(0), result)
        }
    }

    /// An operation on a checkout. Payments are identified by their index in the order of their creation.
    #[derive(Debug, Clone)]
    enum CheckoutOperation {
        /// The shopper submits, and the attempt has this result.
        Submit(ResultCode),
        /// A payment receives its outcome if it is pending.
        ReceiveOutcome(usize, ResultCode),
    }

    /// Generates a submit with any result, or the outcome of one of the first eight payments.
    fn random_operation() -> impl Strategy<Value = CheckoutOperation> {
        let first_result = prop::sample::select(vec![codes::PENDING, codes::TEST_INTERNAL, codes::CARD_EXPIRED]);
        let outcome = prop::sample::select(vec![codes::TEST_INTERNAL, codes::CANCELLED_BY_USER]);
        prop_oneof![
            first_result.prop_map(CheckoutOperation::Submit),
            (0..8usize, outcome).prop_map(|(index, code)| CheckoutOperation::ReceiveOutcome(index, code))
        ]
    }

    proptest! {
        #[test]
        fn at_most_one_charge_of_a_checkout_stays(steps in prop::collection::vec(random_operation(), 0..24)) {
            let mut checkout = create_checkout();
            let mut payments: Vec<Payment> = Vec::new();
            let mut reversed = Vec::new();
            for step in steps {
                match step {
                    CheckoutOperation::Submit(result) => {
                        let attempt = create_payment(u8::try_from(payments.len()).unwrap(), result);
                        let waiting = payments.iter().position(|payment| checkout.attempt.as_ref() == Some(&payment.id));
                        let open = match waiting.and_then(|index| {
                            let (open, abandoned) = abandon_payment(&checkout, payments[index].clone(), at_second(60))?;
                            Some((index, open, abandoned))
                        }) {
                            Some((index, open, abandoned)) => {
                                payments[index] = abandoned;
                                open
                            }
                            None => checkout.clone(),
                        };
                        if let Ok(next) = open.with_attempt(&attempt, at_second(60)) {
                            checkout = next;
                            payments.push(attempt);
                        }
                    }
                    CheckoutOperation::ReceiveOutcome(index, result) => {
                        let Some(pending) = payments.get(index).filter(|payment| payment.result.is_pending()) else {
                            continue;
                        };
                        let effects = apply_outcome(pending.clone(), Some(checkout.clone()), result);
                        checkout = effects.checkout.unwrap_or(checkout);
                        payments[index] = effects.payment;
                        reversed.extend(Some(index).filter(|_| effects.must_reverse));
                    }
                }
                let is_charge = |index: &usize| payments[*index].is_approved() && !reversed.contains(index);
                let charges: Vec<usize> = (0..payments.len()).filter(is_charge).collect();
                let is_waiting = |payment: &&Payment| payment.result.is_pending() && !payment.is_abandoned();
                let waiting = payments.iter().filter(is_waiting).count();
                prop_assert!(charges.len() + waiting <= 1, "{payments:?}");
                prop_assert_eq!(checkout.paid, charges.len() + waiting == 1);
                if let [index] = charges[..] {
                    prop_assert_eq!(checkout.attempt.as_ref(), Some(&payments[index].id));
                }
            }
        }
    }

    #[test]
    fn a_cancelled_payment_leaves_its_checkout_open_and_a_successful_one_closes_it() {
        let waiting = create_checkout().with_attempt(&create_payment(1, codes::PENDING), at_second(60)).unwrap();
        let cancelled =
            apply_outcome(create_payment(1, codes::PENDING), Some(waiting.clone()), codes::CANCELLED_BY_USER);
        assert!(!cancelled.checkout.unwrap().paid && !cancelled.must_reverse);
        let paid = apply_outcome(create_payment(1, codes::PENDING), Some(waiting.clone()), codes::TEST_INTERNAL);
        assert!(paid.checkout.as_ref().unwrap().paid && !paid.must_reverse);
        assert_eq!(paid.checkout.unwrap().version, waiting.version + 1);
    }

    #[test]
    fn what_succeeds_after_it_was_abandoned_is_reversed_and_what_fails_then_is_not() {
        let waiting = create_checkout().with_attempt(&create_payment(1, codes::PENDING), at_second(60)).unwrap();
        let (open, abandoned) = abandon_payment(&waiting, create_payment(1, codes::PENDING), at_second(61)).unwrap();
        let next = open.with_attempt(&create_payment(2, codes::CARD_EXPIRED), at_second(61)).unwrap();
        let late = apply_outcome(abandoned.clone(), Some(next.clone()), codes::TEST_INTERNAL);
        assert!(late.must_reverse && late.checkout.is_none());
        let late = apply_outcome(abandoned, Some(next), codes::CANCELLED_BY_USER);
        assert!(!late.must_reverse && late.checkout.is_none());
    }

    #[test]
    fn a_pending_payment_is_abandoned_within_the_half_hour_and_for_its_own_checkout_only() {
        let waiting = create_checkout().with_attempt(&create_payment(1, codes::PENDING), at_second(60)).unwrap();
        assert!(abandon_payment(&waiting, create_payment(1, codes::PENDING), at_second(29 * 60)).is_some());
        assert!(abandon_payment(&waiting, create_payment(1, codes::PENDING), at_second(30 * 60)).is_none());
        assert!(abandon_payment(&waiting, create_payment(2, codes::PENDING), at_second(61)).is_none());
        // Without a redirect the shopper is sent nowhere: the outcome arrives by itself, and the payment cannot be
        // abandoned.
        assert!(
            abandon_payment(&waiting, Payment { redirect: None, ..create_payment(1, codes::PENDING) }, at_second(61))
                .is_none()
        );
    }
}
