//! Payments at a connector that leaves the process, which loses requests and answers when it is told to.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;
use tokio::sync::Semaphore;

use super::Asking;
use crate::clock::Clock;
use crate::connector::{Capabilities, Connector, Inquiry, Modification, OrderRequest, Outcome, Registry};
use crate::directory::Directory;
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::EntityId;
use crate::domain::level::Level;
use crate::domain::payment::{Payment, Terms};
use crate::gateway::codes::Codes;
use crate::gateway::once::Once;
use crate::gateway::pay::Addresses;
use crate::gateway::reminder::Asked;
use crate::gateway::summary::SavedForms;
use crate::gateway::velocity::{Limits, VelocityLimiter};
use crate::gateway::{Gateway, Options};
use crate::id_clock::IdClock;
use crate::store::timer::Kind;
use crate::store::{AdminStore, Store};
use crate::vault::{MasterKey, Vault};

/// A fault of the line to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The request never arrives.
    LosesRequests,
    /// It is carried out, and the answer never arrives.
    LosesAnswers,
}

/// A host with books: what stands, by reference, in hundredths.
struct Host {
    fault: Mutex<Fault>,
    books: Mutex<HashMap<String, i64>>,
    /// A permit for each request that may be answered.
    turns: Semaphore,
}

const CAPABILITIES: Capabilities = Capabilities { leaves_process: true, ..Capabilities::EVERYTHING_IN_PROCESS };

impl Host {
    async fn book(&self, reference: &str, hundredths: i64) -> Outcome {
        self.turns.acquire().await.unwrap().forget();
        let fault = *self.fault.lock().unwrap();
        if fault == Fault::LosesRequests {
            return Outcome::Unknown;
        }
        self.books.lock().unwrap().entry(reference.to_owned()).or_insert(hundredths);
        if fault == Fault::LosesAnswers { Outcome::Unknown } else { codes::TEST_CONNECTOR.into() }
    }

    fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    fn balance(&self) -> i64 {
        self.books.lock().unwrap().values().sum()
    }

    fn entries(&self) -> usize {
        self.books.lock().unwrap().len()
    }
}

#[async_trait]
impl Connector for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> Outcome {
        self.book(request.reference, request.order.amount.hundredths()).await
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> Outcome {
        self.book(request.reference, -request.order.amount.hundredths()).await
    }

    async fn verify(&self, _: &OrderRequest<'_>) -> Outcome {
        codes::TEST_CONNECTOR.into()
    }

    async fn capture(&self, modification: &Modification) -> Outcome {
        self.book(&modification.reference, 0).await
    }

    async fn refund(&self, modification: &Modification) -> Outcome {
        self.book(&modification.reference, -modification.amount.hundredths()).await
    }

    async fn reverse(&self, modification: &Modification) -> Outcome {
        let stood = self.books.lock().unwrap().get(&modification.referenced).copied().unwrap_or_default();
        self.book(&modification.reference, -stood).await
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Outcome {
        let is_known = self.books.lock().unwrap().contains_key(&inquiry.reference);
        if is_known { codes::TEST_CONNECTOR.into() } else { Outcome::Unknown }
    }
}

/// A clock that a test moves.
struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

struct Shop {
    gateway: Arc<Gateway>,
    host: Arc<Host>,
    clock: Arc<MovedClock>,
    entity: Arc<Entity>,
    _folder: tempfile::TempDir,
}

const NO_LIMITS: Limits =
    Limits { per_checkout: 0, per_address: 0, per_bin: 0, per_entity: 0, alike_numbers: 0, sandbox_factor: 0 };

impl Shop {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(MovedClock(AtomicI64::new(1_700_000_000)));
        let entity = Entity {
            id: EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]),
            name: "Bakery".to_owned(),
            live: false,
            level: Level::Merchant,
            parent: None,
            ahead: SignedDuration::ZERO,
            settings: Settings::default(),
        };
        AdminStore::open(folder.path()).unwrap().add_entity(&entity, clock.now()).unwrap();
        let host =
            Arc::new(Host { fault: Mutex::new(Fault::None), books: Mutex::default(), turns: Semaphore::new(1_000) });
        let directory = Arc::new(Directory::default());
        let gateway = Gateway {
            store: Store::open(folder.path(), Arc::clone(&directory)).unwrap(),
            directory,
            id_clock: IdClock::starting_at(clock.now()),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            connectors: Registry::default().with_external(Arc::clone(&host) as Arc<dyn Connector>, true),
            asking: Asking::default(),
            vault: Arc::new(Vault::new(&MasterKey::from_bytes([7; 32]))),
            velocity: VelocityLimiter::new(NO_LIMITS, Vec::new(), clock.now()),
            saved: SavedForms::default(),
            asked: Asked::default(),
            codes: Codes::default(),
            options: Options {
                node: "tx01".to_owned(),
                card_window: SignedDuration::from_hours(1),
                terms: Terms {
                    authorization_lifetime: SignedDuration::from_hours(168),
                    reversal_window: SignedDuration::from_hours(24),
                },
                pending_lifetime: SignedDuration::from_mins(30),
                limits: NO_LIMITS,
            },
        };
        Self { gateway: Arc::new(gateway), host, clock, entity: Arc::new(entity), _folder: folder }
    }

    async fn pay(&self) -> Payment {
        let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
        self.gateway.pay(&self.entity, order(&CARD), addresses, Once::unnamed()).await.unwrap()
    }

    async fn modify(&self, payment: &Payment, payment_type: &str) -> Payment {
        let parameters = [("paymentType", payment_type), ("amount", "92.00"), ("currency", "EUR")];
        let parameters = parameters[..if payment_type == "RV" { 1 } else { 3 }].iter().copied().collect();
        self.gateway.refer(&self.entity, payment.id.as_str(), parameters, Once::unnamed()).await.unwrap()
    }

    /// The payment as it is stored.
    fn stored(&self, payment: &Payment) -> Payment {
        self.gateway.store.payment(&payment.entity, &payment.id).unwrap().unwrap()
    }

    /// The payments whose outcome has to be found out.
    fn intents(&self) -> usize {
        self.gateway.store.timers_due(Kind::Ask, Timestamp::MAX, 100).unwrap().len()
    }

    async fn resolve(&self, payment: &Payment) -> Payment {
        self.gateway.resolve(&payment.entity, &payment.id).await.unwrap();
        self.stored(payment)
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

fn order(more: &[(&str, &str)]) -> Parameters {
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("testMode", "EXTERNAL")];
    order.into_iter().chain(more.iter().copied()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_stored_as_pending_before_its_connector_is_asked() {
    let shop = Shop::open();
    shop.host.turns.forget_permits(1_000);
    let gateway = Arc::clone(&shop.gateway);
    let (entity, addresses) = (Arc::clone(&shop.entity), "http://127.0.0.1/");
    let paying = tokio::spawn(async move {
        let addresses = Addresses { public: addresses, result: None, shop_origin: None, shopper: None };
        gateway.pay(&entity, order(&CARD), addresses, Once::unnamed()).await.unwrap()
    });
    while shop.intents() == 0 {
        tokio::task::yield_now().await;
    }
    let timer = shop.gateway.store.timers_due(Kind::Ask, Timestamp::MAX, 1).unwrap().remove(0);
    let id = crate::domain::id::PaymentId::parse(&timer.subject).unwrap();
    let reserved = shop.gateway.store.payment(&timer.entity, &id).unwrap().unwrap();
    assert!(reserved.awaits_connector());
    // Nobody else asks meanwhile.
    shop.resolve(&reserved).await;
    assert_eq!(shop.host.entries(), 0);
    shop.host.turns.add_permits(1);
    let paid = paying.await.unwrap();
    assert_eq!((paid.result, paid.id), (codes::TEST_CONNECTOR, id));
    assert_eq!((shop.intents(), shop.host.balance()), (0, 9200));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inquiry_finds_out_what_a_lost_answer_said() {
    let shop = Shop::open();
    shop.host.set(Fault::LosesAnswers);
    let paid = shop.pay().await;
    assert!(paid.awaits_connector() && shop.stored(&paid).awaits_connector());
    assert_eq!(shop.resolve(&paid).await.result, codes::TEST_CONNECTOR);
    assert_eq!((shop.intents(), shop.host.balance(), shop.host.entries()), (0, 9200, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_never_arrived_is_undone_and_declined() {
    let shop = Shop::open();
    shop.host.set(Fault::LosesRequests);
    let paid = shop.pay().await;
    assert!(shop.resolve(&paid).await.awaits_connector(), "it may still be on its way");
    shop.clock.0.fetch_add(31, Ordering::Relaxed);
    assert!(shop.resolve(&paid).await.awaits_connector(), "the reversal does not arrive either");
    shop.host.set(Fault::None);
    assert_eq!(shop.resolve(&paid).await.result, codes::OUTCOME_UNCERTAIN);
    assert_eq!((shop.intents(), shop.host.balance()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_without_an_answer_keeps_its_amount_reserved_and_is_asked_again() {
    let shop = Shop::open();
    let paid = shop.pay().await;
    shop.host.set(Fault::LosesAnswers);
    let refund = shop.modify(&paid, "RF").await;
    assert!(refund.awaits_connector());
    shop.host.set(Fault::None);
    let second = shop.modify(&paid, "RF").await;
    assert!(!second.counts(), "{}", second.result.code());
    assert_eq!(shop.resolve(&refund).await.result, codes::TEST_CONNECTOR);
    assert_eq!((shop.intents(), shop.host.balance(), shop.host.entries()), (0, 0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reversal_reaches_the_connector_that_made_the_payment() {
    let shop = Shop::open();
    let paid = shop.pay().await;
    let reversed = shop.modify(&paid, "RV").await;
    assert_eq!((reversed.result, shop.host.balance()), (codes::TEST_CONNECTOR, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_submits_of_one_checkout_authorise_once() {
    let shop = Shop::open();
    let checkout = shop.gateway.create_checkout(&shop.entity, order(&[]), "build", Once::unnamed()).await.unwrap();
    let submits: Vec<_> = (0..50)
        .map(|_| {
            let (gateway, id) = (Arc::clone(&shop.gateway), checkout.id.clone());
            tokio::spawn(async move {
                let (form, shopper) = (CARD.into_iter().collect(), IpAddr::from([192, 0, 2, 1]));
                gateway.submit(id.as_str(), false, form, shopper, "http://127.0.0.1/", &Once::unnamed).await.unwrap()
            })
        })
        .collect();
    for submit in submits {
        submit.await.unwrap();
    }
    assert_eq!((shop.intents(), shop.host.entries(), shop.host.balance()), (0, 1, 9200));
}
