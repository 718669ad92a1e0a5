//! Payments whose shopper never returns from the brand's page: they expire automatically.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::payment::asynchronous::{BACK, pay_by_brand, press_button, redirect_url};
use crate::support::*;
use crate::three_ds;

/// Returns the status of a checkout once its payment is no longer pending.
async fn wait_for_outcome(shop: &MerchantClient, checkout: &str) -> anyhow::Result<ApiResponse> {
    poll_until("the payment ends", async || {
        Ok(Some(shop.read_status(checkout).await?).filter(|status| status.result_code() != "000.200.000"))
    })
    .await
}

#[tokio::test]
async fn a_payment_that_waits_for_half_an_hour_ends_and_its_checkout_says_so() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    for brand in ["IDEAL", "PAYPAL"] {
        let made = shop.create_checkout(&[BACK]).await?;
        let submitted = shop.submit_card(made.id(), &[("paymentBrand", brand)]).await?;
        let by_server = pay_by_brand(&shop, brand, &[]).await?;
        shop.advance_clock("29m").await?;
        assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
        shop.advance_clock("1m").await?;
        let told = wait_for_outcome(&shop, made.id()).await?;
        assert_result(&told, 400, "100.396.103");
        assert_eq!(told.json["checkoutState"], "EXPIRED", "{}", told.text);
        let path = format!("v1/payments/{}", by_server.id());
        poll_until("the other one ends", async || {
            Ok((shop.get(&path).await?.result_code() == "100.396.103").then_some(()))
        })
        .await?;
        // An answer after the expiry is refused.
        for page in [redirect_url(&submitted), redirect_url(&by_server)] {
            assert_eq!(press_button(&shop, &page, "success").await?.status(), 409);
        }
        assert_result(&shop.read_status(made.id()).await?, 400, "100.396.103");
        assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_its_shopper_gave_up_ends_too_and_the_one_that_was_made_stays() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let made = shop.create_checkout(&[BACK]).await?;
    shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    shop.advance_clock("31m").await?;
    poll_until("the first one ends", async || {
        let results = stored_payments(TestGateway::shared(), made.id())?;
        let results: Vec<_> = results.iter().map(|payment| payment["result"].as_str().unwrap_or_default()).collect();
        Ok((results == ["100.396.103", "000.100.110"]).then_some(()))
    })
    .await?;
    let told = shop.read_status(made.id()).await?;
    assert_result(&told, 200, "000.100.110");
    assert_eq!(told.json["checkoutState"], "PAID");
    Ok(())
}

#[tokio::test]
async fn a_payment_that_waits_for_a_shopper_who_wants_to_decide_later_ends_too() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let paid = pay_by_brand(&shop, "IDEAL", &[]).await?;
    assert_eq!(press_button(&shop, &redirect_url(&paid), "later").await?.status(), 200);
    shop.advance_clock("30m").await?;
    let path = format!("v1/payments/{}", paid.id());
    poll_until("it ends", async || Ok((shop.get(&path).await?.result_code() == "100.396.103").then_some(()))).await
}

#[tokio::test]
async fn a_payment_ends_once_also_when_the_gateway_dies_meanwhile_and_after_the_time_that_its_operator_chose()
-> anyhow::Result<()> {
    let arguments = ["--pending-lifetime", "2h"];
    let gateway = TestGateway::start_with(&arguments)?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[BACK]).await?;
    let submitted = shop.submit_card(made.id(), &[("paymentBrand", "IDEAL")]).await?;
    let page = redirect_url(&submitted);
    shop.advance_clock("119m").await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    // No gateway is running at the time of the expiry.
    let moved = gateway.data_folder();
    let entity = shop.entity_id.clone();
    let gateway = gateway.kill_and_restart_after(&arguments, move |data| {
        assert_eq!(data, moved);
        let output = std::process::Command::new(tillgate_tests::binary_path())
            .args(["clock", "advance", "2m", "--entity", &entity, "--data"])
            .arg(data)
            .output()?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&wait_for_outcome(&shop, made.id()).await?, 400, "100.396.103");
    let page = format!("{}v1/simulator/{}", gateway.base_url(), page.rsplit('/').next().unwrap_or_default());
    assert_eq!(press_button(&shop, &page, "success").await?.status(), 409);
    let timers: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM timer", [], |row| row.get(0))?;
    assert_eq!(timers, 0);
    Ok(())
}

#[tokio::test]
async fn an_authentication_that_nobody_answers_ends_with_its_payment() -> anyhow::Result<()> {
    const CHALLENGED: &str = "4200000000000018";
    let shop = TestGateway::shared().create_merchant()?;
    let made = shop.create_checkout(&[BACK]).await?;
    let submitted = shop.submit_card(made.id(), &[("card.number", CHALLENGED)]).await?;
    let by_server = three_ds::pay_by_card(&shop, "VISA", CHALLENGED, &[]).await?;
    let mut own = Vec::new();
    for waiting in [&submitted, &by_server] {
        assert_result(waiting, 200, "000.200.000");
        let page = three_ds::redirect_field(waiting, "url");
        own.push((page, three_ds::challenge_transaction(&three_ds::visit_page(&shop, page).await?.1).to_owned()));
    }
    shop.advance_clock("29m").await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    shop.advance_clock("1m").await?;
    assert_result(&wait_for_outcome(&shop, made.id()).await?, 400, "100.396.103");
    let path = format!("v1/payments/{}", by_server.id());
    poll_until(
        "the other one ends",
        async || Ok((shop.get(&path).await?.result_code() == "100.396.103").then_some(())),
    )
    .await?;
    for (page, transaction) in own {
        let answer = [("transaction", transaction.as_str()), ("returnCode", "000.100.110")];
        assert_eq!(three_ds::post_to_page(&shop, page, &answer).await?.0, 409, "too late");
    }
    assert_result(&shop.read_status(made.id()).await?, 400, "100.396.103");
    Ok(())
}
