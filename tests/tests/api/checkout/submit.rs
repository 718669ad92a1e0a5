//! The hosted form's submit: its responses, its charges, and the data that it does not reveal.

use reqwest::Method;
use tillgate_tests::TestGateway;

use crate::support::*;

const DECLINE: (&str, &str) = ("customParameters[forceResultCode]", "800.100.151");

#[tokio::test]
async fn a_submit_says_where_the_shopper_goes_next() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/result?basket=7")]).await?;
    let submitted = shop.submit_card(made.id(), &[]).await?;
    assert_result(&submitted, 200, "000.000.100");
    assert_envelope(&submitted);
    assert_eq!(submitted.id(), made.id());
    let path = format!("/v1/checkouts/{}/payment", made.id());
    assert_eq!(submitted.json["resourcePath"], path.as_str());
    let redirect = serde_json::json!({
        "url": "https://shop.example/result?basket=7",
        "method": "GET",
        "parameters": [{ "name": "id", "value": made.id() }, { "name": "resourcePath", "value": path }],
    });
    assert_eq!(submitted.json["redirect"], redirect);
    Ok(())
}

#[tokio::test]
async fn without_a_result_address_of_the_merchants_the_form_uses_its_own() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let submitted = shop.submit_card(made.id(), &[("shopperResultUrl", "https://evil.example/")]).await?;
    assert_result(&submitted, 200, "000.000.100");
    assert!(submitted.json["redirect"]["url"].is_null(), "{}", submitted.text);
    Ok(())
}

#[tokio::test]
async fn approval_and_decline_answer_alike() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let mut seen = Vec::new();
    let cards = [
        [("card.number", "4200000000000000"), ("card.expiryYear", "2034")],
        [("card.number", "4200000000000001"), ("card.expiryYear", "2034")],
        [("card.number", "4200000000000000"), ("card.expiryYear", "2001")],
    ];
    for card in cards {
        let made = shop.create_checkout(&[]).await?;
        let submitted = shop.submit_card(made.id(), &card).await?;
        let length = submitted.headers["content-length"].clone();
        let names: Vec<String> = submitted.headers.keys().map(ToString::to_string).collect();
        let text = submitted.text.replace(made.id(), "ID");
        let time = submitted.json["timestamp"].as_str().unwrap_or_default();
        seen.push((submitted.status, length, names, text.replace(time, "TIME")));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    Ok(())
}

#[tokio::test]
async fn after_a_decline_the_same_checkout_may_be_paid() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[("card.number", "4200000000000001")]).await?;
    let declined = shop.read_status(made.id()).await?;
    assert_result(&declined, 400, "100.100.101");
    shop.submit_card(made.id(), &[]).await?;
    let paid = shop.read_status(made.id()).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_ne!(paid.id(), declined.id());
    // The failed attempt can still be read under its own id.
    assert_result(&shop.get(&format!("v1/payments/{}", declined.id())).await?, 400, "100.100.101");
    Ok(())
}

#[tokio::test]
async fn a_merchant_may_help_after_a_decline() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[DECLINE]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let update = [("customParameters[forceResultCode]", "000.100.112")];
    assert_result(&shop.post(&format!("v1/checkouts/{}", made.id()), &update).await?, 200, "000.200.101");
    shop.submit_card(made.id(), &[]).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn a_second_submit_after_a_success_is_fine_and_charges_nobody() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let first = shop.submit_card(made.id(), &[]).await?;
    let paid = shop.read_status(made.id()).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let again = [
        shop.submit_card(made.id(), &[]).await?,
        shop.submit_card(made.id(), &[("card.number", "5454545454545454"), ("paymentBrand", "MASTER")]).await?,
        shop.submit_card(made.id(), &[("card.number", "4200000000000001")]).await?,
        shop.post_as_browser(&path, &[]).await?,
    ];
    for second in again {
        assert_eq!(comparable_response(&second), comparable_response(&first));
    }
    assert_eq!(shop.read_status(made.id()).await?.text, paid.text);
    assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn while_a_payment_is_pending_nobody_pays_again() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("customParameters[forceResultCode]", "000.200.000")]).await?;
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    let pending = shop.read_status(made.id()).await?;
    assert_result(&pending, 200, "000.200.000");
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    let update = shop.post(&format!("v1/checkouts/{}", made.id()), &[("amount", "1.00")]).await?;
    assert_result(&update, 400, "200.300.404");
    assert_eq!(shop.read_status(made.id()).await?.text, pending.text);
    assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn what_the_form_leaves_out_is_named_and_the_checkout_stays_open() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let nothing = shop.post_as_browser(&path, &[("paymentBrand", "VISA")]).await?;
    assert_errors(&nothing, &["paymentBrand"]);
    assert_eq!(parameter_error(&nothing, "paymentBrand")["message"], "card properties must be set");
    assert_eq!(nothing.json["ndc"], made.json["id"]);
    assert_errors(&shop.post_as_browser(&path, &[]).await?, &["paymentBrand"]);
    for name in ["card.number", "card.expiryMonth", "card.expiryYear"] {
        assert_errors(&shop.submit_card(made.id(), &[(name, "")]).await?, &[name]);
    }
    assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 0);
    Ok(())
}

#[tokio::test]
async fn a_number_that_is_none_is_named_without_being_repeated() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    for number in [
        "42000000000",
        "42000000000000000000",
        "4200 0000 0000 0000",
        "42000000000000OO",
        "４２００００００００００００００",
    ] {
        let refused = shop.submit_card(made.id(), &[("card.number", number)]).await?;
        assert_errors(&refused, &["card.number"]);
        assert!(
            parameter_error(&refused, "card.number")["value"].is_null() && !refused.text.contains(number),
            "{}",
            refused.text
        );
    }
    for code in ["12", "12345", "abc"] {
        let refused = shop.submit_card(made.id(), &[("card.cvv", code)]).await?;
        assert_errors(&refused, &["card.cvv"]);
        assert!(parameter_error(&refused, "card.cvv")["value"].is_null(), "{}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_form_needs_no_credentials_and_uses_none_that_it_sends() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let made = shop.create_checkout(&[]).await?;
    let fields = [
        ("entityId", stranger.entity_id.as_str()),
        ("authentication.entityId", stranger.entity_id.as_str()),
        ("authentication.userId", "nobody"),
        ("authentication.password", "nothing"),
    ];
    assert_result(&shop.submit_card(made.id(), &fields).await?, 200, "000.000.100");
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn of_two_fields_with_one_name_the_later_counts() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let mut fields = vec![("card.holder", "Hidden Twin"), ("customParameters[SHOPPER_news]", "no")];
    fields.extend(tillgate_tests::CARD);
    fields.push(("customParameters[SHOPPER_news]", "yes"));
    let path = format!("v1/checkouts/{}/payment", made.id());
    assert_result(&shop.post_as_browser(&path, &fields).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_eq!(status.json["card"]["holder"], "Jane Jones");
    assert_eq!(status.json["customParameters"]["SHOPPER_news"], "yes");
    Ok(())
}

#[tokio::test]
async fn what_a_page_adds_to_the_form_is_no_obstacle_even_for_a_strict_entity() -> anyhow::Result<()> {
    let shop = strict_shop();
    let made = shop.create_checkout(&[]).await?;
    let fields =
        [("shopOrigin", "https://shop.example"), ("forceUtf8", "&#9760;"), ("csrf_token", "8271"), ("utf8", "✓")];
    assert_result(&shop.submit_card(made.id(), &fields).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    for (name, value) in fields {
        assert!(status.json[name].is_null() && !status.text.contains(value), "{}", status.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_shoppers_own_words_stay_with_the_payment() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let fields = [
        ("customer.givenName", "Jané"),
        ("customer.surname", "Jones 日本"),
        ("billing.city", "Málaga"),
        ("customParameters[SHOPPER_gift]", "yes & no = <maybe> \"😀\""),
    ];
    shop.submit_card(made.id(), &fields).await?;
    let status = shop.read_status(made.id()).await?;
    assert_eq!(status.json["customer"]["givenName"], "Jané");
    assert_eq!(status.json["customer"]["surname"], "Jones 日本");
    assert_eq!(status.json["billing"]["city"], "Málaga");
    assert_eq!(status.json["customParameters"]["SHOPPER_gift"], "yes & no = <maybe> \"😀\"");
    Ok(())
}

#[tokio::test]
async fn names_may_come_half_from_the_merchant_and_half_from_the_form() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    // A checkout may have an e-mail address only. The names that it requires are checked at the payment.
    let made = shop.create_checkout(&[("customer.email", "jane@shop.example")]).await?;
    assert_result(&made, 200, "000.200.100");
    assert_errors(&shop.submit_card(made.id(), &[]).await?, &["customer.givenName", "customer.surname"]);
    assert_errors(&shop.submit_card(made.id(), &[("customer.givenName", "Jane")]).await?, &["customer.surname"]);
    let names = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];
    assert_result(&shop.submit_card(made.id(), &names).await?, 200, "000.000.100");
    assert_eq!(shop.read_status(made.id()).await?.json["customer"]["email"], "jane@shop.example");
    Ok(())
}

#[tokio::test]
async fn what_the_form_collects_by_itself_asks_for_no_names() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let browser = [
        ("customer.browser.acceptHeader", "text/html"),
        ("customer.browser.language", "de-DE"),
        ("customer.browser.screenHeight", "1080"),
        ("customer.browser.screenWidth", "1920"),
        ("customer.browser.timezone", "-60"),
        ("customer.browser.userAgent", "Mozilla/5.0"),
        ("customer.browser.javaEnabled", "false"),
        ("customer.browser.screenColorDepth", "24"),
        ("customer.browser.challengeWindow", "05"),
    ];
    assert_result(&shop.submit_card(made.id(), &browser).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["customer"]["browser"]["language"], "de-DE");
    Ok(())
}

#[tokio::test]
async fn a_brand_that_nobody_knows_makes_no_payment() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    assert_errors(&shop.submit_card(made.id(), &[("paymentBrand", "NOSUCHBRAND")]).await?, &["paymentBrand"]);
    assert_errors(&shop.pay_by_card(&[("paymentBrand", "NOSUCHBRAND")]).await?, &["paymentBrand"]);
    assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn a_checkout_for_the_connectors_test_system_is_paid_there() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("testMode", "EXTERNAL")]).await?;
    assert_result(&made, 200, "000.200.100");
    shop.submit_card(made.id(), &[]).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn the_brand_is_found_by_the_number_when_the_form_sends_none() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for brand in [&[("paymentBrand", "")][..], &[]] {
        let made = shop.create_checkout(&[]).await?;
        let path = format!("v1/checkouts/{}/payment", made.id());
        let mut fields = brand.to_vec();
        fields.extend([("card.number", "5454545454545454"), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")]);
        assert_result(&shop.post_as_browser(&path, &fields).await?, 200, "000.000.100");
        assert_eq!(shop.read_status(made.id()).await?.json["paymentBrand"], "MASTER");
    }
    Ok(())
}

#[tokio::test]
async fn asking_for_the_status_is_the_merchants_alone() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let asked = tillgate_tests::ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
    assert_result(&asked, 401, "800.900.300");
    Ok(())
}

#[tokio::test]
async fn a_form_whose_button_showed_another_amount_charges_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("amount", "92.00")]).await?;
    for shown in ["9.20 EUR", "92.00 USD", "92.00", "92,00 EUR", "<b>"] {
        for more in ["shopperResultUrl", "useSummaryPage"] {
            let refused = shop.submit_card(made.id(), &[("shownAmount", shown), (more, "true")]).await?;
            assert_eq!(refused.status, 400, "{}", refused.text);
            assert_eq!(refused.json["result"]["parameterErrors"][0]["name"], "shownAmount", "{}", refused.text);
        }
    }
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.200.000", "nothing was tried");
    let submitted = shop.submit_card(made.id(), &[("shownAmount", "92.00 EUR")]).await?;
    assert_result(&submitted, 200, "000.000.100");
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.100.110");
    Ok(())
}
