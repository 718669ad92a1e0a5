//! A gateway whose database stops, whose connections end, or whose commits wait for a standby that is away: each
//! request is answered rightly, or with 503 and the time to try again, and one that is sent again does nothing twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use reqwest::Method;
use tillgate_test_cluster::Cluster;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form, poll_until};
use tokio::task::{JoinSet, block_in_place};

/// Time for which the database stops: longer than the gateway waits for a commit, and shorter than it waits for a
/// commit and its outcome together.
const STOP: Duration = Duration::from_secs(30);
/// Clients that pay at the same time, more than the gateway has connections for reads.
const CLIENTS: usize = 16;
/// Maximum time of an answer that needs no database, on a busy machine.
const PROMPT: Duration = Duration::from_secs(10);

/// A gateway on a database of its own cluster.
struct Installation {
    gateway: TestGateway,
    shop: MerchantClient,
    cluster: Cluster,
    database: String,
}

impl Installation {
    fn start() -> anyhow::Result<Self> {
        let cluster = Cluster::start(&[])?;
        let address = cluster.create_database()?;
        let database = address.split_once(":///").and_then(|(_, rest)| rest.split('?').next()).context("a name")?;
        let write_address = |folder: &std::path::Path| Ok(std::fs::write(folder.join("data.database"), &address)?);
        let gateway = TestGateway::start_on_files(&[], write_address)?;
        let shop = gateway.create_merchant()?;
        Ok(Self { gateway, shop, database: database.to_owned(), cluster })
    }

    /// Runs a statement as another program does.
    fn run_sql(&self, statement: &str) -> anyhow::Result<String> {
        block_in_place(|| self.cluster.run_sql(&self.database, statement))
    }

    /// Sends all payments again until they are answered, and checks that each was made once, and no more than these and
    /// `others`.
    async fn check_paid_once(&self, keys: &[String], others: usize) -> anyhow::Result<()> {
        for key in keys {
            poll_until("the payment is answered", async || {
                let paid = pay(&self.shop, key).await?;
                Ok((paid.status == 200).then_some(()))
            })
            .await?;
        }
        assert_eq!(self.run_sql("SELECT count(*) FROM payment")?, (keys.len() + others).to_string());
        let verified = self.gateway.run_command(&["verify"])?;
        assert_eq!(verified["faultCount"], 0, "{verified}");
        Ok(())
    }
}

/// Pays with an idempotency key. The answer is 200, or 503 with the time to try again.
async fn pay(shop: &MerchantClient, key: &str) -> anyhow::Result<ApiResponse> {
    let fields = [("entityId", &*shop.entity_id), ("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let post = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token);
    let post = post.header("content-type", "application/x-www-form-urlencoded").header("idempotency-key", key);
    let paid =
        ApiResponse::read_from(post.body(encode_form(fields.iter().chain(&CARD).copied())).send().await?).await?;
    let says_when = paid.headers.contains_key("retry-after");
    ensure!(paid.status == 200 || (paid.status == 503 && says_when), "{}: {}", paid.status, paid.text);
    Ok(paid)
}

/// Pays with several clients at once, each with its own key.
fn pay_at_once(shop: &MerchantClient, keys: &[String]) -> JoinSet<anyhow::Result<ApiResponse>> {
    let mut clients = JoinSet::new();
    for key in keys {
        let (shop, key) = (shop.clone(), key.clone());
        clients.spawn(async move { pay(&shop, &key).await });
    }
    clients
}

/// Creates a payment that its shopper decides about on a page of a bank. Returns the path of the page.
async fn create_page(shop: &MerchantClient) -> anyhow::Result<String> {
    let fields = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "IDEAL"),
        ("shopperResultUrl", "https://shop.example/back"),
    ];
    let created = shop.post("v1/payments", &fields).await?;
    let address = created.json["redirect"]["url"].as_str().context("no page")?;
    let page = address.rsplit('/').next().unwrap_or_default();
    Ok(format!("v1/simulator/{page}"))
}

fn create_keys(name: &str) -> Vec<String> {
    (0..CLIENTS).map(|number| format!("{name}-{number}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_stops_for_half_a_minute_all_else_is_answered_and_nothing_is_lost() -> anyhow::Result<()> {
    let installation = Arc::new(Installation::start()?);
    let shop = &installation.shop;
    let paid = pay(shop, "before").await?;
    installation.cluster.signal("STOP")?;
    let stopped = Instant::now();
    let keys = create_keys("meanwhile");
    let clients = pay_at_once(shop, &keys);
    let mut readers = JoinSet::new();
    for _ in 0..CLIENTS {
        let (shop, path) = (shop.clone(), format!("v1/payments/{}", paid.id()));
        readers.spawn(async move { shop.get(&path).await });
    }
    while stopped.elapsed() < STOP {
        let asked = Instant::now();
        let codes = reqwest::get(format!("{}v1/resultcodes", shop.base)).await?;
        assert!(codes.status() == 200 && asked.elapsed() < PROMPT, "{:?}", asked.elapsed());
        let health = reqwest::get(format!("{}health", shop.base)).await?;
        assert!(health.status() == 503 && asked.elapsed() < 2 * PROMPT, "{:?}", asked.elapsed());
    }
    installation.cluster.signal("CONT")?;
    for answer in clients.join_all().await {
        answer?;
    }
    for read in readers.join_all().await {
        let read = read?;
        assert!(read.status == 200 || read.status == 503 && read.headers.contains_key("retry-after"), "{}", read.text);
    }
    installation.check_paid_once(&[keys, vec!["before".to_owned()]].concat(), 0).await
}

/// Ends the connections of the gateway that are in the middle of a write. Returns their number.
fn end_writes(installation: &Installation) -> anyhow::Result<usize> {
    let statement = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE backend_xid IS NOT NULL AND datname = current_database() AND pid <> pg_backend_pid()";
    Ok(installation.run_sql(statement)?.parse()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_whose_connections_end_in_the_middle_of_their_write_succeed() -> anyhow::Result<()> {
    let installation = Installation::start()?;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let (shop, is_over) = (installation.shop.clone(), Arc::clone(&is_over));
        clients.spawn(async move {
            let mut keys = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let key = format!("client-{client}-{}", keys.len());
                let paid = pay(&shop, &key).await?;
                ensure!(paid.status == 200, "{}: {}", paid.status, paid.text);
                keys.push(key);
            }
            anyhow::Ok(keys)
        });
    }
    // Twice at most for a group of payments, which is made three times.
    for _ in 0..2 {
        poll_until("a write is ended", async || Ok((end_writes(&installation)? > 0).then_some(()))).await?;
    }
    is_over.store(true, Ordering::Relaxed);
    let mut keys = Vec::new();
    for paid in clients.join_all().await {
        keys.extend(paid?);
    }
    installation.check_paid_once(&keys, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_standby_payments_are_refused_and_reads_answered_and_all_are_found_once_it_is_back()
-> anyhow::Result<()> {
    let installation = Installation::start()?;
    let shop = &installation.shop;
    let paid = pay(shop, "before").await?;
    let page = create_page(shop).await?;
    let set = |statement: &str| {
        installation.run_sql(statement)?;
        installation.run_sql("SELECT pg_reload_conf()").map(drop)
    };
    set("ALTER SYSTEM SET synchronous_standby_names = 'absent'")?;
    // The setting takes effect a moment later: until then, payments succeed.
    let mut keys = vec!["before".to_owned()];
    loop {
        keys.push(format!("early-{}", keys.len()));
        let answer = pay(shop, keys.last().context("a key")?).await?;
        if answer.status == 503 {
            // Its commit is done once a standby is back.
            assert!(answer.text.contains("cannot tell"), "{}", answer.text);
            break;
        }
    }
    let meanwhile = create_keys("meanwhile");
    let mut refused = Vec::new();
    let answers = futures_util::future::join_all(meanwhile.iter().map(|key| pay(shop, key))).await;
    for (key, answer) in meanwhile.iter().zip(answers) {
        let answer = answer?;
        assert_eq!(answer.status, 503);
        if answer.text.contains("nothing was done") {
            refused.push(key);
        } else {
            assert!(answer.text.contains("cannot tell"), "{}", answer.text);
        }
    }
    let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(read.status, 200, "{}", read.text);
    // Pages for people say when to come back as well.
    let confirmed = shop.post_as_browser(&page, &[("answer", "success")]).await?;
    assert_eq!(confirmed.status, 503, "{}", confirmed.text);
    assert!(confirmed.headers.contains_key("retry-after"));
    set("ALTER SYSTEM RESET synchronous_standby_names")?;
    for key in refused {
        let answer = pay(shop, key).await?;
        assert!(answer.status != 200 || !answer.headers.contains_key("idempotent-replayed"), "{key}: {}", answer.text);
    }
    keys.extend(meanwhile);
    installation.check_paid_once(&keys, 1).await
}
