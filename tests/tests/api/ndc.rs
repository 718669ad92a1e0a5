//! `ndc`, by which merchants match webhooks to orders: its shape in every answer, and that a webhook carries that of the
//! request that made its payment. Commands block the test that waits for them, while the receiver has to answer: hence a
//! runtime of several threads.

use reqwest::Method;
use serde_json::Value;
use tillgate::api::docs::ROUTES;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, form};

use crate::asynchronous::{BACK, page, press};
use crate::registrations::delete;
use crate::support::*;
use crate::webhooks::Scene;

const DECLINED: (&str, &str) = ("card.number", "4200000000000001");
const PART: [(&str, &str); 2] = [("amount", "1.00"), ("currency", "EUR")];

fn ndc(answer: &Answer) -> &str {
    answer.json["ndc"].as_str().unwrap_or_default()
}

/// Returns true for what a server's request gets: its entity and 32 hexadecimal digits.
fn is_of_request(text: &str, entity: &str) -> bool {
    has_shape(text, &format!("{}_{}", "x".repeat(32), "x".repeat(32))) && text.starts_with(entity)
}

/// Callers, by what they send about themselves.
const CALLERS: [&str; 4] = ["known", "wrong token", "no header", "unknown entity"];

/// Asks a route, with fields in body or query.
async fn ask(shop: &Merchant, method: &str, path: &str, caller: &str, fields: &str) -> anyhow::Result<Answer> {
    let entity = if caller == "unknown entity" { "0".repeat(32) } else { shop.entity_id.clone() };
    let fields = format!("{}&{fields}", form([("entityId", entity.as_str())]));
    let method: Method = method.parse()?;
    let request = match method == Method::POST {
        true => shop.bare(method, path).header("content-type", "application/x-www-form-urlencoded").body(fields),
        false => shop.bare(method, &format!("{path}?{fields}")),
    };
    let request = match caller {
        "no header" => request,
        "wrong token" => request.bearer_auth("d3Jvbmd8dG9rZW4="),
        _ => request.bearer_auth(&shop.token),
    };
    Answer::read(request.send().await?).await
}

#[tokio::test]
async fn every_answer_carries_its_checkouts_id_or_one_of_its_entity() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let payment = shop.pay(&[]).await?;
    let mut seen = 0;
    for route in ROUTES {
        for caller in CALLERS {
            for fields in ["", "amount=x&merchantTransactionId=%01", "card.holder=%FF"] {
                let checkout = shop.checkout(&[]).await?;
                let of_checkout = route.path.starts_with("/v1/checkouts/{id}");
                let id = if of_checkout { checkout.id() } else { payment.id() };
                let path = route.path.replace("{id}", id).replace("{registration}", id).replace("{advance}", "1s");
                let path = path.replace("{build}", "0").replace("{*path}", "x");
                let answer = ask(&shop, route.method.as_str(), path.trim_start_matches('/'), caller, fields).await?;
                if answer.json["ndc"].is_null() {
                    continue;
                }
                let told = ndc(&answer);
                let case = format!("{} {path} {caller} {fields}: {}", route.method.as_str(), answer.text);
                let fits = if of_checkout {
                    told == checkout.id()
                } else if answer.code() == "000.200.100" {
                    told == answer.id()
                } else {
                    // Before it is known who asks there is no entity to name.
                    is_of_request(told, &shop.entity_id) || has_shape(told, &"x".repeat(32))
                };
                assert!(fits, "{case}");
                let known = caller == "known" && route.scope.is_some() && !fields.contains("%FF");
                assert!(!known || !has_shape(told, &"x".repeat(32)), "{case}");
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen}");
    Ok(())
}

#[tokio::test]
async fn what_is_no_checkouts_id_is_not_repeated_in_the_ndc() -> anyhow::Result<()> {
    let shop = shop();
    let long = "A".repeat(4000);
    for id in ["x", "%3Cscript%3E", "4200000000000000", long.as_str(), "..", "%00"] {
        let path = format!("v1/checkouts/{id}/payment");
        let answers = [shop.get(&path).await?, shop.post_as_browser(&path, &CARD).await?];
        for (answer, of_server) in answers.iter().zip([true, false]) {
            let told = ndc(answer);
            let fits = if of_server { is_of_request(told, &shop.entity_id) } else { has_shape(told, &"x".repeat(32)) };
            assert!(fits || has_shape(told, &"x".repeat(32)), "{id}: {}", answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn two_requests_never_have_one_ndc_and_a_repeated_one_has_its_first() -> anyhow::Result<()> {
    let shop = shop();
    let (first, second) = (shop.pay(&[]).await?, shop.pay(&[]).await?);
    assert_ne!(ndc(&first), ndc(&second));
    let named = || async {
        let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token);
        let mut fields = vec![("entityId", shop.entity_id.as_str()), ("paymentType", "DB"), ("amount", "1.00")];
        fields.extend([("currency", "EUR")].iter().chain(&CARD));
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form(fields));
        Answer::read(request.header("idempotency-key", "ndc").send().await?).await
    };
    let (made, again) = (named().await?, named().await?);
    assert_answer(&made, 200, "000.100.110");
    assert_eq!(ndc(&made), ndc(&again));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_carries_the_ndc_of_the_answer_to_the_request_that_made_its_payment() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    let shop = &scene.shop;
    let told = async |answer: &Answer| -> anyhow::Result<()> {
        let payload = scene.told("PAYMENT").await?;
        assert_eq!((&payload["id"], &payload["ndc"]), (&answer.json["id"], &answer.json["ndc"]), "{}", answer.text);
        assert!(is_of_request(ndc(answer), &shop.entity_id), "{}", answer.text);
        Ok(())
    };
    let reserved = shop.pay(&[("paymentType", "PA")]).await?;
    told(&reserved).await?;
    told(&shop.pay(&[DECLINED]).await?).await?;
    let mut seen = vec![ndc(&reserved).to_owned()];
    // Each follow-up payment has a request of its own, by whichever address it comes.
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
    let paid = shop.pay(&[]).await?;
    told(&paid).await?;
    let reason = [("paymentType", "CB"), ("chargebackResultCode", "000.100.203")];
    let charged_back = shop.post(&format!("v1/payments/{}", paid.id()), &reason).await?;
    told(&charged_back).await?;
    seen.extend([&capture, &second, &refund, &late, &paid, &charged_back].map(|answer| ndc(answer).to_owned()));
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len(), "{seen:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn later_events_of_a_payment_carry_the_ndc_of_the_request_that_made_it() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    let shop = &scene.shop;
    for button in ["success", "cancel", ""] {
        let pending = crate::asynchronous::pay(shop, "IDEAL", &[]).await?;
        assert_eq!(scene.told("PAYMENT").await?["ndc"], pending.json["ndc"]);
        match button {
            "" => shop.advance("30m").await?,
            button => drop(press(shop, &page(&pending), button).await?),
        }
        let ended = scene.told("PAYMENT").await?;
        assert_eq!((&ended["id"], &ended["ndc"]), (&pending.json["id"], &pending.json["ndc"]));
    }
    // A brand that was given up for another and succeeds late is reversed by itself: the order is found by its checkout.
    let made = shop.checkout(&[BACK]).await?;
    let abandoned = shop.submit(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    shop.submit(made.id(), &[]).await?;
    press(shop, &page(&abandoned), "success").await?;
    let mut kinds = Vec::new();
    for _ in 0..4 {
        let payload = scene.told("PAYMENT").await?;
        assert_eq!(payload["ndc"], made.id(), "{payload}");
        kinds.push(payload["paymentType"].as_str().unwrap_or_default().to_owned());
    }
    assert!(kinds.contains(&"RV".to_owned()), "{kinds:?}");
    // A refund that the merchant asks for afterwards has a request of its own.
    let status = shop.status(made.id()).await?;
    let refund = [&[("paymentType", "RF")][..], &PART].concat();
    let refund = shop.post(&format!("v1/payments/{}", status.id()), &refund).await?;
    let told = scene.told("PAYMENT").await?;
    assert_eq!((&told["id"], &told["ndc"]), (&refund.json["id"], &refund.json["ndc"]));
    assert!(is_of_request(ndc(&refund), &shop.entity_id));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_of_a_checkout_is_told_under_the_checkouts_id() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    let made = scene.shop.checkout(&[]).await?;
    for fields in [&[DECLINED][..], &[]] {
        let submitted = scene.shop.submit(made.id(), fields).await?;
        assert_eq!(ndc(&submitted), made.id());
        assert_eq!(scene.told("PAYMENT").await?["ndc"], made.id());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_a_channel_takes_is_told_with_the_ndc_that_its_merchant_was_answered() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    let (shop, gateway) = (&scene.shop, &scene.gateway);
    let channel = gateway.merchant_with(&["--merchant", &shop.entity_id])?;
    let by_merchant = shop.pay(&[]).await?;
    let told = scene.told("PAYMENT").await?;
    assert_eq!(told["authentication"]["entityId"], channel.entity_id.as_str(), "{told}");
    assert_eq!(told["ndc"], by_merchant.json["ndc"]);
    assert!(is_of_request(ndc(&by_merchant), &shop.entity_id), "{}", by_merchant.text);
    let reversal = shop.post(&format!("v1/payments/{}", by_merchant.id()), &[("paymentType", "RV")]).await?;
    let told = scene.told("PAYMENT").await?;
    assert_eq!((&told["ndc"], &told["paymentType"]), (&reversal.json["ndc"], &Value::from("RV")));
    assert!(is_of_request(ndc(&reversal), &shop.entity_id), "{}", reversal.text);
    let by_channel = channel.pay(&[]).await?;
    assert_eq!(scene.told("PAYMENT").await?["ndc"], by_channel.json["ndc"]);
    assert!(is_of_request(ndc(&by_channel), &channel.entity_id), "{}", by_channel.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_is_told_with_the_ndc_of_the_request_that_made_kept_or_deleted_it() -> anyhow::Result<()> {
    let scene = Scene::new(&["--types", "registration"]).await?;
    let shop = &scene.shop;
    let told = async |what: &str, answer: &Answer| -> anyhow::Result<()> {
        let payload = scene.told(&format!("REGISTRATION {what}")).await?;
        assert_eq!(payload["ndc"], answer.json["ndc"], "{what} {}", answer.text);
        assert!(is_of_request(ndc(answer), &shop.entity_id), "{}", answer.text);
        Ok(())
    };
    let stored = shop.post("v1/registrations", &CARD).await?;
    told("CREATED", &stored).await?;
    let path = format!("v1/registrations/{}", stored.id());
    told("UPDATED", &shop.post(&format!("{path}/extendlife"), &[("job.durationNumber", "12")]).await?).await?;
    told("DELETED", &delete(shop, stored.id()).await?).await?;
    // With a payment, at once and when its shopper has come back.
    let paid = shop.pay(&[("createRegistration", "true")]).await?;
    told("CREATED", &paid).await?;
    let (brand, account) = ("PAYPAL", ("virtualAccount.accountId", "jane@example.org"));
    let pending = crate::asynchronous::pay(shop, brand, &[("createRegistration", "true"), account]).await?;
    press(shop, &page(&pending), "success").await?;
    told("CREATED", &pending).await?;

    // In a checkout all of it has the checkout's id, also what the shopper deletes there.
    let opened = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    shop.post_as_browser(&format!("v1/checkouts/{}/registration", opened.id()), &CARD).await?;
    let payload = scene.told("REGISTRATION CREATED").await?;
    assert_eq!(payload["ndc"], opened.id());
    let id = payload["id"].as_str().unwrap_or_default();
    let offered = [("registrations[0].id", id), ("registrationsDeletable", "true")];
    let made = shop.checkout(&offered).await?;
    let request = shop.bare(Method::DELETE, &format!("v1/checkouts/{}/registrations/{id}", made.id()));
    assert_eq!(request.send().await?.status(), 200);
    assert_eq!(scene.told("REGISTRATION DELETED").await?["ndc"], made.id());
    Ok(())
}
