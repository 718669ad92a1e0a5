//! The work of two nodes of a cluster.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::TimeLimits;
use tillgate_gateway::registry::Registry;
use tillgate_gateway::risk::stored_rules::compile_stored_rules;
use tillgate_gateway::risk::velocity::{VelocityLimiter, VelocityLimits};
use tillgate_gateway::{Gateway, GatewayOptions, GatewayParts};
use tillgate_net::low_priority::LowPriorityThreads;
use tillgate_net::outgoing::{OutgoingClient, Ports};
use tillgate_os::clock::SystemClock;
use tillgate_os::id_clock::IdClock;
use tillgate_store::delivery::message::NOTIFICATION;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{AdminStore, Changes, RecordKeys, Sources, Store, StoreLocation, WriteLimits};
use tillgate_test_cluster::Cluster;
use tillgate_vault::{AccountIndexKey, KeySource, Keyring, MasterKey, Vault};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Opens a node with this name.
async fn open_node(location: &StoreLocation, name: &str) -> Arc<App> {
    let directory = Arc::new(Directory::new(compile_stored_rules));
    let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])));
    let keys = Keyring { vault: Arc::clone(&vault), source: KeySource::Variable("NO_OTHER_KEYS") };
    let (limits, sources) = (WriteLimits::default(), Sources::system());
    let store = Store::open_to_serve(location, Arc::clone(&directory), keys, limits, sources).unwrap();
    store.join_cluster(name).await.unwrap();
    let now = Timestamp::now();
    let gateway = Gateway::new(GatewayParts {
        id_clock: IdClock::starting_at(now),
        directory,
        store,
        clock: Arc::new(SystemClock),
        connectors: Registry::default(),
        vault,
        account_index: AccountIndexKey::new(zeroize::Zeroizing::new([7; 32])),
        velocity: VelocityLimiter::new(VelocityLimits::NONE, Vec::new(), now),
        options: GatewayOptions {
            node: name.to_owned(),
            card_window: SignedDuration::from_hours(24),
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
    let outgoing = OutgoingClient::new(&["127.0.0.0/8".parse().unwrap()], Ports::new([])).unwrap();
    Arc::new(App { gateway, outgoing, low_priority: LowPriorityThreads::start().unwrap() })
}

/// A merchant's server, which counts the requests by the id of their message.
struct Receiver {
    address: String,
    counts: Arc<Mutex<BTreeMap<String, u32>>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let counts = Arc::new(Mutex::new(BTreeMap::new()));
        let shared = Arc::clone(&counts);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(count_request(stream, Arc::clone(&shared)));
            }
        });
        Self { address, counts }
    }

    /// Waits until as many different messages have come. Each has come once.
    async fn wait_for_messages(&self, count: usize) {
        while self.counts.lock().unwrap().len() < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let counts = self.counts.lock().unwrap();
        assert_eq!((counts.len(), counts.values().max()), (count, Some(&1)));
    }
}

/// Reads a request, counts it and answers it.
async fn count_request(mut stream: TcpStream, counts: Arc<Mutex<BTreeMap<String, u32>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let id = head.lines().find_map(|line| line.strip_prefix("webhook-id: ")).unwrap();
    *counts.lock().unwrap().entry(id.to_owned()).or_default() += 1;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_send_each_message_once_and_one_goes_on_where_the_other_stops() {
    let (cluster, folder) = (Cluster::start(&[]).unwrap(), tempfile::tempdir().unwrap());
    let location = StoreLocation::in_database(folder.path(), &cluster.create_database().unwrap(), None).unwrap();
    let entity = Entity {
        id: EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]),
        name: "Bakery".to_owned(),
        live: false,
        level: Level::Merchant,
        parent: None,
        ahead: SignedDuration::ZERO,
        settings: EntitySettings::default(),
    };
    AdminStore::open_with_vault(&location, None).unwrap().add_entity(&entity, Timestamp::now()).unwrap();
    let nodes = [open_node(&location, "tx01").await, open_node(&location, "tx02").await];
    let receiver = Receiver::start().await;
    let stops = [watch::channel(false), watch::channel(false)];
    let tasks: Vec<_> = nodes
        .iter()
        .zip(&stops)
        .map(|(app, (_, stopped))| {
            let (app, stopped) = (Arc::clone(app), stopped.clone());
            tokio::spawn(async move {
                give_back_after(&app, BackgroundWork::Deliveries, outbox::run_deliveries(Arc::clone(&app), stopped))
                    .await;
            })
        })
        .collect();
    let send = async |node: &Arc<App>| {
        let (id, address) = (entity.id.clone(), receiver.address.clone());
        let written = node.gateway.store.update(RecordKeys::none(), move |_| {
            Ok((Changes::default().with_outgoing_get(&id, NOTIFICATION, address), ()))
        });
        written.await.unwrap().unwrap();
    };
    for number in 0..100 {
        send(&nodes[number % 2]).await;
    }
    receiver.wait_for_messages(100).await;
    // The first node stops while there is more to send.
    for number in 0..100 {
        if number == 50 {
            stops[0].0.send(true).unwrap();
        }
        send(&nodes[1]).await;
    }
    receiver.wait_for_messages(200).await;
    while nodes[0].gateway.store.may_work(BackgroundWork::Deliveries) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    send(&nodes[1]).await;
    receiver.wait_for_messages(201).await;
    assert!(nodes[1].gateway.store.may_work(BackgroundWork::Deliveries));
    stops[1].0.send(true).unwrap();
    for task in tasks {
        task.await.unwrap();
    }
    receiver.wait_for_messages(201).await;
}
