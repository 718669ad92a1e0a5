//! Disputes, settlements, settlement lines without a payment, the ledger and reports.

use anyhow::Context as _;
use reqwest::Method;
use tillgate_tests::{MerchantClient, TestGateway};

use super::{HOSTILE, check_pages};

/// Charges a payment back, and adds an evidence file. Returns the id of the dispute.
async fn open_dispute(merchant: &MerchantClient) -> anyhow::Result<String> {
    let paid = merchant.pay_by_card(&[("merchantTransactionId", HOSTILE)]).await?.id().to_owned();
    let reason = [("paymentType", "CB"), ("chargebackResultCode", "000.100.203")];
    merchant.post(&format!("v1/payments/{paid}"), &reason).await?;
    let list = merchant.get("v1/disputes").await?;
    let dispute = list.json["disputes"][0]["id"].as_str().context("no dispute")?.to_owned();
    let path = format!("v1/disputes/{dispute}/evidence?entityId={}&name={}", merchant.entity_id, "proof-".repeat(20));
    let request = merchant.bare_request(Method::POST, &path).bearer_auth(&merchant.token);
    let pdf = b"%PDF-1.4\nproof\n%%EOF".to_vec();
    let added = request.header("content-type", "application/pdf").body(pdf).send().await?;
    assert_eq!(added.status(), 200, "{}", added.text().await?);
    Ok(dispute)
}

#[tokio::test]
async fn the_pages_of_money_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let dispute = format!("/money/disputes/{}", open_dispute(&merchant).await?);
    let lists = [
        "/money/disputes",
        "/money/disputes?view=won",
        "/money/settlements",
        "/money/files",
        "/money/unmatched",
        "/money/imports",
        "/money/ledger",
        "/money/reports",
        "/money/reports/totals",
        "/money/reports/totals?group=paymentType,result",
        "/money/reports/authorizations",
        "/money/reports/chargebacks?period=week",
        "/money/reports/fees?from=x",
    ];
    let account = format!("/money/ledger/{}/receivable/EUR", merchant.entity_id);
    let own = [dispute.clone(), format!("{dispute}#accept"), account];
    check_pages(gateway, [&lists.map(str::to_owned)[..], &own].concat()).await
}
