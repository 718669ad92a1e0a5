//! Increments of preauthorizations whose requests or responses are lost, and captures at the same time.

use std::sync::Arc;

use tillgate_domain::access::entity::EntitySettings;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::payment::{INCREMENT, INDUSTRY_PRACTICE, Payment};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::host::{ConnectionFault, TestHost};
use super::{CARD, TestShop, order_parameters};
use crate::Failure;
use crate::payment::addresses::Addresses;
use crate::payment::response_recorder::ResponseRecorder;

impl TestShop {
    /// Reserves 92.00 EUR by card.
    async fn reserve(&self) -> Payment {
        let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
        let mut parameters = order_parameters(&CARD);
        parameters.set("paymentType", "PA");
        let paid =
            self.gateway.pay(&self.entity, parameters, Scopes::all(), addresses, ResponseRecorder::disabled()).await;
        Payment::clone(&*paid.unwrap())
    }

    /// Asks for a follow-up payment of this type and amount. A preauthorization is an increment.
    async fn try_follow_up(&self, payment: &Payment, (kind, amount): (&str, &str)) -> Result<Arc<Payment>, Failure> {
        let practice = [(INDUSTRY_PRACTICE, INCREMENT)];
        let parameters = [("paymentType", kind), ("amount", amount), ("currency", "EUR")];
        let parameters: Parameters = parameters.into_iter().chain(practice).collect();
        let (id, recorder) = (payment.id.as_str(), ResponseRecorder::disabled());
        self.gateway.modify_payment(&self.entity, id, parameters, Scopes::all(), recorder).await
    }

    async fn follow_up(&self, payment: &Payment, kind: &str, amount: &str) -> Arc<Payment> {
        self.try_follow_up(payment, (kind, amount)).await.unwrap()
    }

    /// Returns the authorized and the captured amount of a preauthorization, in hundredths.
    fn sums(&self, payment: &Payment) -> (i64, i64) {
        let (_, status) = self.gateway.load_payment(&self.entity, payment.id.as_str()).unwrap();
        (status.amount.hundredths(), status.used)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_increment_without_an_answer_raises_nothing_until_its_repetition_is_approved() {
    for lost in [ConnectionFault::LosesRequests, ConnectionFault::LosesResponses] {
        let shop = TestShop::start_gateway();
        let reserved = shop.reserve().await;
        shop.host.set_fault(lost);
        let increment = shop.follow_up(&reserved, "PA", "8.00").await;
        assert!(increment.awaits_connector() && increment.is_increment());
        shop.host.set_fault(ConnectionFault::None);
        let early = shop.follow_up(&reserved, "CP", "92.01").await;
        assert_eq!((early.result, shop.sums(&reserved)), (codes::CAPTURE_VOLUME_EXCEEDED, (9200, 0)));
        assert_eq!(shop.resolve_payment(&increment).await.result, codes::TEST_CONNECTOR);
        assert_eq!((shop.count_intents(), shop.sums(&reserved)), (0, (10_000, 0)));
        assert_eq!(shop.follow_up(&reserved, "CP", "100.00").await.result, codes::TEST_CONNECTOR);
        assert_eq!(shop.sums(&reserved), (10_000, 10_000));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_increment_changes_nothing() {
    let shop = TestShop::start_gateway();
    let reserved = shop.reserve().await;
    shop.host.set_fault(ConnectionFault::DeclinesBookings);
    let declined = shop.follow_up(&reserved, "PA", "8.00").await;
    assert!(!declined.is_approved_or_pending() && declined.is_increment());
    shop.host.set_fault(ConnectionFault::None);
    assert_eq!((shop.sums(&reserved), shop.count_intents()), ((9200, 0), 0));
    assert_eq!(shop.follow_up(&reserved, "CP", "92.00").await.result, codes::TEST_CONNECTOR);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_increment_that_is_approved_after_the_reversal_of_its_original_can_not_be_captured() {
    let shop = TestShop::start_gateway();
    let reserved = shop.reserve().await;
    shop.host.set_fault(ConnectionFault::LosesResponses);
    let increment = shop.follow_up(&reserved, "PA", "8.00").await;
    shop.host.set_fault(ConnectionFault::None);
    assert_eq!(shop.follow_up(&reserved, "RV", "92.00").await.result, codes::TEST_CONNECTOR);
    assert_eq!(shop.resolve_payment(&increment).await.result, codes::TEST_CONNECTOR);
    for payment in [&reserved, &*increment] {
        assert!(!shop.follow_up(payment, "CP", "1.00").await.is_approved_or_pending());
        assert!(!shop.follow_up(payment, "PA", "1.00").await.is_approved_or_pending());
    }
    assert_eq!(shop.host.balance(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acquirer_without_increments_is_not_asked_for_one() {
    let shop = TestShop::start_with(TestHost::without_increments(), EntitySettings::default());
    let reserved = shop.reserve().await;
    let entries = shop.host.entry_count();
    let Err(Failure::Refused(refusal)) = shop.try_follow_up(&reserved, ("PA", "8.00")).await else {
        panic!("it is refused")
    };
    assert_eq!(refusal.code, codes::TYPE_NOT_CONFIGURED);
    assert_eq!((shop.host.entry_count(), shop.sums(&reserved)), (entries, (9200, 0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn captures_beside_increments_never_exceed_what_is_authorized() {
    let shop = Arc::new(TestShop::start_gateway());
    let reserved = shop.reserve().await;
    let tasks: Vec<_> = (0..52)
        .map(|number| {
            let (shop, reserved) = (Arc::clone(&shop), reserved.clone());
            let (kind, amount) = if number % 26 == 7 { ("PA", "8.00") } else { ("CP", "4.00") };
            tokio::spawn(async move { shop.follow_up(&reserved, kind, amount).await })
        })
        .collect();
    for task in tasks {
        let made = task.await.unwrap();
        let refusals = [codes::CAPTURE_VOLUME_EXCEEDED, codes::REFERENCE_USED];
        assert!(made.is_approved() || refusals.contains(&made.result), "{}", made.result.code());
    }
    let (authorized, captured) = shop.sums(&reserved);
    // An increment that comes after the last captures finds nothing left, and is refused.
    assert!(captured <= authorized && authorized <= 10_800, "{captured} of {authorized}");
    while shop.follow_up(&reserved, "CP", "4.00").await.is_approved() {}
    assert_eq!(shop.sums(&reserved), (authorized, authorized));
}
