//! Several nodes on one database of PostgreSQL: keys of the vault, orders, builds of the form, and clocks. These tests
//! run on PostgreSQL whatever the database of the others is.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{MerchantClient, poll_until};

use crate::bundle::TestBundle;
use crate::checkout::frame_document::read_configuration;
use crate::checkout::pinning::{get_loader, get_script};
use crate::service::machine::{Machine, cluster};
use crate::support::*;

#[tokio::test]
async fn of_two_servers_that_start_at_once_with_new_keys_one_goes_on() -> anyhow::Result<()> {
    for _ in 0..3 {
        let first = Machine::new()?;
        let second = first.another()?;
        let (one, two) = tokio::join!(first.serve(), second.serve());
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        let loser = if one.is_ok() { &second } else { &first };
        let text = loser.log();
        // It has made a key of its own that seals nothing, or found out before that there is one already.
        let is_beaten = text.contains("sealed under the vault key") && text.contains("which is not in");
        let is_late = text.contains("does not exist") && text.contains("copy it from another machine");
        assert!(is_beaten || is_late, "{text}");
        // With the winner's keys it starts.
        let winner = if one.is_ok() { &first } else { &second };
        std::fs::copy(winner.key_file(), loser.key_file())?;
        loser.serve().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_server_or_command_with_other_keys_than_those_of_the_database_is_refused() -> anyhow::Result<()> {
    let first = Machine::new()?;
    let (_server, base) = first.serve().await?;
    let shop = first.create_merchant(&base).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let second = first.another()?;
    let text = second.refuse(&["serve", "--listen", "127.0.0.1:0"]).await?;
    assert!(text.contains("does not exist") && text.contains("copy it from another machine"), "{text}");
    assert!(!second.key_file().exists(), "a key file was made");
    std::fs::write(second.key_file(), "ab".repeat(32))?;
    std::fs::set_permissions(second.key_file(), std::fs::Permissions::from_mode(0o600))?;
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["vault", "rotate"]] {
        let text = second.refuse(command).await?;
        assert!(text.contains("which is not in") && text.contains("every machine"), "{text}");
    }
    let text = second.refuse(&["entity", "create", "--name", "x"]).await?;
    assert!(text.contains("--key-file"), "{text}");
    Ok(())
}

#[tokio::test]
async fn keys_are_rotated_beside_one_server_and_not_beside_two() -> anyhow::Result<()> {
    let first = Machine::new()?;
    let (_server, base) = first.serve().await?;
    let shop = first.create_merchant(&base).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    first.succeed(&["vault", "rotate"]).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let second = first.another_with_keys()?;
    let (_other, _) = second.serve().await?;
    let before = std::fs::read(first.key_file())?;
    let text = first.refuse(&["vault", "rotate"]).await?;
    assert!(text.contains("2 servers use the database"), "{text}");
    assert_eq!(std::fs::read(first.key_file())?, before);
    Ok(())
}

#[tokio::test]
async fn an_order_of_one_node_is_paid_at_another_and_a_second_node_of_a_name_does_not_start() -> anyhow::Result<()> {
    let first = Machine::new()?;
    let (_one, base) = first.serve().await?;
    let shop = first.create_merchant(&base).await?;
    let second = first.another_with_keys()?;
    let (_two, base) = second.serve().await?;
    let other = MerchantClient::new(base, shop.entity_id.clone(), shop.token.clone());
    let checkout = shop.create_checkout(&[]).await?;
    assert!(checkout.id().ends_with(".tx01"), "{}", checkout.text);
    assert_eq!(other.submit_card(checkout.id(), &[]).await?.status, 200);
    for node in [&shop, &other] {
        assert_result(&node.read_status(checkout.id()).await?, 200, "000.100.110");
    }
    let third = first.another_with_keys()?;
    let text = third.refuse(&["serve", "--listen", "127.0.0.1:0"]).await?;
    assert!(text.contains("tx02"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_key_under_which_a_server_still_seals_is_not_retired() -> anyhow::Result<()> {
    let first = Machine::new()?;
    let (_server, base) = first.serve().await?;
    let shop = first.create_merchant(&base).await?;
    let second = first.another_with_keys()?;
    first.succeed(&["vault", "rotate"]).await?;
    let keys: Value = serde_json::from_str(&first.succeed(&["vault", "list", "--json"]).await?)?;
    let is_old = |key: &&Value| key["state"] == "opens";
    let old = keys.as_array().and_then(|keys| keys.iter().find(is_old)).context("no earlier key")?;
    let retire = ["vault", "retire", "--key", old["key"].as_str().unwrap_or_default()];
    let rotated = std::fs::read_to_string(first.key_file())?;
    let lines: Vec<&str> = rotated.lines().rev().collect();
    // The other machine has both keys, and seals under the earlier one, which is the first in its file.
    std::fs::write(second.key_file(), lines.join("\n"))?;
    std::fs::set_permissions(second.key_file(), std::fs::Permissions::from_mode(0o600))?;
    let (mut other, base) = second.serve().await?;
    let text = first.refuse(&retire).await?;
    assert!(text.contains("still seals under"), "{text}");
    let at_other = MerchantClient::new(base, shop.entity_id.clone(), shop.token.clone());
    assert_result(&at_other.pay_by_card(&[]).await?, 200, "000.100.110");
    // Once no server seals under it, only the records that were sealed meanwhile are in its way.
    other.kill().await?;
    let text = poll_until("the database forgets the server", async || {
        let text = first.refuse(&retire).await?;
        Ok((!text.contains("still seals under")).then_some(text))
    })
    .await?;
    assert!(text.contains("is in use"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_page_of_a_newer_node_gets_its_form_from_an_older_one_as_well() -> anyhow::Result<()> {
    let (old, new) = (TestBundle::new("old")?, TestBundle::new("new")?);
    let first = Machine::new()?;
    let (_older, base) = first.serve_with(&["--form", old.folder()]).await?;
    let shop = first.create_merchant(&base).await?;
    let unknown = "0".repeat(32);
    assert_eq!(get_script(&shop, &unknown).await?.0, 404);
    assert_eq!(get_script(&shop, &new.build).await?.0, 404);
    let second = first.another_with_keys()?;
    let (_newer, base) = second.serve_with(&["--form", new.folder()]).await?;
    let newer = MerchantClient::new(base, shop.entity_id.clone(), shop.token.clone());
    let checkout = newer.create_checkout(&[("integrity", "true")]).await?;
    assert_eq!(checkout.json["integrity"], new.loader_integrity());
    // The older node has looked for builds a moment ago, when the newer one was not there yet.
    let script = poll_until("the older node looks again", async || {
        let (status, script) = get_script(&shop, &new.build).await?;
        Ok((status == 200).then_some(script))
    })
    .await?;
    assert_eq!(script, new.script);
    assert_eq!(get_loader(&shop, checkout.id()).await?, new.loader);
    assert_eq!(read_configuration(&shop, checkout.id(), "VISA").await?["build"], new.build.as_str());
    assert_eq!(get_script(&newer, &old.build).await?, (200, old.script.clone()));
    // Names that nobody has stored stay unknown.
    assert_eq!(get_script(&shop, &unknown).await?.0, 404);
    Ok(())
}

/// Returns the option of each warning of `/health`.
async fn read_warnings(base: &str) -> anyhow::Result<Vec<String>> {
    let health: Value = reqwest::get(format!("{base}health")).await?.json().await?;
    let warnings = health["warnings"].as_array().cloned().unwrap_or_default();
    Ok(warnings.iter().filter_map(|warning| warning["option"].as_str().map(str::to_owned)).collect())
}

#[tokio::test]
async fn a_node_whose_clock_is_wrong_says_so_and_serves_no_live_entity_until_it_is_right() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    let options = ["--public-url", "https://pay.example", "--trusted-proxy", "127.0.0.0/8"];
    let (_server, base) = machine.serve_with(&options).await?;
    let sandbox = machine.create_merchant(&base).await?;
    let live = machine.create_merchant_with(&base, &["--live"]).await?.behind_proxy();
    let create = async || live.create_checkout(&[]).await;
    assert_eq!(create().await?.status, 200);
    assert_eq!(read_warnings(&base).await?, [""; 0]);
    // The clocks differ as well if that of the database is another one.
    for (milliseconds, is_wrong) in [(60_000, true), (0, false), (-3_000, true), (1_000, false)] {
        let clock = format!(
            "CREATE OR REPLACE FUNCTION clock_milliseconds() RETURNS bigint LANGUAGE sql VOLATILE
                 RETURN CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) + ({milliseconds})"
        );
        cluster().run_sql(machine.database(), &clock)?;
        let warnings = poll_until("the node compares the clocks", async || {
            let warnings = read_warnings(&base).await?;
            Ok((warnings.is_empty() != is_wrong).then_some(warnings))
        })
        .await
        .with_context(|| format!("{milliseconds}"))?;
        let created = create().await?;
        if is_wrong {
            assert_eq!(warnings, ["clock"]);
            assert_result(&created, 503, "999.999.888");
            assert!(created.text.contains("clock"), "{}", created.text);
        } else {
            assert_eq!(created.status, 200, "{}", created.text);
        }
        assert_result(&sandbox.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    Ok(())
}
