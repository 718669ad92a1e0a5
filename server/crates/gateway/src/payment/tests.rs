//! Payments at an external connector that loses requests and responses on demand.

mod held;
mod host;
mod increments;
mod interleaving;
mod nodes;
mod places;
mod reversals;
mod two_steps;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use tillgate_connector::Connector;
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::level::Level;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::{Payment, TimeLimits};
use tillgate_os::clock::Clock;
use tillgate_os::id_clock::IdClock;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;
use tillgate_store::entity_directory::Directory;
use tillgate_store::timer::TimerKind;
use tillgate_store::{AdminStore, Sources, Store};
use tillgate_vault::{AccountIndexKey, MasterKey, Vault};

use self::host::{ConnectionFault, TestHost};
use crate::payment::addresses::Addresses;
use crate::payment::response_recorder::ResponseRecorder;
use crate::registry::Registry;
use crate::risk::stored_rules::compile_stored_rules;
use crate::risk::velocity::{VelocityLimiter, VelocityLimits};
use crate::{Gateway, GatewayOptions, GatewayParts};

/// A clock that tests move.
struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

struct TestShop {
    gateway: Arc<Gateway>,
    host: Arc<TestHost>,
    clock: Arc<MovedClock>,
    entity: Arc<Entity>,
    /// `None` in a cluster.
    _folder: Option<tempfile::TempDir>,
}

/// Creates the sandbox merchant of the tests.
fn create_merchant(settings: EntitySettings) -> Entity {
    Entity {
        id: EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]),
        name: "Bakery".to_owned(),
        live: false,
        level: Level::Merchant,
        parent: None,
        ahead: SignedDuration::ZERO,
        settings,
    }
}

impl TestShop {
    /// Creates a gateway with a store in a temporary folder, one sandbox merchant, and the test host as its external
    /// connector. There are no card-testing limits, and a payment awaits its shopper for 30 minutes.
    fn start_gateway() -> Self {
        Self::start_with(TestHost::new(), EntitySettings::default())
    }

    /// Same as [`TestShop::start_gateway`], with this host and these settings of the merchant.
    fn start_with(host: TestHost, settings: EntitySettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(MovedClock(AtomicI64::new(1_700_000_000)));
        let entity = create_merchant(settings);
        AdminStore::open(folder.path()).unwrap().add_entity(&entity, clock.now()).unwrap();
        let directory = Arc::new(Directory::new(compile_stored_rules));
        let sources = Sources { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Sources::system() };
        let store = Store::open(folder.path(), Arc::clone(&directory), sources).unwrap();
        let place = (Arc::new(host), clock, Arc::new(entity));
        Self { _folder: Some(folder), ..Self::open((store, directory), place) }
    }

    /// Creates a gateway on a store.
    fn open(
        (store, directory): (Store, Arc<Directory>),
        (host, clock, entity): (Arc<TestHost>, Arc<MovedClock>, Arc<Entity>),
    ) -> Self {
        let gateway = Gateway::new(GatewayParts {
            store,
            directory,
            id_clock: IdClock::starting_at(clock.now()),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            connectors: Registry::default().with_external(Arc::clone(&host) as Arc<dyn Connector>, true),
            vault: Arc::new(Vault::new(&MasterKey::from_bytes([7; 32]))),
            account_index: AccountIndexKey::new(zeroize::Zeroizing::new([7; 32])),
            velocity: VelocityLimiter::new(VelocityLimits::NONE, Vec::new(), clock.now()),
            options: GatewayOptions {
                node: "tx01".to_owned(),
                card_window: SignedDuration::from_hours(1),
                time_limits: TimeLimits {
                    authorization_lifetime: SignedDuration::from_hours(168),
                    reversal_window: SignedDuration::from_hours(24),
                },
                pending_lifetime: SignedDuration::from_mins(30),
                review_lifetime: SignedDuration::from_hours(24),
                limits: VelocityLimits::NONE,
                retry_rules: Arc::default(),
            },
        });
        Self { gateway: Arc::new(gateway), host, clock, entity, _folder: None }
    }

    /// Pays 92.00 EUR by card at the test host.
    async fn pay_by_card(&self) -> Arc<Payment> {
        let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
        self.gateway
            .pay(&self.entity, order_parameters(&CARD), Scopes::all(), addresses, ResponseRecorder::disabled())
            .await
            .unwrap()
    }

    /// Makes a follow-up payment of this type: a reversal of the whole payment, or any other over 92.00 EUR.
    async fn modify_payment(&self, payment: &Payment, payment_type: &str) -> Arc<Payment> {
        let parameters = [("paymentType", payment_type), ("amount", "92.00"), ("currency", "EUR")];
        let parameters = parameters[..if payment_type == "RV" { 1 } else { 3 }].iter().copied().collect();
        self.gateway
            .modify_payment(&self.entity, payment.id.as_str(), parameters, Scopes::all(), ResponseRecorder::disabled())
            .await
            .unwrap()
    }

    /// Returns the payment as it is stored.
    fn stored_payment(&self, payment: &Payment) -> Payment {
        self.gateway.store.load_payment(&payment.entity, &payment.id).unwrap().unwrap()
    }

    /// Creates a checkout of 92.00 EUR at the test host.
    async fn create_checkout(&self) -> Checkout {
        let parameters = order_parameters(&[]);
        self.gateway
            .create_checkout(&self.entity, parameters, "build", Scopes::all(), ResponseRecorder::disabled())
            .await
            .unwrap()
    }

    /// Resolves the outcome of every payment with an intent once.
    async fn resolve_all(&self) {
        for timer in self.gateway.store.load_due_timers(TimerKind::Inquire, Timestamp::MAX, 100).unwrap() {
            let id = PaymentId::parse(&timer.subject).unwrap();
            self.gateway.resolve_payment(&timer.entity, &id).await.unwrap();
        }
    }

    /// Returns the number of payments with an unknown outcome.
    fn count_intents(&self) -> usize {
        self.gateway.store.load_due_timers(TimerKind::Inquire, Timestamp::MAX, 100).unwrap().len()
    }

    /// Resolves the outcome of a payment, and returns the payment as it is stored then.
    async fn resolve_payment(&self, payment: &Payment) -> Payment {
        self.gateway.resolve_payment(&payment.entity, &payment.id).await.unwrap();
        self.stored_payment(payment)
    }
}

const CARD: [(&str, &str); 6] = [
    ("paymentBrand", "VISA"),
    ("card.number", "4200000000000000"),
    ("card.holder", "Jane Jones"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
    ("card.cvv", "123"),
];

/// Returns the parameters of a debit of 92.00 EUR at an external connector, and `more`.
fn order_parameters(more: &[(&str, &str)]) -> Parameters {
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("testMode", "EXTERNAL")];
    order.into_iter().chain(more.iter().copied()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_stored_as_pending_before_its_connector_is_asked() {
    let shop = TestShop::start_gateway();
    shop.host.permits.forget_permits(1_000);
    let gateway = Arc::clone(&shop.gateway);
    let (entity, addresses) = (Arc::clone(&shop.entity), "http://127.0.0.1/");
    let paying = tokio::spawn(async move {
        let addresses = Addresses { public: addresses, result: None, shop_origin: None, shopper: None };
        gateway
            .pay(&entity, order_parameters(&CARD), Scopes::all(), addresses, ResponseRecorder::disabled())
            .await
            .unwrap()
    });
    while shop.count_intents() == 0 {
        tokio::task::yield_now().await;
    }
    let timer = shop.gateway.store.load_due_timers(TimerKind::Inquire, Timestamp::MAX, 1).unwrap().remove(0);
    let id = PaymentId::parse(&timer.subject).unwrap();
    let reserved = shop.gateway.store.load_payment(&timer.entity, &id).unwrap().unwrap();
    assert!(reserved.awaits_connector());
    // No other request is made meanwhile.
    shop.resolve_payment(&reserved).await;
    assert_eq!(shop.host.entry_count(), 0);
    shop.host.permits.add_permits(1);
    let paid = paying.await.unwrap();
    assert_eq!((paid.result, &paid.id), (codes::TEST_CONNECTOR, &id));
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 9200));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inquiry_finds_out_what_a_lost_answer_said() {
    let shop = TestShop::start_gateway();
    shop.host.set_fault(ConnectionFault::LosesResponses);
    let paid = shop.pay_by_card().await;
    assert!(paid.awaits_connector() && shop.stored_payment(&paid).awaits_connector());
    assert_eq!(shop.resolve_payment(&paid).await.result, codes::TEST_CONNECTOR);
    assert_eq!((shop.count_intents(), shop.host.balance(), shop.host.entry_count()), (0, 9200, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_never_arrived_is_undone_and_declined() {
    let shop = TestShop::start_gateway();
    shop.host.set_fault(ConnectionFault::LosesRequests);
    let paid = shop.pay_by_card().await;
    assert!(shop.resolve_payment(&paid).await.awaits_connector(), "it may still be on its way");
    shop.clock.0.fetch_add(31, Ordering::Relaxed);
    assert!(shop.resolve_payment(&paid).await.awaits_connector(), "the reversal does not arrive either");
    shop.host.set_fault(ConnectionFault::None);
    assert_eq!(shop.resolve_payment(&paid).await.result, codes::OUTCOME_UNCERTAIN);
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_never_undone_while_its_inquiries_get_no_answer() {
    let shop = TestShop::start_gateway();
    shop.host.set_fault(ConnectionFault::LosesResponses);
    let paid = shop.pay_by_card().await;
    // Of the host only the inquiries are lost: a reversal would arrive, and give back what the shopper has paid.
    shop.host.set_fault(ConnectionFault::LosesInquiries);
    for _ in 0..3 {
        shop.clock.0.fetch_add(3_600, Ordering::Relaxed);
        assert!(shop.resolve_payment(&paid).await.awaits_connector());
    }
    assert_eq!((shop.count_intents(), shop.host.balance(), shop.host.entry_count()), (1, 9200, 1));
    shop.host.set_fault(ConnectionFault::None);
    assert_eq!(shop.resolve_payment(&paid).await.result, codes::TEST_CONNECTOR);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_payment_that_would_send_its_shopper_to_a_page_is_undone() {
    let shop = TestShop::start_gateway();
    shop.host.set_fault(ConnectionFault::RedirectsShopper);
    let paid = shop.pay_by_card().await;
    assert!(paid.awaits_connector() && paid.redirect.is_none(), "nobody has said where the shopper comes back to");
    assert!(shop.resolve_payment(&paid).await.awaits_connector());
    shop.clock.0.fetch_add(31, Ordering::Relaxed);
    assert_eq!(shop.resolve_payment(&paid).await.result, codes::OUTCOME_UNCERTAIN);
    assert_eq!((shop.count_intents(), shop.host.balance()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_without_an_answer_keeps_its_amount_reserved_and_is_asked_again() {
    let shop = TestShop::start_gateway();
    let paid = shop.pay_by_card().await;
    shop.host.set_fault(ConnectionFault::LosesResponses);
    let refund = shop.modify_payment(&paid, "RF").await;
    assert!(refund.awaits_connector());
    shop.host.set_fault(ConnectionFault::None);
    let second = shop.modify_payment(&paid, "RF").await;
    assert!(!second.is_approved_or_pending(), "{}", second.result.code());
    assert_eq!(shop.resolve_payment(&refund).await.result, codes::TEST_CONNECTOR);
    assert_eq!((shop.count_intents(), shop.host.balance(), shop.host.entry_count()), (0, 0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reversal_reaches_the_connector_that_made_the_payment() {
    let shop = TestShop::start_gateway();
    let paid = shop.pay_by_card().await;
    let reversed = shop.modify_payment(&paid, "RV").await;
    assert_eq!((reversed.result, shop.host.balance()), (codes::TEST_CONNECTOR, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_that_cannot_be_checked_is_reversed() {
    let shop = TestShop::start_gateway();
    let risk = Some(Box::default());
    let checked = Payment { risk, ..Payment::clone(&*shop.pay_by_card().await) };
    let without_connector = Payment { connector: Some("gone".to_owned()), ..checked.clone() };
    let without_entity = Payment { entity: EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]), ..checked };
    for mut payment in [without_connector, without_entity] {
        let check = shop.gateway.screen_approval(&payment, &codes::TEST_CONNECTOR.into()).unwrap();
        assert_eq!(check.decide(&mut payment, &[]).0.refusal_code(), Some(codes::RISK_ERROR_VOID));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_submits_of_one_checkout_authorise_once() {
    let shop = TestShop::start_gateway();
    let checkout = shop.create_checkout().await;
    let submits: Vec<_> = (0..50)
        .map(|_| {
            let (gateway, id) = (Arc::clone(&shop.gateway), checkout.id.clone());
            tokio::spawn(async move {
                let (form, shopper) = (CARD.into_iter().collect(), IpAddr::from([192, 0, 2, 1]));
                gateway
                    .submit_form(id.as_str(), false, form, shopper, "http://127.0.0.1/", &ResponseRecorder::disabled)
                    .await
                    .unwrap()
            })
        })
        .collect();
    for submit in submits {
        submit.await.unwrap();
    }
    assert_eq!((shop.count_intents(), shop.host.entry_count(), shop.host.balance()), (0, 1, 9200));
}
