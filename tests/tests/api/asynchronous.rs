//! Payments that get their answer later: where the browser is sent, how the payment ends there, and how the shop and the form
//! that waits learn of it.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tillgate_tests::{Answer, Gateway, Merchant, form};
use tokio::task::JoinSet;

use crate::frame_document::configuration;
use crate::support::*;

pub const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/back?basket=7#top");

/// What can be answered on the page, and what comes of it: code, HTTP status for the shop, what the form is told.
const ANSWERS: [(&str, &str, u16, &str); 4] = [
    ("success", "000.100.110", 200, "PAID"),
    ("cancel", "100.396.101", 400, "OPEN"),
    ("close", "100.396.104", 400, "OPEN"),
    ("later", "000.200.000", 200, "PENDING"),
];

/// Where a checkout stands, as the shopper's browser is told.
async fn state(shop: &Merchant, checkout: &str) -> anyhow::Result<String> {
    let path = format!("v1/checkouts/{checkout}/state");
    let answer = Answer::read(shop.bare(Method::GET, &path).send().await?).await?;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_envelope(&answer);
    assert_eq!(keys(&answer.json), ["id", "checkoutState", "buildNumber", "timestamp", "ndc"]);
    assert_eq!(answer.id(), checkout);
    Ok(answer.json["checkoutState"].as_str().unwrap_or_default().to_owned())
}

/// The page that an answer sends the shopper to.
pub fn page(answer: &Answer) -> String {
    answer.json["redirect"]["url"].as_str().unwrap_or_default().to_owned()
}

/// Presses a button of a page.
pub async fn press(shop: &Merchant, page: &str, button: &str) -> anyhow::Result<Response> {
    let request = shop.client.post(page).header("content-type", "application/x-www-form-urlencoded");
    Ok(request.body(form([("answer", button)])).send().await?)
}

/// Submits a brand in a checkout, which has to be pending then. Returns its page.
async fn submit(shop: &Merchant, checkout: &str, brand: &str) -> anyhow::Result<String> {
    let submitted = shop.submit(checkout, &[("paymentBrand", brand)]).await?;
    assert_answer(&submitted, 200, "000.200.000");
    Ok(page(&submitted))
}

/// Pays with a brand, server to server.
pub async fn pay(shop: &Merchant, brand: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let basic = [("amount", "92.00"), ("currency", "EUR"), ("paymentBrand", brand), BACK];
    let kind = [("paymentType", "DB")];
    let usual = kind.iter().filter(|_| !fields.iter().any(|(name, _)| *name == "paymentType"));
    let fields: Vec<_> = basic.iter().chain(usual).chain(fields).copied().collect();
    let paid = shop.post("v1/payments", &fields).await?;
    assert_answer(&paid, 200, "000.200.000");
    Ok(paid)
}

/// A page's text, with the address of the shop that it leads to.
async fn read(response: Response, status: u16) -> anyhow::Result<String> {
    let found = response.status().as_u16();
    let text = response.text().await?;
    assert_eq!(found, status, "{text}");
    Ok(text)
}

/// The way back to the shop, as it stands in a page.
fn way_back(id: &str, path: &str) -> String {
    format!("https://shop.example/back?basket=7&amp;id={id}&amp;resourcePath={}#top", path.replace('/', "%2F"))
}

/// What belongs together with a payment, as the shop finds it: type, code and what it refers to.
async fn linked(shop: &Merchant, payment: &str) -> anyhow::Result<Vec<(String, String, Value)>> {
    let found = shop.get(&format!("v1/query/{payment}?includeLinkedTransactions=true")).await?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry =
        |entry: &Value| (text(&entry["paymentType"]), text(&entry["result"]["code"]), entry["referencedId"].clone());
    Ok(found.json["payments"].as_array().into_iter().flatten().map(entry).collect())
}

/// Charges of a checkout that stay: they succeeded, and nothing took them back.
fn staying(gateway: &Gateway, checkout: &str) -> anyhow::Result<usize> {
    let database = database(gateway)?;
    let mut taken_back = database
        .prepare("SELECT EXISTS (SELECT 1 FROM payment_link WHERE referenced = ?1 AND type = 'RV' AND approved)")?;
    let mut staying = 0;
    for payment in stored_payments(gateway, checkout)? {
        let gone: bool = taken_back.query_row([payment["id"].as_str()], |row| row.get(0))?;
        staying += usize::from(payment["result"] == "000.100.110" && !gone);
    }
    Ok(staying)
}

#[tokio::test]
async fn the_form_knows_before_and_after_the_submit_in_which_window_a_brand_opens() -> anyhow::Result<()> {
    let shop = shop();
    for (brand, flow, code) in
        [("VISA", "now", "000.000.100"), ("IDEAL", "redirect", "000.200.000"), ("PAYPAL", "popup", "000.200.000")]
    {
        let made = shop.checkout(&[BACK]).await?;
        let config = configuration(&shop, made.id(), brand).await?;
        assert_eq!(config["brands"][brand]["flow"], flow);
        let submitted = shop.submit(made.id(), &[("paymentBrand", brand)]).await?;
        assert_answer(&submitted, 200, code);
        let names = ["result", "id", "resourcePath", "flow", "redirect", "buildNumber", "timestamp", "ndc"];
        assert_eq!(keys(&submitted.json), names);
        assert_eq!(submitted.json["flow"], flow);
    }
    Ok(())
}

#[tokio::test]
async fn the_browser_is_told_where_a_checkout_stands_and_nothing_else() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    assert_eq!(state(&shop, made.id()).await?, "OPEN");
    shop.submit(made.id(), &[("card.expiryYear", "2001")]).await?;
    assert_eq!(state(&shop, made.id()).await?, "OPEN");
    shop.submit(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    assert_eq!(state(&shop, made.id()).await?, "PENDING");
    let paid = shop.checkout(&[]).await?;
    shop.submit(paid.id(), &[]).await?;
    assert_eq!(state(&shop, paid.id()).await?, "PAID");
    let stored = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    assert_eq!(state(&shop, stored.id()).await?, "OPEN");
    shop.post_as_browser(&format!("v1/checkouts/{}/registration", stored.id()), &tillgate_tests::CARD).await?;
    assert_eq!(state(&shop, stored.id()).await?, "REGISTERED");
    for unknown in ["0".repeat(32) + ".x", "x".to_owned(), "%00".to_owned()] {
        let path = format!("v1/checkouts/{unknown}/state");
        let answer = Answer::read(shop.bare(Method::GET, &path).send().await?).await?;
        assert_answer(&answer, 404, "200.300.404");
        assert_eq!(answer.json["checkoutState"], json!(null));
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_on_the_page_decides_a_checkouts_payment_and_leads_back_to_the_shop() -> anyhow::Result<()> {
    let shop = shop();
    for brand in ["IDEAL", "PAYPAL"] {
        for (button, code, status, stands) in ANSWERS {
            let made = shop.checkout(&[BACK]).await?;
            let page = submit(&shop, made.id(), brand).await?;
            assert_answer(&shop.status(made.id()).await?, 200, "000.200.000");
            let left = read(press(&shop, &page, button).await?, 200).await?;
            let back = way_back(made.id(), &format!("/v1/checkouts/{}/payment", made.id()));
            assert!(left.contains(&format!(r#"<a href="{back}">Back to shop.example</a>"#)), "{left}");
            // Without a script the page goes on by itself; a popup's script closes it first.
            let refresh = format!(r#"<meta http-equiv="refresh" content="0;url={back}">"#);
            let leave = match brand {
                "PAYPAL" => format!(r#"<noscript>{refresh}</noscript><script src="../simulator.js" defer></script>"#),
                _ => refresh,
            };
            assert!(left.contains(&leave), "{left}");
            let told = shop.status(made.id()).await?;
            assert_answer(&told, status, code);
            assert_eq!(told.json["checkoutState"], stands, "{}", told.text);
            assert_eq!(told.json["redirect"].is_null(), button != "later", "{}", told.text);
            let acquirer = if button == "success" { json!("00") } else { Value::Null };
            assert_eq!(told.json["resultDetails"]["AcquirerResponse"], acquirer);
            assert_eq!(state(&shop, made.id()).await?, stands);
            let payment = shop.get(&format!("v1/payments/{}", told.id())).await?;
            assert_answer(&payment, status, code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_on_the_page_decides_a_payment_server_to_server_and_leads_back_to_the_shop() -> anyhow::Result<()>
{
    let shop = shop();
    for brand in ["IDEAL", "PAYPAL"] {
        for (button, code, status, _) in ANSWERS {
            let paid = pay(&shop, brand, &[]).await?;
            let left = read(press(&shop, &page(&paid), button).await?, 200).await?;
            let path = format!("/v1/payments/{}", paid.id());
            let refresh = format!(r#"<meta http-equiv="refresh" content="0;url={}">"#, way_back(paid.id(), &path));
            assert!(left.contains(&refresh) && !left.contains("<script"), "{left}");
            let told = shop.get(path.trim_start_matches('/')).await?;
            assert_answer(&told, status, code);
            assert_eq!(told.json["redirect"].is_null(), button != "later", "{}", told.text);
            // A decline shows no amount.
            assert_eq!(told.json["amount"].is_null(), status == 400, "{}", told.text);
            let found = shop.get(&format!("v1/query/{}", paid.id())).await?;
            assert_eq!(found.code(), code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_account_that_has_paid_nothing_in_the_end_is_not_kept() -> anyhow::Result<()> {
    let shop = shop();
    for (button, _, status, _) in ANSWERS {
        let paid = pay(&shop, "GIROPAY", &[("bankAccount.iban", "DE14940593100000012346")]).await?;
        let kept = || -> anyhow::Result<u32> {
            let query = "SELECT count(*) FROM card WHERE payment = ?1";
            Ok(database(Gateway::shared())?.query_row(query, [paid.id()], |row| row.get(0))?)
        };
        assert_eq!(kept()?, 1);
        read(press(&shop, &page(&paid), button).await?, 200).await?;
        assert_eq!(kept()?, u32::from(status == 200), "{button}");
    }
    Ok(())
}

#[tokio::test]
async fn who_decides_later_comes_back_and_decides() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let page = submit(&shop, made.id(), "IDEAL").await?;
    let left = read(press(&shop, &page, "later").await?, 200).await?;
    assert!(left.contains("This payment waits for you"), "{left}");
    let again = read(shop.client.get(&page).send().await?, 200).await?;
    assert!(again.contains("Pay 92.00 EUR with iDEAL"), "{again}");
    read(press(&shop, &page, "success").await?, 200).await?;
    assert_answer(&shop.status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_answer_given_twice_counts_once_and_another_one_is_refused_politely() -> anyhow::Result<()> {
    let shop = shop();
    for (first, code, status, _) in &ANSWERS[..3] {
        let made = shop.checkout(&[BACK]).await?;
        let page = submit(&shop, made.id(), "PAYPAL").await?;
        read(press(&shop, &page, first).await?, 200).await?;
        let told = shop.status(made.id()).await?;
        assert_answer(&told, *status, code);
        for second in ["success", "cancel", "close", "later", "nonsense"] {
            let expected = if second == *first { 200 } else { 409 };
            let text = read(press(&shop, &page, second).await?, expected).await?;
            assert_eq!(text.contains("This payment has ended already"), expected == 409, "{text}");
            assert_eq!(text.contains("refresh"), expected == 200, "{text}");
            assert!(text.contains("Back to shop.example"), "{text}");
            assert_eq!(outcome(&shop.status(made.id()).await?), outcome(&told), "{first}, {second}");
        }
        // Who comes back to the page is led to the shop.
        let again = read(shop.client.get(&page).send().await?, 200).await?;
        assert!(!again.contains("<button") && again.contains("Back to shop.example"), "{again}");
    }
    Ok(())
}

#[tokio::test]
async fn what_the_shopper_was_told_survives_a_power_cut() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let (paid, cancelled) = (shop.checkout(&[BACK]).await?, shop.checkout(&[BACK]).await?);
    read(press(&shop, &submit(&shop, paid.id(), "IDEAL").await?, "success").await?, 200).await?;
    read(press(&shop, &submit(&shop, cancelled.id(), "IDEAL").await?, "cancel").await?, 200).await?;
    let gateway = gateway.restart(&[])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&shop.status(paid.id()).await?, 200, "000.100.110");
    assert_answer(&shop.status(cancelled.id()).await?, 400, "100.396.101");
    Ok(())
}

#[tokio::test]
async fn after_a_cancelled_or_closed_payment_the_shopper_pays_with_the_same_brand_or_another() -> anyhow::Result<()> {
    let shop = shop();
    for button in ["cancel", "close"] {
        for next in ["PAYPAL", "IDEAL", "VISA"] {
            let made = shop.checkout(&[BACK]).await?;
            let first = submit(&shop, made.id(), "PAYPAL").await?;
            read(press(&shop, &first, button).await?, 200).await?;
            if next == "VISA" {
                assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
            } else {
                let second = submit(&shop, made.id(), next).await?;
                assert_ne!(first, second);
                read(press(&shop, &second, "success").await?, 200).await?;
            }
            let told = shop.status(made.id()).await?;
            assert_answer(&told, 200, "000.100.110");
            assert_eq!(told.json["paymentBrand"], next);
            assert_eq!(stored_payments(Gateway::shared(), made.id())?.len(), 2);
            // The page of the first tells how that one ended.
            read(press(&shop, &first, "success").await?, 409).await?;
            assert_eq!(staying(Gateway::shared(), made.id())?, 1);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_brand_that_was_abandoned_for_another_and_succeeds_late_is_reversed_by_itself() -> anyhow::Result<()> {
    let shop = shop();
    for (kind, brand) in [("DB", "VISA"), ("PA", "VISA"), ("DB", "IDEAL"), ("PA", "IDEAL")] {
        let made = shop.checkout(&[BACK, ("paymentType", kind)]).await?;
        let abandoned = submit(&shop, made.id(), "PAYPAL").await?;
        let first = shop.status(made.id()).await?.id().to_owned();
        // The next brand takes its place while it is pending; a card is paid at once, another brand on its page.
        if brand == "VISA" {
            assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
        } else {
            let page = submit(&shop, made.id(), brand).await?;
            read(press(&shop, &page, "success").await?, 200).await?;
        }
        let told = shop.status(made.id()).await?;
        assert_answer(&told, 200, "000.100.110");
        assert_eq!(told.json["paymentBrand"], brand);
        let late = read(press(&shop, &abandoned, "success").await?, 200).await?;
        assert!(late.contains("This payment is given back") && late.contains("given back by itself"), "{late}");
        let reversed = shop.get(&format!("v1/payments/{first}")).await?;
        assert_answer(&reversed, 200, "000.100.110");
        assert_eq!(reversed.json["state"], "REVERSED", "{}", reversed.text);
        let chain = linked(&shop, &first).await?;
        let success = "000.100.110".to_owned();
        let expected = [(kind.to_owned(), success.clone(), Value::Null), ("RV".to_owned(), success, json!(first))];
        assert_eq!(chain, expected);
        // Saying it twice takes it back once, and the checkout keeps what paid it.
        read(press(&shop, &abandoned, "success").await?, 200).await?;
        assert_eq!(linked(&shop, &first).await?.len(), 2);
        assert_eq!(outcome(&shop.status(made.id()).await?), outcome(&told));
        assert_eq!(staying(Gateway::shared(), made.id())?, 1);
    }
    Ok(())
}

#[tokio::test]
async fn an_abandoned_payment_neither_pays_its_checkout_nor_opens_it_again() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let first = submit(&shop, made.id(), "PAYPAL").await?;
    let second = submit(&shop, made.id(), "IDEAL").await?;
    let third = submit(&shop, made.id(), "ALIPAY").await?;
    // The same brand as the pending one is the same question.
    assert_eq!(submit(&shop, made.id(), "ALIPAY").await?, third);
    assert_ne!(submit(&shop, made.id(), "PAYPAL").await?, first);
    let fifth = submit(&shop, made.id(), "ALIPAY").await?;
    for (page, button) in [(&first, "success"), (&second, "cancel"), (&third, "close")] {
        read(press(&shop, page, button).await?, 200).await?;
        assert_eq!(state(&shop, made.id()).await?, "PENDING");
        assert_eq!(staying(Gateway::shared(), made.id())?, 0);
    }
    read(press(&shop, &fifth, "success").await?, 200).await?;
    assert_eq!(state(&shop, made.id()).await?, "PAID");
    assert_eq!(staying(Gateway::shared(), made.id())?, 1);
    Ok(())
}

#[tokio::test]
async fn what_is_refused_abandons_nothing() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let page = submit(&shop, made.id(), "PAYPAL").await?;
    let refused = shop.submit(made.id(), &[("card.expiryMonth", "13")]).await?;
    assert_answer(&refused, 400, "200.300.404");
    assert_answer(&shop.submit(made.id(), &[("paymentBrand", "NOBODY")]).await?, 400, "200.300.404");
    read(press(&shop, &page, "success").await?, 200).await?;
    assert_answer(&shop.status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn of_fifty_submits_and_answers_at_once_one_charge_stays() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = shop();
    for round in 0..4 {
        let made = shop.checkout(&[BACK]).await?;
        let brands = ["PAYPAL", "IDEAL", "ALIPAY", "GIROPAY", "VISA"];
        let mut shoppers = JoinSet::new();
        for number in 0..50 {
            let (shop, checkout) = (shop.clone(), made.id().to_owned());
            // Two rounds without a card, in which nothing is paid at once, and two with some.
            let brand = brands[(number + round) % if round % 2 == 0 { 4 } else { 5 }];
            shoppers.spawn(async move {
                let submitted = shop.submit(&checkout, &[("paymentBrand", brand)]).await?;
                assert_eq!(submitted.status, 200, "{}", submitted.text);
                if submitted.json["flow"] == "now" {
                    return anyhow::Ok(None);
                }
                let page = page(&submitted);
                let button = ["success", "later", "cancel"][number % 3];
                let status = press(&shop, &page, button).await?.status().as_u16();
                assert!(matches!(status, 200 | 409), "{status}");
                Ok(Some(page))
            });
        }
        let pages: Vec<_> = shoppers.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
        assert!(staying(gateway, made.id())? <= 1);
        // Whatever is still pending succeeds now.
        for page in pages.into_iter().flatten() {
            press(&shop, &page, "success").await?;
        }
        let paid = state(&shop, made.id()).await? == "PAID";
        assert_eq!(staying(gateway, made.id())?, usize::from(paid));
        let told = shop.status(made.id()).await?;
        assert_eq!(told.code() == "000.100.110", paid, "{}", told.text);
        if !paid {
            // The last attempt was cancelled: the checkout takes another.
            assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
            assert_eq!(staying(gateway, made.id())?, 1);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_pending_payment_can_be_answered_after_the_half_hour_and_not_be_replaced() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let (paid, cancelled) = (shop.checkout(&[BACK]).await?, shop.checkout(&[BACK]).await?);
    let pages = [submit(&shop, paid.id(), "PAYPAL").await?, submit(&shop, cancelled.id(), "PAYPAL").await?];
    let gateway = gateway
        .restart_after(&[], |data| [paid.id(), cancelled.id()].iter().try_for_each(|id| set_back(data, id, 31 * 60)))?;
    let pages = pages.map(|page| page.replace(&shop.base, &gateway.base()));
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    for made in [&paid, &cancelled] {
        assert_eq!(state(&shop, made.id()).await?, "PENDING");
        // Another brand comes too late, and finds the one that is under way.
        let submitted = shop.submit(made.id(), &[]).await?;
        assert_answer(&submitted, 200, "000.200.000");
    }
    read(press(&shop, &pages[0], "success").await?, 200).await?;
    read(press(&shop, &pages[1], "cancel").await?, 200).await?;
    assert_answer(&shop.status(paid.id()).await?, 200, "000.100.110");
    assert_eq!(state(&shop, paid.id()).await?, "PAID");
    assert_answer(&shop.status(cancelled.id()).await?, 400, "100.396.101");
    assert_eq!(state(&shop, cancelled.id()).await?, "EXPIRED");
    assert_answer(&shop.submit(cancelled.id(), &[]).await?, 400, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn nothing_may_refer_to_a_payment_before_it_has_its_answer() -> anyhow::Result<()> {
    let shop = shop();
    let part = [("amount", "40.00"), ("currency", "EUR")];
    for (kind, follows) in [("PA", "CP"), ("DB", "RF")] {
        for (button, code) in
            [("success", "000.100.110"), ("cancel", if kind == "PA" { "700.400.510" } else { "700.400.520" })]
        {
            let paid = pay(&shop, "IDEAL", &[("paymentType", kind)]).await?;
            let path = format!("v1/payments/{}", paid.id());
            for early in ["CP", "RF", "CB"] {
                let reason = [("chargebackResultCode", "000.100.203")];
                let reason = reason.iter().filter(|_| early == "CB");
                let fields: Vec<_> = [("paymentType", early)].iter().chain(&part).chain(reason).copied().collect();
                let refused = shop.post(&path, &fields).await?;
                assert_answer(&refused, 400, "700.400.570");
            }
            assert_answer(&shop.post(&path, &[("paymentType", "RV")]).await?, 400, "700.400.570");
            read(press(&shop, &page(&paid), button).await?, 200).await?;
            let followed = shop.post(&path, &[&[("paymentType", follows)], &part[..]].concat()).await?;
            assert_answer(&followed, if button == "success" { 200 } else { 400 }, code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_channels_payment_is_decided_for_its_merchants_checkout() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let merchant = gateway.merchant()?;
    let channel = gateway.merchant_with(&["--merchant", &merchant.entity_id])?;
    let made = merchant.checkout(&[BACK]).await?;
    let abandoned = submit(&merchant, made.id(), "PAYPAL").await?;
    let first = merchant.status(made.id()).await?.id().to_owned();
    let page = submit(&merchant, made.id(), "IDEAL").await?;
    read(press(&merchant, &page, "success").await?, 200).await?;
    read(press(&merchant, &abandoned, "success").await?, 200).await?;
    let told = merchant.status(made.id()).await?;
    assert_answer(&told, 200, "000.100.110");
    assert_eq!(told.json["paymentBrand"], "IDEAL");
    for shop in [&merchant, &channel] {
        assert_eq!(shop.get(&format!("v1/payments/{first}")).await?.json["state"], "REVERSED");
    }
    Ok(())
}

#[tokio::test]
async fn an_order_that_is_paid_once_may_change_its_brand() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant_with(&["--refuse-duplicates"])?;
    let order = ("merchantTransactionId", "order-once-4711");
    let made = shop.checkout(&[BACK, order]).await?;
    let abandoned = submit(&shop, made.id(), "PAYPAL").await?;
    // Elsewhere the order is under way.
    assert_answer(&shop.pay(&[order]).await?, 400, "800.110.100");
    let second = submit(&shop, made.id(), "IDEAL").await?;
    read(press(&shop, &abandoned, "success").await?, 200).await?;
    read(press(&shop, &second, "cancel").await?, 200).await?;
    // What was taken back has paid nothing.
    assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
    assert_answer(&shop.status(made.id()).await?, 200, "000.100.110");
    assert_answer(&shop.pay(&[order]).await?, 400, "800.110.100");
    Ok(())
}

#[tokio::test]
async fn the_page_says_what_is_paid_to_whom_and_works_without_scripts() -> anyhow::Result<()> {
    let shop = shop();
    let fields =
        [("merchantTransactionId", "order-4711"), ("shopperResultUrl", r#"https://shop.example/"><script>'&x=1"#)];
    let made = shop.checkout(&fields).await?;
    let page = submit(&shop, made.id(), "PAYPAL").await?;
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
    let text = read(shown, 200).await?;
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
    let transfer = read(shop.client.get(self::page(&pay(&shop, "PREPAYMENT", &[]).await?)).send().await?, 200).await?;
    assert!(transfer.contains("<dt>Account</dt><dd>Tillgate Simulator<br>DE23100000001234567890<br>"), "{transfer}");
    assert!(!text.contains("script") && !text.contains("shop.example"), "{text}");
    // What the shop's address holds is nothing but an address.
    let left = read(press(&shop, &page, "cancel").await?, 200).await?;
    assert!(left.contains("https://shop.example/&quot;&gt;&lt;script&gt;"), "{left}");
    let script = shop.bare(Method::GET, "v1/simulator.js").send().await?;
    assert_eq!(script.headers()["content-type"], "text/javascript; charset=utf-8");
    assert!(read(script, 200).await?.contains("close()"));
    Ok(())
}

#[tokio::test]
async fn a_page_is_found_by_its_own_address_alone() -> anyhow::Result<()> {
    let shop = shop();
    let (paid, card) = (pay(&shop, "PAYPAL", &[]).await?, shop.pay(&[]).await?);
    let own = page(&paid).rsplit('/').next().unwrap_or_default().to_owned();
    let other = format!("{}{}", &own[..43], if own.ends_with('0') { "1" } else { "0" });
    for id in [card.id(), paid.id(), &other, &own.to_uppercase(), "8a0123456789abcdef0123456789abcd", "x", "%00"] {
        let address = format!("{}v1/simulator/{id}", shop.base);
        for response in [shop.client.get(&address).send().await?, press(&shop, &address, "success").await?] {
            assert!(read(response, 404).await?.contains("There is no payment here"), "{id}");
        }
    }
    assert_answer(&shop.get(&format!("v1/payments/{}", paid.id())).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_read_as_an_answer_decides_nothing() -> anyhow::Result<()> {
    let shop = shop();
    let paid = pay(&shop, "PAYPAL", &[]).await?;
    let page = page(&paid);
    let post = |kind: &'static str, body: &'static str| shop.client.post(&page).header("content-type", kind).body(body);
    for (kind, body, status) in [
        ("application/x-www-form-urlencoded", "", 200),
        ("application/x-www-form-urlencoded", "answer=SUCCESS", 200),
        ("application/x-www-form-urlencoded", "answer=%ff", 400),
        ("application/json", r#"{"answer":"success"}"#, 400),
    ] {
        let text = read(post(kind, body).send().await?, status).await?;
        assert_eq!(text.contains("Pay 92.00 EUR with PayPal"), status == 200, "{text}");
    }
    // All of them are pages, and the document says so.
    let description = Answer::read(shop.bare(Method::GET, "openapi.json").send().await?).await?.json;
    for status in ["200", "400", "404", "409"] {
        let content = &description["paths"]["/v1/simulator/{id}"]["post"]["responses"][status]["content"];
        assert_eq!(keys(content), ["text/html"], "{status}");
    }
    assert_answer(&shop.get(&format!("v1/payments/{}", paid.id())).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn addresses_that_lead_elsewhere_than_they_say_are_refused() -> anyhow::Result<()> {
    let shop = shop();
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
            assert!(paid.errors().contains(&name), "{address:?}: {}", paid.text);
            assert_errors(&shop.checkout(&[(name, address)]).await?, &[name]);
        }
        let longest = format!("https://shop.example/{}", "a".repeat(2027));
        for address in ["http://a", "https://shop.example/@jane?x=a@b", longest.as_str()] {
            assert_answer(&shop.checkout(&[(name, address)]).await?, 200, "000.200.100");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_names_the_way_back_to_the_merchants_own_pages_only() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant_with(&["--origin", "https://shop.example", "--origin", "http://localhost:8080"])?;
    let by_browser = async |address: &str| {
        let made = shop.checkout(&[]).await?;
        shop.submit(made.id(), &[("paymentBrand", "PAYPAL"), ("shopperResultUrl", address)]).await
    };
    for address in ["https://shop.example/back", "http://localhost:8080/?x"] {
        assert_answer(&by_browser(address).await?, 200, "000.200.000");
    }
    for address in ["https://evil.example/", "https://shop.example.evil.example/", "http://shop.example/"] {
        assert_errors(&by_browser(address).await?, &["shopperResultUrl"]);
    }
    // The merchant's own word needs no such check.
    let made = shop.checkout(&[("shopperResultUrl", "https://app.example/back")]).await?;
    submit(&shop, made.id(), "PAYPAL").await?;
    Ok(())
}
