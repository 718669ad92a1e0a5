//! Overload and failures: a locked database, too many requests, a power failure, a full disk, a client that stops
//! sending.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use reqwest::Method;
use rusqlite::Connection;
use tillgate_tests::{ApiResponse, CARD, Database, MerchantClient, PATIENCE, TestGateway, encode_form, poll_until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::bundle::TestBundle;
use crate::payment::asynchronous::{pay_by_brand, press_button, redirect_url};
use crate::service::command_line::{RunningCommand, run_tillgate, start_after_shell, start_tillgate};
use crate::support::*;

/// Returns another client of the same merchant, with its own connections.
fn new_client(shop: &MerchantClient) -> MerchantClient {
    MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone())
}

/// Options with a lock time-out that exceeds every [`lock_database`] test, even on a busy machine.
pub const PATIENT: [&str; 2] = ["--lock-timeout", "10m"];

/// Returns a connection that holds the write lock until it is dropped.
pub fn lock_database(gateway: &TestGateway) -> anyhow::Result<Database> {
    let connection = Database::open(&gateway.data_folder())?;
    connection.keep_writers_out()?;
    Ok(connection)
}

#[tokio::test]
async fn while_somebody_else_writes_reading_goes_on_and_paying_waits() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&PATIENT)?;
    let shop = gateway.create_merchant()?;
    let (paid, made) = (shop.pay_by_card(&[]).await?, shop.create_checkout(&[]).await?);
    let other = lock_database(&gateway)?;
    let waiting = tokio::spawn({
        let shop = new_client(&shop);
        async move { shop.pay_by_card(&[]).await }
    });
    for _ in 0..5 {
        assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
        assert_eq!(shop.get(&format!("v1/payments/{}", paid.id())).await?.status, 200);
        assert_eq!(shop.pay_by_card(&[("amount", "x")]).await?.status, 400);
    }
    assert!(!waiting.is_finished(), "paid without a commit");
    drop(other);
    assert_result(&waiting.await??, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_payment_that_was_prepared_at_the_old_price_is_prepared_again() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&PATIENT)?;
    let shop = gateway.create_merchant()?;
    for _ in 0..3 {
        let made = shop.create_checkout(&[]).await?;
        let id = made.id().to_owned();
        let other = lock_database(&gateway)?;
        // Both wait for the write lock, the new price first.
        let update = tokio::spawn({
            let (shop, path) = (new_client(&shop), format!("v1/checkouts/{id}"));
            async move { shop.post(&path, &[("amount", "50.00")]).await }
        });
        for _ in 0..5 {
            assert_result(&shop.read_status(&id).await?, 200, "000.200.000");
        }
        let submit = tokio::spawn({
            let (shop, id) = (new_client(&shop), id.clone());
            async move { shop.submit_card(&id, &[]).await }
        });
        for _ in 0..5 {
            assert_result(&shop.read_status(&id).await?, 200, "000.200.000");
        }
        drop(other);
        let (update, submit) = (update.await??, submit.await??);
        assert_result(&submit, 200, "000.000.100");
        let expected = if update.result_code() == "000.200.101" { "50.00" } else { "92.00" };
        assert_eq!(shop.read_status(&id).await?.json["amount"], expected, "{}", update.text);
    }
    Ok(())
}

#[tokio::test]
async fn more_than_the_queue_holds_is_told_at_once_to_come_again() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&[&PATIENT[..], &["--write-queue", "32"]].concat())?;
    let shop = gateway.create_merchant()?;
    let other = lock_database(&gateway)?;
    let refused = Arc::new(AtomicUsize::new(0));
    let mut posts = JoinSet::new();
    for _ in 0..100 {
        let (shop, refused) = (shop.clone(), Arc::clone(&refused));
        posts.spawn(async move {
            let answer = shop.pay_by_card(&[]).await?;
            if answer.status == 503 {
                refused.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(answer)
        });
    }
    poll_until("something is refused", async || Ok((refused.load(Ordering::Relaxed) > 0).then_some(()))).await?;
    drop(other);
    let answers: Vec<ApiResponse> = posts.join_all().await.into_iter().collect::<Result<_, _>>()?;
    let mut paid = 0_u32;
    for answer in &answers {
        if answer.status == 503 {
            assert_result(answer, 503, "800.120.100");
            assert_eq!(answer.headers["retry-after"], "1");
        } else {
            assert_result(answer, 200, "000.100.110");
            paid += 1;
        }
    }
    // Refused payments were not stored, and stored payments were answered.
    let stored: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
    assert_eq!(stored, paid);
    assert!(paid >= 32, "{paid}");
    Ok(())
}

#[tokio::test]
async fn what_was_answered_survives_a_power_cut_in_full_swing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut payers = JoinSet::new();
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..8 {
        let (shop, count) = (new_client(&shop), Arc::clone(&count));
        payers.spawn(async move {
            let mut paid = Vec::new();
            // Pays until the connection breaks.
            while let Ok(answer) = shop.pay_by_card(&[]).await {
                assert_result(&answer, 200, "000.100.110");
                paid.push(answer.id().to_owned());
                count.fetch_add(1, Ordering::Relaxed);
            }
            paid
        });
    }
    poll_until("payments are under way", async || Ok((count.load(Ordering::Relaxed) > 200).then_some(()))).await?;
    let gateway = gateway.kill_and_restart(&[])?;
    let answered: Vec<String> = payers.join_all().await.into_iter().flatten().collect();
    assert!(answered.len() > 200);
    let database = open_database(&gateway)?;
    assert!(database.is_intact()?);
    let mut find =
        database.prepare("SELECT count(*) FROM payment JOIN card ON card.payment = payment.id WHERE id = ?1")?;
    for id in &answered {
        assert_eq!(find.query_row([id], |row| row.get::<_, u32>(0))?, 1, "{id} is lost");
    }
    // A payment and its sealed card are written in one commit, so neither exists without the other.
    let alone: u32 = database.query_row(
        "SELECT (SELECT count(*) FROM payment WHERE id NOT IN (SELECT payment FROM card)) + \
         (SELECT count(*) FROM card WHERE payment NOT IN (SELECT id FROM payment))",
        [],
        |row| row.get(0),
    )?;
    assert_eq!(alone, 0);
    Ok(())
}

/// Creates a merchant in a data folder by the command line, for a gateway that is not running yet. Its client has no
/// base address.
async fn create_merchant(data: &str) -> anyhow::Result<MerchantClient> {
    let output = run_tillgate(&["entity", "create", "--name", "x", "--data", data, "--json"]).await?;
    let entity: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let field = |name: &str| entity[name].as_str().unwrap_or_default().to_owned();
    Ok(MerchantClient::new(String::new(), field("entityId"), field("token")))
}

/// Starts a gateway in this folder, which the test may send signals to and which may send requests to this machine,
/// with `more` options and a merchant.
pub async fn start_gateway_process(folder: &Path, more: &[&str]) -> anyhow::Result<(RunningCommand, MerchantClient)> {
    let data = folder.join("data");
    let data = data.to_str().unwrap_or_default();
    let shop = create_merchant(data).await?;
    let options = ["--listen", "127.0.0.1:0", "--allow-network", "127.0.0.0/8"];
    let running = start_tillgate(&[&["serve", "--data", data][..], &options, more].concat()).await?;
    let base = running.base();
    Ok((running, MerchantClient { base, ..shop }))
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_that_was_answered_is_lost() -> anyhow::Result<()> {
    let (folder, bundle) = (tempfile::tempdir()?, TestBundle::new("full")?);
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let shop = create_merchant(data).await?;
    let arguments = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--form", bundle.folder()];
    // The file size limit is two mebibytes, which the write-ahead log soon reaches. Writes then fail as on a full disk.
    let gateway = start_after_shell("trap '' XFSZ; ulimit -f 4096", &arguments).await?;
    let shop = MerchantClient { base: gateway.base(), ..shop };
    let (mut paid, mut refused) = (Vec::new(), 0);
    while refused < 20 {
        anyhow::ensure!(paid.len() < 5000, "the disk is never full");
        let answer = shop.pay_by_card(&[]).await?;
        if answer.status == 200 {
            paid.push(answer.id().to_owned());
        } else {
            assert_result(&answer, 503, "999.999.888");
            assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
            assert!(answer.id().is_empty(), "{}", answer.text);
            refused += 1;
        }
    }
    assert!(!paid.is_empty());
    // A row of a few bytes may still fit after a payment does not, and the health is good until then.
    poll_until("the health is bad", async || {
        shop.pay_by_card(&[]).await?;
        let health = ApiResponse::read_from(shop.bare_request(Method::GET, "health").send().await?).await?;
        let sick = (health.status, &health.json["status"]) == (503, &"unavailable".into());
        let why = health.json["reason"].as_str().unwrap_or_default();
        anyhow::ensure!(health.status == 200 || (sick && why.starts_with("disk-")), "{}", health.text);
        Ok(sick.then_some(()))
    })
    .await?;
    // Existing payments can be read all the time, and also after the disk has room again.
    for id in &paid {
        assert_eq!(shop.get(&format!("v1/payments/{id}")).await?.status, 200, "{id} is lost");
    }
    drop(gateway);
    let gateway = start_tillgate(&arguments).await?;
    let shop = MerchantClient { base: gateway.base(), ..shop };
    for id in &paid {
        assert_eq!(shop.get(&format!("v1/payments/{id}")).await?.status, 200, "{id} is lost");
    }
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

/// Returns a connection on which the gateway has read the head of a payment and half of the body was sent, and the
/// other half.
async fn begin_payment(shop: &MerchantClient) -> anyhow::Result<(TcpStream, String)> {
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let entity =
        [("entityId", shop.entity_id.as_str()), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let body = encode_form(entity.into_iter().chain(CARD));
    let (first, rest) = body.split_at(body.len() / 2);
    let head = format!(
        "POST /v1/payments HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
         Expect: 100-continue\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n",
        shop.token,
        body.len()
    );
    let mut connection = TcpStream::connect(host).await?;
    connection.write_all(head.as_bytes()).await?;
    // With this response the gateway asks for the body, so it has read the head and is working on the request.
    let mut answer = [0; 25];
    connection.read_exact(&mut answer).await?;
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    connection.write_all(first.as_bytes()).await?;
    Ok((connection, rest.to_owned()))
}

#[tokio::test]
async fn asked_to_stop_the_gateway_first_answers_what_it_has_begun() -> anyhow::Result<()> {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir()?;
        let (mut gateway, shop) = start_gateway_process(folder.path(), &[]).await?;
        // An idle connection of a merchant does not delay the shutdown.
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
        let (mut connection, rest) = begin_payment(&shop).await?;
        gateway.send_signal(signal).await?;
        let host = shop.base.trim_start_matches("http://").trim_end_matches('/').to_owned();
        poll_until("no new connection is taken", async || Ok(TcpStream::connect(&host).await.is_err().then_some(())))
            .await?;
        connection.write_all(rest.as_bytes()).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("000.100.110"), "{answer}");
        let status = gateway.wait_for_exit().await?;
        assert!(status.success(), "SIG{signal}: {status}");
        let database = Connection::open(folder.path().join("data/tillgate.db"))?;
        let stored: u32 = database.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
        assert_eq!(stored, 2);
    }
    Ok(())
}

#[tokio::test]
async fn asked_to_stop_the_gateway_first_ends_what_it_is_sending() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (mut gateway, shop) = start_gateway_process(folder.path(), &[]).await?;
    let receiver = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}/", receiver.local_addr()?);
    let paid = pay_by_brand(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press_button(&shop, &redirect_url(&paid), "success").await?;
    let (mut connection, _) = receiver.accept().await?;
    let mut method = [0; 4];
    connection.read_exact(&mut method).await?;
    assert_eq!(&method, b"GET ");
    gateway.send_signal("TERM").await?;
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/').to_owned();
    poll_until("no new connection is taken", async || Ok(TcpStream::connect(&host).await.is_err().then_some(())))
        .await?;
    connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
    let status = gateway.wait_for_exit().await?;
    assert!(status.success(), "{status}");
    let database = Connection::open(folder.path().join("data/tillgate.db"))?;
    let query = "SELECT due, status FROM message JOIN delivery ON delivery.message = message.id";
    let settled: (Option<i64>, u16) = database.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    assert_eq!(settled, (None, 200));
    Ok(())
}

#[tokio::test]
async fn a_client_that_never_comes_to_the_point_does_not_keep_the_gateway_from_stopping() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (mut gateway, shop) = start_gateway_process(folder.path(), &[]).await?;
    let (connection, _rest) = begin_payment(&shop).await?;
    gateway.send_signal("TERM").await?;
    let status = gateway.wait_for_exit().await.context("while a client held its body back")?;
    assert!(status.success(), "{status}");
    drop(connection);
    Ok(())
}

#[tokio::test]
async fn a_client_that_holds_its_body_back_is_sent_away() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (mut connection, _rest) = begin_payment(&shop).await?;
    let mut answer = String::new();
    // Reads to the end, because the gateway must close the connection too.
    tokio::time::timeout(PATIENCE, connection.read_to_string(&mut answer))
        .await
        .context("it may hold a connection for ever")??;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("200.300.404"), "{answer}");
    Ok(())
}
