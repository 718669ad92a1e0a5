//! The review queue by API: filters, pages, claims, notes, and decisions of several analysts at once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};
use tokio::task::JoinSet;

use crate::payment::held_payments::{HELD, create_reviewed_shop, decide};
use crate::support::*;

/// Result code of a request about a review.
pub const DONE: &str = "000.000.100";
/// Result code of a refusal because another analyst was faster.
pub const TAKEN: &str = "800.600.100";

/// Creates tokens of analysts of a merchant, who may read and review, and waits until the gateway knows them. Returns
/// each client with its user id.
pub async fn create_analysts(
    gateway: &TestGateway,
    shop: &MerchantClient,
    count: usize,
) -> anyhow::Result<Vec<(MerchantClient, String)>> {
    let create = ["token", "create", "--entity", &shop.entity_id, "--scope", "read", "--scope", "review"];
    let mut analysts = Vec::new();
    for _ in 0..count {
        let made = gateway.run_command(&create)?;
        let token = made["token"].as_str().unwrap_or_default().to_owned();
        let pair = String::from_utf8(STANDARD.decode(&token)?)?;
        let user = pair.split('|').next().unwrap_or_default().to_owned();
        analysts.push((MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), token), user));
    }
    if let Some((last, _)) = analysts.last() {
        poll_until("the gateway knows the tokens", async || {
            Ok((last.get("v1/payments/unknown").await?.status == 404).then_some(()))
        })
        .await?;
    }
    Ok(analysts)
}

/// Makes a payment that is held. Returns its id.
pub async fn hold_payment(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<String> {
    let paid = shop.pay_by_card(fields).await?;
    assert_result(&paid, 200, HELD);
    Ok(paid.id().to_owned())
}

/// Posts an action about a held payment.
pub async fn act(
    analyst: &MerchantClient,
    payment: &str,
    action: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    analyst.post(&format!("v2/reviews/{payment}/{action}"), fields).await
}

/// Returns the ids of the payments in a list, in their order.
pub fn listed_ids(list: &ApiResponse) -> Vec<String> {
    let reviews = list.json["reviews"].as_array().cloned().unwrap_or_default();
    reviews.iter().map(|review| review["id"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the actions in the audit of a payment.
async fn read_actions(shop: &MerchantClient, payment: &str) -> anyhow::Result<Vec<String>> {
    let review = shop.get(&format!("v2/reviews/{payment}")).await?;
    assert_result(&review, 200, DONE);
    let actions = review.json["actions"].as_array().cloned().unwrap_or_default();
    Ok(actions.iter().map(|action| action["action"].as_str().unwrap_or_default().to_owned()).collect())
}

/// Asserts that a request is refused because an analyst was faster, who is named.
#[track_caller]
fn assert_taken(answer: &ApiResponse, by: &str) {
    assert_result(answer, 409, TAKEN);
    let description = answer.json["result"]["description"].as_str().unwrap_or_default();
    assert!(description.contains(by), "{by}: {description}");
}

#[tokio::test]
async fn an_analyst_finds_claims_notes_and_approves_a_held_payment() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let (analyst, user) = create_analysts(gateway, &shop, 1).await?.remove(0);
    let id = hold_payment(&shop, &[("merchantTransactionId", "order-4711")]).await?;
    let list = analyst.get("v2/reviews").await?;
    assert_result(&list, 200, DONE);
    assert_envelope(&list);
    let entry = &list.json["reviews"][0];
    assert_eq!(
        (&entry["id"], &entry["amount"], &entry["currency"]),
        (&id.as_str().into(), &"92.00".into(), &"EUR".into())
    );
    assert_eq!((&entry["merchantTransactionId"], &entry["score"]), (&"order-4711".into(), &"0".into()));
    assert_eq!((&entry["fired"], &entry["review"]["state"]), (&serde_json::json!(["everything"]), &"open".into()));
    assert!(entry["review"]["deadline"].is_string() && entry["entityId"].is_null(), "{}", list.text);
    let claimed = act(&analyst, &id, "claim", &[("note", "mine")]).await?;
    assert_result(&claimed, 200, DONE);
    assert_eq!(claimed.json["review"]["claim"]["analyst"], user.as_str());
    assert_result(&act(&analyst, &id, "note", &[("note", "called\nback")]).await?, 200, DONE);
    assert_result(&act(&analyst, &id, "pend", &[]).await?, 200, DONE);
    let approved = act(&analyst, &id, "approve", &[("note", "known")]).await?;
    assert_result(&approved, 200, DONE);
    assert_eq!(approved.json["payment"]["result"]["code"], "000.100.110");
    assert_eq!(approved.json["review"]["state"], "approved");
    let review = analyst.get(&format!("v2/reviews/{id}")).await?;
    assert_eq!(review.json["riskDecision"]["outcome"], "review");
    assert_eq!(review.json["riskDecision"]["inputs"], serde_json::json!(["amount"]));
    assert_eq!(review.json["payment"]["card"]["last4Digits"], "0000");
    assert!(review.json["review"]["deadline"].is_null() && !review.text.contains("4200000000000000"));
    let actions = review.json["actions"].as_array().cloned().unwrap_or_default();
    let told: Vec<_> = actions.iter().map(|action| (action["action"].as_str(), action["note"].as_str())).collect();
    let expected = [
        (Some("claim"), Some("mine")),
        (Some("note"), Some("called\nback")),
        (Some("pend"), None),
        (Some("approve"), Some("known")),
    ];
    assert_eq!(told, expected);
    assert!(actions.iter().all(|action| action["analyst"] == user.as_str()), "{}", review.text);
    // It has left the queue, and is found by its state.
    assert!(listed_ids(&analyst.get("v2/reviews").await?).is_empty());
    assert_eq!(listed_ids(&analyst.get("v2/reviews?state=approved&analyst=mine").await?), [id]);
    // The token decides, and does nothing else with money.
    assert_result(&analyst.pay_by_card(&[]).await?, 403, "800.900.301");
    Ok(())
}

#[tokio::test]
async fn of_thirty_analysts_who_decide_at_once_one_wins_and_the_others_are_told_who() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    for review in ["hold", "authorize"] {
        let shop = create_reviewed_shop(gateway, review, &[]).await?;
        let analysts = create_analysts(gateway, &shop, 30).await?;
        let id = hold_payment(&shop, &[]).await?;
        let mut decisions = JoinSet::new();
        for (number, (analyst, user)) in analysts.into_iter().enumerate() {
            let id = id.clone();
            let (action, fields) =
                if number % 2 == 0 { ("approve", vec![]) } else { ("cancel", vec![("reason", "7")]) };
            decisions.spawn(async move { anyhow::Ok((user, action, act(&analyst, &id, action, &fields).await?)) });
        }
        let answers: Vec<(String, &str, ApiResponse)> =
            decisions.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(_, _, answer)| answer.status == 200);
        let [(winner, action, _)] = &won[..] else { anyhow::bail!("{} analysts have won", won.len()) };
        for (_, _, answer) in &lost {
            assert_taken(answer, winner);
        }
        assert_eq!(read_actions(&shop, &id).await?, [*action], "{review}");
        let expected = if *action == "approve" { 200 } else { 400 };
        assert_eq!(shop.get(&format!("v1/payments/{id}")).await?.status, expected);
    }
    Ok(())
}

#[tokio::test]
async fn a_claim_keeps_others_away_until_it_is_released_or_ends_by_the_clock_of_the_sandbox() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let analysts = create_analysts(gateway, &shop, 2).await?;
    let [(ann, ann_id), (bob, bob_id)] = &analysts[..] else { anyhow::bail!("two analysts") };
    let id = hold_payment(&shop, &[]).await?;
    // Of those who claim it at once, one has it.
    let (first, second) = tokio::join!(act(ann, &id, "claim", &[]), act(bob, &id, "claim", &[]));
    let statuses = [first?.status, second?.status];
    assert!(statuses == [200, 409] || statuses == [409, 200], "{statuses:?}");
    let (owner, owner_id, other) = if statuses[0] == 200 { (ann, ann_id, bob) } else { (bob, bob_id, ann) };
    for (action, fields) in [
        ("claim", vec![]),
        ("release", vec![]),
        ("approve", vec![]),
        ("cancel", vec![("reason", "1")]),
        ("pend", vec![]),
    ] {
        assert_taken(&act(other, &id, action, &fields).await?, owner_id);
    }
    assert_result(&act(other, &id, "note", &[("note", "I have seen this one before")]).await?, 200, DONE);
    assert_eq!(listed_ids(&owner.get("v2/reviews?analyst=mine").await?), [id.as_str()]);
    assert!(listed_ids(&other.get("v2/reviews?analyst=mine").await?).is_empty());
    assert!(listed_ids(&other.get("v2/reviews?analyst=unclaimed").await?).is_empty());
    shop.advance_clock("29m").await?;
    assert_taken(&act(other, &id, "claim", &[]).await?, owner_id);
    // Claimed again, it begins anew.
    assert_result(&act(owner, &id, "claim", &[]).await?, 200, DONE);
    shop.advance_clock("29m").await?;
    assert_taken(&act(other, &id, "approve", &[]).await?, owner_id);
    shop.advance_clock("2m").await?;
    assert_eq!(listed_ids(&other.get("v2/reviews?analyst=unclaimed").await?), [id.as_str()]);
    assert_result(&act(other, &id, "claim", &[]).await?, 200, DONE);
    assert_result(&act(other, &id, "release", &[]).await?, 200, DONE);
    assert_result(&act(owner, &id, "release", &[]).await?, 200, DONE);
    let cancelled = act(owner, &id, "cancel", &[("reason", "000000042")]).await?;
    assert_result(&cancelled, 200, DONE);
    assert_eq!(cancelled.json["review"]["decision"]["reason"], "42");
    let expected = ["claim", "note", "claim", "claim", "release", "cancel"];
    assert_eq!(read_actions(&shop, &id).await?, expected);
    assert_taken(&act(other, &id, "claim", &[]).await?, owner_id);
    assert_result(&act(other, &id, "note", &[("note", "too late")]).await?, 200, DONE);
    Ok(())
}

#[tokio::test]
async fn a_merchant_sees_the_reviews_of_its_channels_and_nobody_else_does() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let merchant = create_reviewed_shop(gateway, "hold", &[]).await?;
    // A merchant with channels has payments of its own from before.
    let own = hold_payment(&merchant, &[]).await?;
    let channel = create_reviewed_shop(gateway, "hold", &["--merchant", &merchant.entity_id]).await?;
    let stranger = create_reviewed_shop(gateway, "hold", &[]).await?;
    let id = hold_payment(&channel, &[("merchantTransactionId", "order-0001")]).await?;
    let list = merchant.get("v2/reviews").await?;
    assert_eq!(listed_ids(&list), [own.as_str(), &id]);
    assert!(list.json["reviews"][0]["entityId"].is_null(), "{}", list.text);
    assert_eq!(list.json["reviews"][1]["entityId"], channel.entity_id.as_str());
    assert_eq!(listed_ids(&channel.get("v2/reviews").await?), [id.as_str()]);
    assert_result(&act(&merchant, &id, "claim", &[]).await?, 200, DONE);
    assert_eq!(act(&merchant, &own, "pend", &[]).await?.status, 200);
    for foreign in [&id, &own] {
        for (query, expected) in [("", 0), ("merchantTransactionId=order-0001", 0)] {
            assert_eq!(listed_ids(&stranger.get(&format!("v2/reviews?{query}")).await?).len(), expected);
        }
        assert_errors(&stranger.get(&format!("v2/reviews?cursor={foreign}")).await?, &["cursor"]);
        assert_eq!(stranger.get(&format!("v2/reviews/{foreign}")).await?.status, 404);
        for (action, fields) in [
            ("claim", vec![]),
            ("release", vec![]),
            ("note", vec![("note", "x")]),
            ("approve", vec![]),
            ("cancel", vec![("reason", "1")]),
            ("pend", vec![]),
        ] {
            let refused = act(&stranger, foreign, action, &fields).await?;
            assert_eq!(refused.status, 404, "{action}: {}", refused.text);
        }
    }
    assert_eq!(act(&channel, &own, "approve", &[]).await?.status, 404);
    assert_eq!(read_actions(&merchant, &id).await?, ["claim"]);
    assert_eq!(read_actions(&merchant, &own).await?, ["pend"]);
    // A payment that was never held has no review.
    let plain = sandbox_shop().pay_by_card(&[]).await?;
    assert_eq!(act(&sandbox_shop(), plain.id(), "approve", &[]).await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn hostile_notes_and_reasons_are_refused_by_name_and_stored_nowhere() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let id = hold_payment(&shop, &[]).await?;
    let too_long = "x".repeat(1001);
    for note in ["4200 0000 0000 0000", "a\u{1b}[2J", "tab\there", "a\0b", &too_long] {
        for action in ["claim", "release", "note", "approve", "cancel", "pend"] {
            let refused = act(&shop, &id, action, &[("note", note), ("reason", "1")]).await?;
            assert_errors(&refused, &["note"]);
            assert!(!refused.text.contains("4200 0000"), "{}", refused.text);
        }
    }
    assert_errors(&act(&shop, &id, "note", &[]).await?, &["note"]);
    assert_errors(&act(&shop, &id, "note", &[("note", " \n ")]).await?, &["note"]);
    for reason in ["", "-1", "1.5", "0x1", "1e3", "4294967296", "99999999999999999999", "fraud", "' OR 1=1 --"] {
        assert_errors(&act(&shop, &id, "cancel", &[("reason", reason)]).await?, &["reason"]);
    }
    assert_errors(&act(&shop, &id, "cancel", &[]).await?, &["reason"]);
    for unknown in ["x", "8a000000000000000000000000000000", "%27", "8A000000000000000000000000000000"] {
        assert_eq!(act(&shop, unknown, "claim", &[]).await?.status, 404);
        assert_eq!(shop.get(&format!("v2/reviews/{unknown}")).await?.status, 404);
    }
    assert!(read_actions(&shop, &id).await?.is_empty());
    // The analyst is the one of the token, whatever is sent.
    let lie = [("analyst", "boss"), ("userId", "boss"), ("note", "<script>alert(1)</script> 'x' \"y\"")];
    assert_result(&act(&shop, &id, "note", &lie).await?, 200, DONE);
    let review = shop.get(&format!("v2/reviews/{id}")).await?;
    assert_eq!(review.json["actions"][0]["note"], lie[2].1);
    assert!(!review.text.contains("boss"), "{}", review.text);
    // There is room for a hundred notes.
    for number in 1..100 {
        assert_result(&act(&shop, &id, "note", &[("note", &number.to_string())]).await?, 200, DONE);
    }
    assert_errors(&act(&shop, &id, "note", &[("note", "one more")]).await?, &["note"]);
    assert_errors(&act(&shop, &id, "pend", &[("note", "one more")]).await?, &["note"]);
    assert_result(&act(&shop, &id, "approve", &[("note", "this one decides")]).await?, 200, DONE);
    assert_eq!(read_actions(&shop, &id).await?.len(), 101);
    Ok(())
}

#[tokio::test]
async fn a_review_that_nobody_decides_in_time_is_listed_as_expired() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let id = hold_payment(&shop, &[]).await?;
    assert_result(&act(&shop, &id, "claim", &[]).await?, 200, DONE);
    shop.advance_clock("25h").await?;
    let list = poll_until("the review has ended", async || {
        let list = shop.get("v2/reviews?state=expired").await?;
        Ok(Some(list).filter(|list| !listed_ids(list).is_empty()))
    })
    .await?;
    assert_eq!(listed_ids(&list), [id.as_str()]);
    assert_eq!(list.json["reviews"][0]["review"]["decision"]["action"], "expire");
    assert!(list.json["reviews"][0]["review"]["claim"].is_null(), "{}", list.text);
    assert_taken(&act(&shop, &id, "claim", &[]).await?, "nobody had decided in time");
    assert_result(&act(&shop, &id, "approve", &[]).await?, 409, TAKEN);
    assert_eq!(read_actions(&shop, &id).await?, ["claim", "expire"]);
    Ok(())
}

#[tokio::test]
async fn an_outside_system_and_an_analyst_respect_one_another() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let id = hold_payment(&shop, &[]).await?;
    assert_result(&act(&shop, &id, "claim", &[]).await?, 200, DONE);
    let long_name = "ä".repeat(255);
    assert_eq!(decide(&shop, &id, "APPROVE", &long_name).await?, 404);
    assert_result(&act(&shop, &id, "release", &[]).await?, 200, DONE);
    assert_eq!(decide(&shop, &id, "APPROVE", &long_name).await?, 200);
    for action in ["claim", "approve"] {
        assert_taken(&act(&shop, &id, action, &[]).await?, "ää… approved it at ");
    }
    assert_eq!(listed_ids(&shop.get(&format!("v2/reviews?state=approved&analyst={long_name}")).await?), [id]);
    Ok(())
}

#[tokio::test]
async fn claims_notes_and_decisions_survive_a_power_failure() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let (open, ended) = (hold_payment(&shop, &[]).await?, hold_payment(&shop, &[]).await?);
    let claimed = act(&shop, &open, "claim", &[("note", "mine")]).await?;
    assert_result(&act(&shop, &ended, "approve", &[]).await?, 200, DONE);
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let list = shop.get("v2/reviews").await?;
    assert_eq!(listed_ids(&list), [open.as_str()]);
    let claim = |answer: &Value| answer["review"]["claim"].clone();
    assert_eq!(claim(&list.json["reviews"][0]), claim(&claimed.json));
    assert_eq!(read_actions(&shop, &open).await?, ["claim"]);
    assert_eq!(read_actions(&shop, &ended).await?, ["approve"]);
    Ok(())
}
