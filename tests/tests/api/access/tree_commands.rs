//! The tree of entities on the command line and in the database: permitted levels, and display.

use rusqlite::params;
use serde_json::json;
use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::access::tree::EntityTrees;
use crate::service::command_line::run_tillgate;

/// Runs `tillgate entity set` on an entity. Returns its JSON output.
fn set_entity(gateway: &TestGateway, entity: &MerchantClient, options: &[&str]) -> anyhow::Result<serde_json::Value> {
    gateway.run_command(&[&["entity", "set", "--entity", &entity.entity_id], options].concat())
}

/// Runs a command on the gateway's data folder. Returns its standard output as text, whatever its exit status.
async fn read_output(gateway: &TestGateway, arguments: &[&str]) -> anyhow::Result<String> {
    let data = gateway.data_folder();
    let all = [arguments, &["--data", data.to_str().unwrap_or_default()]].concat();
    Ok(String::from_utf8(run_tillgate(&all).await?.stdout)?)
}

#[tokio::test]
async fn no_level_is_put_below_itself_a_lower_one_or_nothing_that_there_is() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let EntityTrees { gateway, psp, north, south, bakery, till, florist, .. } = &forest;
    let nobody = "0".repeat(32);
    for (entity, options, why) in [
        (psp, &["--parent", north.entity_id.as_str()][..], "a PSP cannot stand below it"),
        (psp, &["--parent", &psp.entity_id], "cannot be its own parent"),
        (north, &["--parent", &south.entity_id], "a division cannot stand below it"),
        (north, &["--parent", &bakery.entity_id], "a division cannot stand below it"),
        (bakery, &["--parent", &florist.entity_id], "a merchant cannot stand below it"),
        (bakery, &["--parent", &till.entity_id], "a merchant cannot stand below it"),
        (till, &["--parent", &north.entity_id], "a channel cannot stand below it"),
        (till, &["--parent", "none"], "a channel needs a merchant"),
        (florist, &["--merchant", &north.entity_id], "a channel cannot stand below it"),
        (florist, &["--level", "channel", "--parent", &till.entity_id], "is a channel itself"),
        (florist, &["--parent", &nobody], "there is no entity"),
        (florist, &["--parent", "north"], "32 lowercase hexadecimal"),
        (florist, &["--level", "branch"], "psp, division, merchant or channel"),
        (north, &["--level", "merchant"], "which stays a division"),
        (bakery, &["--level", "psp", "--parent", "none"], "which stays a merchant"),
        (bakery, &["--merchant", &florist.entity_id], "has channels"),
        (bakery, &["--live"], "so is everything below it"),
        (bakery, &["--inherit", "priority"], "no setting that is inherited"),
    ] {
        let before = gateway.run_command(&["entity", "show", "--entity", &entity.entity_id])?;
        let refused = set_entity(gateway, entity, &[options, &["--strict", "on"]].concat());
        assert!(refused.as_ref().is_err_and(|error| error.to_string().contains(why)), "{options:?}: {refused:?}");
        assert_eq!(gateway.run_command(&["entity", "show", "--entity", &entity.entity_id])?, before, "{options:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_tree_becomes_live_as_a_whole_or_not_at_all() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let EntityTrees { gateway, psp, till, rival, brewer, loner, .. } = &forest;
    assert_eq!(set_entity(gateway, psp, &["--live"])?["live"], true);
    assert_eq!(gateway.run_command(&["entity", "show", "--entity", &till.entity_id])?["live"], true);
    brewer.pay_by_card(&[]).await?;
    let refused = set_entity(gateway, rival, &["--live"]);
    assert!(refused.is_err_and(|error| error.to_string().contains(&brewer.entity_id)));
    let refused = set_entity(gateway, brewer, &["--parent", &psp.entity_id]);
    assert!(refused.is_err_and(|error| error.to_string().contains("is a sandbox and has been used")));
    // An unused entity takes over the mode of its new tree.
    assert_eq!(set_entity(gateway, loner, &["--parent", &psp.entity_id])?["live"], true);
    Ok(())
}

#[tokio::test]
async fn a_tree_does_not_become_live_with_a_connector_for_sandboxes_in_it() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let EntityTrees { gateway, psp, north, till, .. } = &forest;
    set_entity(gateway, till, &["--connector", "simulator"])?;
    let refused = set_entity(gateway, psp, &["--live"]);
    let message = refused.map_or_else(|error| error.to_string(), |entity| entity.to_string());
    assert!(message.contains(&till.entity_id) && message.contains("connector simulator"), "{message}");
    for entity in [psp, north, till] {
        assert_eq!(gateway.run_command(&["entity", "show", "--entity", &entity.entity_id])?["live"], false);
    }
    Ok(())
}

#[tokio::test]
async fn what_has_taken_a_payment_never_becomes_an_upper_level() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.pay_by_card(&[]).await?;
    for level in ["psp", "division"] {
        let refused = set_entity(&gateway, &shop, &["--level", level]);
        assert!(refused.is_err_and(|error| error.to_string().contains("stays a merchant")), "{level}");
    }
    Ok(())
}

#[tokio::test]
async fn clocks_and_wallet_keys_belong_to_what_takes_payments() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let psp = gateway.create_merchant_with(&["--level", "psp"])?;
    for command in [&["clock", "advance", "1h"][..], &["wallet-key", "create"]] {
        let refused = gateway.run_command(&[command, &["--entity", &psp.entity_id]].concat());
        assert!(refused.as_ref().is_err_and(|error| error.to_string().contains("is a PSP")), "{refused:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_entity_shows_the_way_up_and_what_it_inherits_from_where() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let EntityTrees { gateway, psp, north, bakery, till, .. } = &forest;
    set_entity(gateway, psp, &["--3d", "required", "--strict", "on"])?;
    set_entity(gateway, north, &["--origin", "https://north.example", "--strict", "off"])?;
    let shown = gateway.run_command(&["entity", "show", "--entity", &till.entity_id])?;
    let ids: Vec<&str> =
        shown["above"].as_array().into_iter().flatten().filter_map(|above| above["id"].as_str()).collect();
    assert_eq!(ids, [&bakery.entity_id, &north.entity_id, &psp.entity_id]);
    let inherited: Vec<_> = shown["inherited"].as_array().into_iter().flatten().collect();
    let of = |number: usize| (&inherited[number]["setting"], &inherited[number]["from"]["id"]);
    assert_eq!(inherited.len(), 3, "{shown}");
    assert_eq!(of(0), (&json!("strict"), &json!(north.entity_id)));
    assert_eq!(of(1), (&json!("origin"), &json!(north.entity_id)));
    assert_eq!(of(2), (&json!("3d"), &json!(psp.entity_id)));
    assert_eq!(shown["effective"]["channel"]["three_d"], "required");
    // Its own settings are unchanged.
    assert_eq!(
        (&shown["settings"]["channel"]["three_d"], &shown["settings"]["origins"]),
        (&json!("when-enrolled"), &json!([]))
    );
    let text = read_output(gateway, &["entity", "show", "--entity", &till.entity_id]).await?;
    for line in [
        format!("channel of  {}", bakery.entity_id),
        format!("below       division {}", north.entity_id),
        format!("below       psp {}", psp.entity_id),
        "3-D Secure  required".to_owned(),
        format!("inherited   3d from psp {}", psp.entity_id),
    ] {
        assert!(text.lines().any(|shown| shown.starts_with(&line)), "{line} in {text}");
    }
    let shown = gateway.run_command(&["entity", "show", "--entity", &psp.entity_id])?;
    assert_eq!(shown["below"].as_array().map_or(0, Vec::len), 3, "{shown}");
    Ok(())
}

#[tokio::test]
async fn entities_are_listed_as_a_tree() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let list = read_output(&forest.gateway, &["entity", "list"]).await?;
    let depth = |entity: &MerchantClient| {
        let line = list.lines().find(|line| line.trim_start().starts_with(&entity.entity_id)).unwrap_or_default();
        line.len() - line.trim_start().len()
    };
    let EntityTrees { gateway, psp, north, bakery, till, butcher, loner, .. } = &forest;
    assert_eq!([psp, north, bakery, till, butcher, loner].map(depth), [0, 2, 4, 6, 2, 0], "{list}");
    assert_eq!(list.lines().count(), 10, "{list}");
    let ids: Vec<usize> = [psp, north, bakery, till]
        .iter()
        .filter_map(|entity| list.find(&format!("{}  sandbox", entity.entity_id)))
        .collect();
    assert!(ids.len() == 4 && ids.is_sorted(), "{list}");
    let json = gateway.run_command(&["entity", "list"])?;
    let levels = json.as_array().into_iter().flatten().filter(|entity| entity["level"] == "division").count();
    assert_eq!(levels, 2, "{json}");
    Ok(())
}

#[tokio::test]
async fn no_program_writes_a_tree_that_is_none_into_the_file() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let file = Database::open(&forest.gateway.data_folder())?;
    let EntityTrees { psp, north, south, bakery, till, florist, rival, .. } = &forest;
    let parent = |entity: &MerchantClient, parent: &MerchantClient| {
        file.execute("UPDATE entity SET parent = ?2 WHERE id = ?1", params![entity.entity_id, parent.entity_id])
    };
    let refused = |written: rusqlite::Result<usize>| {
        let error = written.expect_err("it was written").to_string();
        // The second is the word of either database for a constraint of the table.
        let is_of_rule = error.contains("below one of a higher level") || error.to_lowercase().contains("check");
        assert!(is_of_rule, "{error}");
    };
    for (entity, above) in [
        (psp, bakery),
        (psp, psp),
        (psp, rival),
        (north, south),
        (north, bakery),
        (bakery, florist),
        (bakery, bakery),
        (bakery, till),
        (till, north),
        (till, till),
    ] {
        refused(parent(entity, above));
    }
    for (entity, level) in [
        (psp, "merchant"),
        (psp, "division"),
        (north, "merchant"),
        (bakery, "channel"),
        (till, "merchant"),
        (florist, "branch"),
    ] {
        refused(file.execute("UPDATE entity SET level = ?2 WHERE id = ?1", params![entity.entity_id, level]));
    }
    refused(file.execute("UPDATE entity SET parent = NULL WHERE id = ?1", [&till.entity_id]));
    let insert =
        "INSERT INTO entity (id, name, live, settings, created, level, parent) VALUES (?1, '', ?2, '{}', 0, ?3, ?4)";
    refused(file.execute(insert, params!["1", false, "division", bakery.entity_id]));
    refused(file.execute(insert, params!["1", false, "channel", None::<String>]));
    assert!(
        file.execute(insert, params!["1", true, "merchant", psp.entity_id]).is_err(),
        "a live one in a sandbox tree"
    );
    assert!(file.execute(insert, params!["1", false, "merchant", "0".repeat(32)]).is_err(), "below nobody");
    assert_eq!(file.execute(insert, params!["1", false, "merchant", psp.entity_id])?, 1);
    Ok(())
}
