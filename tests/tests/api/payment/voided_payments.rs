//! Payments that the gateway itself voids are nobody's money. Every type of payment with every end ties to sums that
//! are computed from the histories alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::payment::asynchronous::{BACK, press_button, redirect_url};
use crate::payment::held_payments::{create_reviewed_shop, decide};
use crate::risk::screening::{list_linked_payments, simulate};
use crate::settlement::settlements::{
    hundredths, modify, read_balances, read_records, read_rows, set_terms, settle_all, shapes,
};
use crate::support::*;

const TERMS: &str = "currency = \"EUR\"\n[[fee]]\non = \"cancel\"\nfixed = \"0.30\"\n";
const TYPES: [&str; 4] = ["DB", "CD", "PA", "PA.CP"];

/// Creates a merchant with a fee for reversals.
fn create_shop(gateway: &TestGateway, arguments: &[&str]) -> anyhow::Result<MerchantClient> {
    let shop = gateway.create_merchant_with(arguments)?;
    set_terms(gateway, &shop, TERMS)?;
    Ok(shop)
}

/// Waits until a merchant's batches have this number of fees for reversals. Returns its records.
async fn wait_for_cancel_fees(shop: &MerchantClient, count: usize) -> anyhow::Result<Vec<Value>> {
    poll_until("the reversals are settled", async || {
        let records = read_records(shop).await?;
        let fees = records.iter().filter(|record| record["transactionType"] == "CANCEL_FEE").count();
        let is_closed = records.last().is_some_and(|record| record["transactionType"] == "BATCH");
        Ok((fees == count && is_closed).then_some(records))
    })
    .await
}

/// Asserts that a payment was refused after its approval, and reversed.
async fn assert_voided(shop: &MerchantClient, payment: &str) -> anyhow::Result<()> {
    let read = shop.get(&format!("v1/payments/{payment}")).await?;
    assert!(read.result_code().starts_with("100.400."), "{}", read.text);
    let reversal = ("RV".to_owned(), "000.100.110".to_owned());
    assert_eq!(list_linked_payments(shop, payment).await?, [reversal]);
    Ok(())
}

/// Asserts that nothing is owed in any direction, now and after the settlement, but a fee for each reversal.
async fn assert_only_fees(gateway: &TestGateway, shop: &MerchantClient, reversals: usize) -> anyhow::Result<()> {
    for account in ["receivable", "payable"] {
        assert_eq!(read_balances(shop, account).await?, BTreeMap::new(), "{account}");
    }
    shop.advance_clock("25h").await?;
    let records = wait_for_cancel_fees(shop, reversals).await?;
    let mut expected = vec!["FEE CANCEL_FEE NEG 0.30 EUR".to_owned(); reversals];
    expected.push(format!("SETTLED BATCH NEG {}.{:02} EUR", reversals * 30 / 100, reversals * 30 % 100));
    assert_eq!(shapes(&records), expected);
    assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    Ok(())
}

#[tokio::test]
async fn what_risk_voids_after_the_approval_is_never_billed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    for arguments in [&["--risk", "on"][..], &["--risk", "on", "--screen", "after"]] {
        let shop = create_shop(&gateway, arguments)?;
        let mut reversals = 0;
        for kind in TYPES {
            let fields = [&simulate("yellow")[..], &[("paymentType", kind)]].concat();
            let refused = shop.pay_by_card(&fields).await?;
            assert_voided(&shop, refused.id()).await?;
            let made = shop.create_checkout(&fields).await?;
            shop.submit_card(made.id(), &[]).await?;
            assert_voided(&shop, shop.read_status(made.id()).await?.id()).await?;
            reversals += 2;
        }
        // Denied between the preauthorization and the capture, or after both.
        let denied = shop.pay_by_card(&[&simulate("red")[..], &[("paymentType", "PA.CP")]].concat()).await?;
        assert_voided(&shop, denied.id()).await?;
        assert_only_fees(&gateway, &shop, reversals + 1).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_review_that_ends_without_approval_is_never_billed_and_one_with_it_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    // A payment that was not executed needs no reversal.
    for (review, arguments, reversed) in [
        ("hold", &[][..], &["PA.CP"][..]),
        ("authorize", &[], &["DB", "PA", "PA.CP"]),
        ("hold", &["--screen", "after"], &TYPES),
    ] {
        let shop = create_reviewed_shop(&gateway, review, arguments).await?;
        set_terms(&gateway, &shop, TERMS)?;
        let mut held = Vec::new();
        for kind in TYPES {
            for _ in 0..3 {
                let paid = shop.pay_by_card(&[("paymentType", kind), ("amount", "900.00")]).await?;
                assert_result(&paid, 200, crate::payment::held_payments::HELD);
                held.push((kind, paid.id().to_owned()));
            }
        }
        assert_eq!(read_balances(&shop, "receivable").await?, BTreeMap::new());
        let mut expected = 0;
        for (kind, payments) in TYPES.iter().zip(held.chunks(3)) {
            assert_eq!(decide(&shop, &payments[0].1, "APPROVE", "jane").await?, 200);
            assert_eq!(decide(&shop, &payments[1].1, "CANCEL", "jane").await?, 200);
            expected += direction(kind) * 90_000;
            assert_eq!(read_balances(&shop, "receivable").await?.get("EUR").copied().unwrap_or_default(), expected);
        }
        // The other reviews end without a decision.
        shop.advance_clock("25h").await?;
        for (kind, id) in held.iter().skip(2).step_by(3) {
            let expired = poll_until("the review has ended", async || {
                let read = shop.get(&format!("v1/payments/{id}")).await?;
                Ok((read.status == 400).then_some(read))
            })
            .await?;
            let linked = list_linked_payments(&shop, expired.id()).await?;
            let is_reversed = linked == [("RV".to_owned(), "000.100.110".to_owned())];
            assert_eq!(is_reversed, reversed.contains(kind), "{review} {kind}: {linked:?}");
        }
        settle_all(&shop, "25h").await?;
        let records = wait_for_cancel_fees(&shop, reversed.len() * 2).await?;
        let money: Vec<String> = shapes(&records).into_iter().filter(|line| line.contains("900.00")).collect();
        let debit = "SETTLED DEBIT POS 900.00 EUR";
        assert_eq!(money, ["SETTLED CREDIT NEG 900.00 EUR", debit, debit], "{review} {arguments:?}");
        assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    }
    Ok(())
}

#[tokio::test]
async fn a_success_that_came_late_is_never_billed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_shop(&gateway, &[])?;
    for kind in ["DB", "PA"] {
        pay_late(&shop, kind, "92.00").await?;
    }
    // The card that paid each checkout in place of the brand that was abandoned.
    assert_eq!(read_balances(&shop, "receivable").await?, BTreeMap::from([("EUR".to_owned(), 9200)]));
    settle_all(&shop, "25h").await?;
    let records = wait_for_cancel_fees(&shop, 2).await?;
    assert!(!shapes(&records).iter().any(|line| line.contains("REFUND")), "{:?}", shapes(&records));
    assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    Ok(())
}

/// Pays a checkout by card after another brand was abandoned, which succeeds later and is reversed. Returns the id of
/// the payment by card.
async fn pay_late(shop: &MerchantClient, kind: &str, amount: &str) -> anyhow::Result<String> {
    let made = shop.create_checkout(&[BACK, ("paymentType", kind), ("amount", amount)]).await?;
    let abandoned = shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let paid = shop.read_status(made.id()).await?;
    assert_result(&paid, 200, "000.100.110");
    press_button(shop, &redirect_url(&abandoned), "success").await?;
    Ok(paid.id().to_owned())
}

/// Returns 1 for payments that the merchant is owed for, −1 for those that it owes for, and 0 for preauthorizations.
fn direction(kind: &str) -> i64 {
    match kind {
        "DB" | "PA.CP" | "CP" | "CR" => 1,
        "CD" | "RF" | "CB" => -1,
        _ => 0,
    }
}

/// Pseudorandom numbers, the same in each run of a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap_or_default()
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())]
    }
}

fn format_amount(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// A merchant with the sum of its histories, and the approved payments that later steps may refer to.
struct Ledger {
    shop: MerchantClient,
    expected: i64,
    /// Id, type and amount of each.
    payments: Vec<(String, &'static str, i64)>,
    undecided: Vec<String>,
    /// True if all payments are held for review.
    is_reviewed: bool,
}

impl Ledger {
    fn book(&mut self, id: &str, kind: &'static str, cents: i64) {
        self.expected += direction(kind) * cents;
        self.payments.push((id.to_owned(), kind, cents));
    }

    /// Makes a payment with a random end.
    async fn pay(&mut self, dice: &mut Dice) -> anyhow::Result<()> {
        let (kind, cents) = (dice.pick(&TYPES), 100 + i64::try_from(dice.roll(9900))?);
        let amount = format_amount(cents);
        let surname = dice.pick(&["green", "yellow", "red"]);
        if dice.roll(6) == 0 && kind != "CD" && kind != "PA.CP" && !self.is_reviewed {
            let id = pay_late(&self.shop, kind, &amount).await?;
            self.book(&id, kind, cents);
            return Ok(());
        }
        let fields = [&simulate(surname)[..], &[("paymentType", kind), ("amount", amount.as_str())]].concat();
        let paid = self.shop.pay_by_card(&fields).await?;
        match (paid.status, paid.result_code()) {
            (200, "000.100.110") => self.book(paid.id(), kind, cents),
            (200, _) => match dice.roll(3) {
                0 => {
                    assert_eq!(decide(&self.shop, paid.id(), "APPROVE", "jane").await?, 200);
                    self.book(paid.id(), kind, cents);
                }
                1 => assert_eq!(decide(&self.shop, paid.id(), "CANCEL", "jane").await?, 200),
                _ => self.undecided.push(paid.id().to_owned()),
            },
            _ => {}
        }
        Ok(())
    }

    /// Asks for a random follow-up payment of an earlier one, which the rules may refuse.
    async fn follow_up(&mut self, dice: &mut Dice) -> anyhow::Result<()> {
        if self.payments.is_empty() {
            return Ok(());
        }
        let (id, kind, cents) = self.payments[dice.roll(self.payments.len())].clone();
        let (change, part) =
            (dice.pick(&["RF", "RV", "CP", "CB", "CR"]), 1 + i64::try_from(dice.roll(cents as usize))?);
        let amount = format_amount(part);
        let mut fields = vec![("paymentType", change)];
        if change != "RV" {
            fields.extend([("amount", amount.as_str()), ("currency", "EUR")]);
        }
        if change == "CB" {
            fields.push(("chargebackResultCode", "000.100.203"));
        }
        let made: ApiResponse = self.shop.post(&format!("v1/payments/{id}"), &fields).await?;
        if made.status == 200 && !made.result_code().starts_with("700.") {
            match change {
                "RV" => self.expected -= direction(kind) * cents,
                _ => self.book(made.id(), change, part),
            }
        }
        Ok(())
    }
}

#[tokio::test]
async fn random_histories_of_every_type_and_end_tie_to_the_sum_of_what_stayed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let seed = jiff::Timestamp::now().as_nanosecond() as u64 | 1;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let mut ledgers = Vec::new();
    for arguments in [&[][..], &["--risk", "on"], &["--risk", "on", "--screen", "after"]] {
        ledgers.push((create_shop(&gateway, arguments)?, false));
    }
    for (review, arguments) in [("hold", &[][..]), ("authorize", &[]), ("hold", &["--screen", "after"])] {
        let shop = create_reviewed_shop(&gateway, review, arguments).await?;
        set_terms(&gateway, &shop, TERMS)?;
        ledgers.push((shop, true));
    }
    for (shop, is_reviewed) in ledgers {
        let mut ledger = Ledger { shop, expected: 0, payments: Vec::new(), undecided: Vec::new(), is_reviewed };
        for _ in 0..40 {
            if dice.roll(5) < 3 { ledger.pay(&mut dice).await? } else { ledger.follow_up(&mut dice).await? }
        }
        let Ledger { shop, expected, undecided, .. } = ledger;
        let sums = async |account| anyhow::Ok(read_balances(&shop, account).await?.remove("EUR").unwrap_or_default());
        assert_eq!((sums("receivable").await?, sums("payable").await?), (expected, -expected));
        settle_all(&shop, "25h").await?;
        for id in undecided {
            poll_until("the review has ended", async || {
                Ok((shop.get(&format!("v1/payments/{id}")).await?.status == 400).then_some(()))
            })
            .await?;
        }
        settle_all(&shop, "25h").await?;
        assert_eq!((sums("receivable").await?, sums("payable").await?), (0, 0));
        let batches = read_rows(&shop, "reports/v1/settlements", "settlements").await?;
        let sum = |name: &str| batches.iter().map(|batch| hundredths(&batch[name])).sum::<i64>();
        assert_eq!(sum("paidOut") + sum("fees"), expected, "{batches:?}");
    }
    assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    Ok(())
}

#[tokio::test]
async fn the_limit_for_reversals_of_merchants_does_not_bind_the_gateway() -> anyhow::Result<()> {
    // A merchant can reverse nothing any more at once, but what the gateway voids is reversed all the same.
    let gateway = TestGateway::start_with(&["--reversal-window", "0s"])?;
    let shop = create_shop(&gateway, &["--risk", "on", "--screen", "after"])?;
    let paid = shop.pay_by_card(&[]).await?;
    assert!(!modify(&shop, paid.id(), &[("paymentType", "RV")]).await?);
    let refused = shop.pay_by_card(&simulate("yellow")).await?;
    assert_voided(&shop, refused.id()).await?;
    assert_eq!(read_balances(&shop, "receivable").await?, BTreeMap::from([("EUR".to_owned(), 9200)]));
    Ok(())
}
