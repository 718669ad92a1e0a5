//! Stored places of requests, and approvals that arrive after the end of their payment.

use std::sync::atomic::Ordering;

use tillgate_domain::payment::{Payment, PaymentType, RequestPlace};
use tillgate_shared::result::codes;

use super::{ConnectionFault, TestShop};

impl TestShop {
    /// Pays at a host that gets neither the request nor, for half a minute, its reversal.
    async fn pay_in_vain(&self) -> Payment {
        self.host.set_fault(ConnectionFault::LosesRequests);
        let paid = self.pay_by_card().await;
        self.clock.0.fetch_add(31, Ordering::Relaxed);
        self.host.set_fault(ConnectionFault::None);
        let ended = self.resolve_payment(&paid).await;
        assert_eq!(ended.result, codes::OUTCOME_UNCERTAIN);
        ended
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_is_approved_after_its_reversal_is_reversed_again() {
    let shop = TestShop::start_gateway();
    let ended = shop.pay_in_vain().await;
    shop.host.take_payment_on_page(ended.id.as_str(), 9200);
    for _ in 0..3 {
        shop.gateway.reverse_late_approval(ended.id.as_str()).await.unwrap();
        assert_eq!(shop.follow_ups(&ended), [(PaymentType::Reversal, 9200, true)], "one for all of them");
    }
    shop.resolve_all().await;
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 0));
    assert_eq!(shop.stored_payment(&ended), ended, "it stays declined");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_approval_changes_no_payment_that_is_approved_or_awaits_its_outcome() {
    let shop = TestShop::start_gateway();
    let approved = shop.pay_by_card().await;
    shop.host.set_fault(ConnectionFault::LosesResponses);
    let pending = shop.pay_by_card().await;
    for payment in [&approved, &pending] {
        let is_settled = shop.gateway.reverse_late_approval(payment.id.as_str()).await.unwrap();
        assert_eq!((is_settled, shop.follow_ups(payment)), (!payment.result.is_pending(), Vec::new()));
    }
    for unknown in ["", "p1", &"8".repeat(32), &format!("{}-capture", approved.id)] {
        assert!(shop.gateway.reverse_late_approval(unknown).await.unwrap());
    }
    assert_eq!((shop.count_intents(), shop.host.balance()), (1, 18_400));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_keeps_the_place_that_its_request_was_sent_to() {
    let shop = TestShop::start_gateway();
    let place = |system: &str| Some(RequestPlace { system: system.to_owned(), number: Some(7) });
    assert_eq!(shop.pay_by_card().await.place, None);
    *shop.host.systems.lock().unwrap() = vec!["east"];
    let paid = shop.pay_by_card().await;
    assert_eq!((&paid.place, &*shop.host.last_place.lock().unwrap()), (&place("east"), &place("east")));
    // Its system is lost between the write and the request.
    *shop.host.systems.lock().unwrap() = vec!["east", "west"];
    let moved = shop.pay_by_card().await;
    assert_eq!((&moved.place, &*shop.host.last_place.lock().unwrap()), (&place("west"), &place("west")));
    assert_eq!(shop.stored_payment(&moved).place, place("west"));
    *shop.host.systems.lock().unwrap() = vec!["north"];
    let ended = shop.pay_in_vain().await;
    assert_eq!((&ended.place, &*shop.host.last_place.lock().unwrap()), (&place("north"), &place("north")));
}
