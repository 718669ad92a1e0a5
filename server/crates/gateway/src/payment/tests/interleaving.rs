//! Requests about one payment that overtake each other: each is decided on the payment as it is under the write lock,
//! not as it was when the request was prepared.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use futures_util::future::join_all;
use tillgate_connector::three_ds::ChallengeResult;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::payment::asynchronous::abandon_payment;
use tillgate_domain::payment::{ConnectorTxIds, Payment};
use tillgate_domain::three_ds::TransactionStatus;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;
use tillgate_store::{Changes, RecordKeys};
use tokio::sync::Notify;

use super::{CARD, ConnectionFault, TestShop, order_parameters};
use crate::checkout::submit::{AttemptWrite, SubmitResult};
use crate::payment::addresses::Addresses;
use crate::payment::response_recorder::ResponseRecorder;

const PUBLIC_URL: &str = "http://127.0.0.1/";

/// The data of the browser and the billing address, which 3-D Secure needs.
const CARDHOLDER_DATA: [(&str, &str); 11] = [
    ("customer.browser.acceptHeader", "text/html"),
    ("customer.browser.language", "de-AT"),
    ("customer.browser.screenHeight", "1080"),
    ("customer.browser.screenWidth", "1920"),
    ("customer.browser.timezone", "-60"),
    ("customer.browser.userAgent", "Mozilla/5.0"),
    ("customer.browser.javaEnabled", "false"),
    ("billing.street1", "Kiln Lane 4"),
    ("billing.city", "Linz"),
    ("billing.postcode", "4020"),
    ("billing.country", "AT"),
];

/// Returns the form of a card whose issuer demands a challenge.
pub(super) fn challenged_form() -> Parameters {
    let fields = CARD.into_iter().chain(CARDHOLDER_DATA);
    fields.map(|(name, value)| (name, if name == "card.number" { "4200000000000018" } else { value })).collect()
}

impl TestShop {
    /// Submits a form of a checkout.
    pub(super) async fn submit_form(&self, checkout: &Checkout, form: Parameters) -> SubmitResult {
        let (id, shopper) = (checkout.id.as_str(), IpAddr::from([192, 0, 2, 1]));
        self.gateway.submit_form(id, false, form, shopper, PUBLIC_URL, &ResponseRecorder::disabled).await.unwrap()
    }

    /// Confirms the challenge of a payment in a new task, and waits until its intent is recorded. The host gives no
    /// response before it has a permit.
    async fn confirm_challenge(&self, payment: &Payment) {
        let page = payment.redirect.as_ref().unwrap().page.clone().unwrap();
        self.gateway.advance_three_ds(page.as_str(), true).await.unwrap();
        let transaction = payment.three_ds_session().unwrap().transaction.clone();
        let gateway = Arc::clone(&self.gateway);
        let result =
            ChallengeResult { status: TransactionStatus::Authenticated, reason: None, code: codes::TEST_CONNECTOR };
        tokio::spawn(async move { gateway.process_challenge_result(page.as_str(), &transaction, result).await });
        while self.count_intents() == 0 {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the result of the write of a second attempt with another card, prepared when its checkout awaited
    /// `pending`.
    async fn replace_payment(&self, awaiting: &Checkout, pending: &Payment) -> AttemptWrite {
        let (open, abandoned) = abandon_payment(awaiting, pending.clone(), self.gateway.now()).unwrap();
        let replaced = Some((abandoned.entity, abandoned.id));
        let shopper = IpAddr::from([192, 0, 2, 2]);
        let form = CARD.into_iter().collect();
        self.gateway
            .attempt_payment(&open, replaced, &form, shopper, PUBLIC_URL, ResponseRecorder::disabled())
            .await
            .unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_abandoned_while_its_host_is_asked_is_still_inquired_about() {
    let shop = TestShop::start_gateway();
    shop.host.permits.forget_permits(1_000);
    let checkout = shop.create_checkout().await;
    let pending = shop.submit_form(&checkout, challenged_form()).await.pending.unwrap();
    // The second tab reads the payment before the first one confirms it, and writes afterwards.
    let awaiting = shop.gateway.load_checkout(checkout.id.as_str()).unwrap();
    shop.confirm_challenge(&pending).await;
    shop.host.set_fault(ConnectionFault::LosesResponses);
    shop.host.permits.add_permits(1_000);
    let replaced = shop.replace_payment(&awaiting, &pending).await;
    assert!(matches!(replaced, AttemptWrite::Settled { payment: Some(_), .. }));
    let abandoned = shop.stored_payment(&pending);
    assert!(abandoned.is_abandoned() && abandoned.can_be_inquired(), "{abandoned:?}");
    // Both requests end without a response. The host has charged both cards.
    while shop.host.entry_count() < 2 {
        tokio::task::yield_now().await;
    }
    shop.host.set_fault(ConnectionFault::None);
    for _ in 0..100 {
        shop.resolve_all().await;
        if shop.count_intents() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(shop.stored_payment(&pending).result, codes::TEST_CONNECTOR);
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 9200), "the first charge is reversed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_is_prepared_anew_if_the_payment_it_replaces_has_ended_or_is_held() {
    let shop = TestShop::start_gateway();
    let checkout = shop.create_checkout().await;
    let pending = shop.submit_form(&checkout, challenged_form()).await.pending.unwrap();
    let awaiting = shop.gateway.load_checkout(checkout.id.as_str()).unwrap();
    // A change of the payment alone, which leaves the version of the checkout.
    let keys = RecordKeys::for_payment(&pending.entity, &pending.id);
    let held = shop.gateway.store.update(keys, |loaded| {
        let held = Payment { result: codes::RISK_HELD, ..loaded.payment.unwrap() };
        Ok((Changes::default().with_payment(held), ()))
    });
    held.await.unwrap().unwrap();
    assert!(matches!(shop.replace_payment(&awaiting, &pending).await, AttemptWrite::Stale));
    let stored = shop.stored_payment(&pending);
    assert!(stored.is_held() && !stored.is_abandoned() && shop.host.entry_count() == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_names_the_ids_that_its_payment_got_while_the_refund_waited() {
    let shop = TestShop::start_gateway();
    shop.host.set_fault(ConnectionFault::LosesResponses);
    let paid = shop.pay_by_card().await;
    assert!(paid.awaits_connector());
    shop.host.set_fault(ConnectionFault::None);
    // The write of the outcome occupies the writer until the refund has read the pending payment.
    let (release, occupied) = (Arc::new(Barrier::new(2)), Arc::new(Notify::new()));
    let keys = RecordKeys::for_payment(&paid.entity, &paid.id);
    let outcome = {
        let (gateway, released, occupy) = (Arc::clone(&shop.gateway), Arc::clone(&release), Arc::clone(&occupied));
        tokio::spawn(async move {
            let written = gateway.store.update(keys, move |loaded| {
                occupy.notify_one();
                released.wait();
                let payment = loaded.payment.unwrap();
                let connector_tx_ids = ConnectorTxIds::new([Some(payment.id.to_string()), None, None]);
                let payment =
                    Payment { result: codes::TEST_CONNECTOR, connector_tx_ids, unannounced: false, ..payment };
                Ok((Changes::default().with_payment(payment), ()))
            });
            written.await.unwrap().unwrap();
        })
    };
    occupied.notified().await;
    let (refund, ()) = tokio::join!(shop.modify_payment(&paid, "RF"), async {
        // Nothing shows when the refund has read the payment. A later refund finds the outcome at once.
        tokio::time::sleep(Duration::from_millis(100)).await;
        release.wait();
    });
    outcome.await.unwrap();
    assert_eq!(refund.result, codes::TEST_CONNECTOR, "{}", refund.result.code());
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_requests_do_not_hide_payments_whose_outcome_is_unknown() {
    let shop = TestShop::start_gateway();
    shop.host.set_fault(ConnectionFault::LosesRequests);
    let mut slow = Vec::new();
    for _ in 0..40 {
        let payment = shop.pay_by_card().await;
        slow.push(shop.gateway.payments_in_flight.mark_payment(&payment.id).unwrap());
    }
    shop.clock.0.fetch_add(1, Ordering::Relaxed);
    let unknown = shop.pay_by_card().await;
    let due_subjects = || -> Vec<String> {
        shop.gateway.load_due_intents(32).unwrap().into_iter().map(|timer| timer.subject).collect()
    };
    assert_eq!(due_subjects(), [unknown.id.to_string()]);
    slow.clear();
    assert_eq!(due_subjects().len(), 32, "oldest first, at most as many as were asked for");
}

/// Pays by a brand with a page at the host, and returns the payment with the id of the page that its shopper comes back
/// to.
async fn pay_on_page(shop: &TestShop) -> (Arc<Payment>, String) {
    shop.host.set_fault(ConnectionFault::RedirectsShopper);
    let more = [("paymentBrand", "PAYPAL"), ("shopperResultUrl", "https://shop.example/back")];
    let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
    let paid = shop
        .gateway
        .pay(&shop.entity, order_parameters(&more), Scopes::all(), addresses, ResponseRecorder::disabled())
        .await
        .unwrap();
    let page = paid.redirect.as_ref().unwrap().page.as_ref().unwrap().as_str().to_owned();
    (paid, page)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shopper_who_comes_back_during_an_inquiry_gets_the_answer_of_a_later_one() {
    let shop = TestShop::start_gateway();
    for (has_paid, expected) in [(false, codes::PENDING), (true, codes::TEST_CONNECTOR)] {
        let (paid, page) = pay_on_page(&shop).await;
        let before_return = shop.gateway.payments_in_flight.mark_payment(&paid.id).unwrap();
        if has_paid {
            shop.host.take_payment_on_page(paid.id.as_str(), 9200);
        }
        let inquiries = shop.host.inquiries.load(Ordering::Relaxed);
        let mut visits = Box::pin(join_all((0..20).map(|_| shop.gateway.handle_shopper_return(&page))));
        assert!(futures_util::poll!(visits.as_mut()).is_pending(), "the answer under way may be older than the return");
        drop(before_return);
        for visit in visits.await {
            assert_eq!(visit.unwrap().result, expected);
        }
        assert_eq!(shop.host.inquiries.load(Ordering::Relaxed) - inquiries, 1, "all visits share one");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shopper_who_has_paid_on_the_hosts_page_keeps_the_order_while_inquiries_get_no_answer() {
    let shop = TestShop::start_gateway();
    let (paid, _) = pay_on_page(&shop).await;
    shop.host.take_payment_on_page(paid.id.as_str(), 9200);
    shop.host.set_fault(ConnectionFault::LosesInquiries);
    shop.clock.0.fetch_add(3_600, Ordering::Relaxed);
    assert!(shop.resolve_payment(&paid).await.result.is_pending());
    shop.host.set_fault(ConnectionFault::None);
    assert_eq!(shop.resolve_payment(&paid).await.result, codes::TEST_CONNECTOR);
    assert_eq!(shop.host.balance(), 9200);
}
