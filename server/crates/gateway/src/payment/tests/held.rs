//! Payments that an analyst approves before their host is asked.

use std::sync::atomic::Ordering;

use tillgate_connector::{BankNumber, FullAccount, FullBank};
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::payment::{BankSummary, Payment};
use tillgate_domain::review::decision::{DecisionType, RequestedDecision};
use tillgate_domain::review::{PaymentReview, ReviewStage};
use tillgate_domain::risk::PaymentRisk;
use tillgate_shared::format::iban::Iban;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;
use tillgate_store::{Changes, DeferredEffects, RecordKeys};

use super::{ConnectionFault, TestShop, order_parameters};
use crate::payment::addresses::Addresses;
use crate::payment::response_recorder::ResponseRecorder;

const IBAN: &str = "DE23100000001234567890";

/// Returns a direct debit with every parameter that the host gets.
fn direct_debit() -> Parameters {
    order_parameters(&[
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", IBAN),
        ("bankAccount.bic", "MARKDEF1100"),
        ("bankAccount.country", "DE"),
        ("bankAccount.mandate.id", "M-17"),
        ("bankAccount.mandate.dateOfSignature", "2023-11-01"),
        ("billing.street1", "Kiln Lane 4"),
        ("billing.postcode", "12345"),
        ("merchant.name", "Kiln & Tide"),
        ("merchant.city", "Hamburg"),
        ("merchant.mcc", "5999"),
        ("transactionCategory", "EC"),
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.type", "RECURRING"),
        ("standingInstruction.source", "CIT"),
        ("standingInstruction.expiry", "2033-11-01"),
        ("standingInstruction.frequency", "0030"),
        ("customParameters[forceResultCode]", "000.100.112"),
    ])
}

impl TestShop {
    /// Sends a direct debit to the host, which loses it.
    async fn lose_direct_debit(&self) -> Payment {
        self.host.set_fault(ConnectionFault::LosesRequests);
        let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
        let paid = self
            .gateway
            .pay(&self.entity, direct_debit(), Scopes::all(), addresses, ResponseRecorder::disabled())
            .await;
        Payment::clone(&*paid.unwrap())
    }

    /// Holds a pending payment for review, as if its host had not been asked yet.
    async fn hold_unexecuted(&self, payment: &Payment) -> Payment {
        let number = Some(BankNumber::Iban(Iban::parse(IBAN).unwrap()));
        let account = FullAccount::Bank(FullBank { number, summary: BankSummary::default() });
        let card = self.gateway.seal_account(payment, &account).unwrap();
        let effects = DeferredEffects {
            owner: payment.entity.clone(),
            registration: None,
            renewal: None,
            instruction: None,
            card,
        };
        let (now, until) = (self.gateway.now(), payment.created + self.gateway.options.card_window);
        let keys = RecordKeys::for_payment(&payment.entity, &payment.id);
        let held = self.gateway.store.update(keys, move |loaded| {
            let review = Some(PaymentReview::new(ReviewStage::NotExecuted));
            let risk = Some(Box::new(PaymentRisk { review, ..PaymentRisk::default() }));
            let payment = Payment { risk, ..loaded.payment.unwrap() }.into_held(now);
            // Nothing that a payment leaves behind when it is sent.
            let changes = Changes::default()
                .with_payment(payment.clone())
                .without_card(&payment.id, until)
                .without_deferred_effects(&payment.id);
            Ok((changes.with_deferred_effects(&payment, effects, until), payment))
        });
        held.await.unwrap().unwrap()
    }

    /// Approves a held payment, which is then sent to the host.
    async fn approve(&self, payment: &Payment) -> Payment {
        let decision = RequestedDecision::about(payment, DecisionType::Approve, "jane");
        Payment::clone(&*self.gateway.decide_payment(payment, decision).await.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_is_approved_late_reaches_its_host_unchanged() {
    let shop = TestShop::start_gateway();
    let lost = shop.lose_direct_debit().await;
    let sent_at_once = shop.host.last_order();
    assert!(sent_at_once.contains("2023-11-01"), "{sent_at_once}");
    let held = shop.hold_unexecuted(&lost).await;
    shop.host.set_fault(ConnectionFault::None);
    assert_eq!(shop.approve(&held).await.result, codes::TEST_CONNECTOR);
    // The number was checked when the payment was made.
    let sent_later = shop.host.last_order().replace("accepts_any_number: true", "accepts_any_number: false");
    assert_eq!(sent_later, sent_at_once);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_payment_is_given_up_half_a_minute_after_its_host_was_asked_not_after_its_creation() {
    let shop = TestShop::start_gateway();
    let lost = shop.lose_direct_debit().await;
    let held = shop.hold_unexecuted(&lost).await;
    shop.clock.0.fetch_add(600, Ordering::Relaxed);
    let approved = shop.approve(&held).await;
    assert!(approved.awaits_connector() && approved.connector_request_time() == shop.gateway.now());
    shop.host.set_fault(ConnectionFault::None);
    assert!(shop.resolve_payment(&approved).await.awaits_connector(), "it may still be on its way");
    assert_eq!(shop.host.entry_count(), 0, "nothing is reversed yet");
    shop.clock.0.fetch_add(31, Ordering::Relaxed);
    assert_eq!(shop.resolve_payment(&approved).await.result, codes::OUTCOME_UNCERTAIN);
}
