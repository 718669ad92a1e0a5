//! Settings that an operator chooses for an entity: equal options for creation and change, and effective in a running
//! server.

use anyhow::Context as _;
use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::service::command_line::run_tillgate;
use crate::support::*;

/// Runs `tillgate entity set` on an entity. Returns its JSON output.
fn set_entity(gateway: &TestGateway, entity: &str, options: &[&str]) -> anyhow::Result<Value> {
    gateway.run_command(&[&["entity", "set", "--entity", entity], options].concat())
}

/// Returns the options in the help of `tillgate entity …`, without dashes, sorted.
async fn help_options(command: &str) -> anyhow::Result<Vec<String>> {
    let help = String::from_utf8(run_tillgate(&["entity", command, "--help"]).await?.stdout)?;
    let list = help.split("Example").next().unwrap_or_default();
    let options = list.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("-h, ").unwrap_or(line);
        line.strip_prefix("--")?.split([' ', '[']).next()
    });
    let mut options: Vec<String> = options.map(str::to_owned).collect();
    options.sort();
    Ok(options)
}

#[tokio::test]
async fn everything_that_can_be_chosen_for_a_new_entity_can_be_changed_later() -> anyhow::Result<()> {
    let create = help_options("create").await?;
    let mut set = help_options("set").await?;
    assert!(create.len() > 15 && create.contains(&"refuse-duplicates".to_owned()), "{create:?}");
    set.retain(|option| option != "entity");
    assert_eq!(set, create);
    Ok(())
}

#[tokio::test]
async fn an_entity_that_is_changed_is_like_one_that_was_made_so() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    for (chosen, name, value) in [
        (&["--strict"][..], "strict", json!(true)),
        (&["--strict", "on"], "strict", json!(true)),
        (&["--strict", "off"], "strict", json!(false)),
        (&["--customer-names-optional"], "customer_names_optional", json!(true)),
        (&["--refuse-duplicates", "on"], "refuse_duplicates", json!(true)),
        (&["--refuse-duplicates", "off"], "refuse_duplicates", json!(false)),
        (
            &["--origin", "https://shop.example", "--origin", "http://localhost:1"],
            "origins",
            json!(["https://shop.example", "http://localhost:1"]),
        ),
        (&["--browser-registrations"], "browser_registrations", json!(true)),
        (&["--browser-registrations", "off"], "browser_registrations", json!(false)),
        (&["--browser-customer-ids", "on"], "browser_customer_ids", json!(true)),
        (&["--hide-declines"], "hide_declines", json!(true)),
        (&["--hide-declines", "off"], "hide_declines", Value::Null),
        (&["--compatible"], "compatible", json!(true)),
        (&["--compatible", "off"], "compatible", Value::Null),
        (
            &["--require-cvv", "on", "--registrations-require-cvv", "on", "--risk", "off"],
            "channel",
            json!({ "three_d": "when-enrolled", "risk": false, "priority": 100, "require_cvv": true, "registrations_require_cvv": true }),
        ),
        (&["--time-zone", "europe/berlin"], "time_zone", json!("Europe/Berlin")),
        (&["--time-zone", "UTC"], "time_zone", Value::Null),
        (&["--schedule-retries", "900=60m;800.100.155=24h,72h"], "schedule_retries", json!("900=1h;800.100.155=1d,3d")),
        (&["--schedule-retries", "none"], "schedule_retries", json!("none")),
        (&["--schedule-retries", "default"], "schedule_retries", Value::Null),
        (&["--sepa-creditor-id", "de98 zzz 09999999999"], "sepa_creditor_id", json!("DE98ZZZ09999999999")),
        (&["--overcapture", "15"], "overcapture", json!(15)),
        (&["--overcapture", "0"], "overcapture", Value::Null),
        (&["--authorization-days", "30"], "authorization_days", json!(30)),
        (&["--authorization-days", "default"], "authorization_days", Value::Null),
        (&["--sepa-creditor-id", "none"], "sepa_creditor_id", Value::Null),
        (&["--origin", "any"], "origins", json!([])),
        (
            &["--brands", "VISA,JCB"],
            "channel",
            json!({ "brands": ["VISA", "JCB"], "three_d": "when-enrolled", "risk": false, "priority": 100 }),
        ),
        (
            &[
                "--risk",
                "on",
                "--3d",
                "never",
                "--priority",
                "7",
                "--connector",
                "simulator",
                "--currencies",
                "EUR",
                "--test-modes",
                "INTERNAL",
            ],
            "channel",
            json!({ "currencies": ["EUR"], "test_modes": ["INTERNAL"], "three_d": "never", "risk": true, "connector": "simulator", "priority": 7 }),
        ),
    ] {
        let create = [&["entity", "create", "--name", "Made"], chosen].concat();
        let made = gateway.run_command(&create)?;
        let made =
            gateway.run_command(&["entity", "show", "--entity", made["entityId"].as_str().unwrap_or_default()])?;
        let changed = gateway.run_command(&["entity", "create", "--name", "Changed"])?;
        let changed = set_entity(&gateway, changed["entityId"].as_str().unwrap_or_default(), chosen)?;
        assert_eq!(made["settings"][name], value, "{chosen:?}");
        assert_eq!(changed["settings"], made["settings"], "{chosen:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_is_not_given_stays_as_it_is() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&[
        "--strict",
        "--customer-names-optional",
        "--refuse-duplicates",
        "--origin",
        "https://shop.example",
        "--brands",
        "VISA",
    ])?;
    let before = gateway.run_command(&["entity", "show", "--entity", &shop.entity_id])?;
    let after = set_entity(&gateway, &shop.entity_id, &["--name", "Another"])?;
    assert_eq!((&after["settings"], &after["live"]), (&before["settings"], &before["live"]));
    assert_eq!(after["name"], "Another");
    Ok(())
}

#[tokio::test]
async fn a_running_server_refuses_duplicates_from_the_moment_that_it_is_told_to() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let order = [("merchantTransactionId", "order-4711")];
    assert_result(&shop.pay_by_card(&order).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&order).await?, 200, "000.100.110");
    set_entity(&gateway, &shop.entity_id, &["--refuse-duplicates", "on"])?;
    poll_until("duplicates are refused", async || {
        Ok((shop.pay_by_card(&order).await?.result_code() == "800.110.100").then_some(()))
    })
    .await?;
    set_entity(&gateway, &shop.entity_id, &["--refuse-duplicates", "off"])?;
    poll_until("duplicates are taken", async || Ok((shop.pay_by_card(&order).await?.status == 200).then_some(())))
        .await?;
    Ok(())
}

#[tokio::test]
async fn an_entity_becomes_live_and_a_sandbox_again_while_it_has_taken_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LIVE)?;
    let shop = gateway.create_merchant()?.behind_proxy();
    assert_eq!(set_entity(&gateway, &shop.entity_id, &["--live"])?["live"], true);
    assert_eq!(set_entity(&gateway, &shop.entity_id, &["--strict", "on"])?["live"], true, "it stays what it is");
    assert_eq!(set_entity(&gateway, &shop.entity_id, &["--sandbox"])?["live"], false);
    assert!(set_entity(&gateway, &shop.entity_id, &["--sandbox", "--live"]).is_err());
    // Changes to live. After the first request for real money, that is permanent.
    set_entity(&gateway, &shop.entity_id, &["--live", "--strict", "off"])?;
    poll_until("the server knows that it is live", async || {
        let asked =
            shop.post("v1/registrations", &[&[("testMode", "INTERNAL")], &tillgate_tests::CARD[..]].concat()).await?;
        Ok((asked.result_code() == "600.200.701").then_some(()))
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn what_has_been_used_stays_live_or_a_sandbox() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LIVE)?;
    let (paid, registered, prepared) =
        (gateway.create_merchant()?, gateway.create_merchant()?, gateway.create_merchant()?);
    paid.pay_by_card(&[]).await?;
    registered.post("v1/registrations", &tillgate_tests::CARD).await?;
    prepared.create_checkout(&[]).await?;
    let live = gateway.create_merchant_with(&["--live"])?.behind_proxy();
    live.pay_by_card(&[]).await?;
    for (shop, kind, why) in [
        (&paid, "--live", "is a sandbox and has been used"),
        (&registered, "--live", "is a sandbox and has been used"),
        (&prepared, "--live", "is a sandbox and has been used"),
        (&live, "--sandbox", "is live and has been used"),
    ] {
        let refused = set_entity(&gateway, &shop.entity_id, &[kind]);
        assert!(refused.is_err_and(|error| error.to_string().contains(why)), "{kind}");
    }
    // Setting the current value again changes nothing and is no error.
    assert_eq!(set_entity(&gateway, &paid.entity_id, &["--sandbox"])?["live"], false);
    Ok(())
}

#[tokio::test]
async fn a_merchant_becomes_live_with_all_of_its_channels_or_not_at_all() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let channel = |gateway: &TestGateway| gateway.create_merchant_with(&["--merchant", &merchant.entity_id]);
    let (one, two) = (channel(&gateway)?, channel(&gateway)?);
    let is_live = |shop: &MerchantClient| -> anyhow::Result<bool> {
        Ok(gateway.run_command(&["entity", "show", "--entity", &shop.entity_id])?["live"] == true)
    };
    let alone = set_entity(&gateway, &one.entity_id, &["--live"]);
    assert!(alone.is_err_and(|error| error.to_string().contains("so are its channels")));
    set_entity(&gateway, &merchant.entity_id, &["--live"])?;
    assert!(is_live(&merchant)? && is_live(&one)? && is_live(&two)?);
    set_entity(&gateway, &merchant.entity_id, &["--sandbox"])?;
    assert!(!is_live(&merchant)? && !is_live(&one)? && !is_live(&two)?);
    poll_until("they are a sandbox again", async || Ok((two.pay_by_card(&[]).await?.status == 200).then_some(())))
        .await?;
    let refused = set_entity(&gateway, &merchant.entity_id, &["--live"]);
    assert!(refused.is_err_and(|error| error.to_string().contains(&two.entity_id)));
    assert!(!is_live(&merchant)? && !is_live(&one)?);
    Ok(())
}

#[tokio::test]
async fn an_entity_becomes_a_channel_and_stands_for_itself_again() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (merchant, shop) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let paid = shop.pay_by_card(&[]).await?;
    let path = format!("v1/payments/{}", paid.id());
    assert_result(&merchant.get(&path).await?, 404, "200.300.404");
    let shown = set_entity(&gateway, &shop.entity_id, &["--merchant", &merchant.entity_id])?;
    assert_eq!(shown["merchant"], merchant.entity_id.as_str());
    poll_until("the merchant sees it", async || Ok((merchant.get(&path).await?.status == 200).then_some(()))).await?;
    let dispatched = merchant.pay_by_card(&[]).await?;
    assert_result(&shop.get(&format!("v1/payments/{}", dispatched.id())).await?, 200, "000.100.110");
    let shown = set_entity(&gateway, &shop.entity_id, &["--merchant", "none"])?;
    assert!(shown["merchant"].is_null(), "{shown}");
    poll_until("it is its own again", async || Ok((merchant.get(&path).await?.status == 404).then_some(()))).await?;
    assert_result(&shop.get(&path).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn merchants_that_cannot_be_are_refused_and_nothing_changes() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (merchant, shop) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    let live = gateway.create_merchant_with(&["--live"])?;
    shop.pay_by_card(&[]).await?;
    let nobody = "0".repeat(32);
    for (entity, of, why) in [
        (&shop, shop.entity_id.as_str(), "its own merchant"),
        (&shop, &channel.entity_id, "is a channel itself"),
        (&merchant, &shop.entity_id, "has channels"),
        (&shop, &nobody, "there is no entity"),
        (&shop, &live.entity_id, "is a sandbox and has been used"),
        (&shop, "nonsense", "32 lowercase hexadecimal"),
    ] {
        let refused = set_entity(&gateway, &entity.entity_id, &["--merchant", of, "--strict", "on"]);
        assert!(refused.as_ref().is_err_and(|error| error.to_string().contains(why)), "{of}: {refused:?}");
        let shown = gateway.run_command(&["entity", "show", "--entity", &entity.entity_id])?;
        assert_eq!((&shown["merchant"], &shown["settings"]["strict"]), (&Value::Null, &json!(false)), "{of}");
    }
    Ok(())
}

#[tokio::test]
async fn people_read_whether_duplicates_are_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--refuse-duplicates"])?;
    let data = gateway.data_folder();
    let show = ["entity", "show", "--entity", &shop.entity_id, "--data", data.to_str().unwrap_or_default()];
    let shown = String::from_utf8(run_tillgate(&show).await?.stdout)?;
    assert!(shown.lines().any(|line| line == "duplicates  refused"), "{shown}");
    Ok(())
}

#[tokio::test]
async fn a_setting_that_would_have_no_effect_is_refused_and_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let live = gateway.create_merchant_with(&["--live"])?;
    let compatible = gateway.create_merchant_with(&["--compatible"])?;
    let channel = gateway.create_merchant_with(&["--merchant", &compatible.entity_id])?;
    let terms = gateway.folder().join("terms.toml");
    std::fs::write(&terms, "cut_off = \"00:00\"\n")?;
    let terms = terms.to_string_lossy();
    for (entity, command, message) in [
        (&live, &["settlement", "set", "--file", &terms][..], "settlement files"),
        (&live, &["entity", "set", "--test-modes", "EXTERNAL"], "test modes would have no effect"),
        (&live, &["entity", "set", "--sandbox-any-number"], "only a sandbox"),
        (&live, &["clock", "advance", "30m"], "its clock cannot be moved"),
        (&channel, &["entity", "set", "--compatible", "off"], &compatible.entity_id),
    ] {
        let show = ["entity", "show", "--entity", &entity.entity_id];
        let before = gateway.run_command(&show)?;
        let refused = gateway.run_command(&[command, &["--entity", &entity.entity_id]].concat());
        let refused = format!("{:#}", refused.err().context(command.join(" "))?);
        assert!(refused.contains(message) && refused.contains(&entity.entity_id), "{command:?}: {refused}");
        assert_eq!(gateway.run_command(&show)?, before, "{command:?}");
    }
    // Taking such a setting away is accepted, and so is the same for a sandbox.
    gateway.run_command(&["settlement", "set", "--default", "--entity", &live.entity_id])?;
    gateway.run_command(&["entity", "set", "--test-modes", "all", "--entity", &live.entity_id])?;
    gateway.run_command(&["settlement", "set", "--file", &terms, "--entity", &compatible.entity_id])?;
    gateway.run_command(&["entity", "set", "--compatible", "on", "--entity", &channel.entity_id])?;
    Ok(())
}
