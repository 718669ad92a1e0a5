//! Moves of a store between a data folder and a database: what merchants and operators see before, during and after.
//! These tests run on both whatever the database of the others is.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{MerchantClient, Receiver, poll_until};

use crate::schedule::schedules::{create_schedule, read_schedule, register_card};
use crate::service::command_line::{output_text, tillgate_command};
use crate::service::moving_store::{BACK, FIRST, MovingStore, Place, Server, at, cluster, move_served};
use crate::support::*;

const PASSWORD: &str = "hunter2-pass";

#[tokio::test(flavor = "multi_thread")]
async fn payments_of_before_are_read_refunded_and_captured_after_the_moves_to_a_database_and_back() -> anyhow::Result<()>
{
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    let receiver = Receiver::start().await?;
    let url = receiver.url("hook");
    store.succeed(FIRST, &["webhook", "create", "--entity", &shop.entity_id, "--url", &url]).await?;
    let paid = shop.pay_by_card(&[("createRegistration", "true")]).await?;
    assert_result(&paid, 200, "000.100.110");
    let reserved = shop.pay_by_card(&[("paymentType", "PA")]).await?;
    assert_result(&reserved, 200, "000.100.110");
    let registration = register_card(&shop, &[]).await?;
    let schedule = create_schedule(&shop, &registration, &[("job.expression", "0 0 12 * * ?")]).await?;
    let checkout = shop.create_checkout(&[]).await?;
    let refund = async |shop: &MerchantClient, amount: &str| {
        let fields = [("paymentType", "RF"), ("amount", amount), ("currency", "EUR")];
        shop.post(&format!("v1/payments/{}", paid.id()), &fields).await
    };

    let server = move_served(&store, server, FIRST, Place::Database).await?;
    let shop = at(&server, &shop);
    let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(read.json["registrationId"], paid.json["registrationId"], "{}", read.text);
    assert_result(&refund(&shop, "10.00").await?, 200, "000.100.110");
    let capture = [("paymentType", "CP"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", reserved.id()), &capture).await?, 200, "000.100.110");
    assert_eq!(shop.submit_card(checkout.id(), &[]).await?.status, 200);
    assert_result(&shop.read_status(checkout.id()).await?, 200, "000.100.110");
    shop.advance_clock("48h").await?;
    read_schedule(&shop, schedule.id()).await?;
    store.verify(Place::Database).await?;

    let server = move_served(&store, server, Place::Database, BACK).await?;
    let shop = at(&server, &shop);
    assert_result(&refund(&shop, "82.00").await?, 200, "000.100.110");
    assert_ne!(refund(&shop, "0.01").await?.status, 200);
    assert_result(&shop.read_status(checkout.id()).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    store.verify(BACK).await?;
    // Neither of the earlier places opens again by mistake.
    for place in [FIRST, Place::Database] {
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["token", "list"], &["verify"]] {
            let text = store.refuse(place, command).await?;
            assert!(text.contains("has moved to") && text.contains("tillgate store copy"), "{text}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payment_that_was_answered_is_lost_by_a_move_under_load_after_copies_that_were_killed() -> anyhow::Result<()>
{
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    let is_over = Arc::new(AtomicBool::new(false));
    let pay = |shop: MerchantClient, is_over: Arc<AtomicBool>| async move {
        let mut answered = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            // The connection ends with the server, and the answer is lost.
            let Ok(paid) = shop.pay_by_card(&[]).await else { continue };
            if paid.result_code() == "000.100.110" {
                answered.push(paid.id().to_owned());
            }
        }
        answered
    };
    let clients: Vec<_> = (0..4).map(|_| tokio::spawn(pay(at(&server, &shop), Arc::clone(&is_over)))).collect();
    for _ in 0..3 {
        let mut copy = store.copy_command(FIRST, Place::Database, &[]).stdout(Stdio::null()).spawn()?;
        // Killed in the middle, once it has begun to write.
        poll_until("the copy has begun", async || {
            let marked = "SELECT count(*) FROM pg_tables WHERE tablename = 'store_move'";
            Ok((cluster().run_sql(store.database(), marked)? == "1").then_some(()))
        })
        .await?;
        copy.kill().await?;
    }
    let text = store.refuse(Place::Database, &["serve", "--listen", "127.0.0.1:0"]).await?;
    assert!(text.contains("not complete"), "{text}");
    let mut copy = store.start_move(FIRST, Place::Database)?;
    copy.wait_until_caught_up().await?;
    // A server that is killed leaves its lock at once.
    let Server { mut child, .. } = server;
    child.kill().await?;
    copy.finish().await?;
    is_over.store(true, Ordering::Relaxed);
    let mut answered = Vec::new();
    for client in clients {
        answered.extend(client.await?);
    }
    let server = store.serve(Place::Database).await?;
    let shop = at(&server, &shop);
    assert!(answered.len() > 10, "{}", answered.len());
    for id in &answered {
        assert_result(&shop.get(&format!("v1/payments/{id}")).await?, 200, "000.100.110");
    }
    store.verify(Place::Database).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_several_nodes_moves_once_the_last_one_has_ended() -> anyhow::Result<()> {
    let store = MovingStore::new()?;
    let first = store.serve(Place::Database).await?;
    let created = store.succeed(Place::Database, &["entity", "create", "--name", "Kiln & Tide", "--json"]).await?;
    let created: Value = serde_json::from_str(&created)?;
    let field = |name: &str| created[name].as_str().map(str::to_owned).context("a field of the entity");
    let second = store.serve_as(Place::Database, "tx02").await?;
    let shop = MerchantClient::new(second.base.clone(), field("entityId")?, field("token")?);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let copied = store.copy(Place::Database, BACK, &[]).await?;
    assert!(copied.status.success(), "{}", output_text(&copied));
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["token", "list"], &["store", "reopen"]] {
        let text = store.refuse(BACK, command).await?;
        assert!(text.contains("not complete"), "{text}");
    }
    let mut copy = store.start_move(Place::Database, BACK)?;
    copy.wait_until_caught_up().await?;
    let text = store.refuse(BACK, &["serve", "--listen", "127.0.0.1:0"]).await?;
    assert!(text.contains("not complete"), "{text}");
    first.stop().await?;
    let paid = shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    // A node that comes back in time keeps the store where it is.
    let first = store.serve(Place::Database).await?;
    second.stop().await?;
    let shop = at(&first, &shop);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    first.stop().await?;
    let head = copy.finish().await?;
    assert_eq!(store.verify(BACK).await?, head);
    let server = store.serve(BACK).await?;
    let read = at(&server, &shop).get(&format!("v1/payments/{}", paid.id())).await?;
    assert_result(&read, 200, "000.100.110");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_without_a_switch_moves_nothing_and_a_store_that_has_moved_can_be_opened_again() -> anyhow::Result<()> {
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    let copied = store.copy(FIRST, Place::Database, &["--json"]).await?;
    let last: Value = serde_json::from_str(output_text(&copied).lines().last().unwrap_or_default())?;
    assert_eq!(last["moved"], false, "{}", output_text(&copied));
    let paid = shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert!(store.refuse(Place::Database, &["token", "list"]).await?.contains("not complete"));
    server.stop().await?;
    let moved = store.copy(FIRST, Place::Database, &["--json", "--switch"]).await?;
    let moved: Value = serde_json::from_str(output_text(&moved).lines().last().unwrap_or_default())?;
    assert_eq!(moved["moved"], true, "{moved}");
    let again = store.copy(FIRST, Place::Database, &["--switch"]).await?;
    assert!(!again.status.success() && output_text(&again).contains("already"), "{}", output_text(&again));
    store.succeed(FIRST, &["store", "reopen"]).await?;
    let server = store.serve(FIRST).await?;
    let read = at(&server, &shop).get(&format!("v1/payments/{}", paid.id())).await?;
    assert_result(&read, 200, "000.100.110");
    store.verify(FIRST).await?;
    let entries = store.succeed(FIRST, &["audit", "export"]).await?;
    assert!(entries.contains("\"store move\"") && entries.contains("\"store reopen\""), "{entries}");
    Ok(())
}

#[tokio::test]
async fn wrong_places_are_named_without_what_an_address_contains() -> anyhow::Result<()> {
    let store = MovingStore::new()?;
    drop(store.serve(FIRST).await?);
    let (data, absent) = (store.name(FIRST), store.name(Place::Folder("absent")));
    let secret = format!("postgres://me:{PASSWORD}@127.0.0.1:1/tillgate");
    for (from, to, expected) in [
        (&*data, &*absent, "both folders"),
        (&store.address, &store.address, "both databases"),
        (&data, &secret, "list of processes"),
        (&secret, &absent, "list of processes"),
        (&data, &format!("mysql://me:{PASSWORD}@db/tillgate"), "is not valid"),
        (&data, &format!("host=db user=me password={PASSWORD} dbname=tillgate"), "is not valid"),
        (&data, "postgres://me@127.0.0.1:1/tillgate", "cannot be reached"),
        (&absent, &store.address, "there is no store in"),
        (&store.address, &absent, "there is no store in"),
    ] {
        let output = tillgate_command(&["store", "copy", "--from", from, "--to", to]).output().await?;
        let text = output_text(&output);
        assert!(!output.status.success() && text.contains(expected), "{from} {to}: {text}");
        assert!(!text.contains(PASSWORD) && !text.contains("panicked"), "{text}");
    }
    let mut hidden = tillgate_command(&["store", "copy", "--from", &data]);
    let text = output_text(&hidden.env("TILLGATE_COPY_TO", &secret).output().await?);
    assert!(text.contains("cannot be reached") && !text.contains(PASSWORD), "{text}");
    let file = store.data("password");
    std::fs::write(&file, PASSWORD)?;
    let file = file.to_str().context("a path")?;
    for option in ["--from-password-file", "--to-password-file"] {
        let arguments = ["store", "copy", "--from", &data, "--to", &store.address, option, file];
        let text = output_text(&tillgate_command(&arguments).output().await?);
        assert!(text.contains(option) && !text.contains(PASSWORD), "{text}");
    }
    assert!(!Path::new(&absent).exists());
    Ok(())
}

#[tokio::test]
async fn a_store_that_another_program_has_changed_is_not_copied() -> anyhow::Result<()> {
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let file = rusqlite::Connection::open(store.data("data").join("tillgate.db"))?;
    file.execute("UPDATE balance SET receivable = receivable + 1, cash = cash - 1", [])?;
    let text = output_text(&store.copy(FIRST, Place::Database, &["--switch"]).await?);
    assert!(text.contains("the table balance") && text.contains("tillgate verify"), "{text}");
    let count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(cluster().run_sql(store.database(), count)?, "0");
    Ok(())
}
