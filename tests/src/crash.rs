//! Crash test: kills a gateway and an acquirer host at random moments under load, restarts them, and checks their
//! guarantees. Every response that a client received is in the store, no payment was made twice, every pending payment
//! ends, no event or notification is sent under two ids, each occurrence of a schedule is charged once, each chargeback
//! has one dispute, and the host's ledger agrees with the gateway to the cent. The same for several gateways on a
//! cluster of PostgreSQL, of which parts are killed.

mod acquirer;
mod clients;
mod cluster;
mod final_checks;
mod installation;
mod requests;
mod schedules;

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use self::acquirer::KillableHost;
use self::clients::{Load, get_answered, resend_unanswered};
pub use self::cluster::ClusterFault;
use self::final_checks::{check_disputes, check_notifications, check_payments};
use self::installation::Installation;
pub use self::installation::InstallationKind;
use self::requests::{FollowUpType, KeyedRequest};
use self::schedules::{check_runs, create_schedules, end_schedules};
use crate::{Database, MerchantClient, Receiver, ReceiverReply, TestGateway, poll_until, poll_until_blocking};

/// The code of a payment without an outcome.
const PENDING: &str = "000.200.000";
/// The code of a payment that the acquirer host has approved.
const APPROVED_BY_HOST: &str = "000.100.112";
const OPTIONS: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// Summary of a crash test.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CrashSummary {
    /// Number of responses that clients received.
    pub answers: usize,
    /// Number of requests that were left unanswered by a crash and sent again.
    pub sent_again: usize,
    /// Number of requests that the gateway sent to the merchant.
    pub received: usize,
    /// Number of these that were repeated deliveries.
    pub repeated: usize,
    /// Number of times that the acquirer host was killed.
    pub hosts_killed: usize,
    /// Number of entries in its ledger.
    pub booked: usize,
    /// Longest time from a fault to the next payment of a shopper. Only of a cluster.
    pub longest_outage: Duration,
}

/// Responses that the clients received, and what has to follow from them.
#[derive(Debug, Default)]
struct ClientRecords {
    /// Answered payments, with their result code.
    answered: BTreeMap<String, String>,
    /// Payments that wait for their shopper, with their order and the id of the page that decides about them.
    pending: BTreeMap<String, (String, String)>,
    /// Pending payments whose page has confirmed the decision.
    confirmed: BTreeSet<String>,
    /// Pending payments whose page was requested.
    decision_requested: BTreeSet<String>,
    /// Number of answered follow-up payments, by the id of the payment and their type.
    follow_ups: BTreeMap<(String, FollowUpType), usize>,
    /// Approved reservations that no client has captured or reversed.
    reserved: Vec<String>,
    /// Payments that no client has charged back yet.
    disputable: Vec<String>,
    /// Orders of all payments, with their type. Each order is paid once.
    orders: BTreeMap<String, &'static str>,
    /// Orders of the checkouts that were submitted.
    submitted: BTreeSet<String>,
    /// Requests that were not answered.
    unanswered: Vec<KeyedRequest>,
    /// Payments that were already compared with their response.
    compared: BTreeSet<String>,
    /// True if a proxy and several gateways answer: then some requests fail while a part of them is down.
    is_behind_proxy: bool,
    /// The first response that no client should receive.
    fault: Option<String>,
    answers: usize,
    sent_again: usize,
}

type SharedRecords = Arc<Mutex<ClientRecords>>;

/// Kills parts of an installation under load `rounds` times, and the acquirer host in some of the rounds. Checks the
/// guarantees after each restart and in the end. The runtime needs several threads, because commands block.
///
/// # Errors
/// If a guarantee is violated, with the round in which it was.
pub async fn run_rounds(kind: InstallationKind, rounds: u32) -> anyhow::Result<CrashSummary> {
    let receiver =
        Receiver::start_with(|_| ReceiverReply::with_status(if random_below(8) == 0 { 500 } else { 200 })).await?;
    let mut host = KillableHost::start().await?;
    let arguments = host.gateway_arguments()?;
    let options = OPTIONS.into_iter().map(str::to_owned).chain(arguments).collect();
    let mut installation = Installation::start(kind, options)?;
    let mut shop = installation.create_merchant()?;
    create_webhook(installation.gateway()?, &shop, &receiver)?;
    let schedules = create_schedules(&shop).await?;
    let records = SharedRecords::default();
    lock_records(&records).is_behind_proxy = installation.is_behind_proxy();
    let (mut received, mut longest_outage) = (Vec::new(), Duration::ZERO);
    for round in 1..=rounds {
        let about = || format!("round {round}");
        // The schedules are due.
        shop.advance_clock("1m").await.with_context(about)?;
        let load = Load::start(&shop, &receiver.url(""), &format!("order-{round}"), &records);
        tokio::time::sleep(installation.choose_life()).await;
        let outage = installation.fail_and_recover(&shop, &mut host).await.with_context(about)?;
        longest_outage = longest_outage.max(outage);
        shop.base = installation.base_url()?;
        load.end().await;
        let fault = lock_records(&records).fault.take();
        ensure!(fault.is_none(), "round {round}: {}", fault.unwrap_or_default());
        resend_unanswered(&shop, &records).await.with_context(about)?;
        check_responses_stored(&shop, &records).await.with_context(about)?;
        received.extend(receiver.drain_requests().await);
    }
    end_schedules(&shop, &schedules).await?;
    let gateway = installation.gateway()?;
    advance_until_idle(gateway, &shop).await?;
    received.extend(receiver.drain_requests().await);
    let records = std::mem::take(&mut *lock_records(&records));
    let repeated = check_notifications(gateway, &records, &received)?;
    check_payments(&shop, &records).await?;
    check_disputes(gateway, &records)?;
    check_runs(gateway, &schedules, rounds)?;
    let booked = host.compare_ledger(&open_database(gateway)?).await?;
    check_ledger(gateway)?;
    Ok(CrashSummary {
        answers: records.answers,
        sent_again: records.sent_again,
        received: received.len(),
        repeated,
        hosts_killed: host.killed,
        booked,
        longest_outage,
    })
}

/// Checks the gateway's own ledger and its audit log.
fn check_ledger(gateway: &TestGateway) -> anyhow::Result<()> {
    let verified = gateway.run_command(&["verify"])?;
    ensure!(verified["faultCount"] == 0, "the gateway's own ledger has faults: {verified}");
    gateway.run_command(&["audit", "verify"]).map(drop)
}

/// Returns a random number below `below`.
fn random_below(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

fn lock_records(records: &SharedRecords) -> std::sync::MutexGuard<'_, ClientRecords> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a webhook, and activates it by tests until the receiver answers one with 200.
fn create_webhook(gateway: &TestGateway, shop: &MerchantClient, receiver: &Receiver) -> anyhow::Result<()> {
    let url = receiver.url("events");
    let created = gateway.run_command(&["webhook", "create", "--entity", &shop.entity_id, "--url", &url])?;
    let id = created["webhookId"].as_str().context("no webhookId")?;
    // The receiver answers most requests with 200, but not all.
    poll_until_blocking("the receiver takes the test", || {
        let test = gateway.run_command(&["webhook", "test", "--webhook", id, OPTIONS[0], OPTIONS[1]]);
        Ok(test.is_ok().then_some(()))
    })
}

/// Checks that every new payment is in the store with the result of its response. A pending payment may be approved if
/// its page was requested, and has to be if the page confirmed it.
async fn check_responses_stored(shop: &MerchantClient, records: &SharedRecords) -> anyhow::Result<()> {
    let new: Vec<String> = {
        let records = lock_records(records);
        records
            .answered
            .keys()
            .chain(records.pending.keys())
            .filter(|id| !records.compared.contains(*id))
            .cloned()
            .collect()
    };
    for id in new {
        let found = get_answered(shop, &format!("v1/payments/{id}")).await?;
        let mut records = lock_records(records);
        let fits = match (records.answered.get(&id), found.result_code()) {
            (Some(answered), code) => answered == code,
            (None, "000.100.110") => records.decision_requested.contains(&id),
            (None, code) => code == PENDING && !records.confirmed.contains(&id),
        };
        ensure!(fits, "a client was told something else than: {}", found.text);
        records.compared.insert(id);
    }
    Ok(())
}

/// Opens the gateway's database for reading.
fn open_database(gateway: &TestGateway) -> anyhow::Result<Database> {
    Database::open_to_read(&gateway.data_folder())
}

/// Advances the sandbox's clock until no timer, except those of settlements and disputes, and no message to send is
/// left. Fails if their number does not shrink in time.
async fn advance_until_idle(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<()> {
    shop.advance_clock("31m").await?;
    let query = "SELECT (SELECT count(*) FROM timer WHERE kind NOT IN ('settle', 'dispute'))
            + (SELECT count(*) FROM message WHERE due IS NOT NULL)";
    let mut least = u32::MAX;
    loop {
        // The timeout starts anew as long as there is progress.
        let remaining = poll_until("something more that is due happens", async || {
            // Deliveries that failed wait for their next attempt.
            shop.advance_clock("2m").await?;
            let remaining: u32 = open_database(gateway)?.query_row(query, [], |row| row.get(0))?;
            Ok(Some(remaining).filter(|remaining| *remaining < least))
        })
        .await?;
        if remaining == 0 {
            return Ok(());
        }
        least = remaining;
    }
}
