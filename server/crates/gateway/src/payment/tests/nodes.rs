//! Two nodes of a cluster that get requests about the same order at once: no shopper is charged twice.

use std::sync::LazyLock;

use futures_util::future::join_all;
use tillgate_connector::three_ds::ChallengeResult;
use tillgate_domain::id::MessageId;
use tillgate_domain::idempotency::{EncodedResponse, FINGERPRINT_LENGTH, IdempotencyKey, IdempotentRequest};
use tillgate_domain::three_ds::TransactionStatus;
use tillgate_store::cluster::background_work::BackgroundWork;
use tillgate_store::delivery::message_selection::{SelectionCursor, SelectionLimits};
use tillgate_store::{Changes, RecordKeys, StoreErrorKind, StoreLocation, WriteLimits};
use tillgate_test_cluster::Cluster;
use tillgate_vault::{KeySource, Keyring, MasterKey};

use super::interleaving::challenged_form;
use super::*;
use crate::Failure;
use crate::settlement::verification::Verification;

/// The cluster of the databases.
static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(&[]).unwrap());

/// Creates another merchant.
fn create_numbered_merchant(number: u8) -> Entity {
    let id = EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]);
    Entity { id, ..create_merchant(EntitySettings::default()) }
}

/// Opens two gateways on one database, with the same clock, merchant and host, and two other merchants. The first has
/// the background work.
async fn open_nodes() -> [TestShop; 2] {
    let (database, folder) = (CLUSTER.create_database().unwrap(), tempfile::tempdir().unwrap());
    let location = StoreLocation::in_database(folder.path(), &database, None).unwrap();
    let clock = Arc::new(MovedClock(AtomicI64::new(1_700_000_000)));
    let (host, entity) = (Arc::new(TestHost::new()), Arc::new(create_merchant(EntitySettings::default())));
    let admin = AdminStore::open_with_vault(&location, None).unwrap();
    for merchant in [&*entity, &create_numbered_merchant(2), &create_numbered_merchant(3)] {
        admin.add_entity(merchant, clock.now()).unwrap();
    }
    let open = || {
        let directory = Arc::new(Directory::new(compile_stored_rules));
        let sources = Sources { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Sources::system() };
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])));
        let keys = Keyring { vault, source: KeySource::Variable("NO_OTHER_KEYS") };
        let limits = WriteLimits::default();
        let store = Store::open_to_serve(&location, Arc::clone(&directory), keys, limits, sources).unwrap();
        TestShop::open((store, directory), (Arc::clone(&host), Arc::clone(&clock), Arc::clone(&entity)))
    };
    let nodes = [open(), open()];
    nodes[0].gateway.store.join_cluster("tx01").await.unwrap();
    nodes[1].gateway.store.join_cluster("tx02").await.unwrap();
    nodes
}

/// Pays by card with an idempotency key. Returns the payment, or the kind of the failure.
async fn pay_with_key(shop: &TestShop, key: &IdempotencyKey) -> Result<PaymentId, StoreErrorKind> {
    let request =
        IdempotentRequest { entity: shop.entity.id.clone(), key: key.clone(), fingerprint: [7; FINGERPRINT_LENGTH] };
    let encode = |payment: &Payment| EncodedResponse { status: 200, body: payment.id.as_str().into() };
    let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
    let recorder = ResponseRecorder::new(Some(request), encode);
    match shop.gateway.pay(&shop.entity, order_parameters(&CARD), Scopes::all(), addresses, recorder).await {
        Ok(payment) => Ok(payment.id.clone()),
        Err(Failure::Store(error)) => Err(error.kind()),
        Err(failure) => panic!("{failure}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_two_nodes_get_at_once_with_one_key_is_carried_out_once() {
    let nodes = open_nodes().await;
    for round in 1..=10_usize {
        let key = IdempotencyKey::parse(format!("order-{round}").as_bytes()).unwrap();
        let outcomes = join_all((0..6).map(|number| pay_with_key(&nodes[number % 2], &key))).await;
        let (done, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
        assert_eq!((done.len(), nodes[0].host.entry_count()), (1, round));
        assert!(refused.iter().all(|refused| *refused == Err(StoreErrorKind::DuplicateKey)), "{refused:?}");
        // The other node replays the response of the first.
        for node in &nodes {
            let found = node.gateway.store.load_response(&node.entity.id, &key, node.clock.now()).unwrap().unwrap();
            assert_eq!(found.response.body, done[0].as_ref().unwrap().as_str().as_bytes());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn submits_of_one_checkout_at_two_nodes_charge_once() {
    let nodes = open_nodes().await;
    let checkout = nodes[0].create_checkout().await;
    join_all((0..20).map(|number| nodes[number % 2].submit_form(&checkout, CARD.into_iter().collect()))).await;
    assert_eq!((nodes[0].count_intents(), nodes[0].host.entry_count(), nodes[0].host.balance()), (0, 1, 9200));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_refund_one_payment_once() {
    let nodes = open_nodes().await;
    for round in 1..=5 {
        let paid = nodes[0].pay_by_card().await;
        let refunds = join_all(nodes.iter().map(|node| node.modify_payment(&paid, "RF"))).await;
        assert_eq!(refunds.iter().filter(|refund| refund.is_approved()).count(), 1);
        assert_eq!((nodes[0].host.entry_count(), nodes[0].host.balance()), (2 * round, 0));
    }
}

/// Confirms the challenge of a payment at some nodes at once.
async fn confirm_challenge(nodes: &[&TestShop], payment: &Payment) {
    let page = payment.redirect.as_ref().unwrap().page.clone().unwrap();
    nodes[0].gateway.advance_three_ds(page.as_str(), true).await.unwrap();
    let transaction = &payment.three_ds_session().unwrap().transaction;
    let result =
        || ChallengeResult { status: TransactionStatus::Authenticated, reason: None, code: codes::TEST_CONNECTOR };
    let confirm = |node: &&TestShop| {
        let gateway = Arc::clone(&node.gateway);
        let (page, transaction, result) = (page.clone(), transaction.clone(), result());
        async move { gateway.process_challenge_result(page.as_str(), &transaction, result).await.unwrap() }
    };
    join_all(nodes.iter().map(confirm)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shopper_who_returns_to_a_node_without_a_required_code_types_it_again_and_pays_once() {
    let [first, second] = open_nodes().await;
    let parameters = order_parameters(&[("requireCvv", "true")]);
    let created =
        first.gateway.create_checkout(&first.entity, parameters, "build", Scopes::all(), ResponseRecorder::disabled());
    let checkout = created.await.unwrap();
    let pending = first.submit_form(&checkout, challenged_form()).await.pending.unwrap();
    confirm_challenge(&[&second], &pending).await;
    assert_eq!((second.stored_payment(&pending).result, second.host.entry_count()), (codes::CODE_MISSING, 0));
    // The first node still has the code, and does not use it any more.
    confirm_challenge(&[&first], &pending).await;
    assert_eq!(first.host.entry_count(), 0);
    let again = second.submit_form(&checkout, challenged_form()).await.pending.unwrap();
    confirm_challenge(&[&second], &again).await;
    assert_eq!((second.stored_payment(&again).result, second.host.balance()), (codes::TEST_CONNECTOR, 9200));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shopper_who_returns_to_a_node_without_a_code_that_is_not_required_pays_once_without_it() {
    let [first, second] = open_nodes().await;
    let checkout = first.create_checkout().await;
    let pending = first.submit_form(&checkout, challenged_form()).await.pending.unwrap();
    for node in [&second, &first] {
        confirm_challenge(&[node], &pending).await;
        assert_eq!((node.stored_payment(&pending).result, node.host.entry_count()), (codes::TEST_CONNECTOR, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_challenge_that_reaches_two_nodes_charges_at_most_once() {
    let nodes = open_nodes().await;
    for _ in 0..10 {
        let before = nodes[0].host.entry_count();
        let checkout = nodes[0].create_checkout().await;
        let pending = nodes[0].submit_form(&checkout, challenged_form()).await.pending.unwrap();
        confirm_challenge(&[&nodes[0], &nodes[1]], &pending).await;
        let stored = nodes[1].stored_payment(&pending);
        let charged = nodes[0].host.entry_count() - before;
        assert_eq!(charged, usize::from(stored.result == codes::TEST_CONNECTOR), "{}", stored.result.code());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_under_way_at_one_node_is_no_work_of_another_until_its_node_has_ended() {
    let [first, second] = open_nodes().await;
    second.host.permits.forget_permits(1_000);
    let paying = {
        let (gateway, entity) = (Arc::clone(&second.gateway), Arc::clone(&second.entity));
        tokio::spawn(async move {
            let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
            let parameters = order_parameters(&CARD);
            gateway.pay(&entity, parameters, Scopes::all(), addresses, ResponseRecorder::disabled()).await.unwrap()
        })
    };
    while first.count_intents() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(first.gateway.store.may_work(BackgroundWork::Inquiries));
    let due = |shop: &TestShop| shop.gateway.load_due_intents(10).unwrap().len();
    assert_eq!((due(&first), due(&second)), (0, 0));
    // The client has gone, so the node that has asked looks the outcome up by itself.
    paying.abort();
    assert!(paying.await.unwrap_err().is_cancelled());
    assert_eq!((due(&first), due(&second)), (0, 1));
    second.gateway.store.leave_cluster().await;
    assert_eq!(due(&first), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_that_two_nodes_have_found_is_sent_once() {
    let nodes = open_nodes().await;
    let checkout = nodes[0].create_checkout().await;
    nodes[0].submit_form(&checkout, CARD.into_iter().collect()).await;
    let paid = nodes[0].gateway.load_checkout(checkout.id.as_str()).unwrap();
    let address = Some("https://shop.example/remind".to_owned());
    let written = nodes[0].gateway.store.update(RecordKeys::none(), move |_| {
        Ok((Changes::default().with_reminder(&paid, address, Timestamp::UNIX_EPOCH, false), ()))
    });
    written.await.unwrap().unwrap();
    let timer = nodes[0].gateway.store.load_due_timers(TimerKind::Remind, Timestamp::MAX, 10).unwrap().remove(0);
    for sent in join_all((0..6).map(|number| nodes[number % 2].gateway.send_reminder(&timer))).await {
        sent.unwrap();
    }
    let limits = SelectionLimits { total: 10, per_owner: &|_, _| 10, per_queue: &|_, _| 10 };
    let mut cursor = SelectionCursor::default();
    let due: Vec<MessageId> = nodes[1].gateway.store.select_due_messages(Timestamp::MAX, &mut cursor, &limits).unwrap();
    assert_eq!(due.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_of_several_merchants_at_two_nodes_at_once_leave_a_sound_log() {
    let nodes = open_nodes().await;
    let merchants = [&*nodes[0].entity, &create_numbered_merchant(2), &create_numbered_merchant(3)];
    let merchants = merchants.map(|merchant| Arc::new(merchant.clone()));
    let pay = |number: usize| {
        let (node, merchant) = (&nodes[number % 2], &merchants[number / 2 % 3]);
        async move {
            let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
            let parameters = order_parameters(&CARD);
            let recorder = ResponseRecorder::disabled();
            let paid = node.gateway.pay(merchant, parameters, Scopes::all(), addresses, recorder).await.unwrap();
            if number.is_multiple_of(10) {
                node.gateway.store.bind_audit_chains(node.clock.now()).await.unwrap();
            }
            assert!(paid.is_approved(), "{paid:?}");
        }
    };
    join_all((0..60).map(pay)).await;
    for check in [Verification::verify_chains, Verification::verify_ledger] {
        let snapshot = nodes[1].gateway.store.open_snapshot(&nodes[1].gateway.vault).unwrap();
        let found = check(&snapshot, None).unwrap();
        assert_eq!(found.faults, Vec::<String>::new());
        assert!(found.entries > 60, "{found:?}");
    }
}
