//! Pending payments: the address for the browser, the outcomes on that page, and the ways in which the shop and the
//! waiting form read the outcome.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form};

use crate::checkout::frame_document::read_configuration;
use crate::support::*;

pub const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/back?basket=7#top");

/// Answers on the page, with their result: code, HTTP status for the shop, checkout state for the form.
const ANSWERS: [(&str, &str, u16, &str); 4] = [
    ("success", "000.100.110", 200, "PAID"),
    ("cancel", "100.396.101", 400, "OPEN"),
    ("close", "100.396.104", 400, "OPEN"),
    ("later", "000.200.000", 200, "PENDING"),
];

/// Reads the state of a checkout as the shopper's browser does. Asserts status 200 and the exact members of the
/// response.
pub async fn read_checkout_state(shop: &MerchantClient, checkout: &str) -> anyhow::Result<String> {
    let path = format!("v1/checkouts/{checkout}/state");
    let answer = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_envelope(&answer);
    assert_eq!(member_names(&answer.json), ["id", "checkoutState", "buildNumber", "timestamp", "ndc"]);
    assert_eq!(answer.id(), checkout);
    Ok(answer.json["checkoutState"].as_str().unwrap_or_default().to_owned())
}

/// Returns the address of the page that a response sends the shopper to, or an empty string.
pub fn redirect_url(answer: &ApiResponse) -> String {
    answer.json["redirect"]["url"].as_str().unwrap_or_default().to_owned()
}

/// Posts the answer of a button on a page of the simulator. Returns any response.
pub async fn press_button(shop: &MerchantClient, page: &str, button: &str) -> anyhow::Result<Response> {
    let request = shop.client.post(page).header("content-type", "application/x-www-form-urlencoded");
    Ok(request.body(encode_form([("answer", button)])).send().await?)
}

/// Submits a brand in a checkout, asserts that the payment is pending, and returns its page.
pub async fn submit_pending(shop: &MerchantClient, checkout: &str, brand: &str) -> anyhow::Result<String> {
    let submitted = shop.submit_card(checkout, &[("paymentBrand", brand)]).await?;
    assert_result(&submitted, 200, "000.200.000");
    Ok(redirect_url(&submitted))
}

/// Pays 92.00 EUR with a brand that has its own page, server to server, and asserts that the payment is pending. It is
/// a debit unless `fields` contains a `paymentType`.
pub async fn pay_by_brand(shop: &MerchantClient, brand: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentBrand", brand), BACK];
    let default_type = [("paymentType", "DB")];
    let payment_type = default_type.iter().filter(|_| !fields.iter().any(|(name, _)| *name == "paymentType"));
    let fields: Vec<_> = order.iter().chain(payment_type).chain(fields).copied().collect();
    let paid = shop.post("v1/payments", &fields).await?;
    assert_result(&paid, 200, "000.200.000");
    Ok(paid)
}

/// Asserts the status of a response and returns its text.
pub async fn read_text(response: Response, status: u16) -> anyhow::Result<String> {
    let found = response.status().as_u16();
    let text = response.text().await?;
    assert_eq!(found, status, "{text}");
    Ok(text)
}

/// Returns the shop's address with `id` and `resourcePath`, escaped as in an HTML page.
fn escaped_result_url(id: &str, path: &str) -> String {
    format!("https://shop.example/back?basket=7&amp;id={id}&amp;resourcePath={}#top", path.replace('/', "%2F"))
}

#[tokio::test]
async fn the_form_knows_before_and_after_the_submit_in_which_window_a_brand_opens() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (brand, flow, code) in
        [("VISA", "now", "000.000.100"), ("IDEAL", "redirect", "000.200.000"), ("PAYPAL", "popup", "000.200.000")]
    {
        let made = shop.create_checkout(&[BACK]).await?;
        let config = read_configuration(&shop, made.id(), brand).await?;
        assert_eq!(config["brands"][brand]["flow"], flow);
        let submitted = shop.submit_card(made.id(), &[("paymentBrand", brand)]).await?;
        assert_result(&submitted, 200, code);
        let names = ["result", "id", "resourcePath", "flow", "redirect", "buildNumber", "timestamp", "ndc"];
        assert_eq!(member_names(&submitted.json), names);
        assert_eq!(submitted.json["flow"], flow);
    }
    Ok(())
}

#[tokio::test]
async fn the_browser_is_told_where_a_checkout_stands_and_nothing_else() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    assert_eq!(read_checkout_state(&shop, made.id()).await?, "OPEN");
    shop.submit_card(made.id(), &[("card.expiryYear", "2001")]).await?;
    assert_eq!(read_checkout_state(&shop, made.id()).await?, "OPEN");
    shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
    let paid = shop.create_checkout(&[]).await?;
    shop.submit_card(paid.id(), &[]).await?;
    assert_eq!(read_checkout_state(&shop, paid.id()).await?, "PAID");
    let stored = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    assert_eq!(read_checkout_state(&shop, stored.id()).await?, "OPEN");
    shop.post_as_browser(&format!("v1/checkouts/{}/registration", stored.id()), &tillgate_tests::CARD).await?;
    assert_eq!(read_checkout_state(&shop, stored.id()).await?, "REGISTERED");
    for unknown in ["0".repeat(32) + ".x", "x".to_owned(), "%00".to_owned()] {
        let path = format!("v1/checkouts/{unknown}/state");
        let answer = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
        assert_result(&answer, 404, "200.300.404");
        assert_eq!(answer.json["checkoutState"], json!(null));
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_on_the_page_decides_a_checkouts_payment_and_leads_back_to_the_shop() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for brand in ["IDEAL", "PAYPAL"] {
        for (button, code, status, stands) in ANSWERS {
            let made = shop.create_checkout(&[BACK]).await?;
            let page = submit_pending(&shop, made.id(), brand).await?;
            assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
            let left = read_text(press_button(&shop, &page, button).await?, 200).await?;
            let back = escaped_result_url(made.id(), &format!("/v1/checkouts/{}/payment", made.id()));
            assert!(left.contains(&format!(r#"<a href="{back}">Back to shop.example</a>"#)), "{left}");
            // Without scripts, the page redirects by itself. In a popup, the script closes the window first.
            let refresh = format!(r#"<meta http-equiv="refresh" content="0;url={back}">"#);
            let leave = match brand {
                "PAYPAL" => {
                    format!(r#"<noscript>{refresh}</noscript><script src="../simulator.js" integrity="sha384-"#)
                }
                _ => refresh,
            };
            assert!(left.contains(&leave), "{left}");
            let told = shop.read_status(made.id()).await?;
            assert_result(&told, status, code);
            assert_eq!(told.json["checkoutState"], stands, "{}", told.text);
            assert_eq!(told.json["redirect"].is_null(), button != "later", "{}", told.text);
            let acquirer = if button == "success" { json!("00") } else { Value::Null };
            assert_eq!(told.json["resultDetails"]["AcquirerResponse"], acquirer);
            assert_eq!(read_checkout_state(&shop, made.id()).await?, stands);
            let payment = shop.get(&format!("v1/payments/{}", told.id())).await?;
            assert_result(&payment, status, code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_on_the_page_decides_a_payment_server_to_server_and_leads_back_to_the_shop() -> anyhow::Result<()>
{
    let shop = sandbox_shop();
    for brand in ["IDEAL", "PAYPAL"] {
        for (button, code, status, _) in ANSWERS {
            let paid = pay_by_brand(&shop, brand, &[]).await?;
            let left = read_text(press_button(&shop, &redirect_url(&paid), button).await?, 200).await?;
            let path = format!("/v1/payments/{}", paid.id());
            let refresh =
                format!(r#"<meta http-equiv="refresh" content="0;url={}">"#, escaped_result_url(paid.id(), &path));
            assert!(left.contains(&refresh) && !left.contains("<script"), "{left}");
            let told = shop.get(path.trim_start_matches('/')).await?;
            assert_result(&told, status, code);
            assert_eq!(told.json["redirect"].is_null(), button != "later", "{}", told.text);
            // A declined payment has no amount.
            assert_eq!(told.json["amount"].is_null(), status == 400, "{}", told.text);
            let found = shop.get(&format!("v1/query/{}", paid.id())).await?;
            assert_eq!(found.result_code(), code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_account_that_has_paid_nothing_in_the_end_is_not_kept() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (button, _, status, _) in ANSWERS {
        let paid = pay_by_brand(&shop, "GIROPAY", &[("bankAccount.iban", "DE14940593100000012346")]).await?;
        let kept = || -> anyhow::Result<u32> {
            let query = "SELECT count(*) FROM card WHERE payment = ?1";
            Ok(open_database(TestGateway::shared())?.query_row(query, [paid.id()], |row| row.get(0))?)
        };
        assert_eq!(kept()?, 1);
        read_text(press_button(&shop, &redirect_url(&paid), button).await?, 200).await?;
        assert_eq!(kept()?, u32::from(status == 200), "{button}");
    }
    Ok(())
}

#[tokio::test]
async fn who_decides_later_comes_back_and_decides() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let page = submit_pending(&shop, made.id(), "IDEAL").await?;
    let left = read_text(press_button(&shop, &page, "later").await?, 200).await?;
    assert!(left.contains("This payment waits for you"), "{left}");
    let again = read_text(shop.client.get(&page).send().await?, 200).await?;
    assert!(again.contains("Pay 92.00 EUR with iDEAL"), "{again}");
    read_text(press_button(&shop, &page, "success").await?, 200).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_answer_given_twice_counts_once_and_another_one_is_refused_politely() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (first, code, status, _) in &ANSWERS[..3] {
        let made = shop.create_checkout(&[BACK]).await?;
        let page = submit_pending(&shop, made.id(), "PAYPAL").await?;
        read_text(press_button(&shop, &page, first).await?, 200).await?;
        let told = shop.read_status(made.id()).await?;
        assert_result(&told, *status, code);
        for second in ["success", "cancel", "close", "later", "nonsense"] {
            let expected = if second == *first { 200 } else { 409 };
            let text = read_text(press_button(&shop, &page, second).await?, expected).await?;
            assert_eq!(text.contains("This payment has ended already"), expected == 409, "{text}");
            assert_eq!(text.contains("refresh"), expected == 200, "{text}");
            assert!(text.contains("Back to shop.example"), "{text}");
            assert_eq!(
                comparable_response(&shop.read_status(made.id()).await?),
                comparable_response(&told),
                "{first}, {second}"
            );
        }
        // A shopper who returns to the page finds a link to the shop.
        let again = read_text(shop.client.get(&page).send().await?, 200).await?;
        assert!(!again.contains("<button") && again.contains("Back to shop.example"), "{again}");
    }
    Ok(())
}

#[tokio::test]
async fn what_the_shopper_was_told_survives_a_power_cut() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (paid, cancelled) = (shop.create_checkout(&[BACK]).await?, shop.create_checkout(&[BACK]).await?);
    read_text(press_button(&shop, &submit_pending(&shop, paid.id(), "IDEAL").await?, "success").await?, 200).await?;
    read_text(press_button(&shop, &submit_pending(&shop, cancelled.id(), "IDEAL").await?, "cancel").await?, 200)
        .await?;
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&shop.read_status(paid.id()).await?, 200, "000.100.110");
    assert_result(&shop.read_status(cancelled.id()).await?, 400, "100.396.101");
    Ok(())
}

#[tokio::test]
async fn nothing_may_refer_to_a_payment_before_it_has_its_answer() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let part = [("amount", "40.00"), ("currency", "EUR")];
    for (kind, follows) in [("PA", "CP"), ("DB", "RF")] {
        for (button, code) in
            [("success", "000.100.110"), ("cancel", if kind == "PA" { "700.400.510" } else { "700.400.520" })]
        {
            let paid = pay_by_brand(&shop, "IDEAL", &[("paymentType", kind)]).await?;
            let path = format!("v1/payments/{}", paid.id());
            for early in ["CP", "RF", "CB"] {
                let reason = [("chargebackResultCode", "000.100.203")];
                let reason = reason.iter().filter(|_| early == "CB");
                let fields: Vec<_> = [("paymentType", early)].iter().chain(&part).chain(reason).copied().collect();
                let refused = shop.post(&path, &fields).await?;
                assert_result(&refused, 400, "700.400.570");
            }
            assert_result(&shop.post(&path, &[("paymentType", "RV")]).await?, 400, "700.400.570");
            read_text(press_button(&shop, &redirect_url(&paid), button).await?, 200).await?;
            let followed = shop.post(&path, &[&[("paymentType", follows)], &part[..]].concat()).await?;
            assert_result(&followed, if button == "success" { 200 } else { 400 }, code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_channels_payment_is_decided_for_its_merchants_checkout() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let merchant = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    let made = merchant.create_checkout(&[BACK]).await?;
    let abandoned = submit_pending(&merchant, made.id(), "PAYPAL").await?;
    let first = merchant.read_status(made.id()).await?.id().to_owned();
    let page = submit_pending(&merchant, made.id(), "IDEAL").await?;
    read_text(press_button(&merchant, &page, "success").await?, 200).await?;
    read_text(press_button(&merchant, &abandoned, "success").await?, 200).await?;
    let told = merchant.read_status(made.id()).await?;
    assert_result(&told, 200, "000.100.110");
    assert_eq!(told.json["paymentBrand"], "IDEAL");
    for shop in [&merchant, &channel] {
        assert_eq!(shop.get(&format!("v1/payments/{first}")).await?.json["state"], "REVERSED");
    }
    Ok(())
}
