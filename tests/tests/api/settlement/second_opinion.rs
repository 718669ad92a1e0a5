//! Random histories of every payment type with every end: payments that the gateway itself voids, reviews, and late
//! answers of a host; disputes are in `second_opinion_disputes`. The ledger and the payments, added up in another way
//! by `tillgate verify`, agree to the cent with the sums that the tests compute from their own requests.

use std::collections::BTreeMap;

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::acquirer::payments::AcquirerScene;
use crate::acquirer::redirects::{decide_on_page, pay_by_redirect};
use crate::payment::asynchronous::{BACK, redirect_url};
use crate::payment::held_payments::{HELD, create_reviewed_shop, decide};
use crate::risk::screening::simulate;
use crate::settlement::ledger::{Chance, format_amount};
use crate::settlement::settlements::{hundredths, read_balances, read_records, read_rows, settle_all};
use crate::support::*;

/// Initial payment types, with the direction in which each moves money.
pub const TYPES: [(&str, i64); 4] = [("DB", 1), ("PA", 0), ("PA.CP", 1), ("CD", -1)];

/// Ends of a payment that wants to be reviewed.
const ENDS: [&str; 3] = ["APPROVE", "CANCEL", "EXPIRE"];

/// Faults of a host that books a request and answers it late, wrongly or never.
const LATE_ANSWERS: [&str; 7] = ["slow", "silent", "cut", "twice", "garbage", "forged", "mismatched"];
/// Faults of a host that has not booked a payment when the gateway gives it up.
const LATE_BOOKINGS: [&str; 2] = ["dropped", "late"];

/// Pays an amount in euros by a card. `fields` are added.
pub async fn pay(
    shop: &MerchantClient,
    payment_type: &str,
    hundredths: i64,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let amount = format_amount(hundredths);
    let own = [("paymentType", payment_type), ("amount", &*amount), ("currency", "EUR")];
    shop.pay_by_card(&[&own, fields].concat()).await
}

/// Sends a follow-up payment of a random part, if it is allowed. Returns what it moves.
async fn follow_up(shop: &MerchantClient, paid: &ApiResponse, chance: &mut Chance) -> anyhow::Result<i64> {
    let kind = *chance.choose(&["RV", "RF", "CB", "CP"]);
    let hundredths = i64::try_from(chance.below(900) + 100)?;
    let amount = format_amount(hundredths);
    let mut fields = vec![("paymentType", kind)];
    if kind != "RV" {
        fields.extend([("amount", &*amount), ("currency", "EUR")]);
    }
    if kind == "CB" {
        fields.push(("chargebackResultCode", "000.100.203"));
    }
    let answer = shop.post(&format!("v1/payments/{}", paid.id()), &fields).await?;
    if answer.status != 200 {
        return Ok(0);
    }
    let whole = crate::settlement::settlements::hundredths(&paid.json["amount"]);
    Ok(match (kind, paid.json["paymentType"].as_str().unwrap_or_default()) {
        ("RV", "DB" | "PA.CP") => -whole,
        ("RV", "CD") => whole,
        ("RV", _) => 0,
        ("CP", _) => hundredths,
        _ => -hundredths,
    })
}

/// Makes payments that the gateway voids and payments that it accepts. Returns what all of them should have moved.
async fn live_through(shop: &MerchantClient, chance: &mut Chance) -> anyhow::Result<i64> {
    let mut moved = 0;
    for (payment_type, direction) in TYPES {
        for surname in ["yellow", "red", "error", "green", "green"] {
            let hundredths = i64::try_from(chance.below(9_000) + 1_000)?;
            let paid = pay(shop, payment_type, hundredths, &simulate(surname)).await?;
            if surname == "green" {
                assert_result(&paid, 200, "000.100.110");
                moved += direction * hundredths + follow_up(shop, &paid, chance).await?;
            } else {
                assert_eq!(paid.status, 400, "{surname}: {}", paid.text);
            }
        }
    }
    Ok(moved)
}

/// Lets payments be reviewed, with each end. Returns what the approved ones should have moved.
async fn review_all(shop: &MerchantClient, chance: &mut Chance) -> anyhow::Result<i64> {
    let (mut moved, mut undecided) = (0, Vec::new());
    for (payment_type, direction) in TYPES {
        for end in ENDS {
            let hundredths = i64::try_from(chance.below(9_000) + 1_000)?;
            let held = pay(shop, payment_type, hundredths, &[]).await?;
            assert_result(&held, 200, HELD);
            match end {
                "EXPIRE" => undecided.push(held.id().to_owned()),
                _ => assert_eq!(decide(shop, held.id(), end, "jane").await?, 200),
            }
            if end == "APPROVE" {
                moved += direction * hundredths;
            }
        }
    }
    shop.advance_clock("6h").await?;
    for id in undecided {
        poll_until("the review ends", async || {
            let read = shop.get(&format!("v1/payments/{id}")).await?;
            Ok((read.result_code() != HELD).then_some(()))
        })
        .await?;
    }
    Ok(moved)
}

/// Returns a random amount of at least 10 euros, in hundredths.
pub fn random_amount(chance: &mut Chance) -> anyhow::Result<i64> {
    Ok(i64::try_from(chance.below(9_000) + 1_000)?)
}

/// Pays every type at a host with faults, waits for the outcomes, and modifies the approved payments with faults as
/// well. Returns what all of them should have moved.
async fn answer_late(scene: &AcquirerScene, chance: &mut Chance) -> anyhow::Result<i64> {
    let (mut moved, mut given_up) = (0, Vec::new());
    let mut pay_with_fault = async |payment_type: &str, fault: &str| {
        let operation = if payment_type == "CD" { "credit" } else { "authorize" };
        let hundredths = random_amount(chance)?;
        scene.host.schedule_fault(operation, fault, 1).await?;
        let paid = scene.pay_by_card(&format_amount(hundredths), &[("paymentType", payment_type)]).await?;
        anyhow::Ok((paid, hundredths))
    };
    let mut approved = Vec::new();
    for (index, (payment_type, direction)) in TYPES.into_iter().enumerate() {
        // Each type has more than half of the faults, and each fault two types or more.
        for fault in LATE_ANSWERS.into_iter().cycle().skip(2 * index).take(4) {
            let (paid, hundredths) = pay_with_fault(payment_type, fault).await?;
            assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, "000.100.112");
            moved += direction * hundredths;
            approved.push((paid.id().to_owned(), payment_type, hundredths));
        }
    }
    // The late bookings come last, so that none arrives before the gateway gives its payment up.
    for (payment_type, _) in TYPES {
        for fault in LATE_BOOKINGS {
            let (paid, _) = pay_with_fault(payment_type, fault).await?;
            assert_result(&paid, 200, "000.200.000");
            given_up.push(paid.id().to_owned());
        }
    }
    scene.shop.advance_clock("31s").await?;
    for id in given_up {
        assert_result(&scene.wait_for_outcome(&id).await?, 400, "900.100.300");
    }
    for (id, payment_type, hundredths) in approved {
        moved += modify_late(scene, &id, payment_type, hundredths, chance).await?;
    }
    Ok(moved)
}

/// Modifies an approved payment of this type and amount at a host that answers late. Returns what that moves.
async fn modify_late(
    scene: &AcquirerScene,
    payment: &str,
    payment_type: &str,
    whole: i64,
    chance: &mut Chance,
) -> anyhow::Result<i64> {
    let kind = match payment_type {
        "PA" => *chance.choose(&["CP", "RV"]),
        "CD" => "RV",
        _ => *chance.choose(&["RF", "RV"]),
    };
    let operation = match kind {
        "CP" => "capture",
        "RF" => "refund",
        _ => "reverse",
    };
    let part = i64::try_from(chance.below(u64::try_from(whole)?) + 1)?;
    let fault = *chance.choose(&[&LATE_ANSWERS[..], &["dropped"]].concat());
    scene.host.schedule_fault(operation, fault, 1).await?;
    let answer = match kind {
        "RV" => scene.reverse(payment).await?,
        _ => scene.modify(payment, kind, &format_amount(part)).await?,
    };
    assert_eq!(answer.status, 200, "{kind} of {payment_type}, {fault}: {}", answer.text);
    assert_result(&scene.wait_for_outcome(answer.id()).await?, 200, "000.100.112");
    Ok(match (kind, payment_type) {
        ("CP", _) => part,
        ("RF", _) => -part,
        (_, "PA") => 0,
        (_, "CD") => whole,
        _ => -whole,
    })
}

/// Sends shoppers to pages of a host. The gateway learns the outcomes by inquiries only, because no shopper comes back.
/// Returns what all payments should have moved.
async fn leave_on_pages(scene: &AcquirerScene, chance: &mut Chance) -> anyhow::Result<i64> {
    let (mut moved, mut decided, mut abandoned) = (0, Vec::new(), Vec::new());
    for (payment_type, direction) in [("DB", 1), ("PA", 0)] {
        for decision in ["pay", "cancel", "none", "card"] {
            let hundredths = random_amount(chance)?;
            let amount = format_amount(hundredths);
            let fields = [("paymentType", payment_type), ("amount", &*amount)];
            match decision {
                "card" => moved += direction * pay_instead(scene, &fields, hundredths).await?,
                "none" => abandoned.push(pay_by_redirect(&scene.shop, &fields).await?),
                _ => {
                    let paid = pay_by_redirect(&scene.shop, &fields).await?;
                    assert_eq!(decide_on_page(&redirect_url(&paid), decision).await?.0, 303, "{}", paid.text);
                    moved += if decision == "pay" { direction * hundredths } else { 0 };
                    decided.push((paid.id().to_owned(), if decision == "pay" { 200 } else { 400 }));
                }
            }
        }
    }
    scene.shop.advance_clock("20m").await?;
    for (id, status) in decided {
        assert_eq!(scene.wait_for_outcome(&id).await?.status, status);
    }
    scene.shop.advance_clock("31m").await?;
    for paid in abandoned {
        assert_eq!(scene.wait_for_outcome(paid.id()).await?.status, 400);
    }
    Ok(moved)
}

/// Leaves a page of a host, pays the checkout by card, and then pays on the page as well, which is voided. Returns the
/// amount.
async fn pay_instead(scene: &AcquirerScene, fields: &[(&str, &str)], hundredths: i64) -> anyhow::Result<i64> {
    let made = scene.shop.create_checkout(&[&[("testMode", "EXTERNAL"), BACK], fields].concat()).await?;
    let left = scene.shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    scene.shop.submit_card(made.id(), &[]).await?;
    assert_result(&scene.shop.read_status(made.id()).await?, 200, "000.100.112");
    decide_on_page(&redirect_url(&left), "pay").await?;
    Ok(hundredths)
}

/// Asserts that a shop is owed this sum, and that `verify` finds no fault.
pub async fn assert_owed(gateway: &TestGateway, shop: &MerchantClient, moved: i64) -> anyhow::Result<()> {
    assert_eq!(read_balances(shop, "receivable").await?, euros(moved));
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!(verified["faultCount"], 0, "{verified}");
    Ok(())
}

/// Asserts that the gateway settles this sum with a shop and leaves nothing open, and that `verify` finds no fault.
pub async fn assert_settled(gateway: &TestGateway, shop: &MerchantClient, moved: i64) -> anyhow::Result<()> {
    settle_all(shop, "72h").await?;
    let batches = read_rows(shop, "reports/v1/settlements", "settlements").await?;
    let sum = |name: &str| batches.iter().map(|batch| hundredths(&batch[name])).sum::<i64>();
    assert_eq!(sum("paidOut") + sum("fees"), moved, "{batches:?}");
    assert_owed(gateway, shop, 0).await
}

/// Moves the clock of a shop to half an hour after midnight, so that no day is settled in the hours after it.
pub async fn begin_day(shop: &MerchantClient) -> anyhow::Result<()> {
    const DAY: i64 = 24 * 60 * 60;
    let now = jiff::Timestamp::now().as_second();
    shop.advance_clock(&format!("{}s", DAY - now.rem_euclid(DAY) + 30 * 60)).await?;
    Ok(())
}

/// Returns a sum as the sums of a shop that has payments in euros only.
fn euros(sum: i64) -> BTreeMap<String, i64> {
    BTreeMap::from([("EUR".to_owned(), sum)]).into_iter().filter(|(_, sum)| *sum != 0).collect()
}

#[tokio::test]
async fn what_the_gateway_voids_moves_no_money_and_is_never_settled() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--review-lifetime", "5h"])?;
    let mut chance = Chance(20_260);
    let mut shops = Vec::new();
    for arguments in [&["--risk", "on"][..], &["--risk", "on", "--screen", "after"]] {
        let shop = gateway.create_merchant_with(arguments)?;
        begin_day(&shop).await?;
        let moved = live_through(&shop, &mut chance).await?;
        shops.push((shop, moved));
    }
    for review in ["hold", "authorize"] {
        let shop = create_reviewed_shop(&gateway, review, &[]).await?;
        begin_day(&shop).await?;
        let moved = review_all(&shop, &mut chance).await?;
        shops.push((shop, moved));
    }
    for (shop, moved) in &shops {
        assert_eq!(read_balances(shop, "receivable").await?, euros(*moved));
    }
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!(verified["faultCount"], 0, "{verified}");
    for (shop, _) in &shops {
        settle_all(shop, "72h").await?;
        let voided = shop.get("v1/query?limit=100").await?;
        for record in read_records(shop).await? {
            let referenced = record["referencedId"].as_str().unwrap_or_default();
            assert!(referenced.is_empty() || !is_declined(&voided, referenced), "{record}");
        }
    }
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!(verified["faultCount"], 0, "{verified}");
    Ok(())
}

#[tokio::test]
async fn what_a_host_answers_late_moves_money_once_or_never() -> anyhow::Result<()> {
    let arguments = ["--control", "--slow", "1500ms", "--late", "60s"];
    let scene = AcquirerScene::start(&arguments, &["--acquirer-timeout", "1s"]).await?;
    let mut chance = Chance(20_261);
    begin_day(&scene.shop).await?;
    let moved = answer_late(&scene, &mut chance).await? + leave_on_pages(&scene, &mut chance).await?;
    scene.reconcile().await?;
    assert_owed(&scene.gateway, &scene.shop, moved).await?;
    // The files of the host's institute settle these payments, so time alone settles none of them.
    scene.shop.advance_clock("72h").await?;
    assert_owed(&scene.gateway, &scene.shop, moved).await
}

/// Returns true if a list of payments has a declined one with this id.
fn is_declined(list: &ApiResponse, id: &str) -> bool {
    let payments = list.json["payments"].as_array();
    payments
        .into_iter()
        .flatten()
        .any(|one| one["id"] == id && !one["result"]["code"].as_str().unwrap_or_default().starts_with("000."))
}
