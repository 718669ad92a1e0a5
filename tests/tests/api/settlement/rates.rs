//! Settlements in another currency: lines without a rate of exchange fail, and are settled once there is one.

use std::fs;

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::settlement::settlements::{modify, read_balances, read_records, set_terms, settle_all};
use crate::support::*;

#[tokio::test]
async fn a_line_without_a_rate_fails_and_is_settled_once_there_is_one() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    set_terms(gateway, &shop, "currency = \"SEK\"\n[[fee]]\non = \"authorization\"\nfixed = \"0.20\"\n")?;
    shop.pay_by_card(&[("currency", "JPY"), ("amount", "1000.00")]).await?;
    shop.advance_clock("25h").await?;
    let failed = poll_until("the line has failed", async || Ok(read_records(&shop).await?.into_iter().next())).await?;
    assert_eq!(failed["settlement"]["status"], "FAILED", "{failed}");
    assert_eq!((&failed["settlement"]["amount"], &failed["amount"]), (&json!("0.00"), &json!("1000.00")), "{failed}");
    // The fee of a reservation is in the settlement's currency, too.
    let reserved = shop.pay_by_card(&[("paymentType", "PA"), ("currency", "JPY"), ("amount", "500.00")]).await?;
    assert_result(&reserved, 200, "000.100.110");
    for _ in 0..2 {
        let known = shop.pay_by_card(&[("currency", "SEK"), ("amount", "5.00")]).await?;
        assert_result(&known, 200, "000.100.110");
        shop.advance_clock("49h").await?;
        poll_until("the known currency is settled", async || {
            Ok((!read_balances(&shop, "receivable").await?.contains_key("SEK")).then_some(()))
        })
        .await?;
    }
    let failed = read_records(&shop).await?;
    let failed = failed.iter().filter(|record| record["settlement"]["status"] == "FAILED").count();
    assert_eq!(failed, 1, "a line that fails is written once");
    let rates = gateway.folder().join(format!("{}.csv", shop.entity_id));
    fs::write(&rates, "date,from,to,rate\n2020-01-01,JPY,SEK,0.07\n2020-01-02,JPY,SEK,0.0625\n")?;
    gateway.run_command(&["fx-rate", "import", &rates.to_string_lossy()])?;
    settle_all(&shop, "24h").await?;
    let records = read_records(&shop).await?;
    let settled: Vec<&Value> = records
        .iter()
        .filter(|record| record["settlement"]["status"] == "SUCCESS" && record["currency"] == "JPY")
        .collect();
    assert_eq!(settled.len(), 1, "{records:?}");
    let fees = records.iter().filter(|record| record["transactionType"] == "AUTH_FEE").count();
    assert_eq!(fees, 1, "{records:?}");
    let settlement = &settled[0]["settlement"];
    let shown = (&settlement["amount"], &settlement["currency"], &settlement["fxRate"]);
    assert_eq!(shown, (&json!("62.50"), &json!("SEK"), &json!("0.0625")), "{settlement}");
    Ok(())
}

#[tokio::test]
async fn a_payment_that_was_reversed_before_there_was_a_rate_is_never_settled_back() -> anyhow::Result<()> {
    let mut gateway = TestGateway::start_with(&["--reversal-window", "96h"])?;
    let mut shop = gateway.create_merchant()?;
    set_terms(&gateway, &shop, "currency = \"EUR\"")?;
    let mut reversed = Vec::new();
    for _ in 0..3 {
        let paid = shop.pay_by_card(&[("currency", "JPY"), ("amount", "1000.00")]).await?;
        assert_result(&paid, 200, "000.100.110");
        reversed.push(paid.id().to_owned());
    }
    shop.advance_clock("25h").await?;
    poll_until("the lines have failed", async || Ok((read_records(&shop).await?.len() >= 3).then_some(()))).await?;
    for id in &reversed {
        assert!(modify(&shop, id, &[("paymentType", "RV")]).await?);
    }
    // So many that the batch is written in several parts.
    for _ in 0..700 {
        shop.pay_by_card(&[("amount", "1.00")]).await?;
    }
    let before = read_records(&shop).await?.len();
    // The request of the merchant would wait for the settlement.
    gateway.run_command(&["clock", "advance", "25h", "--entity", &shop.entity_id])?;
    for _ in 0..2 {
        poll_until("a part is written", async || Ok((read_records(&shop).await?.len() > before).then_some(()))).await?;
        gateway = gateway.kill_and_restart(&["--reversal-window", "96h"])?;
        shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    }
    settle_all(&shop, "25h").await?;
    let records = read_records(&shop).await?;
    let back = records.iter().filter(|record| record["transactionType"] == "REFUND").count();
    let debits = records.iter().filter(|record| record["settlement"]["status"] == "SUCCESS").count();
    assert!(back == 0 && debits >= 700, "{back} refunds, {debits} lines");
    assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    Ok(())
}
