//! Pending payments: the address for the browser, the outcomes on that page, and the ways in which the shop and the
//! waiting form read the outcome.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form};
use tokio::task::JoinSet;

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
async fn read_checkout_state(shop: &MerchantClient, checkout: &str) -> anyhow::Result<String> {
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
async fn submit_pending(shop: &MerchantClient, checkout: &str, brand: &str) -> anyhow::Result<String> {
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
async fn read_text(response: Response, status: u16) -> anyhow::Result<String> {
    let found = response.status().as_u16();
    let text = response.text().await?;
    assert_eq!(found, status, "{text}");
    Ok(text)
}

/// Returns the shop's address with `id` and `resourcePath`, escaped as in an HTML page.
fn escaped_result_url(id: &str, path: &str) -> String {
    format!("https://shop.example/back?basket=7&amp;id={id}&amp;resourcePath={}#top", path.replace('/', "%2F"))
}

/// Queries a payment with its linked payments. Returns type, result code and referenced id of each, or nothing if the
/// query fails.
async fn query_linked_payments(shop: &MerchantClient, payment: &str) -> anyhow::Result<Vec<(String, String, Value)>> {
    let found = shop.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry =
        |entry: &Value| (text(&entry["paymentType"]), text(&entry["result"]["code"]), entry["referencedId"].clone());
    Ok(found.json["payments"].as_array().into_iter().flatten().map(entry).collect())
}

/// Counts a checkout's stored payments with 000.100.110 that have no approved reversal.
fn count_unreversed_charges(gateway: &TestGateway, checkout: &str) -> anyhow::Result<usize> {
    let database = open_database(gateway)?;
    let mut reversals = database
        .prepare("SELECT EXISTS (SELECT 1 FROM payment_link WHERE referenced = ?1 AND type = 'RV' AND approved)")?;
    let mut count = 0;
    for payment in stored_payments(gateway, checkout)? {
        let is_reversed: bool = reversals.query_row([payment["id"].as_str()], |row| row.get(0))?;
        count += usize::from(payment["result"] == "000.100.110" && !is_reversed);
    }
    Ok(count)
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
                "PAYPAL" => format!(r#"<noscript>{refresh}</noscript><script src="../simulator.js" defer></script>"#),
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
async fn after_a_cancelled_or_closed_payment_the_shopper_pays_with_the_same_brand_or_another() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for button in ["cancel", "close"] {
        for next in ["PAYPAL", "IDEAL", "VISA"] {
            let made = shop.create_checkout(&[BACK]).await?;
            let first = submit_pending(&shop, made.id(), "PAYPAL").await?;
            read_text(press_button(&shop, &first, button).await?, 200).await?;
            if next == "VISA" {
                assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
            } else {
                let second = submit_pending(&shop, made.id(), next).await?;
                assert_ne!(first, second);
                read_text(press_button(&shop, &second, "success").await?, 200).await?;
            }
            let told = shop.read_status(made.id()).await?;
            assert_result(&told, 200, "000.100.110");
            assert_eq!(told.json["paymentBrand"], next);
            assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 2);
            // The page of the first payment shows that payment's outcome.
            read_text(press_button(&shop, &first, "success").await?, 409).await?;
            assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 1);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_brand_that_was_abandoned_for_another_and_succeeds_late_is_reversed_by_itself() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (kind, brand) in [("DB", "VISA"), ("PA", "VISA"), ("DB", "IDEAL"), ("PA", "IDEAL")] {
        let made = shop.create_checkout(&[BACK, ("paymentType", kind)]).await?;
        let abandoned = submit_pending(&shop, made.id(), "PAYPAL").await?;
        let first = shop.read_status(made.id()).await?.id().to_owned();
        // Another brand replaces the pending one: a card pays at once, another brand on its page.
        if brand == "VISA" {
            assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
        } else {
            let page = submit_pending(&shop, made.id(), brand).await?;
            read_text(press_button(&shop, &page, "success").await?, 200).await?;
        }
        let told = shop.read_status(made.id()).await?;
        assert_result(&told, 200, "000.100.110");
        assert_eq!(told.json["paymentBrand"], brand);
        let late = read_text(press_button(&shop, &abandoned, "success").await?, 200).await?;
        assert!(late.contains("This payment is given back") && late.contains("given back by itself"), "{late}");
        let reversed = shop.get(&format!("v1/payments/{first}")).await?;
        assert_result(&reversed, 200, "000.100.110");
        assert_eq!(reversed.json["state"], "REVERSED", "{}", reversed.text);
        let chain = query_linked_payments(&shop, &first).await?;
        let success = "000.100.110".to_owned();
        let expected = [(kind.to_owned(), success.clone(), Value::Null), ("RV".to_owned(), success, json!(first))];
        assert_eq!(chain, expected);
        // A repeated success reverses the payment only once, and the checkout keeps the payment that paid it.
        read_text(press_button(&shop, &abandoned, "success").await?, 200).await?;
        assert_eq!(query_linked_payments(&shop, &first).await?.len(), 2);
        assert_eq!(comparable_response(&shop.read_status(made.id()).await?), comparable_response(&told));
        assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 1);
    }
    Ok(())
}

#[tokio::test]
async fn an_abandoned_payment_neither_pays_its_checkout_nor_opens_it_again() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let first = submit_pending(&shop, made.id(), "PAYPAL").await?;
    let second = submit_pending(&shop, made.id(), "IDEAL").await?;
    let third = submit_pending(&shop, made.id(), "ALIPAY").await?;
    // A repeated submit of the pending brand returns the same payment.
    assert_eq!(submit_pending(&shop, made.id(), "ALIPAY").await?, third);
    assert_ne!(submit_pending(&shop, made.id(), "PAYPAL").await?, first);
    let fifth = submit_pending(&shop, made.id(), "ALIPAY").await?;
    for (page, button) in [(&first, "success"), (&second, "cancel"), (&third, "close")] {
        read_text(press_button(&shop, page, button).await?, 200).await?;
        assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
        assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 0);
    }
    read_text(press_button(&shop, &fifth, "success").await?, 200).await?;
    assert_eq!(read_checkout_state(&shop, made.id()).await?, "PAID");
    assert_eq!(count_unreversed_charges(TestGateway::shared(), made.id())?, 1);
    Ok(())
}

#[tokio::test]
async fn what_is_refused_abandons_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let page = submit_pending(&shop, made.id(), "PAYPAL").await?;
    let refused = shop.submit_card(made.id(), &[("card.expiryMonth", "13")]).await?;
    assert_result(&refused, 400, "200.300.404");
    assert_result(&shop.submit_card(made.id(), &[("paymentBrand", "NOBODY")]).await?, 400, "200.300.404");
    read_text(press_button(&shop, &page, "success").await?, 200).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn of_fifty_submits_and_answers_at_once_one_charge_stays() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = sandbox_shop();
    for round in 0..4 {
        let made = shop.create_checkout(&[BACK]).await?;
        let brands = ["PAYPAL", "IDEAL", "ALIPAY", "GIROPAY", "VISA"];
        let mut shoppers = JoinSet::new();
        for number in 0..50 {
            let (shop, checkout) = (shop.clone(), made.id().to_owned());
            // Two rounds without cards, in which nothing is paid at once, and two rounds with cards.
            let brand = brands[(number + round) % if round % 2 == 0 { 4 } else { 5 }];
            shoppers.spawn(async move {
                let submitted = shop.submit_card(&checkout, &[("paymentBrand", brand)]).await?;
                assert_eq!(submitted.status, 200, "{}", submitted.text);
                if submitted.json["flow"] == "now" {
                    return anyhow::Ok(None);
                }
                let page = redirect_url(&submitted);
                let button = ["success", "later", "cancel"][number % 3];
                let status = press_button(&shop, &page, button).await?.status().as_u16();
                assert!(matches!(status, 200 | 409), "{status}");
                Ok(Some(page))
            });
        }
        let pages: Vec<_> = shoppers.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
        assert!(count_unreversed_charges(gateway, made.id())? <= 1);
        // All payments that are still pending succeed now.
        for page in pages.into_iter().flatten() {
            press_button(&shop, &page, "success").await?;
        }
        let paid = read_checkout_state(&shop, made.id()).await? == "PAID";
        assert_eq!(count_unreversed_charges(gateway, made.id())?, usize::from(paid));
        let told = shop.read_status(made.id()).await?;
        assert_eq!(told.result_code() == "000.100.110", paid, "{}", told.text);
        if !paid {
            // The last attempt was cancelled, so the checkout accepts another one.
            assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
            assert_eq!(count_unreversed_charges(gateway, made.id())?, 1);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_pending_payment_can_be_answered_after_the_half_hour_and_not_be_replaced() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (paid, cancelled) = (shop.create_checkout(&[BACK]).await?, shop.create_checkout(&[BACK]).await?);
    let pages =
        [submit_pending(&shop, paid.id(), "PAYPAL").await?, submit_pending(&shop, cancelled.id(), "PAYPAL").await?];
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        [paid.id(), cancelled.id()].iter().try_for_each(|id| backdate_checkout(data, id, 31 * 60))
    })?;
    let pages = pages.map(|page| page.replace(&shop.base, &gateway.base_url()));
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    for made in [&paid, &cancelled] {
        assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
        // After the expiry, another brand cannot replace the pending payment.
        let submitted = shop.submit_card(made.id(), &[]).await?;
        assert_result(&submitted, 200, "000.200.000");
    }
    read_text(press_button(&shop, &pages[0], "success").await?, 200).await?;
    read_text(press_button(&shop, &pages[1], "cancel").await?, 200).await?;
    assert_result(&shop.read_status(paid.id()).await?, 200, "000.100.110");
    assert_eq!(read_checkout_state(&shop, paid.id()).await?, "PAID");
    assert_result(&shop.read_status(cancelled.id()).await?, 400, "100.396.101");
    assert_eq!(read_checkout_state(&shop, cancelled.id()).await?, "EXPIRED");
    assert_result(&shop.submit_card(cancelled.id(), &[]).await?, 400, "200.300.404");
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

#[tokio::test]
async fn an_order_that_is_paid_once_may_change_its_brand() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--refuse-duplicates"])?;
    let order = ("merchantTransactionId", "order-once-4711");
    let made = shop.create_checkout(&[BACK, order]).await?;
    let abandoned = submit_pending(&shop, made.id(), "PAYPAL").await?;
    // Outside of this checkout, the order counts as pending.
    assert_result(&shop.pay_by_card(&[order]).await?, 400, "800.110.100");
    let second = submit_pending(&shop, made.id(), "IDEAL").await?;
    read_text(press_button(&shop, &abandoned, "success").await?, 200).await?;
    read_text(press_button(&shop, &second, "cancel").await?, 200).await?;
    // A reversed payment does not count as paid.
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&[order]).await?, 400, "800.110.100");
    Ok(())
}

#[tokio::test]
async fn the_page_says_what_is_paid_to_whom_and_works_without_scripts() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let fields =
        [("merchantTransactionId", "order-4711"), ("shopperResultUrl", r#"https://shop.example/"><script>'&x=1"#)];
    let made = shop.create_checkout(&fields).await?;
    let page = submit_pending(&shop, made.id(), "PAYPAL").await?;
    let shown = shop.client.get(&page).send().await?;
    let header =
        |name: &str| shown.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert_eq!(header("content-type"), "text/html; charset=utf-8");
    let policy = header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(
        policy.ends_with("'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
        "{policy}"
    );
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(header(name), value, "{name}");
    }
    let text = read_text(shown, 200).await?;
    for words in [
        "<h1>Pay 92.00 EUR with PayPal</h1>",
        "<dt>To</dt><dd>Kiln &amp; Tide</dd>",
        "<dt>Amount</dt><dd>92.00 EUR</dd>",
        "<dt>Reference</dt><dd>order-4711</dd>",
        r#"<form method="post"><button name="answer" value="success">Pay 92.00 EUR</button>"#,
        "This is a simulation in place of the page of PayPal. No money moves.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let transfer = read_text(
        shop.client.get(self::redirect_url(&pay_by_brand(&shop, "PREPAYMENT", &[]).await?)).send().await?,
        200,
    )
    .await?;
    assert!(transfer.contains("<dt>Account</dt><dd>Tillgate Simulator<br>DE23100000001234567890<br>"), "{transfer}");
    assert!(!text.contains("script") && !text.contains("shop.example"), "{text}");
    // Markup in the shop's address is escaped.
    let left = read_text(press_button(&shop, &page, "cancel").await?, 200).await?;
    assert!(left.contains("https://shop.example/&quot;&gt;&lt;script&gt;"), "{left}");
    let script = shop.bare_request(Method::GET, "v1/simulator.js").send().await?;
    assert_eq!(script.headers()["content-type"], "text/javascript; charset=utf-8");
    assert!(read_text(script, 200).await?.contains("close()"));
    Ok(())
}

#[tokio::test]
async fn a_page_is_found_by_its_own_address_alone() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (paid, card) = (pay_by_brand(&shop, "PAYPAL", &[]).await?, shop.pay_by_card(&[]).await?);
    let own = redirect_url(&paid).rsplit('/').next().unwrap_or_default().to_owned();
    let other = format!("{}{}", &own[..43], if own.ends_with('0') { "1" } else { "0" });
    for id in [card.id(), paid.id(), &other, &own.to_uppercase(), "8a0123456789abcdef0123456789abcd", "x", "%00"] {
        let address = format!("{}v1/simulator/{id}", shop.base);
        for response in [shop.client.get(&address).send().await?, press_button(&shop, &address, "success").await?] {
            assert!(read_text(response, 404).await?.contains("There is no payment here"), "{id}");
        }
    }
    assert_result(&shop.get(&format!("v1/payments/{}", paid.id())).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_read_as_an_answer_decides_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = pay_by_brand(&shop, "PAYPAL", &[]).await?;
    let page = redirect_url(&paid);
    let post = |kind: &'static str, body: &'static str| shop.client.post(&page).header("content-type", kind).body(body);
    for (kind, body, status) in [
        ("application/x-www-form-urlencoded", "", 200),
        ("application/x-www-form-urlencoded", "answer=SUCCESS", 200),
        ("application/x-www-form-urlencoded", "answer=%ff", 400),
        ("application/json", r#"{"answer":"success"}"#, 400),
    ] {
        let text = read_text(post(kind, body).send().await?, status).await?;
        assert_eq!(text.contains("Pay 92.00 EUR with PayPal"), status == 200, "{text}");
    }
    // All responses are HTML pages, also according to the OpenAPI document.
    let description = ApiResponse::read_from(shop.bare_request(Method::GET, "openapi.json").send().await?).await?.json;
    for status in ["200", "400", "404", "409"] {
        let content = &description["paths"]["/v1/simulator/{id}"]["post"]["responses"][status]["content"];
        assert_eq!(member_names(content), ["text/html"], "{status}");
    }
    assert_result(&shop.get(&format!("v1/payments/{}", paid.id())).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn addresses_that_lead_elsewhere_than_they_say_are_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for name in ["shopperResultUrl", "notificationUrl"] {
        let long = format!("https://shop.example/{}", "a".repeat(2028));
        for address in [
            "http:",
            "javascript:alert(1)",
            "data:text/html,x",
            "//shop.example/back",
            "/back",
            "https://jane@shop.example/",
            "https://shop.example:443@evil.example/",
            r"https://shop.example\@evil.example/",
            "https://shop.example/\r\nSet-Cookie: x=1",
            "https://shop.example/\u{0}",
            "https://shop.example/ x",
            long.as_str(),
        ] {
            let fields = [("paymentBrand", "PAYPAL"), ("paymentType", "DB"), ("amount", "92.00"), ("currency", "EUR")];
            let paid = shop.post("v1/payments", &[&fields[..], &[(name, address)]].concat()).await?;
            assert!(paid.invalid_parameters().contains(&name), "{address:?}: {}", paid.text);
            assert_errors(&shop.create_checkout(&[(name, address)]).await?, &[name]);
        }
        let longest = format!("https://shop.example/{}", "a".repeat(2027));
        for address in ["http://a", "https://shop.example/@jane?x=a@b", longest.as_str()] {
            assert_result(&shop.create_checkout(&[(name, address)]).await?, 200, "000.200.100");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_names_the_way_back_to_the_merchants_own_pages_only() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop =
        gateway.create_merchant_with(&["--origin", "https://shop.example", "--origin", "http://localhost:8080"])?;
    let by_browser = async |address: &str| {
        let made = shop.create_checkout(&[]).await?;
        shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL"), ("shopperResultUrl", address)]).await
    };
    for address in ["https://shop.example/back", "http://localhost:8080/?x"] {
        assert_result(&by_browser(address).await?, 200, "000.200.000");
    }
    for address in ["https://evil.example/", "https://shop.example.evil.example/", "http://shop.example/"] {
        assert_errors(&by_browser(address).await?, &["shopperResultUrl"]);
    }
    // An address that the merchant's server sends needs no such check.
    let made = shop.create_checkout(&[("shopperResultUrl", "https://app.example/back")]).await?;
    submit_pending(&shop, made.id(), "PAYPAL").await?;
    Ok(())
}
