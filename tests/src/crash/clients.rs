//! The load of the crash test: clients that pay, follow up and submit checkouts, and note what they were answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::ensure;
use reqwest::Method;
use tokio::task::JoinSet;

use super::requests::{FollowUpType, KeyedRequest, RequestKind};
use super::{APPROVED_BY_HOST, ClientRecords, PENDING, SharedRecords, lock_records, random_below};
use crate::{ApiResponse, CARD, MerchantClient, encode_form, poll_until};

/// Number of concurrent clients.
const CLIENTS: usize = 8;
/// Pause of a client after a request that was not answered, as merchants' servers make one.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// A request that a part of the installation has not carried out, or whose outcome the client does not know: it is sent
/// again. Contains the HTTP status.
#[derive(Debug)]
pub(super) struct Unanswered(u16);

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not answered: {}", self.0)
    }
}

impl std::error::Error for Unanswered {}

/// The clients of a round.
pub(super) struct Load {
    clients: JoinSet<()>,
    is_over: Arc<AtomicBool>,
}

impl Load {
    /// Starts the clients. Their orders begin with `name`. `receiver` is the address of the merchant's server.
    pub(super) fn start(shop: &MerchantClient, receiver: &str, name: &str, records: &SharedRecords) -> Self {
        let (mut clients, is_over) = (JoinSet::new(), Arc::new(AtomicBool::new(false)));
        for client in 0..CLIENTS {
            let client = Client {
                shop: shop.clone(),
                receiver: receiver.to_owned(),
                name: format!("{name}-{client}"),
                records: Arc::clone(records),
                is_over: Arc::clone(&is_over),
            };
            clients.spawn(client.run());
        }
        Self { clients, is_over }
    }

    /// Waits until the clients have ended: those of one gateway when it is killed, the others when this is called.
    pub(super) async fn end(self) {
        self.is_over.store(true, Ordering::Release);
        self.clients.join_all().await;
    }
}

/// A client, which sends one request after the other.
struct Client {
    shop: MerchantClient,
    receiver: String,
    name: String,
    records: SharedRecords,
    is_over: Arc<AtomicBool>,
}

impl Client {
    /// Sends random payments, follow-up payments and checkouts. An error other than a request without an answer is
    /// recorded as the fault.
    async fn run(self) {
        let goes_on = lock_records(&self.records).is_behind_proxy;
        for number in 0.. {
            let Err(error) = self.send_random_request(&format!("{}-{number}", self.name)).await else {
                if goes_on && self.is_over.load(Ordering::Acquire) {
                    return;
                }
                continue;
            };
            if !is_unanswered(&error) {
                lock_records(&self.records).fault.get_or_insert(error.to_string());
                return;
            }
            if !goes_on || self.is_over.load(Ordering::Acquire) {
                return;
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    async fn send_random_request(&self, order: &str) -> anyhow::Result<()> {
        let Self { shop, receiver, records, .. } = self;
        match random_below(9) {
            0 => send_and_record(shop, KeyedRequest::create_payment(order, &CARD), records).await,
            1 => send_follow_up(shop, order, FollowUpType::Refund, pick_refundable_payment(records), records).await,
            2 => send_and_record(shop, KeyedRequest::create_external_payment(order), records).await,
            3 => pay_with_redirect(shop, order, receiver, records).await,
            4 => send_and_record(shop, KeyedRequest::create_reservation(order), records).await,
            5 => {
                let end = if random_below(2) == 0 { FollowUpType::Capture } else { FollowUpType::Reversal };
                let reserved = lock_records(records).reserved.pop();
                send_follow_up(shop, order, end, reserved, records).await
            }
            6 => send_and_record(shop, KeyedRequest::create_disputed_payment(order), records).await,
            7 => {
                let disputable = lock_records(records).disputable.pop();
                send_follow_up(shop, order, FollowUpType::Chargeback, disputable, records).await
            }
            _ => submit_checkout(shop, order, receiver, records).await,
        }
    }
}

/// Returns true for a broken connection, and for an answer after which the request is sent again.
fn is_unanswered(error: &anyhow::Error) -> bool {
    error.downcast_ref::<reqwest::Error>().is_some() || error.downcast_ref::<Unanswered>().is_some()
}

/// Checks that a response is 200. Behind a proxy, a request may also be answered that it has to be sent again: by the
/// proxy, or by a node, which says when.
///
/// # Errors
/// [`Unanswered`] if the request has to be sent again.
pub(super) fn check_status(is_behind_proxy: bool, response: &ApiResponse) -> anyhow::Result<()> {
    if is_behind_proxy && [409, 502, 503, 504].contains(&response.status) {
        let says_when = response.headers.contains_key("retry-after");
        ensure!(response.status != 503 || says_when, "503 without Retry-After: {}", response.text);
        return Err(Unanswered(response.status).into());
    }
    ensure!(response.status == 200, "{}: {}", response.status, response.text);
    Ok(())
}

/// Gets a path once the gateway answers it: a node whose database has just changed may refuse the first requests.
pub(super) async fn get_answered(shop: &MerchantClient, path: &str) -> anyhow::Result<ApiResponse> {
    poll_until(path, async || {
        let response = shop.get(path).await?;
        Ok(Some(response).filter(|response| ![502, 503, 504].contains(&response.status)))
    })
    .await
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
    let is_behind_proxy = lock_records(records).is_behind_proxy;
    let answered = request.send_to(shop).await.and_then(|response| {
        check_status(is_behind_proxy, &response)?;
        Ok(response)
    });
    match answered {
        Ok(response) => {
            record_response(&mut lock_records(records), &request, &response);
            Ok(())
        }
        Err(error) => {
            if is_unanswered(&error) {
                lock_records(records).unanswered.push(request);
            }
            Err(error)
        }
    }
}

/// Records a response by the kind of its request, for later checks.
fn record_response(records: &mut ClientRecords, request: &KeyedRequest, response: &ApiResponse) {
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
    let response = ApiResponse::read_from(response).await?;
    let mut records = lock_records(records);
    check_status(records.is_behind_proxy, &response)?;
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
    let is_behind_proxy = lock_records(records).is_behind_proxy;
    check_status(is_behind_proxy, &checkout)?;
    let response = shop.submit_card(checkout.id(), &[]).await?;
    check_status(is_behind_proxy, &response)?;
    let mut records = lock_records(records);
    records.answers += 1;
    records.orders.insert(order.to_owned(), "DB");
    records.submitted.insert(order.to_owned());
    Ok(())
}

/// Sends all unanswered requests again, with the same idempotency keys, and records the responses.
pub(super) async fn resend_unanswered(shop: &MerchantClient, records: &SharedRecords) -> anyhow::Result<()> {
    let unanswered = std::mem::take(&mut lock_records(records).unanswered);
    let is_behind_proxy = lock_records(records).is_behind_proxy;
    for request in unanswered {
        let response = poll_until("a request is answered that was sent again", async || {
            let response = request.send_to(shop).await?;
            match check_status(is_behind_proxy, &response) {
                Err(error) if error.is::<Unanswered>() => Ok(None),
                checked => checked.map(|()| Some(response)),
            }
        })
        .await?;
        let mut records = lock_records(records);
        records.sent_again += 1;
        record_response(&mut records, &request, &response);
    }
    Ok(())
}
