//! Kills a gateway and an acquirer's host at random moments under load, starts them again, and looks whether they have kept their
//! word: every answer that somebody got is in the store, nobody was charged twice, every pending payment ends, nothing that is told
//! is told as two things, and the host's ledger agrees with the gateway to the cent.

mod acquirer;
mod final_checks;

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use reqwest::Method;
use rusqlite::{Connection, OpenFlags};
use tokio::task::JoinSet;

use self::acquirer::MortalHost;
use self::final_checks::{paid, told};
use crate::{Answer, CARD, Gateway, Merchant, Receiver, Reply, form, poll, until};

/// Clients at once.
const CLIENTS: usize = 8;
/// A gateway lives for so many milliseconds under load at least, and for up to so many more.
const LIFE: (u64, u64) = (20, 400);
/// The code of a payment without an outcome.
const PENDING: &str = "000.200.000";
const OPTIONS: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// What was seen.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Answers that clients got.
    pub answers: usize,
    /// Requests that a crash left without one, and that were sent again.
    pub sent_again: usize,
    /// Requests that the gateway sent to the merchant.
    pub received: usize,
    /// Those of them that came more than once.
    pub repeated: usize,
    /// Times that the acquirer's host was killed.
    pub hosts_killed: usize,
    /// Entries in its ledger.
    pub booked: usize,
}

/// What the clients know.
#[derive(Debug, Default)]
struct Books {
    /// Payments that were answered, with their code.
    answered: BTreeMap<String, String>,
    /// Payments that wait for their shopper, with what they are called and the page that decides about them.
    waiting: BTreeMap<String, (String, String)>,
    /// Those of them whose page has said that they are made.
    made: BTreeSet<String>,
    /// Those of them whose page was asked and did not answer.
    asked: BTreeSet<String>,
    /// Refunds that were answered, by the payment that they refund.
    refunds: BTreeMap<String, usize>,
    /// What every payment is called; each is paid once.
    orders: BTreeSet<String>,
    /// What checkouts are called that were submitted.
    submitted: BTreeSet<String>,
    /// Requests that nobody answered.
    unanswered: Vec<Request>,
    /// Payments that were compared with what was answered.
    compared: BTreeSet<String>,
    /// The first answer that nobody should get.
    fault: Option<String>,
    answers: usize,
    sent_again: usize,
}

/// A request under a name of its own, so that it can be sent again.
#[derive(Debug, Clone)]
struct Request {
    path: String,
    fields: Vec<(String, String)>,
    key: String,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Payment,
    /// … at the acquirer's host.
    External,
    /// … that its shopper decides about on a page.
    Pending,
    /// Of the payment with this id.
    Refund(String),
}

type Shared = Arc<Mutex<Books>>;

/// Kills so many times. The runtime has to have several threads, for commands block.
///
/// # Errors
/// What the gateway has not kept, and of which round.
pub async fn run(rounds: u32) -> anyhow::Result<Summary> {
    let receiver = Receiver::answering(|_| Reply::status(if random(8) == 0 { 500 } else { 200 })).await?;
    let mut host = MortalHost::start().await?;
    let arguments = host.arguments()?;
    let options: Vec<&str> = OPTIONS.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let mut gateway = Gateway::start_with(&options)?;
    let mut shop = gateway.merchant()?;
    listen(&gateway, &shop, &receiver)?;
    let books = Shared::default();
    let mut received = Vec::new();
    for round in 1..=rounds {
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let name = format!("order-{round}-{client}");
            clients.spawn(load(shop.clone(), receiver.url(""), name, Arc::clone(&books)));
        }
        tokio::time::sleep(Duration::from_millis(LIFE.0 + random(LIFE.1))).await;
        // The host dies while the gateway runs, or together with it, or lives.
        let moment = random(3);
        if moment == 0 {
            host.restart()?;
        }
        gateway = gateway.restart_after(&options, |_| if moment == 1 { host.restart() } else { Ok(()) })?;
        shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
        clients.join_all().await;
        let fault = lock(&books).fault.take();
        ensure!(fault.is_none(), "round {round}: {}", fault.unwrap_or_default());
        let about = || format!("round {round}");
        send_again(&shop, &books).await.with_context(about)?;
        compare(&shop, &books).await.with_context(about)?;
        received.extend(receiver.rest().await);
    }
    settle(&gateway, &shop).await?;
    received.extend(receiver.rest().await);
    let books = std::mem::take(&mut *lock(&books));
    let repeated = told(&gateway, &books, &received)?;
    paid(&shop, &books).await?;
    let booked = host.reconcile(&database(&gateway)?).await?;
    Ok(Summary {
        answers: books.answers,
        sent_again: books.sent_again,
        received: received.len(),
        repeated,
        hosts_killed: host.killed,
        booked,
    })
}

/// A number below `below`.
fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

fn lock(books: &Shared) -> std::sync::MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets up an active webhook.
fn listen(gateway: &Gateway, shop: &Merchant, receiver: &Receiver) -> anyhow::Result<()> {
    let url = receiver.url("events");
    let made = gateway.command(&["webhook", "create", "--entity", &shop.entity_id, "--url", &url])?;
    let id = made["webhookId"].as_str().context("no webhookId")?;
    // Its receiver takes most, not all.
    poll("the receiver takes the test", || {
        let test = gateway.command(&["webhook", "test", "--webhook", id, OPTIONS[0], OPTIONS[1]]);
        Ok(test.is_ok().then_some(()))
    })
}

/// One client, until the gateway is gone.
async fn load(shop: Merchant, receiver: String, name: String, books: Shared) {
    for number in 0.. {
        let order = format!("{name}-{number}");
        let done = match random(5) {
            0 => send(&shop, payment(&order, &CARD), &books).await,
            1 => match any(&books) {
                Some(paid) => send(&shop, refund(&order, paid), &books).await,
                None => Ok(()),
            },
            2 => send(&shop, external(&order), &books).await,
            3 => decide(&shop, &order, &receiver, &books).await,
            _ => submit(&shop, &order, &receiver, &books).await,
        };
        if let Err(error) = done {
            // A connection that breaks is what this is about.
            if error.downcast_ref::<reqwest::Error>().is_none() {
                lock(&books).fault.get_or_insert(error.to_string());
            }
            return;
        }
    }
}

/// Some payment that can be refunded.
fn any(books: &Shared) -> Option<String> {
    let books = lock(books);
    let place = usize::try_from(random(books.answered.len().max(1) as u64)).unwrap_or_default();
    books.answered.keys().nth(place).cloned()
}

fn payment(order: &str, account: &[(&str, &str)]) -> Request {
    let basic = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("merchantTransactionId", order)];
    let fields = basic.iter().chain(account).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Request { path: "v1/payments".to_owned(), fields: fields.collect(), key: order.to_owned(), what: What::Payment }
}

/// A payment at the acquirer's host.
fn external(order: &str) -> Request {
    let mode = [("testMode", "EXTERNAL")];
    Request { what: What::External, ..payment(order, &[&CARD[..], &mode].concat()) }
}

fn refund(key: &str, paid: String) -> Request {
    let fields = [("paymentType", "RF"), ("amount", "0.01"), ("currency", "EUR")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Request { path: format!("v1/payments/{paid}"), fields, key: key.to_owned(), what: What::Refund(paid) }
}

async fn post(shop: &Merchant, request: &Request) -> anyhow::Result<Answer> {
    let entity = ("entityId".to_owned(), shop.entity_id.clone());
    let body = form(std::iter::once(&entity).chain(&request.fields).map(|(name, value)| (name, value)));
    let post = shop.bare(Method::POST, &request.path).bearer_auth(&shop.token).body(body);
    let post = post.header("content-type", "application/x-www-form-urlencoded").header("idempotency-key", &request.key);
    Answer::read(post.send().await?).await
}

/// Sends a request, and notes what came of it.
async fn send(shop: &Merchant, request: Request, books: &Shared) -> anyhow::Result<()> {
    match post(shop, &request).await {
        Ok(answer) => note(&mut lock(books), &request, &answer),
        Err(error) => {
            lock(books).unanswered.push(request);
            Err(error)
        }
    }
}

fn note(books: &mut Books, request: &Request, answer: &Answer) -> anyhow::Result<()> {
    ensure!(answer.status == 200, "{} {:?}: {}", request.path, request.what, answer.text);
    books.answers += 1;
    let id = answer.id().to_owned();
    match &request.what {
        What::Payment => {
            books.orders.insert(request.key.clone());
            books.answered.insert(id, answer.code().to_owned());
        }
        // One without an outcome gets it later.
        What::External => {
            books.orders.insert(request.key.clone());
            if answer.code() != PENDING {
                books.answered.insert(id, answer.code().to_owned());
            }
        }
        What::Pending => {
            books.orders.insert(request.key.clone());
            let page = answer.json["redirect"]["url"].as_str().unwrap_or_default();
            let page = page.rsplit('/').next().unwrap_or_default();
            books.waiting.insert(id, (request.key.clone(), page.to_owned()));
        }
        What::Refund(paid) => *books.refunds.entry(paid.clone()).or_default() += 1,
    }
    Ok(())
}

/// A payment that its shopper decides about, and half of the time does.
async fn decide(shop: &Merchant, order: &str, receiver: &str, books: &Shared) -> anyhow::Result<()> {
    let notification = format!("{receiver}notify/{order}");
    let account = [
        ("paymentBrand", "IDEAL"),
        ("shopperResultUrl", "https://shop.example/back"),
        ("notificationUrl", notification.as_str()),
    ];
    let request = Request { what: What::Pending, ..payment(order, &account) };
    send(shop, request, books).await?;
    let known =
        lock(books).waiting.iter().find(|(_, (key, _))| key == order).map(|(id, (_, page))| (id.clone(), page.clone()));
    let Some((id, page)) = known.filter(|_| random(2) == 0) else { return Ok(()) };
    lock(books).asked.insert(id.clone());
    let answer = shop.bare(Method::POST, &format!("v1/simulator/{page}")).body(form([("answer", "success")]));
    let answer = answer.header("content-type", "application/x-www-form-urlencoded").send().await?;
    ensure!(answer.status() == 200, "a page said {}", answer.status());
    let mut books = lock(books);
    books.answers += 1;
    books.made.insert(id);
    Ok(())
}

/// A checkout that is submitted, and that the merchant never asks for.
async fn submit(shop: &Merchant, order: &str, receiver: &str, books: &Shared) -> anyhow::Result<()> {
    let back = format!("{receiver}back/{order}");
    let made = shop.checkout(&[("merchantTransactionId", order), ("shopperResultUrl", &back)]).await?;
    ensure!(made.status == 200, "{}", made.text);
    let answer = shop.submit(made.id(), &[]).await?;
    ensure!(answer.status == 200, "{}", answer.text);
    let mut books = lock(books);
    books.answers += 1;
    books.orders.insert(order.to_owned());
    books.submitted.insert(order.to_owned());
    Ok(())
}

/// Who got no answer asks again, under the same name.
async fn send_again(shop: &Merchant, books: &Shared) -> anyhow::Result<()> {
    let unanswered = std::mem::take(&mut lock(books).unanswered);
    for request in unanswered {
        let again = post(shop, &request).await?;
        let mut books = lock(books);
        books.sent_again += 1;
        note(&mut books, &request, &again)?;
    }
    Ok(())
}

/// Every answer is in the store.
async fn compare(shop: &Merchant, books: &Shared) -> anyhow::Result<()> {
    let new: Vec<String> = {
        let books = lock(books);
        books.answered.keys().chain(books.waiting.keys()).filter(|id| !books.compared.contains(*id)).cloned().collect()
    };
    for id in new {
        let found = shop.get(&format!("v1/payments/{id}")).await?;
        let mut books = lock(books);
        let fits = match (books.answered.get(&id), found.code()) {
            (Some(answered), code) => answered == code,
            (None, "000.100.110") => books.asked.contains(&id),
            (None, code) => code == PENDING && !books.made.contains(&id),
        };
        ensure!(fits, "a client was told something else than: {}", found.text);
        books.compared.insert(id);
    }
    Ok(())
}

fn database(gateway: &Gateway) -> anyhow::Result<Connection> {
    let path = gateway.data().join("tillgate.db");
    Ok(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?)
}

/// Moves the clock until nothing is left to happen.
async fn settle(gateway: &Gateway, shop: &Merchant) -> anyhow::Result<()> {
    shop.advance("31m").await?;
    let query = "SELECT (SELECT count(*) FROM timer) + (SELECT count(*) FROM message WHERE due IS NOT NULL)";
    let mut least = u32::MAX;
    loop {
        // Patience lasts as long as things happen.
        let left = until("something more that is due happens", async || {
            // What was not taken waits for its next turn.
            shop.advance("2m").await?;
            let left: u32 = database(gateway)?.query_row(query, [], |row| row.get(0))?;
            Ok(Some(left).filter(|left| *left < least))
        })
        .await?;
        if left == 0 {
            return Ok(());
        }
        least = left;
    }
}
