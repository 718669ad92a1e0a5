//! Decisions about held payments that are sent again, that are about one of several payments of an order, and that meet
//! a claim or the end of the review.

use reqwest::Method;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form, poll_until};
use tokio::task::JoinSet;

use crate::delivery::notifications::LOOPBACK;
use crate::payment::held_payments::{HELD, create_reviewed_shop};
use crate::review::callback::set_config;
use crate::review::queue::{create_analysts, hold_payment};
use crate::risk::payments::activate_rules;
use crate::support::*;

const PAID: &str = "000.100.110";
/// The reference of several payments of one order.
const ORDER: (&str, &str) = ("merchantTransactionId", "order-4711");
const CONFIG: &str = r#"
keys = [
  { name = "transaction", field = "transactionId" },
  { name = "decision", field = "decision" },
  { name = "user", field = "userId" },
  { name = "reason", field = "cancelReason" },
  { name = "note", field = "note" },
  { name = "date", field = "processDate" },
]
[receiving]
credentials = [{ header = "X-Api-Key", secret = "key of the header" }]
"#;

/// Creates a merchant whose payments are all held, and whose review system sends notes and process dates. Lines before
/// the keys of its configuration are added.
async fn create_shop(gateway: &TestGateway, lines: &str) -> anyhow::Result<MerchantClient> {
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    set_config(gateway, &shop.entity_id, &format!("{lines}{CONFIG}"))?;
    Ok(shop)
}

/// Posts the pairs of a decision of the user jane. Returns the status.
async fn decide(shop: &MerchantClient, pairs: &[(&str, &str)]) -> anyhow::Result<u16> {
    let request = shop
        .bare_request(Method::POST, &format!("v2/reviewDecisions/{}", shop.entity_id))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("x-api-key", "key of the header")
        .body(encode_form(pairs.iter().chain([&("user", "jane")]).copied()));
    Ok(request.send().await?.status().as_u16())
}

/// Returns the actions in the audit of a payment, each with its note.
async fn read_actions(shop: &MerchantClient, payment: &str) -> anyhow::Result<Vec<String>> {
    let review = shop.get(&format!("v2/reviews/{payment}")).await?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let actions = review.json["actions"].as_array().cloned().unwrap_or_default();
    Ok(actions
        .iter()
        .map(|action| format!("{} {}", text(&action["action"]), text(&action["note"])).trim().to_owned())
        .collect())
}

/// Returns the result code of a payment.
async fn read_code(shop: &MerchantClient, payment: &str) -> anyhow::Result<String> {
    Ok(shop.get(&format!("v1/payments/{payment}")).await?.result_code().to_owned())
}

/// Returns the number of review decision callbacks in the outbox, delivered or not.
fn count_callbacks(gateway: &TestGateway) -> anyhow::Result<u32> {
    let query = "SELECT count(*) FROM message WHERE callback IS NOT NULL";
    Ok(open_database(gateway)?.query_row(query, [], |row| row.get(0))?)
}

#[tokio::test]
async fn a_repeated_decision_changes_nothing_whatever_it_is() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    // This receiver never answers, so every callback stays in the outbox.
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let shop = create_shop(&gateway, &format!("urls = [\"http://{}/\"]\n", silent.local_addr()?)).await?;
    let [date, later] = ["2026-11-24 00:10:05.007", "2026-11-24 00:10:05.008"].map(|date| ("date", date));
    let mut callbacks = 0;
    for (decision, reason, code) in [("APPROVE", "", PAID), ("CANCEL", "7", "100.400.142")] {
        let id = hold_payment(&shop, &[]).await?;
        let about = ("transaction", id.as_str());
        let pend = [about, ("decision", "PENDING"), ("note", "asked the bank")];
        let end = [about, ("decision", decision), ("reason", reason)];
        // Sent again at once, too, as by a system that did not wait for the response.
        let mut at_once = JoinSet::new();
        for _ in 0..8 {
            let (shop, id) = (shop.clone(), id.clone());
            at_once.spawn(async move {
                let pairs = [("transaction", id.as_str()), ("decision", "PENDING"), ("note", "asked the bank")];
                decide(&shop, &pairs).await
            });
        }
        assert!(at_once.join_all().await.into_iter().all(|status| status.is_ok_and(|status| status == 200)));
        assert_eq!(decide(&shop, &pend).await?, 200);
        assert_eq!(read_actions(&shop, &id).await?, ["pend asked the bank"]);
        // Another note or another date is another decision.
        for more in [("note", "asked again"), date, later] {
            for _ in 0..3 {
                assert_eq!(decide(&shop, &[&pend[..2], &[more]].concat()).await?, 200);
            }
        }
        for _ in 0..3 {
            assert_eq!(decide(&shop, &end).await?, 200);
            assert_eq!(read_code(&shop, &id).await?, code);
        }
        let expected = ["pend asked the bank", "pend asked again", "pend", "pend", &decision.to_lowercase()];
        assert_eq!(read_actions(&shop, &id).await?, expected);
        callbacks += 5;
        assert_eq!(count_callbacks(&gateway)?, callbacks);
    }
    // An analyst by API: the same note is the same decision.
    let id = hold_payment(&shop, &[]).await?;
    for note in ["asked", "asked", "asked again"] {
        assert_eq!(shop.post(&format!("v2/reviews/{id}/pend"), &[("note", note)]).await?.status, 200);
    }
    assert_eq!(read_actions(&shop, &id).await?, ["pend asked", "pend asked again"]);
    assert_eq!(count_callbacks(&gateway)?, callbacks + 2);
    Ok(())
}

#[tokio::test]
async fn a_retry_never_decides_another_payment_of_the_order() -> anyhow::Result<()> {
    let shop = create_shop(TestGateway::shared(), "").await?;
    let first = hold_payment(&shop, &[ORDER]).await?;
    let (order, approve) = (("transaction", ORDER.1), ("decision", "APPROVE"));
    let dated = [order, approve, ("date", "2026-11-24 00:10:05.007")];
    assert_eq!(decide(&shop, &dated).await?, 200);
    assert_eq!(decide(&shop, &dated[..2]).await?, 200, "there is no other payment yet");
    let second = hold_payment(&shop, &[ORDER]).await?;
    for _ in 0..3 {
        assert_eq!(decide(&shop, &dated).await?, 200);
        assert_eq!(decide(&shop, &dated[..2]).await?, 400, "it may be a retry or about the second payment");
    }
    assert_eq!([read_code(&shop, &first).await?, read_code(&shop, &second).await?], [PAID, HELD]);
    assert!(read_actions(&shop, &second).await?.is_empty());
    // The id of the payment, or another date, makes it clear.
    assert_eq!(decide(&shop, &[order, approve, ("date", "2026-11-24 00:11:00.000")]).await?, 200);
    assert_eq!(read_code(&shop, &second).await?, PAID);
    assert_eq!(decide(&shop, &[order, approve, ("date", "2026-11-24 00:12:00.000")]).await?, 404);
    let third = hold_payment(&shop, &[ORDER]).await?;
    let cancel = [("transaction", third.as_str()), ("decision", "CANCEL"), ("reason", "7")];
    assert_eq!(decide(&shop, &cancel).await?, 200);
    assert_eq!(read_code(&shop, &third).await?, "100.400.142");
    Ok(())
}

#[tokio::test]
async fn a_reference_that_looks_like_an_id_is_found() -> anyhow::Result<()> {
    let shop = create_shop(TestGateway::shared(), "").await?;
    // A reference is also found if it is the id of a payment that was never held.
    let plain = sandbox_shop().pay_by_card(&[]).await?;
    for reference in ["0123456789abcdef0123456789abcdef", plain.id()] {
        let id = hold_payment(&shop, &[("merchantTransactionId", reference)]).await?;
        assert_eq!(decide(&shop, &[("transaction", reference), ("decision", "APPROVE")]).await?, 200);
        assert_eq!(read_code(&shop, &id).await?, PAID);
    }
    Ok(())
}

#[tokio::test]
async fn a_review_system_leaves_room_in_the_audit() -> anyhow::Result<()> {
    let shop = create_shop(TestGateway::shared(), "").await?;
    let id = hold_payment(&shop, &[]).await?;
    let pend = async |note: &str| decide(&shop, &[("transaction", &id), ("decision", "PENDING"), ("note", note)]).await;
    for number in 0..100 {
        assert_eq!(pend(&number.to_string()).await?, 200);
    }
    assert_eq!(pend("one more").await?, 400);
    assert_eq!(pend("99").await?, 200, "the same decision as before");
    assert_eq!(read_actions(&shop, &id).await?.len(), 100);
    assert_eq!(decide(&shop, &[("transaction", &id), ("decision", "CANCEL"), ("note", "decides")]).await?, 200);
    assert_eq!(read_code(&shop, &id).await?, "100.400.142");
    Ok(())
}

/// Posts an action about a payment in a task of its own.
fn spawn_action(
    tasks: &mut JoinSet<anyhow::Result<(String, &'static str, ApiResponse)>>,
    analyst: &MerchantClient,
    payment: &str,
    action: &'static str,
) {
    let (analyst, payment) = (analyst.clone(), payment.to_owned());
    tasks.spawn(async move {
        let answer = analyst.post(&format!("v2/reviews/{payment}/{action}"), &[("reason", "7")]).await?;
        Ok((payment, action, answer))
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_claim_and_a_decision_at_once_one_is_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let analysts = create_analysts(gateway, &shop, 2).await?;
    for decision in ["approve", "cancel", "pend"] {
        let mut held = Vec::new();
        for _ in 0..40 {
            held.push(hold_payment(&shop, &[]).await?);
        }
        let mut tasks = JoinSet::new();
        for id in &held {
            spawn_action(&mut tasks, &analysts[0].0, id, "claim");
            spawn_action(&mut tasks, &analysts[1].0, id, decision);
        }
        let mut claimed = Vec::new();
        for done in tasks.join_all().await {
            let (id, action, answer) = done?;
            assert!([200, 409].contains(&answer.status), "{action}: {}", answer.text);
            claimed.extend((action == "claim" && answer.status == 200).then_some(id));
        }
        for id in &claimed {
            let actions = read_actions(&shop, id).await?;
            // A payment may be pended before it is claimed, and not after.
            let expected: &[&str] = if actions.len() == 1 { &["claim"] } else { &["pend", "claim"] };
            assert_eq!(actions, expected, "{decision}");
        }
        for id in held.iter().filter(|id| !claimed.contains(id)) {
            assert_eq!(read_actions(&shop, id).await?, [decision]);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_approves_a_payment_after_the_end_of_its_review() -> anyhow::Result<()> {
    let shop = create_shop(TestGateway::shared(), "").await?;
    let mut held = Vec::new();
    for _ in 0..40 {
        held.push(hold_payment(&shop, &[]).await?);
    }
    // Decisions are sent while the timers of the payments run.
    shop.advance_clock("25h").await?;
    let mut tasks = JoinSet::new();
    for (number, id) in held.iter().rev().enumerate() {
        let (shop, id) = (shop.clone(), id.clone());
        tasks.spawn(async move {
            if number % 2 == 0 {
                return Ok((409, shop.post(&format!("v2/reviews/{id}/approve"), &[]).await?.status));
            }
            anyhow::Ok((404, decide(&shop, &[("transaction", &id), ("decision", "APPROVE")]).await?))
        });
    }
    for answer in tasks.join_all().await {
        let (expected, status) = answer?;
        assert_eq!(status, expected);
    }
    for id in &held {
        poll_until("the review has ended", async || Ok((read_code(&shop, id).await? != HELD).then_some(()))).await?;
        assert_eq!(read_actions(&shop, id).await?, ["expire"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_held_payment_is_found_behind_any_number_of_payments_with_its_reference() -> anyhow::Result<()> {
    let rule = "[[rule]]\nname = 'high'\nwhen = 'amount > 50'\noutcome = 'review'\n";
    let shop = create_shop(TestGateway::shared(), "").await?;
    activate_rules(&shop, rule).await?;
    let pay = async |amount| shop.pay_by_card(&[ORDER, ("amount", amount)]).await;
    let mut accepted = JoinSet::new();
    for _ in 0..110 {
        let shop = shop.clone();
        accepted.spawn(async move { shop.pay_by_card(&[ORDER, ("amount", "50.00")]).await });
    }
    for paid in accepted.join_all().await {
        assert_result(&paid?, 200, PAID);
    }
    let approve = [("transaction", ORDER.1), ("decision", "APPROVE")];
    assert_eq!(decide(&shop, &approve).await?, 404, "none of them was held");
    let first = pay("51.00").await?;
    assert_result(&first, 200, HELD);
    assert_eq!(decide(&shop, &approve).await?, 200);
    assert_eq!(read_code(&shop, first.id()).await?, PAID);
    // The next one is not decided by the repeated decision, and needs the date of its own.
    let second = pay("52.00").await?;
    assert_eq!(decide(&shop, &approve).await?, 400);
    let dates = ["2026-11-24 00:10:05.007", "2026-11-24 00:11:00.000"].map(|date| ("date", date));
    for _ in 0..2 {
        assert_eq!(decide(&shop, &[&approve[..], &dates[..1]].concat()).await?, 200);
    }
    assert_eq!(read_code(&shop, second.id()).await?, PAID);
    let third = pay("53.00").await?;
    assert_eq!(decide(&shop, &[&approve[..], &dates[..1]].concat()).await?, 200, "it is repeated");
    assert_eq!(read_code(&shop, third.id()).await?, HELD);
    assert_eq!(decide(&shop, &[&approve[..], &dates[1..]].concat()).await?, 200);
    assert_eq!(read_code(&shop, third.id()).await?, PAID);
    Ok(())
}
