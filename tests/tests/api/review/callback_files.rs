//! Configuration files of review callbacks: faults with their places, secrets, and the configurations of channels.

use std::sync::atomic::Ordering;

use serde_json::Value;
use tillgate_tests::{RawReaction, RawReceiver, TestGateway};

use crate::review::callback::{CallbackScene, KEYS, set_config};
use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn channels_use_the_callback_of_their_merchant_and_nobody_that_of_another() -> anyhow::Result<()> {
    let (scene, status) = CallbackScene::with_status().await?;
    let channel = scene.gateway.create_merchant_with(&["--merchant", &scene.shop.entity_id])?;
    let other = scene.gateway.create_merchant()?;
    let shown = scene.run_command(&["show", "--entity", &channel.entity_id])?;
    assert_eq!(shown["inheritedFrom"], scene.shop.entity_id.as_str());
    scene.run_command(&["test", "--entity", &channel.entity_id])?;
    let body = scene.receiver.next_request().await?.body;
    assert!(body.contains(&format!("&entity={}&", channel.entity_id)), "{body}");
    for command in ["test", "show", "log", "remove"] {
        assert!(scene.run_command(&[command, "--entity", &other.entity_id]).is_err(), "{command}");
    }
    // A configuration of its own takes the place of the merchant's.
    let own = RawReceiver::start(|_| RawReaction::Continue(200)).await?;
    let config = format!("urls = [\"http://{}/\"]\n{KEYS}", own.authority());
    set_config(&scene.gateway, &channel.entity_id, &config)?;
    scene.run_command(&["test", "--entity", &channel.entity_id])?;
    own.next_request().await?;
    scene.run_command(&["remove", "--entity", &channel.entity_id, "--discard"])?;
    // Each list has the callbacks of one configuration; the channel's clock is its merchant's.
    status.store(500, Ordering::SeqCst);
    scene.wait_for_log(1).await?;
    scene.run_command(&["test", "--entity", &channel.entity_id])?;
    scene.receive_attempts(1, 3).await?;
    assert_eq!(scene.load_failed()?[0]["entityId"], channel.entity_id.as_str());
    let failed = scene.run_command(&["failed", "--entity", &other.entity_id])?;
    assert_eq!((failed, own.count_unread().await), (Value::Array(Vec::new()), 0));
    Ok(())
}

#[test]
fn a_faulty_file_changes_nothing_and_every_fault_has_its_place() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let entity = gateway.run_command(&["entity", "create", "--name", "Kiln & Tide"])?;
    let entity = entity["entityId"].as_str().unwrap_or_default();
    let text = "urls = [\"https://shop.example/\"]\nretries = 9\nkeys = [{ name = \"d\", field = \"decisio\" }]";
    let error = set_config(&gateway, entity, text).err().map(|error| error.to_string()).unwrap_or_default();
    for expected in
        ["callback.toml:2:11: `retries`", "callback.toml:3:8: `keys` lacks", "callback.toml:3:9: there is no"]
    {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert!(gateway.run_command(&["review-callback", "show", "--entity", entity]).is_err());
    Ok(())
}

#[test]
fn the_file_of_the_document_is_a_good_one() -> anyhow::Result<()> {
    let page = include_str!("../../../../docs/review-callbacks.md");
    let file = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let gateway = TestGateway::start()?;
    let entity = gateway.run_command(&["entity", "create", "--name", "Kiln & Tide", "--live"])?;
    let set = set_config(&gateway, entity["entityId"].as_str().unwrap_or_default(), file)?;
    assert!(set["receives"] == true && set["keys"].as_array().is_some_and(|keys| keys.len() > 8), "{set}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_sealed_and_never_shown_and_removal_deletes_everything() -> anyhow::Result<()> {
    let (scene, status) = CallbackScene::with_status().await?;
    let entity = scene.shop.entity_id.clone();
    let more = "headers = [{ name = \"X-Key\", secret = \"header secret\" }]\n[receiving]\n\
                credentials = [{ key = \"pass\", secret = \"received secret\" }]";
    let set = set_config(&scene.gateway, &entity, &format!("{}{more}", scene.config()))?;
    status.store(500, Ordering::SeqCst);
    scene.send_sample("approve")?;
    scene.receiver.next_request().await?;
    scene.wait_for_log(1).await?;
    let shown = scene.run_command(&["show", "--entity", &entity])?;
    let printed = [set.to_string(), shown.to_string(), scene.gateway.read_log()].concat();
    let stored = scene.gateway.read_stored_bytes()?;
    for secret in ["p&ss=word of the shop", "header secret", "received secret"] {
        assert!(!printed.contains(secret), "{printed}");
        assert!(!stored.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} is in the store");
    }
    assert_eq!(shown["keys"][12], serde_json::json!({ "name": "password", "secret": "***" }));
    assert_eq!(shown["receivingCredentials"], serde_json::json!(["key pass"]));
    let remove = ["remove", "--entity", &entity, "--discard"];
    assert!(scene.run_command(&remove[..3]).is_err_and(|error| error.to_string().contains("--discard")));
    scene.run_command(&remove)?;
    let left: u32 = open_database(&scene.gateway)?.query_row(
        "SELECT (SELECT count(*) FROM message) + (SELECT count(*) FROM delivery) + (SELECT count(*) FROM review_callback)",
        [],
        |row| row.get(0),
    )?;
    assert_eq!(left, 0);
    let audit = scene.run_command(&["log", "--audit", "--entity", &entity])?;
    assert_eq!(audit[0]["action"], "remove");
    Ok(())
}
