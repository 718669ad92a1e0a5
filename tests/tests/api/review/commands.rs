//! `tillgate review`: an analyst's day on the command line, and decisions with and without a running gateway.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{TestGateway, binary_path, poll_until};

use crate::payment::held_payments::create_reviewed_shop;
use crate::review::queue::hold_payment;
use crate::support::*;

/// Runs `tillgate review …` on a data folder. Returns true if it succeeds, and what it prints: JSON, or an error.
pub fn run_review(data: &Path, arguments: &[&str]) -> anyhow::Result<(bool, String)> {
    let mut command = Command::new(binary_path());
    command.arg("review").args(arguments).arg("--json").arg("--data").arg(data).env("USER", "ann");
    let output = command.output().context("tillgate does not start")?;
    let text = if output.status.success() { output.stdout } else { output.stderr };
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

/// Runs a command like [`run_review`], and returns its JSON. Fails if the command fails.
pub fn review(data: &Path, arguments: &[&str]) -> anyhow::Result<Value> {
    let (succeeded, text) = run_review(data, arguments)?;
    anyhow::ensure!(succeeded, "{arguments:?}: {text}");
    Ok(serde_json::from_str(&text)?)
}

/// Runs a command like [`run_review`], and returns its error. Fails if the command succeeds.
pub fn review_error(data: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let (succeeded, text) = run_review(data, arguments)?;
    anyhow::ensure!(!succeeded, "{arguments:?}: {text}");
    Ok(text)
}

/// Returns the ids of the payments in a list.
fn listed(list: &Value) -> Vec<&str> {
    list["reviews"].as_array().into_iter().flatten().filter_map(|review| review["paymentId"].as_str()).collect()
}

/// Returns the actions in the audit of a payment, each with its analyst.
pub fn audit(data: &Path, payment: &str) -> anyhow::Result<Vec<String>> {
    let shown = review(data, &["show", payment])?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let actions = shown["actions"].as_array().cloned().unwrap_or_default();
    Ok(actions.iter().map(|action| format!("{} {}", text(&action["action"]), text(&action["analyst"]))).collect())
}

#[tokio::test]
async fn an_analyst_works_through_the_queue_on_the_command_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let data = gateway.data_folder();
    let large = hold_payment(&shop, &[("amount", "600.00"), ("merchantTransactionId", "order-0001")]).await?;
    let small = hold_payment(&shop, &[("amount", "7.00")]).await?;
    let entity = shop.entity_id.as_str();
    for (filter, expected) in [
        (&[][..], &[&large, &small][..]),
        (&["--min-amount", "7.01"], &[&large]),
        (&["--max-amount", "7"], &[&small]),
        (&["--merchant-transaction-id", "order-0001"], &[&large]),
        (&["--rule", "everything", "--brand", "VISA", "--currency", "EUR", "--min-score", "-1"], &[&large, &small]),
        (&["--max-score", "-1"], &[]),
        (&["--older-than", "1h"], &[]),
        (&["--unclaimed"], &[&large, &small]),
        (&["--mine"], &[]),
        (&["--state", "approved"], &[]),
        (&["--after", &large], &[&small]),
    ] {
        let list = review(&data, &[&["list", entity], filter].concat())?;
        assert_eq!(listed(&list), *expected, "{filter:?}");
    }
    let first = review(&data, &["list", entity, "--limit", "1"])?;
    assert_eq!((listed(&first), first["next"].as_str()), (vec![large.as_str()], Some(large.as_str())));
    assert!(listed(&review(&data, &["list"])?).contains(&large.as_str()));
    let shown = review(&data, &["show", &large])?;
    assert_eq!((&shown["amount"], &shown["card"]), (&"600.00".into(), &"420000…0000".into()));
    assert_eq!((&shown["inputs"], &shown["result"]), (&serde_json::json!(["amount"]), &"100.400.500".into()));
    // A claim is the analyst's, who is the user of the system unless another one is named.
    assert_eq!(review(&data, &["claim", &large])?["claim"]["analyst"], "ann");
    for other in [&["claim"][..], &["release"], &["approve"], &["cancel", "--reason", "1"], &["pend"]] {
        let error = review_error(&data, &[other, &[&large, "--analyst", "bob"]].concat())?;
        assert!(error.contains("ann has claimed this payment since"), "{error}");
    }
    assert_eq!(listed(&review(&data, &["list", entity, "--mine"])?), [&large]);
    assert_eq!(listed(&review(&data, &["list", entity, "--of", "bob"])?), [""; 0]);
    review(&data, &["note", &large, "Called\nthe customer", "--analyst", "bob"])?;
    let pended = review(&data, &["pend", &large, "--note", "asked the bank"])?;
    assert_eq!(pended["result"], "100.400.500");
    let approved = review(&data, &["approve", &large, "--note", "known"])?;
    assert_eq!((&approved["decision"], &approved["result"]), (&"APPROVE".into(), &"000.100.110".into()));
    assert_result(&shop.get(&format!("v1/payments/{large}")).await?, 200, "000.100.110");
    assert_eq!(audit(&data, &large)?, ["claim ann", "note bob", "pend ann", "approve ann"]);
    let cancelled = review(&data, &["cancel", &small, "--reason", "7", "--analyst", "bob"])?;
    assert_eq!(cancelled["result"], "100.400.142");
    for late in [&["claim"][..], &["approve"], &["cancel", "--reason", "7"]] {
        let error = review_error(&data, &[late, &[&small]].concat())?;
        assert!(error.contains("not held any more") && error.contains("bob"), "{error}");
    }
    assert_eq!(listed(&review(&data, &["list", entity])?), [""; 0]);
    assert_eq!(listed(&review(&data, &["list", entity, "--state", "cancelled", "--of", "bob"])?), [&small]);
    Ok(())
}

#[tokio::test]
async fn wrong_arguments_are_refused_and_write_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let data = gateway.data_folder();
    let id = hold_payment(&shop, &[]).await?;
    let plain = sandbox_shop().pay_by_card(&[]).await?.id().to_owned();
    let too_long = "x".repeat(1001);
    for arguments in [
        &["note", &id, "4200 0000 0000 0000"][..],
        &["note", &id, "a\u{1b}[2J"],
        &["note", &id, " "],
        &["approve", &id, "--note", &too_long],
        &["cancel", &id],
        &["cancel", &id, "--reason", "fraud"],
        &["cancel", &id, "--reason", "1234567890"],
        &["approve", &id, "--reason", "7"],
        &["claim", &id, "--analyst", ""],
        &["claim", &id, "--analyst", "a\nb"],
        &["claim", "x"],
        &["claim", &plain],
        &["approve", &plain],
        &["show", "8a000000000000000000000000000000"],
        &["list", "8a000000000000000000000000000000"],
        &["list", "--after", "8a000000000000000000000000000000"],
        &["list", "--mine", "--unclaimed"],
        &["list", "--state", "closed"],
        &["list", "--min-amount", "1.5"],
        &["list", "--older-than", "soon"],
    ] {
        let error = review_error(&data, arguments)?;
        assert!(!error.contains("4200 0000") && !error.contains("panicked"), "{arguments:?}: {error}");
    }
    assert!(audit(&data, &id)?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_decision_needs_a_running_gateway_and_does_not_wait_for_one() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let (held, late) = (hold_payment(&shop, &[]).await?, hold_payment(&shop, &[]).await?);
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        for decision in [&["approve"][..], &["cancel", "--reason", "7"], &["pend"]] {
            let error = review_error(data, &[decision, &[&held]].concat())?;
            assert!(error.contains("no gateway is running") && error.contains("tillgate serve"), "{error}");
        }
        // Claims and notes need no gateway.
        review(data, &["note", &held, "Called"])?;
        Ok(())
    })?;
    let data = gateway.data_folder();
    assert_eq!(audit(&data, &held)?, ["note ann"]);
    assert_eq!(review(&data, &["approve", &held])?["result"], "000.100.110");
    // The same decision by the same analyst is accepted again.
    assert_eq!(review(&data, &["approve", &held])?["result"], "000.100.110");
    assert_eq!(audit(&data, &held)?, ["note ann", "approve ann"]);
    gateway.run_command(&["clock", "advance", "25h", "--entity", &shop.entity_id])?;
    poll_until("the review has expired", async || {
        Ok((!review(&data, &["list"])?.to_string().contains(&late)).then_some(()))
    })
    .await?;
    let error = review_error(&data, &["approve", &late])?;
    assert!(error.contains("not held any more"), "{error}");
    Ok(())
}

#[tokio::test]
async fn an_act_on_a_review_has_one_entry_in_the_audit_log_with_its_person_and_its_analyst() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let data = gateway.data_folder();
    let id = hold_payment(&shop, &[]).await?;
    let person = format!("ann (uid {})", std::fs::metadata("/proc/self")?.uid());
    for (act, analyst) in [("claim", "eve"), ("release", "eve"), ("pend", "ann"), ("approve", "bob")] {
        review(&data, &[act, &id, "--analyst", analyst])?;
        let output = Command::new(binary_path()).args(["audit", "export", "--data"]).arg(&data).output()?;
        let action = format!("\"review {act}\"");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let entries: Vec<&str> = text.lines().filter(|line| line.contains(&id) && line.contains(&action)).collect();
        assert!(entries.len() == 1 && entries[0].contains(&person), "{person}: {entries:?}");
        assert!(entries[0].contains(&format!("\"analyst\":\"{analyst}\"")), "{entries:?}");
    }
    Ok(())
}

#[tokio::test]
async fn of_commands_and_requests_at_once_one_decides() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let data = gateway.data_folder();
    for _ in 0..3 {
        let id = hold_payment(&shop, &[]).await?;
        let commands: Vec<_> = (0..6)
            .map(|number| {
                let (data, id) = (data.clone(), id.clone());
                tokio::task::spawn_blocking(move || {
                    let analyst = format!("analyst {number}");
                    match number % 2 {
                        0 => run_review(&data, &["approve", &id, "--analyst", &analyst]),
                        _ => run_review(&data, &["cancel", &id, "--reason", "7", "--analyst", &analyst]),
                    }
                })
            })
            .collect();
        let by_api = shop.post(&format!("v2/reviews/{id}/approve"), &[]).await?;
        let mut won = usize::from(by_api.status == 200);
        for command in commands {
            let (succeeded, text) = command.await??;
            won += usize::from(succeeded);
            assert!(succeeded || text.contains("not held any more"), "{text}");
        }
        assert_eq!(won, 1);
        assert_eq!(audit(&data, &id)?.len(), 1);
    }
    Ok(())
}
