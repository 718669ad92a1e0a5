//! Stored risk rules: by command line and API, reloaded under load, isolated between entities.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form, poll_until};
use tokio::task::JoinSet;

use crate::support::*;

/// A card number that is used nowhere else.
pub const LISTED_CARD: &str = "4012888888881881";

fn rules_with_amount(amount: usize) -> String {
    format!("[[rule]]\nname = 'high'\nwhen = 'amount > {amount}'\noutcome = 'deny'\n")
}

/// Writes a rules file. The folder is deleted when it is dropped.
fn write_rules(text: &str) -> anyhow::Result<(TempDir, String)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rules.toml");
    std::fs::write(&path, text)?;
    Ok((folder, path.display().to_string()))
}

/// Adds a rules file by the command line. Returns the version.
fn add_by_command(gateway: &TestGateway, shop: &MerchantClient, text: &str) -> anyhow::Result<String> {
    let (_folder, path) = write_rules(text)?;
    let added = gateway.run_command(&["risk", "add", &shop.entity_id, &path, "--author", "jo"])?;
    assert_eq!(added["added"], true, "{added}");
    Ok(added["version"].as_str().unwrap_or_default().to_owned())
}

/// Adds a rules file by the API. Returns the version.
async fn add_by_api(shop: &MerchantClient, text: &str) -> anyhow::Result<String> {
    let added = shop.post("v2/risk/rules", &[("rules", text)]).await?;
    assert_result(&added, 200, "000.000.100");
    Ok(added.json["version"].as_str().unwrap_or_default().to_owned())
}

/// Sends a DELETE of a list entry with these parameters in its query.
pub async fn delete_entry(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    let query = encode_form([("entityId", shop.entity_id.as_str())].iter().chain(fields).copied());
    let request = shop.bare_request(Method::DELETE, &format!("v2/risk/lists?{query}"));
    ApiResponse::read_from(request.bearer_auth(&shop.token).send().await?).await
}

/// Returns the values of the entries in a response.
pub fn entry_values(answer: &ApiResponse) -> Vec<&str> {
    let entries = answer.json["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(|entry| entry["value"].as_str()).collect()
}

#[tokio::test]
async fn versions_switch_through_another_process_under_load_and_no_request_is_lost() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let versions = [
        add_by_command(&gateway, &shop, &rules_with_amount(1))?,
        add_by_command(&gateway, &shop, &rules_with_amount(2))?,
    ];
    let (done, paid) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut load = JoinSet::new();
    for _ in 0..4 {
        let (shop, done, paid) = (shop.clone(), Arc::clone(&done), Arc::clone(&paid));
        load.spawn(async move {
            while !done.load(Ordering::Relaxed) {
                let payment = shop.pay_by_card(&[]).await?;
                anyhow::ensure!(payment.result_code() == "000.100.110", "{}", payment.text);
                let listed = shop.get("v2/risk/rules").await?;
                anyhow::ensure!(listed.status == 200, "{}", listed.text);
                paid.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
    }
    for round in 0..6 {
        let version = &versions[round % 2];
        gateway.run_command(&["risk", "activate", &shop.entity_id, version])?;
        poll_until("the gateway uses the version", async || {
            let listed = shop.get("v2/risk/rules").await?;
            Ok((listed.json["inForce"]["active"] == version.as_str()).then_some(()))
        })
        .await?;
        let before = paid.load(Ordering::Relaxed);
        poll_until("payments go on", async || Ok((paid.load(Ordering::Relaxed) > before).then_some(()))).await?;
    }
    done.store(true, Ordering::Relaxed);
    while let Some(task) = load.join_next().await {
        task??;
    }
    Ok(())
}

#[tokio::test]
async fn a_version_is_added_activated_read_and_given_up_by_the_api() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let text = rules_with_amount(7);
    let version = add_by_api(&shop, &text).await?;
    let again = shop.post("v2/risk/rules", &[("rules", &format!("# a comment\n{text}"))]).await?;
    assert_eq!((&again.json["version"], &again.json["added"]), (&version.as_str().into(), &false.into()));
    assert_eq!(shop.get(&format!("v2/risk/rules/{version}")).await?.json["rules"], text.as_str());
    let listed = shop.get("v2/risk/rules").await?;
    assert_envelope(&listed);
    assert_eq!((&listed.json["active"], &listed.json["inForce"]["active"]), (&Value::Null, &Value::Null));
    let path = format!("v2/risk/rules/{version}/activate");
    let used = shop.post(&path, &[("reason", "tried out")]).await?;
    assert_result(&used, 200, "000.000.100");
    // The response comes after the reload.
    let listed = shop.get("v2/risk/rules").await?;
    assert_eq!(listed.json["inForce"]["active"], version.as_str());
    let change = &listed.json["changes"][0];
    assert_eq!((&change["action"], &change["reason"]), (&"activate".into(), &"tried out".into()), "{}", listed.text);
    let author = change["author"].as_str().unwrap_or_default();
    assert!(author.starts_with("token ") && !listed.text.contains(&shop.token), "{author}");
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/shadow"), &[]).await?, 200, "000.000.100");
    assert_result(&shop.post("v2/risk/rules/none/activate", &[]).await?, 200, "000.000.100");
    let listed = shop.get("v2/risk/rules").await?;
    assert_eq!((&listed.json["active"], &listed.json["shadow"]), (&Value::Null, &version.as_str().into()));
    let unknown = shop.post("v2/risk/rules/0000000000000000/activate", &[]).await?;
    assert_eq!(unknown.status, 404, "{}", unknown.text);
    Ok(())
}

#[tokio::test]
async fn a_long_file_is_the_body_itself() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let send = async |body: Vec<u8>| {
        let request = shop.bare_request(Method::POST, &format!("v2/risk/rules?entityId={}", shop.entity_id));
        let request = request.bearer_auth(&shop.token).header("content-type", "application/toml; charset=utf-8");
        ApiResponse::read_from(request.body(body).send().await?).await
    };
    let text = format!("# {}\n{}", "x".repeat(200_000), rules_with_amount(9));
    let added = send(text.clone().into_bytes()).await?;
    assert_result(&added, 200, "000.000.100");
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_eq!(shop.get(&format!("v2/risk/rules/{version}")).await?.json["rules"], text.as_str());
    assert_errors(&send(vec![0xff]).await?, &["rules"]);
    assert_eq!(send(vec![b'#'; (1 << 20) + 1]).await?.status, 413);
    Ok(())
}

#[tokio::test]
async fn a_broken_file_is_refused_with_line_and_column_and_nothing_is_stored() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let broken = "zone = 'Mars'\n[[rule]]\nname = 'a'\nscore = 1\nwhen = 'bilingCountry = \"DE\"'\n";
    let refused = shop.post("v2/risk/rules", &[("rules", broken)]).await?;
    assert_eq!((refused.status, refused.result_code()), (400, "200.300.404"), "{}", refused.text);
    let errors = refused.json["result"]["parameterErrors"].as_array().cloned().unwrap_or_default();
    let message = |index: usize| errors.get(index).and_then(|error| error["message"].as_str()).unwrap_or_default();
    assert!(errors.iter().all(|error| error["name"] == "rules"), "{}", refused.text);
    assert!(message(0).starts_with("1:8: ") && message(1).starts_with("5:9: "), "{}", refused.text);
    let numbered = format!("# {LISTED_CARD}\n");
    assert_errors(&shop.post("v2/risk/rules", &[("rules", &numbered)]).await?, &["rules"]);
    assert_errors(&shop.post("v2/risk/rules", &[]).await?, &["rules"]);
    let (_folder, path) = write_rules(broken)?;
    let failure = gateway.run_command(&["risk", "add", &shop.entity_id, &path]).err();
    let failure = failure.map(|error| error.to_string()).unwrap_or_default();
    assert!(failure.contains("has 2 errors") && failure.contains(r#""line":5,"column":9"#), "{failure}");
    let (_folder, path) = write_rules(&numbered)?;
    assert!(gateway.run_command(&["risk", "add", &shop.entity_id, &path]).is_err(), "it has a card number");
    assert_eq!(shop.get("v2/risk/rules").await?.json["versions"], serde_json::json!([]));
    Ok(())
}

#[tokio::test]
async fn entities_neither_see_nor_change_what_is_anothers() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (owner, stranger) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let version = add_by_api(&owner, &rules_with_amount(11)).await?;
    let entry = [("list", "deny"), ("key", "email"), ("value", "jo@shop.example")];
    assert_result(&owner.post("v2/risk/lists", &entry).await?, 200, "000.000.100");
    // With their own entity, strangers find nothing.
    assert_eq!(stranger.get(&format!("v2/risk/rules/{version}")).await?.status, 404);
    for role in ["activate", "shadow"] {
        assert_eq!(stranger.post(&format!("v2/risk/rules/{version}/{role}"), &[]).await?.status, 404);
    }
    assert!(entry_values(&stranger.get("v2/risk/lists").await?).is_empty());
    assert_eq!(delete_entry(&stranger, &entry).await?.status, 404);
    // With the owner's entity, they are refused.
    let foreign = MerchantClient { entity_id: owner.entity_id.clone(), ..stranger.clone() };
    assert_result(&foreign.get("v2/risk/rules").await?, 403, "800.900.201");
    assert_result(&foreign.get("v2/risk/lists").await?, 403, "800.900.201");
    assert_result(&foreign.post("v2/risk/rules", &[("rules", "")]).await?, 403, "800.900.201");
    assert_result(&foreign.post("v2/risk/rules/none/activate", &[]).await?, 403, "800.900.201");
    assert_result(&foreign.post("v2/risk/lists", &entry).await?, 403, "800.900.201");
    assert_result(&delete_entry(&foreign, &entry).await?, 403, "800.900.201");
    // A token without the scope reads only.
    let made =
        gateway.run_command(&["token", "create", "--entity", &owner.entity_id, "--scope", "read", "--scope", "pay"])?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    let reader = MerchantClient { token, ..owner.clone() };
    poll_until("the gateway takes the token", async || {
        Ok((reader.get("v2/risk/rules").await?.status == 200).then_some(()))
    })
    .await?;
    assert_result(&reader.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 403, "800.900.301");
    assert_result(&reader.post("v2/risk/rules", &[("rules", "")]).await?, 403, "800.900.301");
    assert_result(&reader.post("v2/risk/lists", &entry).await?, 403, "800.900.301");
    assert_result(&delete_entry(&reader, &entry).await?, 403, "800.900.301");
    assert_eq!(entry_values(&owner.get("v2/risk/lists").await?), ["jo@shop.example"]);
    Ok(())
}

#[tokio::test]
async fn a_merchant_sets_the_rules_of_its_channel_which_uses_the_merchants_otherwise() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let in_channel = MerchantClient { entity_id: channel.entity_id.clone(), ..shop.clone() };
    let in_force = async |shop: &MerchantClient| -> anyhow::Result<Value> {
        Ok(shop.get("v2/risk/rules").await?.json["inForce"]["active"].clone())
    };
    let above = add_by_api(&shop, &rules_with_amount(13)).await?;
    assert_result(&shop.post(&format!("v2/risk/rules/{above}/activate"), &[]).await?, 200, "000.000.100");
    assert_eq!(in_force(&in_channel).await?, above.as_str());
    let own = add_by_api(&in_channel, &rules_with_amount(17)).await?;
    assert_result(&in_channel.post(&format!("v2/risk/rules/{own}/activate"), &[]).await?, 200, "000.000.100");
    assert_eq!((in_force(&in_channel).await?, in_force(&shop).await?), (own.into(), above.as_str().into()));
    // The channel's own token reaches nothing above it.
    assert_eq!(channel.get(&format!("v2/risk/rules/{above}")).await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn a_broken_operators_file_stops_the_start_with_its_line() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (networks, disposable) = (folder.path().join("networks.csv"), folder.path().join("disposable.txt"));
    std::fs::write(&networks, "203.0.113.0/24,DE\n203.0.113.0,Germany\n")?;
    std::fs::write(&disposable, "trash.example\n")?;
    let data = folder.path().join("data");
    let [networks, disposable, data] = [networks, disposable, data].map(|path| path.display().to_string());
    let start = ["serve", "--data", &data, "--listen", "127.0.0.1:0", "--risk-networks", &networks];
    let output = crate::service::command_line::run_tillgate(&start).await?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains(&format!("{networks}:2:1: ")), "{errors}");
    std::fs::write(&networks, "203.0.113.0/24,DE\n")?;
    let gateway = TestGateway::start_with(&["--risk-networks", &networks, "--risk-disposable", &disposable])?;
    assert_result(&gateway.create_merchant()?.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}
