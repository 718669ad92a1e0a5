//! Crash test: kills a gateway and an acquirer host at random moments under load, restarts them, and checks their
//! guarantees. Every response that a client received is in the store, no payment was made twice, every pending payment
//! ends, no event or notification is sent under two ids, each occurrence of a schedule is charged once, each chargeback
//! has one dispute, and the host's ledger agrees with the gateway to the cent.

mod acquirer;
mod final_checks;
mod requests;
mod schedules;

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use reqwest::Method;
use tokio::task::JoinSet;

use self::acquirer::KillableHost;
use self::final_checks::{check_disputes, check_notifications, check_payments};
use self::requests::{FollowUpType, KeyedRequest, RequestKind};
use self::schedules::{check_runs, create_schedules, end_schedules};
use crate::{
    ApiResponse, CARD, Database, MerchantClient, Receiver, ReceiverReply, TestGateway, encode_form, poll_until,
    poll_until_blocking,
};

/// Number of concurrent clients.
const CLIENTS: usize = 8;
/// Minimum uptime of a gateway under load, and the maximum random addition, in milliseconds.
const LIFE: (u64, u64) = (20, 400);
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
    /// The first response that no client should receive.
    fault: Option<String>,
    answers: usize,
    sent_again: usize,
}

type SharedRecords = Arc<Mutex<ClientRecords>>;

/// Kills and restarts a gateway under load `rounds` times, and the acquirer host in two rounds of three. Checks the
/// guarantees after each restart and in the end. The runtime needs several threads, because commands block.
///
/// # Errors
/// If a guarantee is violated, with the round in which it was.
pub async fn run_rounds(rounds: u32) -> anyhow::Result<CrashSummary> {
    let receiver =
        Receiver::start_with(|_| ReceiverReply::with_status(if random_below(8) == 0 { 500 } else { 200 })).await?;
    let mut host = KillableHost::start().await?;
    let arguments = host.gateway_arguments()?;
    let options: Vec<&str> = OPTIONS.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let mut gateway = TestGateway::start_with(&options)?;
    let mut shop = gateway.create_merchant()?;
    create_webhook(&gateway, &shop, &receiver)?;
    let schedules = create_schedules(&shop).await?;
    let records = SharedRecords::default();
    let mut received = Vec::new();
    for round in 1..=rounds {
        // The schedules are due.
        shop.advance_clock("1m").await?;
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let name = format!("order-{round}-{client}");
            clients.spawn(run_client(shop.clone(), receiver.url(""), name, Arc::clone(&records)));
        }
        tokio::time::sleep(Duration::from_millis(LIFE.0 + random_below(LIFE.1))).await;
        // The host is killed while the gateway is running, together with the gateway, or not at all.
        let moment = random_below(3);
        if moment == 0 {
            host.kill_and_restart()?;
        }
        gateway =
            gateway.kill_and_restart_after(&options, |_| if moment == 1 { host.kill_and_restart() } else { Ok(()) })?;
        shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
        clients.join_all().await;
        let fault = lock_records(&records).fault.take();
        ensure!(fault.is_none(), "round {round}: {}", fault.unwrap_or_default());
        let about = || format!("round {round}");
        resend_unanswered(&shop, &records).await.with_context(about)?;
        check_responses_stored(&shop, &records).await.with_context(about)?;
        received.extend(receiver.drain_requests().await);
    }
    end_schedules(&shop, &schedules).await?;
    advance_until_idle(&gateway, &shop).await?;
    received.extend(receiver.drain_requests().await);
    let records = std::mem::take(&mut *lock_records(&records));
    let repeated = check_notifications(&gateway, &records, &received)?;
    check_payments(&shop, &records).await?;
    check_disputes(&gateway, &records)?;
    check_runs(&gateway, &schedules, rounds)?;
    let booked = host.compare_ledger(&open_database(&gateway)?).await?;
    let verified = gateway.run_command(&["verify"])?;
    ensure!(verified["faultCount"] == 0, "the gateway's own ledger has faults: {verified}");
    Ok(CrashSummary {
        answers: records.answers,
        sent_again: records.sent_again,
        received: received.len(),
        repeated,
        hosts_killed: host.killed,
        booked,
    })
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

/// Runs one client until the gateway is killed: random payments, follow-up payments and checkouts, one after the other.
/// An error other than a broken connection is recorded as the fault.
async fn run_client(shop: MerchantClient, receiver: String, name: String, records: SharedRecords) {
    for number in 0.. {
        let order = format!("{name}-{number}");
        let result = match random_below(9) {
            0 => send_and_record(&shop, KeyedRequest::create_payment(&order, &CARD), &records).await,
            1 => send_follow_up(&shop, &order, FollowUpType::Refund, pick_refundable_payment(&records), &records).await,
            2 => send_and_record(&shop, KeyedRequest::create_external_payment(&order), &records).await,
            3 => pay_with_redirect(&shop, &order, &receiver, &records).await,
            4 => send_and_record(&shop, KeyedRequest::create_reservation(&order), &records).await,
            5 => {
                let end = if random_below(2) == 0 { FollowUpType::Capture } else { FollowUpType::Reversal };
                let reserved = lock_records(&records).reserved.pop();
                send_follow_up(&shop, &order, end, reserved, &records).await
            }
            6 => send_and_record(&shop, KeyedRequest::create_disputed_payment(&order), &records).await,
            7 => {
                let disputable = lock_records(&records).disputable.pop();
                send_follow_up(&shop, &order, FollowUpType::Chargeback, disputable, &records).await
            }
            _ => submit_checkout(&shop, &order, &receiver, &records).await,
        };
        if let Err(error) = result {
            // Broken connections are expected in this test.
            if error.downcast_ref::<reqwest::Error>().is_none() {
                lock_records(&records).fault.get_or_insert(error.to_string());
            }
            return;
        }
    }
}

/// Sends a follow-up payment of a payment, if there is one.
async fn send_follow_up(
    shop: &MerchantClient,
    key: &str,
    payment_type: FollowUpType,
    paid: Option<String>,
    records: &SharedRecords,
) -> anyhow::Result<()> {
    match paid {
        Some(paid) => send_and_record(shop, KeyedRequest::create_follow_up(key, payment_type, paid), records).await,
        None => Ok(()),
    }
}

/// Returns a random answered payment, or `None` if there is none.
fn pick_refundable_payment(records: &SharedRecords) -> Option<String> {
    let records = lock_records(records);
    let place = usize::try_from(random_below(records.answered.len().max(1) as u64)).unwrap_or_default();
    records.answered.keys().nth(place).cloned()
}

/// Sends a request and records the response, which has to be 200. If there is none, notes the request, to be sent
/// again, and returns the error.
async fn send_and_record(shop: &MerchantClient, request: KeyedRequest, records: &SharedRecords) -> anyhow::Result<()> {
    match request.send_to(shop).await {
        Ok(response) => record_response(&mut lock_records(records), &request, &response),
        Err(error) => {
            lock_records(records).unanswered.push(request);
            Err(error)
        }
    }
}

/// Records a response by the kind of its request, for later checks. Fails if the status is not 200.
fn record_response(records: &mut ClientRecords, request: &KeyedRequest, response: &ApiResponse) -> anyhow::Result<()> {
    ensure!(response.status == 200, "{} {:?}: {}", request.path, request.kind, response.text);
    records.answers += 1;
    let id = response.id().to_owned();
    match &request.kind {
        RequestKind::Payment => {
            records.orders.insert(request.key.clone(), "DB");
            records.answered.insert(id, response.result_code().to_owned());
        }
        RequestKind::Disputed => {
            records.orders.insert(request.key.clone(), "DB");
            records.disputable.push(id);
        }
        // A payment without an outcome gets its outcome later.
        RequestKind::External => {
            records.orders.insert(request.key.clone(), "DB");
            if response.result_code() != PENDING {
                records.answered.insert(id, response.result_code().to_owned());
            }
        }
        RequestKind::Reservation => {
            records.orders.insert(request.key.clone(), "PA");
            if response.result_code() == APPROVED_BY_HOST {
                records.reserved.push(id);
            }
        }
        RequestKind::Pending => {
            records.orders.insert(request.key.clone(), "DB");
            let page = response.json["redirect"]["url"].as_str().unwrap_or_default();
            let page = page.rsplit('/').next().unwrap_or_default();
            records.pending.insert(id, (request.key.clone(), page.to_owned()));
        }
        RequestKind::FollowUp(payment_type, paid) => {
            *records.follow_ups.entry((paid.clone(), *payment_type)).or_default() += 1;
        }
    }
    Ok(())
}

/// Creates a payment that its shopper has to decide about, and approves it on its page in half of the cases.
async fn pay_with_redirect(
    shop: &MerchantClient,
    order: &str,
    receiver: &str,
    records: &SharedRecords,
) -> anyhow::Result<()> {
    let notification = format!("{receiver}notify/{order}");
    let request = KeyedRequest::create_pending_payment(order, &notification);
    send_and_record(shop, request, records).await?;
    let known = lock_records(records)
        .pending
        .iter()
        .find(|(_, (key, _))| key == order)
        .map(|(id, (_, page))| (id.clone(), page.clone()));
    let Some((id, page)) = known.filter(|_| random_below(2) == 0) else { return Ok(()) };
    lock_records(records).decision_requested.insert(id.clone());
    let post =
        shop.bare_request(Method::POST, &format!("v1/simulator/{page}")).body(encode_form([("answer", "success")]));
    let response = post.header("content-type", "application/x-www-form-urlencoded").send().await?;
    ensure!(response.status() == 200, "a page said {}", response.status());
    let mut records = lock_records(records);
    records.answers += 1;
    records.confirmed.insert(id);
    Ok(())
}

/// Creates a checkout, half of them for the acquirer host, and submits a card to it. The merchant never reads its
/// status.
async fn submit_checkout(
    shop: &MerchantClient,
    order: &str,
    receiver: &str,
    records: &SharedRecords,
) -> anyhow::Result<()> {
    let result_url = format!("{receiver}back/{order}");
    let fields = [("merchantTransactionId", order), ("shopperResultUrl", &result_url), ("testMode", "EXTERNAL")];
    let is_external = random_below(2) == 0;
    let checkout = shop.create_checkout(if is_external { &fields } else { &fields[..2] }).await?;
    ensure!(checkout.status == 200, "{}", checkout.text);
    let response = shop.submit_card(checkout.id(), &[]).await?;
    ensure!(response.status == 200, "{}", response.text);
    let mut records = lock_records(records);
    records.answers += 1;
    records.orders.insert(order.to_owned(), "DB");
    records.submitted.insert(order.to_owned());
    Ok(())
}

/// Sends all unanswered requests again, with the same idempotency keys, and records the responses.
async fn resend_unanswered(shop: &MerchantClient, records: &SharedRecords) -> anyhow::Result<()> {
    let unanswered = std::mem::take(&mut lock_records(records).unanswered);
    for request in unanswered {
        let response = request.send_to(shop).await?;
        let mut records = lock_records(records);
        records.sent_again += 1;
        record_response(&mut records, &request, &response)?;
    }
    Ok(())
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
        let found = shop.get(&format!("v1/payments/{id}")).await?;
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
