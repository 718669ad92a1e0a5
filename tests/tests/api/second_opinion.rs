//! Payments that the gateway itself voids, and random histories of every payment type with every end: the ledger and
//! the payments, added up in another way by `tillgate verify`, agree to the cent.

use std::collections::BTreeMap;

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::held_payments::{HELD, create_reviewed_shop, decide};
use crate::ledger::{Chance, format_amount};
use crate::risk_screening::simulate;
use crate::settlements::{read_balances, read_records, settle_all};
use crate::support::*;

/// Initial payment types, with the direction in which each moves money.
const TYPES: [(&str, i64); 4] = [("DB", 1), ("PA", 0), ("PA.CP", 1), ("CD", -1)];

/// Ends of a payment that wants to be reviewed.
const ENDS: [&str; 3] = ["APPROVE", "CANCEL", "EXPIRE"];

/// Pays an amount in euros by a card. `fields` are added.
async fn pay(
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
    let whole = crate::settlements::hundredths(&paid.json["amount"]);
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

/// Moves the clock of a shop to half an hour after midnight, so that no day is settled in the hours after it.
async fn begin_day(shop: &MerchantClient) -> anyhow::Result<()> {
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

/// Returns true if a list of payments has a declined one with this id.
fn is_declined(list: &ApiResponse, id: &str) -> bool {
    let payments = list.json["payments"].as_array();
    payments
        .into_iter()
        .flatten()
        .any(|one| one["id"] == id && !one["result"]["code"].as_str().unwrap_or_default().starts_with("000."))
}
