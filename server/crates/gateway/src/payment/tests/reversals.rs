//! Reversals that nobody has asked for: of a payment that succeeds after its shopper has abandoned it.

use tillgate_domain::payment::debit_step::DebitStep;
use tillgate_domain::payment::{Payment, PaymentType, Redirect};
use tillgate_domain::review::{PaymentReview, ReviewStage};
use tillgate_domain::risk::PaymentRisk;
use tillgate_shared::result::codes;
use tillgate_store::{Changes, RecordKeys};

use super::{ConnectionFault, TestShop};

impl TestShop {
    /// Makes a payment that the host has booked without a response, and that its shopper has abandoned since.
    async fn pay_and_abandon(&self) -> Payment {
        self.pay_and_abandon_checked(None).await
    }

    /// Same as [`TestShop::pay_and_abandon`], for a payment with a risk check.
    async fn pay_and_abandon_checked(&self, risk: Option<PaymentRisk>) -> Payment {
        self.host.set_fault(ConnectionFault::LosesResponses);
        let paid = self.pay_by_card().await;
        let keys = RecordKeys::for_payment(&paid.entity, &paid.id);
        let abandoned = self.gateway.store.update(keys, move |loaded| {
            let payment = loaded.payment.unwrap();
            let redirect = Redirect {
                url: "https://host.example/pay".to_owned(),
                method: "GET".to_owned(),
                parameters: Vec::new(),
                preconditions: Vec::new(),
                result_url: "https://shop.example/".to_owned(),
                shop_origin: None,
                page: None,
                abandoned: true,
                authentication: None,
                asked: Some(payment.created),
            };
            let payment = Payment { redirect: Some(redirect), risk: risk.map(Box::new), ..payment };
            Ok((Changes::default().with_payment(payment.clone()), payment))
        });
        abandoned.await.unwrap().unwrap()
    }

    /// Returns type, amount and state of the follow-up payments of a payment, reversals before refunds.
    pub(super) fn follow_ups(&self, payment: &Payment) -> Vec<(PaymentType, i64, bool)> {
        let (_, follow_ups) = self
            .gateway
            .store
            .load_with_follow_ups(std::slice::from_ref(&payment.entity), &payment.id)
            .unwrap()
            .unwrap();
        let mut follow_ups: Vec<_> =
            follow_ups.iter().map(|one| (one.payment_type, one.hundredths, one.is_effective)).collect();
        // Ids of the same moment have no order.
        follow_ups.sort_by_key(|(payment_type, ..)| std::cmp::Reverse(payment_type.code()));
        follow_ups
    }
}

/// Pays and abandons a payment with this check, and has its reversal declined. Asserts that it is refunded.
async fn assert_refund_after_declined_reversal(risk: Option<PaymentRisk>) {
    let shop = TestShop::start_gateway();
    let abandoned = shop.pay_and_abandon_checked(risk).await;
    shop.host.set_fault(ConnectionFault::DeclinesReversals);
    assert_eq!(shop.resolve_payment(&abandoned).await.result, codes::TEST_CONNECTOR);
    assert_eq!(shop.follow_ups(&abandoned), [(PaymentType::Reversal, 9200, true)]);
    shop.resolve_all().await;
    shop.resolve_all().await;
    let follow_ups = [(PaymentType::Reversal, 9200, false), (PaymentType::Refund, 9200, true)];
    assert_eq!(shop.follow_ups(&abandoned), follow_ups);
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_payment_is_refunded_if_its_reversal_is_declined() {
    assert_refund_after_declined_reversal(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_debit_that_was_captured_after_its_check_or_review_is_refunded_if_its_reversal_is_declined() {
    let review = Some(PaymentReview::new(ReviewStage::Captured));
    for risk in [
        PaymentRisk { review, ..PaymentRisk::default() },
        PaymentRisk { debit_step: Some(DebitStep::Capture), ..PaymentRisk::default() },
    ] {
        assert_refund_after_declined_reversal(Some(risk)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_response_to_the_authorization_does_not_end_a_debit_that_is_being_captured() {
    let shop = TestShop::start_gateway();
    let risk = |step| Some(PaymentRisk { debit_step: Some(step), ..PaymentRisk::default() });
    let pending = shop.pay_and_abandon_checked(risk(DebitStep::Capture)).await;
    let earlier = Payment { risk: risk(DebitStep::Authorization).map(Box::new), ..pending.clone() };
    for code in [codes::TEST_CONNECTOR, codes::CARD_EXPIRED] {
        let late = shop.gateway.complete_payment(&earlier, code.into(), |_| true).await.unwrap();
        assert!(!late.changed && late.payment.result.is_pending());
    }
    assert_eq!(shop.stored_payment(&pending), pending);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_refund_in_place_of_a_reversal_is_tried_once() {
    let shop = TestShop::start_gateway();
    let abandoned = shop.pay_and_abandon().await;
    shop.host.set_fault(ConnectionFault::DeclinesReversals);
    shop.resolve_payment(&abandoned).await;
    shop.resolve_all().await;
    shop.host.set_fault(ConnectionFault::DeclinesBookings);
    for _ in 0..3 {
        shop.resolve_all().await;
    }
    let follow_ups = [(PaymentType::Reversal, 9200, false), (PaymentType::Refund, 9200, false)];
    assert_eq!(shop.follow_ups(&abandoned), follow_ups);
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 9200));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_reversal_of_a_merchant_has_no_consequence() {
    let shop = TestShop::start_gateway();
    let paid = shop.pay_by_card().await;
    shop.host.set_fault(ConnectionFault::DeclinesReversals);
    assert_eq!(shop.modify_payment(&paid, "RV").await.result, codes::REVERSAL_NOT_POSSIBLE);
    assert_eq!(shop.follow_ups(&paid), [(PaymentType::Reversal, 9200, false)]);
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 9200));
}
