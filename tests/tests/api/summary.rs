//! A checkout that is paid when the merchant confirms what its shopper has filled in.

use tillgate_tests::{Answer, Gateway, Merchant};

use crate::support::*;

async fn save(shop: &Merchant, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    shop.submit(id, &[&[("useSummaryPage", "true")], fields].concat()).await
}

async fn confirm(shop: &Merchant, id: &str) -> anyhow::Result<Answer> {
    shop.post(&format!("v1/checkouts/{id}/confirm"), &[]).await
}

#[tokio::test]
async fn the_merchants_word_pays_once_and_is_answered_again() -> anyhow::Result<()> {
    let shop = shop();
    let checkout = shop.checkout(&[]).await?;
    let saved = save(&shop, checkout.id(), &[("card.holder", "Jane Jones")]).await?;
    assert_eq!((saved.code(), saved.json["flow"].as_str()), ("000.000.100", Some("saved")), "{}", saved.text);
    assert_eq!(saved.json["saved"]["card"]["last4Digits"], "0000");
    assert!(!saved.text.contains("420000"), "no first digits for the page: {}", saved.text);
    assert_eq!(shop.status(checkout.id()).await?.code(), "000.200.000");
    let confirmed = confirm(&shop, checkout.id()).await?;
    assert_eq!(confirmed.code(), "000.100.110", "{}", confirmed.text);
    let again = confirm(&shop, checkout.id()).await?;
    assert_eq!((again.code(), again.id()), ("000.100.110", confirmed.id()));
    Ok(())
}

#[tokio::test]
async fn nothing_is_confirmed_that_was_not_filled_in_or_is_another_merchants() -> anyhow::Result<()> {
    let (shop, stranger) = (shop(), other_shop());
    let checkout = shop.checkout(&[]).await?;
    let nothing = confirm(&shop, checkout.id()).await?;
    assert_eq!((nothing.status, nothing.code()), (400, "200.300.404"), "{}", nothing.text);
    save(&shop, checkout.id(), &[]).await?;
    assert_eq!(confirm(&stranger, checkout.id()).await?.status, 404);
    assert_eq!(confirm(&shop, "00000000000000000000000000000000.tx01").await?.status, 404);
    assert_eq!(confirm(&shop, checkout.id()).await?.code(), "000.100.110", "a stranger's try changes nothing");
    Ok(())
}

#[tokio::test]
async fn the_last_form_counts_and_a_declined_one_is_gone() -> anyhow::Result<()> {
    let shop = shop();
    let checkout = shop.checkout(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    save(&shop, checkout.id(), &[]).await?;
    let master = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454")];
    assert_eq!(save(&shop, checkout.id(), &master).await?.json["saved"]["paymentBrand"], "MASTER");
    let declined = confirm(&shop, checkout.id()).await?;
    assert_eq!((declined.code(), declined.json["paymentBrand"].as_str()), ("800.100.151", Some("MASTER")));
    assert_eq!(confirm(&shop, checkout.id()).await?.code(), "200.300.404", "the shopper is asked again");
    Ok(())
}

#[tokio::test]
async fn a_form_that_could_not_be_paid_with_now_is_still_there_later() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&["--sandbox-factor", "1", "--declines-per-entity", "1"])?;
    let shop = gateway.merchant()?;
    let checkout = shop.checkout(&[]).await?;
    save(&shop, checkout.id(), &[]).await?;
    let other = shop.checkout(&[]).await?;
    shop.submit(other.id(), &[("card.number", "4200000000000001")]).await?;
    for _ in 0..2 {
        assert_answer(&confirm(&shop, checkout.id()).await?, 429, "800.120.100");
    }
    Ok(())
}

#[tokio::test]
async fn what_is_kept_is_kept_in_memory_alone() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let checkout = shop.checkout(&[]).await?;
    save(&shop, checkout.id(), &[]).await?;
    let gateway = gateway.restart(&[])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_eq!(confirm(&shop, checkout.id()).await?.code(), "200.300.404");
    assert_eq!(shop.submit(checkout.id(), &[]).await?.code(), "000.000.100", "the shopper can still pay");
    Ok(())
}
