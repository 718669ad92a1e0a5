//! Payments that get their answer later, and the checkouts that wait for them.
//!
//! The rules: a checkout waits for one payment at a time. As long as that is pending its shopper may go on with another
//! brand, and has then abandoned the first: whatever comes of it, it pays nothing, and when it succeeds all the same it is
//! taken back in the same breath. So at most one charge of a checkout stays, in whatever order the answers come.

use jiff::Timestamp;
use tillgate_shared::result::ResultCode;

use super::checkout::{Checkout, LIFETIME};
use super::payment::Payment;

/// What comes of a pending payment's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The payment, with its outcome.
    pub payment: Payment,
    /// Its checkout, where that has waited for it: paid, or open for another attempt.
    pub checkout: Option<Checkout>,
    /// Whether the payment succeeded after it was abandoned: it has to be reversed.
    pub reverse: bool,
}

/// Gives a pending payment its answer.
pub fn end(payment: Payment, checkout: Option<Checkout>, result: ResultCode) -> Ended {
    let payment = Payment { result, ..payment };
    let waits = |checkout: &Checkout| checkout.attempt.as_ref() == Some(&payment.id);
    let checkout = checkout.filter(waits).map(|checkout| Checkout {
        version: checkout.version + 1,
        paid: payment.counts(),
        ..checkout
    });
    let reverse = payment.is_abandoned() && payment.approved();
    Ended { payment, checkout, reverse }
}

/// A checkout whose shopper goes on with another brand than that of the pending payment, and that payment: open for the
/// next attempt, and abandoned. None when the checkout does not wait for it, or its half hour is over.
pub fn abandon(checkout: &Checkout, pending: Payment, now: Timestamp) -> Option<(Checkout, Payment)> {
    let waits = checkout.paid && checkout.attempt.as_ref() == Some(&pending.id) && pending.result.is_pending();
    let in_time = now.duration_since(checkout.created) < LIFETIME;
    let mut abandoned = pending;
    abandoned.redirect.as_mut().filter(|_| waits && in_time)?.abandoned = true;
    Some((Checkout { paid: false, ..checkout.clone() }, abandoned))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tillgate_shared::money::{Amount, Currency};
    use tillgate_shared::parameter::Parameters;
    use tillgate_shared::result::codes;

    use super::*;
    use crate::domain::id::{CheckoutId, EntityId, PaymentId};
    use crate::domain::payment::{Account, PaymentType, Redirect};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn checkout() -> Checkout {
        let id = CheckoutId::new(at(0), [1; 10], "tx01");
        Checkout::new(id, EntityId::new(at(0), [2; 9]), at(0), "build".to_owned(), Parameters::default())
    }

    fn payment(number: u8, result: ResultCode) -> Payment {
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
        };
        Payment {
            id: PaymentId::new(at(0), [number; 9]),
            entity: checkout().entity,
            checkout: Some(checkout().id),
            ndc: None,
            referenced: None,
            registration: None,
            created: at(0),
            payment_type: PaymentType::Debit,
            brand: "PAYPAL".to_owned(),
            amount: Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap(),
            result,
            avs: None,
            cvv: None,
            details: BTreeMap::new(),
            redirect: Some(redirect).filter(|_| result.is_pending()),
            pay_to: None,
            connector: None,
            connector_tx_ids: Vec::new(),
            descriptor: String::new(),
            account: Account::Unknown,
            parameters: Parameters::default(),
            shares: None,
        }
    }

    /// What happens to a checkout. Payments are named by their place among those that were made.
    #[derive(Debug, Clone)]
    enum Step {
        /// The shopper submits, and the attempt is answered so.
        Submit(ResultCode),
        /// A payment that may be pending gets its answer.
        Answer(usize, ResultCode),
    }

    fn step() -> impl Strategy<Value = Step> {
        let at_once = prop::sample::select(vec![codes::PENDING, codes::TEST_INTERNAL, codes::CARD_EXPIRED]);
        let later = prop::sample::select(vec![codes::TEST_INTERNAL, codes::CANCELLED_BY_USER]);
        prop_oneof![
            at_once.prop_map(Step::Submit),
            (0..8usize, later).prop_map(|(place, code)| Step::Answer(place, code))
        ]
    }

    proptest! {
        #[test]
        fn at_most_one_charge_of_a_checkout_stays(steps in prop::collection::vec(step(), 0..24)) {
            let mut checkout = checkout();
            let mut payments: Vec<Payment> = Vec::new();
            let mut reversed = Vec::new();
            for step in steps {
                match step {
                    Step::Submit(result) => {
                        let attempt = payment(u8::try_from(payments.len()).unwrap(), result);
                        let waiting = payments.iter().position(|made| checkout.attempt.as_ref() == Some(&made.id));
                        let open = match waiting.and_then(|place| {
                            let (open, abandoned) = abandon(&checkout, payments[place].clone(), at(60))?;
                            Some((place, open, abandoned))
                        }) {
                            Some((place, open, abandoned)) => {
                                payments[place] = abandoned;
                                open
                            }
                            None => checkout.clone(),
                        };
                        if let Ok(next) = open.attempted(&attempt, at(60)) {
                            checkout = next;
                            payments.push(attempt);
                        }
                    }
                    Step::Answer(place, result) => {
                        let Some(pending) = payments.get(place).filter(|payment| payment.result.is_pending()) else {
                            continue;
                        };
                        let ended = end(pending.clone(), Some(checkout.clone()), result);
                        checkout = ended.checkout.unwrap_or(checkout);
                        payments[place] = ended.payment;
                        reversed.extend(Some(place).filter(|_| ended.reverse));
                    }
                }
                let stays = |place: &usize| payments[*place].approved() && !reversed.contains(place);
                let staying: Vec<usize> = (0..payments.len()).filter(stays).collect();
                let waiting = payments.iter().filter(|made| made.result.is_pending() && !made.is_abandoned()).count();
                prop_assert!(staying.len() + waiting <= 1, "{payments:?}");
                prop_assert_eq!(checkout.paid, staying.len() + waiting == 1);
                if let [place] = staying[..] {
                    prop_assert_eq!(checkout.attempt.as_ref(), Some(&payments[place].id));
                }
            }
        }
    }

    #[test]
    fn a_cancelled_payment_leaves_its_checkout_open_and_a_successful_one_closes_it() {
        let waiting = checkout().attempted(&payment(1, codes::PENDING), at(60)).unwrap();
        let cancelled = end(payment(1, codes::PENDING), Some(waiting.clone()), codes::CANCELLED_BY_USER);
        assert!(!cancelled.checkout.unwrap().paid && !cancelled.reverse);
        let paid = end(payment(1, codes::PENDING), Some(waiting.clone()), codes::TEST_INTERNAL);
        assert!(paid.checkout.as_ref().unwrap().paid && !paid.reverse);
        assert_eq!(paid.checkout.unwrap().version, waiting.version + 1);
    }

    #[test]
    fn what_succeeds_after_it_was_abandoned_is_reversed_and_what_fails_then_is_not() {
        let waiting = checkout().attempted(&payment(1, codes::PENDING), at(60)).unwrap();
        let (open, abandoned) = abandon(&waiting, payment(1, codes::PENDING), at(61)).unwrap();
        let next = open.attempted(&payment(2, codes::CARD_EXPIRED), at(61)).unwrap();
        let late = end(abandoned.clone(), Some(next.clone()), codes::TEST_INTERNAL);
        assert!(late.reverse && late.checkout.is_none());
        let late = end(abandoned, Some(next), codes::CANCELLED_BY_USER);
        assert!(!late.reverse && late.checkout.is_none());
    }

    #[test]
    fn a_pending_payment_is_abandoned_within_the_half_hour_and_for_its_own_checkout_only() {
        let waiting = checkout().attempted(&payment(1, codes::PENDING), at(60)).unwrap();
        assert!(abandon(&waiting, payment(1, codes::PENDING), at(29 * 60)).is_some());
        assert!(abandon(&waiting, payment(1, codes::PENDING), at(30 * 60)).is_none());
        assert!(abandon(&waiting, payment(2, codes::PENDING), at(61)).is_none());
        // Nobody is sent anywhere: an answer that comes late by itself, and cannot be given up.
        assert!(abandon(&waiting, Payment { redirect: None, ..payment(1, codes::PENDING) }, at(61)).is_none());
    }
}
