//! `ndc`, which merchants use to match webhooks to orders: its format in every response, and its value in a webhook,
//! which is that of the request that made the payment. The tests use a multi-threaded runtime, because commands block
//! the test while the receiver has to answer.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Method;
use serde_json::Value;
use tillgate_api::reference::{ROUTES, Route};
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form};

use crate::checkout::presence::CONCURRENT_REQUESTS;
use crate::delivery::webhooks::WebhookScene;
use crate::payment::asynchronous::{BACK, press_button, redirect_url};
use crate::registration::registrations::delete_registration;
use crate::support::*;

const DECLINED: (&str, &str) = ("card.number", "4200000000000001");
const PART: [(&str, &str); 2] = [("amount", "1.00"), ("currency", "EUR")];

fn response_ndc(answer: &ApiResponse) -> &str {
    answer.json["ndc"].as_str().unwrap_or_default()
}

/// Returns true if the text is the entity's id, an underscore and 32 hexadecimal digits, as for a server's request.
fn is_server_ndc(text: &str, entity: &str) -> bool {
    has_shape(text, &format!("{}_{}", "x".repeat(32), "x".repeat(32))) && text.starts_with(entity)
}

/// Kinds of callers, by their credentials.
const CALLERS: [&str; 4] = ["known", "wrong token", "no header", "unknown entity"];

/// Calls a route as one of [`CALLERS`]. Fields and `entityId` are in the body of a POST, otherwise in the query.
async fn call_route(
    shop: &MerchantClient,
    method: &str,
    path: &str,
    caller: &str,
    fields: &str,
) -> anyhow::Result<ApiResponse> {
    let entity = if caller == "unknown entity" { "0".repeat(32) } else { shop.entity_id.clone() };
    let fields = format!("{}&{fields}", encode_form([("entityId", entity.as_str())]));
    let method: Method = method.parse()?;
    let request = match method == Method::POST {
        true => {
            shop.bare_request(method, path).header("content-type", "application/x-www-form-urlencoded").body(fields)
        }
        false => shop.bare_request(method, &format!("{path}?{fields}")),
    };
    let request = match caller {
        "no header" => request,
        "wrong token" => request.bearer_auth("d3Jvbmd8dG9rZW4="),
        _ => request.bearer_auth(&shop.token),
    };
    ApiResponse::read_from(request.send().await?).await
}

/// Calls a route about a payment or a new checkout as one of [`CALLERS`], and asserts that an `ndc` of the response is
/// the checkout's id or one of the entity. Returns whether the response has one.
async fn check_ndc(
    shop: &MerchantClient,
    (route, payment): (&Route, &str),
    (caller, fields): (&str, &str),
) -> anyhow::Result<bool> {
    let of_checkout = route.path.starts_with("/v1/checkouts/{id}");
    let id = if of_checkout { shop.create_checkout(&[]).await?.id().to_owned() } else { payment.to_owned() };
    let path = route.path.replace("{id}", &id).replace("{registration}", &id).replace("{advance}", "1s");
    let path = path.replace("{build}", "0").replace("{*path}", "x");
    let answer = call_route(shop, route.method.as_str(), path.trim_start_matches('/'), caller, fields).await?;
    if answer.json["ndc"].is_null() {
        return Ok(false);
    }
    let told = response_ndc(&answer);
    let case = format!("{} {path} {caller} {fields}: {}", route.method.as_str(), answer.text);
    let fits = if of_checkout {
        told == id
    } else if answer.result_code() == "000.200.100" {
        told == answer.id()
    } else {
        // Until the caller is authenticated, there is no entity to name.
        is_server_ndc(told, &shop.entity_id) || has_shape(told, &"x".repeat(32))
    };
    assert!(fits, "{case}");
    // The entity of a request whose body is a file is in the query.
    let known = caller == "known" && route.scope.is_some() && !route.has_file && !fields.contains("%FF");
    assert!(!known || !has_shape(told, &"x".repeat(32)), "{case}");
    Ok(true)
}

#[tokio::test]
async fn every_answer_carries_its_checkouts_id_or_one_of_its_entity() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = &gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let cases = ROUTES.iter().flat_map(|route| {
        let fields = ["", "amount=x&merchantTransactionId=%01", "card.holder=%FF"];
        CALLERS.into_iter().flat_map(move |caller| fields.map(|fields| (route, (caller, fields))))
    });
    let checks = cases.map(|(route, request)| check_ndc(shop, (route, paid.id()), request));
    let seen: Vec<bool> = stream::iter(checks).buffer_unordered(CONCURRENT_REQUESTS).try_collect().await?;
    let seen = seen.into_iter().filter(|has_ndc| *has_ndc).count();
    assert!(seen > 200, "{seen}");
    Ok(())
}

#[tokio::test]
async fn what_is_no_checkouts_id_is_not_repeated_in_the_ndc() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let long = "A".repeat(4000);
    for id in ["x", "%3Cscript%3E", "4200000000000000", long.as_str(), "..", "%00"] {
        let path = format!("v1/checkouts/{id}/payment");
        let answers = [shop.get(&path).await?, shop.post_as_browser(&path, &CARD).await?];
        for (answer, of_server) in answers.iter().zip([true, false]) {
            let told = response_ndc(answer);
            let fits = if of_server { is_server_ndc(told, &shop.entity_id) } else { has_shape(told, &"x".repeat(32)) };
            assert!(fits || has_shape(told, &"x".repeat(32)), "{id}: {}", answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn two_requests_never_have_one_ndc_and_a_repeated_one_has_its_first() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (first, second) = (shop.pay_by_card(&[]).await?, shop.pay_by_card(&[]).await?);
    assert_ne!(response_ndc(&first), response_ndc(&second));
    let named = || async {
        let request = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token);
        let mut fields = vec![("entityId", shop.entity_id.as_str()), ("paymentType", "DB"), ("amount", "1.00")];
        fields.extend([("currency", "EUR")].iter().chain(&CARD));
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(encode_form(fields));
        ApiResponse::read_from(request.header("idempotency-key", "ndc").send().await?).await
    };
    let (made, again) = (named().await?, named().await?);
    assert_result(&made, 200, "000.100.110");
    assert_eq!(response_ndc(&made), response_ndc(&again));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_carries_the_ndc_of_the_answer_to_the_request_that_made_its_payment() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let shop = &scene.shop;
    let told = async |answer: &ApiResponse| -> anyhow::Result<()> {
        let payload = scene.expect_event("PAYMENT").await?;
        assert_eq!((&payload["id"], &payload["ndc"]), (&answer.json["id"], &answer.json["ndc"]), "{}", answer.text);
        assert!(is_server_ndc(response_ndc(answer), &shop.entity_id), "{}", answer.text);
        Ok(())
    };
    let reserved = shop.pay_by_card(&[("paymentType", "PA")]).await?;
    told(&reserved).await?;
    told(&shop.pay_by_card(&[DECLINED]).await?).await?;
    let mut seen = vec![response_ndc(&reserved).to_owned()];
    // Each follow-up payment has the value of its own request, on both routes.
    let path = format!("v1/payments/{}", reserved.id());
    let capture = shop.post(&path, &[&[("paymentType", "CP")][..], &PART].concat()).await?;
    told(&capture).await?;
    let named = [("paymentType", "CP"), ("referencedPaymentId", reserved.id())];
    let second = shop.post("v1/payments", &[&named[..], &PART].concat()).await?;
    told(&second).await?;
    let fields = [&[("paymentType", "RF")][..], &PART].concat();
    let refund = shop.post(&format!("v1/payments/{}", capture.id()), &fields).await?;
    told(&refund).await?;
    let late = shop.post(&path, &[("paymentType", "RV")]).await?;
    told(&late).await?;
    let paid = shop.pay_by_card(&[]).await?;
    told(&paid).await?;
    let reason = [("paymentType", "CB"), ("chargebackResultCode", "000.100.203")];
    let charged_back = shop.post(&format!("v1/payments/{}", paid.id()), &reason).await?;
    told(&charged_back).await?;
    seen.extend(
        [&capture, &second, &refund, &late, &paid, &charged_back].map(|answer| response_ndc(answer).to_owned()),
    );
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len(), "{seen:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn later_events_of_a_payment_carry_the_ndc_of_the_request_that_made_it() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let shop = &scene.shop;
    for button in ["success", "cancel", ""] {
        let pending = crate::payment::asynchronous::pay_by_brand(shop, "IDEAL", &[]).await?;
        assert_eq!(scene.expect_event("PAYMENT").await?["ndc"], pending.json["ndc"]);
        match button {
            "" => shop.advance_clock("30m").await?,
            button => drop(press_button(shop, &redirect_url(&pending), button).await?),
        }
        let ended = scene.expect_event("PAYMENT").await?;
        assert_eq!((&ended["id"], &ended["ndc"]), (&pending.json["id"], &pending.json["ndc"]));
    }
    // A replaced payment that succeeds late is reversed automatically. Both have the value of their checkout.
    let made = shop.create_checkout(&[BACK]).await?;
    let abandoned = shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    press_button(shop, &redirect_url(&abandoned), "success").await?;
    let mut kinds = Vec::new();
    for _ in 0..4 {
        let payload = scene.expect_event("PAYMENT").await?;
        assert_eq!(payload["ndc"], made.id(), "{payload}");
        kinds.push(payload["paymentType"].as_str().unwrap_or_default().to_owned());
    }
    assert!(kinds.contains(&"RV".to_owned()), "{kinds:?}");
    // A later refund by the merchant has the value of its own request.
    let status = shop.read_status(made.id()).await?;
    let refund = [&[("paymentType", "RF")][..], &PART].concat();
    let refund = shop.post(&format!("v1/payments/{}", status.id()), &refund).await?;
    let told = scene.expect_event("PAYMENT").await?;
    assert_eq!((&told["id"], &told["ndc"]), (&refund.json["id"], &refund.json["ndc"]));
    assert!(is_server_ndc(response_ndc(&refund), &shop.entity_id));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_of_a_checkout_is_told_under_the_checkouts_id() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let made = scene.shop.create_checkout(&[]).await?;
    for fields in [&[DECLINED][..], &[]] {
        let submitted = scene.shop.submit_card(made.id(), fields).await?;
        assert_eq!(response_ndc(&submitted), made.id());
        assert_eq!(scene.expect_event("PAYMENT").await?["ndc"], made.id());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_a_channel_takes_is_told_with_the_ndc_that_its_merchant_was_answered() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let (shop, gateway) = (&scene.shop, &scene.gateway);
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let by_merchant = shop.pay_by_card(&[]).await?;
    let told = scene.expect_event("PAYMENT").await?;
    assert_eq!(told["authentication"]["entityId"], channel.entity_id.as_str(), "{told}");
    assert_eq!(told["ndc"], by_merchant.json["ndc"]);
    assert!(is_server_ndc(response_ndc(&by_merchant), &shop.entity_id), "{}", by_merchant.text);
    let reversal = shop.post(&format!("v1/payments/{}", by_merchant.id()), &[("paymentType", "RV")]).await?;
    let told = scene.expect_event("PAYMENT").await?;
    assert_eq!((&told["ndc"], &told["paymentType"]), (&reversal.json["ndc"], &Value::from("RV")));
    assert!(is_server_ndc(response_ndc(&reversal), &shop.entity_id), "{}", reversal.text);
    let by_channel = channel.pay_by_card(&[]).await?;
    assert_eq!(scene.expect_event("PAYMENT").await?["ndc"], by_channel.json["ndc"]);
    assert!(is_server_ndc(response_ndc(&by_channel), &channel.entity_id), "{}", by_channel.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_is_told_with_the_ndc_of_the_request_that_made_kept_or_deleted_it() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&["--types", "registration"]).await?;
    let shop = &scene.shop;
    let told = async |what: &str, answer: &ApiResponse| -> anyhow::Result<()> {
        let payload = scene.expect_event(&format!("REGISTRATION {what}")).await?;
        assert_eq!(payload["ndc"], answer.json["ndc"], "{what} {}", answer.text);
        assert!(is_server_ndc(response_ndc(answer), &shop.entity_id), "{}", answer.text);
        Ok(())
    };
    let stored = shop.post("v1/registrations", &CARD).await?;
    told("CREATED", &stored).await?;
    let path = format!("v1/registrations/{}", stored.id());
    told("UPDATED", &shop.post(&format!("{path}/extendlife"), &[("job.durationNumber", "12")]).await?).await?;
    told("DELETED", &delete_registration(shop, stored.id()).await?).await?;
    // Registrations with a payment: at once, and after the shopper's return.
    let paid = shop.pay_by_card(&[("createRegistration", "true")]).await?;
    told("CREATED", &paid).await?;
    let (brand, account) = ("PAYPAL", ("virtualAccount.accountId", "jane@example.org"));
    let pending =
        crate::payment::asynchronous::pay_by_brand(shop, brand, &[("createRegistration", "true"), account]).await?;
    press_button(shop, &redirect_url(&pending), "success").await?;
    told("CREATED", &pending).await?;

    // In a checkout, every value is the checkout's id, even if the shopper deletes the registration.
    let opened = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    shop.post_as_browser(&format!("v1/checkouts/{}/registration", opened.id()), &CARD).await?;
    let payload = scene.expect_event("REGISTRATION CREATED").await?;
    assert_eq!(payload["ndc"], opened.id());
    let id = payload["id"].as_str().unwrap_or_default();
    let offered = [("registrations[0].id", id), ("registrationsDeletable", "true")];
    let made = shop.create_checkout(&offered).await?;
    let request = shop.bare_request(Method::DELETE, &format!("v1/checkouts/{}/registrations/{id}", made.id()));
    assert_eq!(request.send().await?.status(), 200);
    assert_eq!(scene.expect_event("REGISTRATION DELETED").await?["ndc"], made.id());
    Ok(())
}
