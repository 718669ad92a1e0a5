//! Hard times: the disk is somebody else's, too much is asked at once, the power goes, a client never comes to the point.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use reqwest::Method;
use rusqlite::Connection;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, PATIENCE, form, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::asynchronous::{page, pay, press};
use crate::bundle::Bundle;
use crate::command_line::{Running, run, start, start_after};
use crate::support::*;

/// Another client of the same merchant, with connections of its own.
fn again(shop: &Merchant) -> Merchant {
    Merchant::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone())
}

/// Lets a gateway wait for a [`hog`] however long a busy machine takes meanwhile.
pub const PATIENT: [&str; 2] = ["--lock-timeout", "10m"];

/// A writer that keeps everybody else waiting until it is dropped.
pub fn hog(gateway: &Gateway) -> anyhow::Result<Connection> {
    let connection = Connection::open(gateway.data().join("tillgate.db"))?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    Ok(connection)
}

#[tokio::test]
async fn while_somebody_else_writes_reading_goes_on_and_paying_waits() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&PATIENT)?;
    let shop = gateway.merchant()?;
    let (paid, made) = (shop.pay(&[]).await?, shop.checkout(&[]).await?);
    let other = hog(&gateway)?;
    let waiting = tokio::spawn({
        let shop = again(&shop);
        async move { shop.pay(&[]).await }
    });
    for _ in 0..5 {
        assert_answer(&shop.status(made.id()).await?, 200, "000.200.000");
        assert_eq!(shop.get(&format!("v1/payments/{}", paid.id())).await?.status, 200);
        assert_eq!(shop.pay(&[("amount", "x")]).await?.status, 400);
    }
    assert!(!waiting.is_finished(), "paid without a commit");
    drop(other);
    assert_answer(&waiting.await??, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_payment_that_was_prepared_at_the_old_price_is_prepared_again() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&PATIENT)?;
    let shop = gateway.merchant()?;
    for _ in 0..3 {
        let made = shop.checkout(&[]).await?;
        let id = made.id().to_owned();
        let other = hog(&gateway)?;
        // Both wait for the disk, the new price first.
        let update = tokio::spawn({
            let (shop, path) = (again(&shop), format!("v1/checkouts/{id}"));
            async move { shop.post(&path, &[("amount", "50.00")]).await }
        });
        for _ in 0..5 {
            assert_answer(&shop.status(&id).await?, 200, "000.200.000");
        }
        let submit = tokio::spawn({
            let (shop, id) = (again(&shop), id.clone());
            async move { shop.submit(&id, &[]).await }
        });
        for _ in 0..5 {
            assert_answer(&shop.status(&id).await?, 200, "000.200.000");
        }
        drop(other);
        let (update, submit) = (update.await??, submit.await??);
        assert_answer(&submit, 200, "000.000.100");
        let expected = if update.code() == "000.200.101" { "50.00" } else { "92.00" };
        assert_eq!(shop.status(&id).await?.json["amount"], expected, "{}", update.text);
    }
    Ok(())
}

#[tokio::test]
async fn more_than_the_queue_holds_is_told_at_once_to_come_again() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&[&PATIENT[..], &["--write-queue", "32"]].concat())?;
    let shop = gateway.merchant()?;
    let other = hog(&gateway)?;
    let refused = Arc::new(AtomicUsize::new(0));
    let mut posts = JoinSet::new();
    for _ in 0..100 {
        let (shop, refused) = (shop.clone(), Arc::clone(&refused));
        posts.spawn(async move {
            let answer = shop.pay(&[]).await?;
            if answer.status == 503 {
                refused.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(answer)
        });
    }
    until("something is refused", async || Ok((refused.load(Ordering::Relaxed) > 0).then_some(()))).await?;
    drop(other);
    let answers: Vec<Answer> = posts.join_all().await.into_iter().collect::<Result<_, _>>()?;
    let mut paid = 0_u32;
    for answer in &answers {
        if answer.status == 503 {
            assert_answer(answer, 503, "800.120.100");
            assert_eq!(answer.headers["retry-after"], "1");
        } else {
            assert_answer(answer, 200, "000.100.110");
            paid += 1;
        }
    }
    // What was refused was not made, and what was made was answered.
    let stored: u32 = database(&gateway)?.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
    assert_eq!(stored, paid);
    assert!(paid >= 32, "{paid}");
    Ok(())
}

#[tokio::test]
async fn what_was_answered_survives_a_power_cut_in_full_swing() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let mut payers = JoinSet::new();
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..8 {
        let (shop, count) = (again(&shop), Arc::clone(&count));
        payers.spawn(async move {
            let mut paid = Vec::new();
            // Until the line goes dead.
            while let Ok(answer) = shop.pay(&[]).await {
                assert_answer(&answer, 200, "000.100.110");
                paid.push(answer.id().to_owned());
                count.fetch_add(1, Ordering::Relaxed);
            }
            paid
        });
    }
    until("payments are under way", async || Ok((count.load(Ordering::Relaxed) > 200).then_some(()))).await?;
    let gateway = gateway.restart(&[])?;
    let answered: Vec<String> = payers.join_all().await.into_iter().flatten().collect();
    assert!(answered.len() > 200);
    let database = database(&gateway)?;
    let integrity: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    assert_eq!(integrity, "ok");
    let mut find =
        database.prepare("SELECT count(*) FROM payment JOIN card ON card.payment = payment.id WHERE id = ?1")?;
    for id in &answered {
        assert_eq!(find.query_row([id], |row| row.get::<_, u32>(0))?, 1, "{id} is lost");
    }
    // Payments and their sealed cards come in one commit: neither is there without the other.
    let alone: u32 = database.query_row(
        "SELECT (SELECT count(*) FROM payment WHERE id NOT IN (SELECT payment FROM card)) + \
         (SELECT count(*) FROM card WHERE payment NOT IN (SELECT id FROM payment))",
        [],
        |row| row.get(0),
    )?;
    assert_eq!(alone, 0);
    Ok(())
}

/// A merchant of a gateway that does not run yet.
async fn merchant(data: &str) -> anyhow::Result<Merchant> {
    let made = run(&["entity", "create", "--name", "x", "--data", data, "--json"]).await?;
    let made: serde_json::Value = serde_json::from_slice(&made.stdout)?;
    let field = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
    Ok(Merchant::new(String::new(), field("entityId"), field("token")))
}

/// A gateway that the test may signal, and its merchant.
pub async fn signalled(folder: &Path) -> anyhow::Result<(Running, Merchant)> {
    let data = folder.join("data");
    let data = data.to_str().unwrap_or_default();
    let shop = merchant(data).await?;
    let options = ["--listen", "127.0.0.1:0", "--allow-network", "127.0.0.0/8"];
    let running = start(&[&["serve", "--data", data][..], &options].concat()).await?;
    let base = running.base();
    Ok((running, Merchant { base, ..shop }))
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_that_was_answered_is_lost() -> anyhow::Result<()> {
    let (folder, bundle) = (tempfile::tempdir()?, Bundle::new("full")?);
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let shop = merchant(data).await?;
    let arguments = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--form", bundle.folder()];
    // No file may grow beyond two mebibytes, and the write-ahead log soon wants to: writing fails as on a full disk.
    let gateway = start_after("trap '' XFSZ; ulimit -f 4096", &arguments).await?;
    let shop = Merchant { base: gateway.base(), ..shop };
    let (mut paid, mut refused) = (Vec::new(), 0);
    while refused < 20 {
        anyhow::ensure!(paid.len() < 5000, "the disk is never full");
        let answer = shop.pay(&[]).await?;
        if answer.status == 200 {
            paid.push(answer.id().to_owned());
        } else {
            assert_answer(&answer, 503, "999.999.888");
            assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
            assert!(answer.id().is_empty(), "{}", answer.text);
            refused += 1;
        }
    }
    assert!(!paid.is_empty());
    // A row of a few bytes may fit where a payment does not; then the health is good. No more than that fits for long.
    until("the health is bad", async || {
        shop.pay(&[]).await?;
        let health = Answer::read(shop.bare(Method::GET, "health").send().await?).await?;
        let sick = (health.status, &health.json["status"]) == (503, &"unavailable".into());
        let why = health.json["reason"].as_str().unwrap_or_default();
        anyhow::ensure!(health.status == 200 || (sick && why.starts_with("disk-")), "{}", health.text);
        Ok(sick.then_some(()))
    })
    .await?;
    // What is there can be read all the while, and is there when the disk has room again.
    for id in &paid {
        assert_eq!(shop.get(&format!("v1/payments/{id}")).await?.status, 200, "{id} is lost");
    }
    drop(gateway);
    let gateway = start(&arguments).await?;
    let shop = Merchant { base: gateway.base(), ..shop };
    for id in &paid {
        assert_eq!(shop.get(&format!("v1/payments/{id}")).await?.status, 200, "{id} is lost");
    }
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    Ok(())
}

/// A connection on which a payment has been begun, and what is left to send.
async fn begun(shop: &Merchant) -> anyhow::Result<(TcpStream, String)> {
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let entity =
        [("entityId", shop.entity_id.as_str()), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let body = form(entity.into_iter().chain(CARD));
    let (first, rest) = body.split_at(body.len() / 2);
    let head = format!(
        "POST /v1/payments HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
         Expect: 100-continue\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n",
        shop.token,
        body.len()
    );
    let mut connection = TcpStream::connect(host).await?;
    connection.write_all(head.as_bytes()).await?;
    // The gateway asks for the body: it has read the head and works on this request.
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
        let (mut gateway, shop) = signalled(folder.path()).await?;
        // An idle connection of a merchant's holds nothing up.
        assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
        let (mut connection, rest) = begun(&shop).await?;
        gateway.signal(signal).await?;
        let host = shop.base.trim_start_matches("http://").trim_end_matches('/').to_owned();
        until("no new connection is taken", async || Ok(TcpStream::connect(&host).await.is_err().then_some(())))
            .await?;
        connection.write_all(rest.as_bytes()).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("000.100.110"), "{answer}");
        let status = gateway.ended().await?;
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
    let (mut gateway, shop) = signalled(folder.path()).await?;
    let receiver = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}/", receiver.local_addr()?);
    let paid = pay(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press(&shop, &page(&paid), "success").await?;
    let (mut connection, _) = receiver.accept().await?;
    let mut method = [0; 4];
    connection.read_exact(&mut method).await?;
    assert_eq!(&method, b"GET ");
    gateway.signal("TERM").await?;
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/').to_owned();
    until("no new connection is taken", async || Ok(TcpStream::connect(&host).await.is_err().then_some(()))).await?;
    connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
    let status = gateway.ended().await?;
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
    let (mut gateway, shop) = signalled(folder.path()).await?;
    let (connection, _rest) = begun(&shop).await?;
    gateway.signal("TERM").await?;
    let status = gateway.ended().await.context("while a client held its body back")?;
    assert!(status.success(), "{status}");
    drop(connection);
    Ok(())
}

#[tokio::test]
async fn a_client_that_holds_its_body_back_is_sent_away() -> anyhow::Result<()> {
    let shop = shop();
    let (mut connection, _rest) = begun(&shop).await?;
    let mut answer = String::new();
    // To the end of the connection: it is closed, too.
    tokio::time::timeout(PATIENCE, connection.read_to_string(&mut answer))
        .await
        .context("it may hold a connection for ever")??;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("200.300.404"), "{answer}");
    Ok(())
}
