//! Payments whose shopper never comes back from the brand's page: they end by themselves.

use tillgate_tests::{Answer, Gateway, Merchant, until};

use crate::asynchronous::{BACK, page, pay, press};
use crate::support::*;
use crate::threeds;

/// The status of a checkout once its payment is no longer pending.
async fn ended(shop: &Merchant, checkout: &str) -> anyhow::Result<Answer> {
    until("the payment ends", async || {
        Ok(Some(shop.status(checkout).await?).filter(|status| status.code() != "000.200.000"))
    })
    .await
}

#[tokio::test]
async fn a_payment_that_waits_for_half_an_hour_ends_and_its_checkout_says_so() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    for brand in ["IDEAL", "PAYPAL"] {
        let made = shop.checkout(&[BACK]).await?;
        let submitted = shop.submit(made.id(), &[("paymentBrand", brand)]).await?;
        let by_server = pay(&shop, brand, &[]).await?;
        shop.advance("29m").await?;
        assert_answer(&shop.status(made.id()).await?, 200, "000.200.000");
        shop.advance("1m").await?;
        let told = ended(&shop, made.id()).await?;
        assert_answer(&told, 400, "100.396.103");
        assert_eq!(told.json["checkoutState"], "EXPIRED", "{}", told.text);
        let path = format!("v1/payments/{}", by_server.id());
        until("the other one ends", async || Ok((shop.get(&path).await?.code() == "100.396.103").then_some(())))
            .await?;
        // Whoever answers then comes too late.
        for page in [page(&submitted), page(&by_server)] {
            assert_eq!(press(&shop, &page, "success").await?.status(), 409);
        }
        assert_answer(&shop.status(made.id()).await?, 400, "100.396.103");
        assert_eq!(stored_payments(Gateway::shared(), made.id())?.len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_its_shopper_gave_up_ends_too_and_the_one_that_was_made_stays() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let made = shop.checkout(&[BACK]).await?;
    shop.submit(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    shop.submit(made.id(), &[]).await?;
    shop.advance("31m").await?;
    until("the first one ends", async || {
        let results = stored_payments(Gateway::shared(), made.id())?;
        let results: Vec<_> = results.iter().map(|payment| payment["result"].as_str().unwrap_or_default()).collect();
        Ok((results == ["100.396.103", "000.100.110"]).then_some(()))
    })
    .await?;
    let told = shop.status(made.id()).await?;
    assert_answer(&told, 200, "000.100.110");
    assert_eq!(told.json["checkoutState"], "PAID");
    Ok(())
}

#[tokio::test]
async fn a_payment_that_waits_for_a_shopper_who_wants_to_decide_later_ends_too() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let paid = pay(&shop, "IDEAL", &[]).await?;
    assert_eq!(press(&shop, &page(&paid), "later").await?.status(), 200);
    shop.advance("30m").await?;
    let path = format!("v1/payments/{}", paid.id());
    until("it ends", async || Ok((shop.get(&path).await?.code() == "100.396.103").then_some(()))).await
}

#[tokio::test]
async fn a_payment_ends_once_also_when_the_gateway_dies_meanwhile_and_after_the_time_that_its_operator_chose()
-> anyhow::Result<()> {
    let arguments = ["--pending-lifetime", "2h"];
    let gateway = Gateway::start_with(&arguments)?;
    let shop = gateway.merchant()?;
    let made = shop.checkout(&[BACK]).await?;
    let submitted = shop.submit(made.id(), &[("paymentBrand", "IDEAL")]).await?;
    let page = page(&submitted);
    shop.advance("119m").await?;
    assert_answer(&shop.status(made.id()).await?, 200, "000.200.000");
    // Nobody runs when its time comes.
    let moved = gateway.data();
    let entity = shop.entity_id.clone();
    let gateway = gateway.restart_after(&arguments, move |data| {
        assert_eq!(data, moved);
        let output = std::process::Command::new(tillgate_tests::binary())
            .args(["clock", "advance", "2m", "--entity", &entity, "--data"])
            .arg(data)
            .output()?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&ended(&shop, made.id()).await?, 400, "100.396.103");
    let page = format!("{}v1/simulator/{}", gateway.base(), page.rsplit('/').next().unwrap_or_default());
    assert_eq!(press(&shop, &page, "success").await?.status(), 409);
    let timers: u32 = database(&gateway)?.query_row("SELECT count(*) FROM timer", [], |row| row.get(0))?;
    assert_eq!(timers, 0);
    Ok(())
}

#[tokio::test]
async fn an_authentication_that_nobody_answers_ends_with_its_payment() -> anyhow::Result<()> {
    const CHALLENGED: &str = "4200000000000018";
    let shop = Gateway::shared().merchant()?;
    let made = shop.checkout(&[BACK]).await?;
    let submitted = shop.submit(made.id(), &[("card.number", CHALLENGED)]).await?;
    let by_server = threeds::pay(&shop, "VISA", CHALLENGED, &[]).await?;
    let mut own = Vec::new();
    for waiting in [&submitted, &by_server] {
        assert_answer(waiting, 200, "000.200.000");
        let page = threeds::redirect(waiting, "url");
        own.push((page, threeds::transaction(&threeds::visit(&shop, page).await?.1).to_owned()));
    }
    shop.advance("29m").await?;
    assert_answer(&shop.status(made.id()).await?, 200, "000.200.000");
    shop.advance("1m").await?;
    assert_answer(&ended(&shop, made.id()).await?, 400, "100.396.103");
    let path = format!("v1/payments/{}", by_server.id());
    until("the other one ends", async || Ok((shop.get(&path).await?.code() == "100.396.103").then_some(()))).await?;
    for (page, transaction) in own {
        let answer = [("transaction", transaction.as_str()), ("returnCode", "000.100.110")];
        assert_eq!(threeds::post(&shop, page, &answer).await?.0, 409, "too late");
    }
    assert_answer(&shop.status(made.id()).await?, 400, "100.396.103");
    Ok(())
}
