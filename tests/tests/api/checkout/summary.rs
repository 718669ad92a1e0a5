//! Checkouts with a summary page: the payment is made when the merchant confirms the shopper's input.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::support::*;

/// Submits a card whose payment awaits the merchant's confirmation.
async fn submit_for_summary(shop: &MerchantClient, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.submit_card(id, &[&[("useSummaryPage", "true")], fields].concat()).await
}

/// Confirms a checkout as the merchant.
async fn confirm_checkout(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    shop.post(&format!("v1/checkouts/{id}/confirm"), &[]).await
}

#[tokio::test]
async fn the_merchants_word_pays_once_and_is_answered_again() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[]).await?;
    let saved = submit_for_summary(&shop, checkout.id(), &[("card.holder", "Jane Jones")]).await?;
    assert_eq!((saved.result_code(), saved.json["flow"].as_str()), ("000.000.100", Some("saved")), "{}", saved.text);
    assert_eq!(saved.json["saved"]["card"]["last4Digits"], "0000");
    assert!(!saved.text.contains("420000"), "no first digits for the page: {}", saved.text);
    assert_eq!(shop.read_status(checkout.id()).await?.result_code(), "000.200.000");
    let confirmed = confirm_checkout(&shop, checkout.id()).await?;
    assert_eq!(confirmed.result_code(), "000.100.110", "{}", confirmed.text);
    let again = confirm_checkout(&shop, checkout.id()).await?;
    assert_eq!((again.result_code(), again.id()), ("000.100.110", confirmed.id()));
    Ok(())
}

#[tokio::test]
async fn nothing_is_confirmed_that_was_not_filled_in_or_is_another_merchants() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let checkout = shop.create_checkout(&[]).await?;
    let nothing = confirm_checkout(&shop, checkout.id()).await?;
    assert_eq!((nothing.status, nothing.result_code()), (400, "200.300.404"), "{}", nothing.text);
    submit_for_summary(&shop, checkout.id(), &[]).await?;
    assert_eq!(confirm_checkout(&stranger, checkout.id()).await?.status, 404);
    assert_eq!(confirm_checkout(&shop, "00000000000000000000000000000000.tx01").await?.status, 404);
    assert_eq!(
        confirm_checkout(&shop, checkout.id()).await?.result_code(),
        "000.100.110",
        "a stranger's try changes nothing"
    );
    Ok(())
}

#[tokio::test]
async fn the_last_form_counts_and_a_declined_one_is_gone() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    submit_for_summary(&shop, checkout.id(), &[]).await?;
    let master = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454")];
    assert_eq!(submit_for_summary(&shop, checkout.id(), &master).await?.json["saved"]["paymentBrand"], "MASTER");
    let declined = confirm_checkout(&shop, checkout.id()).await?;
    assert_eq!((declined.result_code(), declined.json["paymentBrand"].as_str()), ("800.100.151", Some("MASTER")));
    assert_eq!(
        confirm_checkout(&shop, checkout.id()).await?.result_code(),
        "200.300.404",
        "the shopper is asked again"
    );
    Ok(())
}

#[tokio::test]
async fn a_form_that_could_not_be_paid_with_now_is_still_there_later() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--sandbox-factor", "1", "--declines-per-entity", "1"])?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    submit_for_summary(&shop, checkout.id(), &[]).await?;
    let other = shop.create_checkout(&[]).await?;
    shop.submit_card(other.id(), &[("card.number", "4200000000000001")]).await?;
    for _ in 0..2 {
        assert_result(&confirm_checkout(&shop, checkout.id()).await?, 429, "800.120.100");
    }
    Ok(())
}

#[tokio::test]
async fn what_is_kept_is_kept_in_memory_alone() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    submit_for_summary(&shop, checkout.id(), &[]).await?;
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(confirm_checkout(&shop, checkout.id()).await?.result_code(), "200.300.404");
    assert_eq!(shop.submit_card(checkout.id(), &[]).await?.result_code(), "000.000.100", "the shopper can still pay");
    Ok(())
}
