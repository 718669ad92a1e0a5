//! The decision log: changes of rules and lists, and reached card-testing limits.

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway, poll_until};
use tokio::task::JoinSet;

use crate::risk::card_testing::{DECLINE, assert_throttled, start_with_limit, submit_from};
use crate::support::*;

/// Reads the latest changes of a merchant.
async fn read_changes(shop: &MerchantClient) -> anyhow::Result<Vec<Value>> {
    let answer = shop.get("v2/risk/audit").await?;
    assert_result(&answer, 200, "000.000.100");
    Ok(answer.json["changes"].as_array().cloned().unwrap_or_default())
}

/// Waits for a row, and returns the only one.
async fn expect_row(shop: &MerchantClient) -> anyhow::Result<Value> {
    let rows = poll_until("the row is written", async || {
        let rows = read_changes(shop).await?;
        Ok((!rows.is_empty()).then_some(rows))
    })
    .await?;
    assert_eq!(rows.len(), 1, "{rows:?}");
    Ok(rows[0].clone())
}

/// Returns the row of a limit without its time.
fn describe_limit(row: &Value) -> Value {
    let mut row = row.clone();
    assert!(has_shape(row["at"].as_str().unwrap_or_default(), "9999-99-99 99:99:99+0000"), "{row}");
    row.as_object_mut().map(|row| row.remove("at"));
    row
}

fn limit_row(subject: &str, cap: &str) -> Value {
    json!({ "kind": "limit", "action": "reach", "subject": subject, "reason": cap, "author": "gateway" })
}

#[tokio::test]
async fn a_limit_that_refuses_many_attempts_has_one_row_with_its_masked_key() -> anyhow::Result<()> {
    for (option, subject) in
        [("--declines-per-bin", "declines-per-bin 420000"), ("--declines-per-entity", "declines-per-entity")]
    {
        let gateway = start_with_limit(option, "2")?;
        let (shop, stranger) = (gateway.create_merchant()?, gateway.create_merchant()?);
        for _ in 0..2 {
            assert_result(&shop.pay_by_card(&[DECLINE]).await?, 400, "100.100.101");
        }
        assert!(read_changes(&shop).await?.is_empty(), "no limit is reached");
        let mut refused = JoinSet::new();
        for _ in 0..50 {
            let shop = shop.clone();
            refused.spawn(async move { shop.pay_by_card(&[]).await });
        }
        for answer in refused.join_all().await {
            assert_throttled(&answer?);
        }
        assert_eq!(describe_limit(&expect_row(&shop).await?), limit_row(subject, "2 an hour"));
        assert!(read_changes(&stranger).await?.is_empty());
        // The row survives a power failure. The command prints it too.
        let gateway = gateway.kill_and_restart(&[])?;
        let printed = gateway.run_command(&["risk", "audit", &shop.entity_id])?;
        assert_eq!(printed["changes"].as_array().map(Vec::len), Some(1), "{printed}");
        assert_eq!(
            (&printed["changes"][0]["subject"], &printed["changes"][0]["kind"]),
            (&subject.into(), &"limit".into())
        );
    }
    Ok(())
}

#[tokio::test]
async fn no_row_names_a_shopper_a_checkout_or_a_card() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-address", "2")?;
    for (address, network) in [("203.0.113.9", "203.0.113.0/24"), ("2001:db8:aaaa:bbcc::1", "2001:db8:aaaa::/48")] {
        let shop = gateway.create_merchant()?;
        for _ in 0..3 {
            let made = shop.create_checkout(&[]).await?;
            submit_from(&shop, made.id(), address, &[DECLINE]).await?;
        }
        let row = expect_row(&shop).await?;
        assert_eq!(describe_limit(&row), limit_row(&format!("declines-per-address {network}"), "2 an hour"));
    }

    let gateway = start_with_limit("--attempts-per-checkout", "2")?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    for _ in 0..2 {
        assert_result(&shop.submit_card(made.id(), &[DECLINE]).await?, 200, "000.000.100");
    }
    assert_throttled(&shop.submit_card(made.id(), &[]).await?);
    let row = expect_row(&shop).await?;
    let subject = row["subject"].as_str().unwrap_or_default();
    assert!(has_shape(subject, "attempts-per-checkout xxxxxxxxxxxx"), "{row}");
    assert_eq!(describe_limit(&row), limit_row(subject, "2 in its lifetime"));
    assert!(!made.id().to_lowercase().contains(&subject["attempts-per-checkout ".len()..]), "{row}");

    let gateway = start_with_limit("--alike-numbers", "2")?;
    let shop = gateway.create_merchant_with(&["--sandbox-any-number"])?;
    for number in ["4200000000180000", "4200000000260000", "4200000000340000"] {
        shop.pay_by_card(&[("card.number", number)]).await?;
    }
    let row = expect_row(&shop).await?;
    assert_eq!(describe_limit(&row), limit_row("alike-numbers 420000", "2 an hour"));
    Ok(())
}

#[tokio::test]
async fn all_changes_are_paged_together_the_latest_first() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, stranger) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let added =
        shop.post("v2/risk/rules", &[("rules", "[[rule]]\nname = 'a'\nwhen = 'amount > 1'\nscore = 1\n")]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    for address in ["203.0.113.1", "203.0.113.2"] {
        let entry = [("list", "deny"), ("key", "ip"), ("value", address), ("reason", "Chargeback")];
        assert_result(&shop.post("v2/risk/lists", &entry).await?, 200, "000.000.100");
    }
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, "000.000.100");
    let expected = [
        format!("rules activate {version} "),
        "list put deny ip 203.0.113.2 Chargeback".to_owned(),
        "list put deny ip 203.0.113.1 Chargeback".to_owned(),
        format!("rules add {version} "),
    ];
    let text = |row: &Value| {
        let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        [field("kind"), field("action"), field("subject"), field("reason")].join(" ")
    };
    assert_eq!(read_changes(&shop).await?.iter().map(text).collect::<Vec<_>>(), expected);
    for limit in 1..=4 {
        let (mut rows, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = shop.get(&format!("v2/risk/audit?limit={limit}&cursor={cursor}")).await?;
            assert_result(&page, 200, "000.000.100");
            let changes = page.json["changes"].as_array().cloned().unwrap_or_default();
            assert!(changes.len() <= limit, "{}", page.text);
            rows.extend(changes.iter().map(text));
            pages += 1;
            let Some(next) = page.json["cursor"].as_str() else { break };
            cursor = next.to_owned();
            // A stranger's cursor shows nothing of this merchant.
            assert_eq!(stranger.get(&format!("v2/risk/audit?cursor={cursor}")).await?.json["changes"], json!([]));
        }
        assert_eq!((&rows[..], pages), (&expected[..], expected.len() / limit + 1));
    }
    for cursor in ["x", "AAAA", "AAAAAAAAAAAAAAAA", "-1", "%C3%A9"] {
        assert_errors(&shop.get(&format!("v2/risk/audit?cursor={cursor}")).await?, &["cursor"]);
    }
    for limit in ["0", "101", "x", "-1", "99999999999999999999"] {
        assert_errors(&shop.get(&format!("v2/risk/audit?limit={limit}")).await?, &["limit"]);
    }
    let printed = gateway.run_command(&["risk", "audit", &shop.entity_id, "--limit", "2"])?;
    let printed = printed["changes"].as_array().cloned().unwrap_or_default();
    assert_eq!(printed.iter().map(text).collect::<Vec<_>>(), expected[..2]);
    for limit in ["0", "30001", "x"] {
        assert!(gateway.run_command(&["risk", "audit", &shop.entity_id, "--limit", limit]).is_err(), "{limit}");
    }
    Ok(())
}
