//! Repeated parameters in the compatibility mode: the last value counts, unless it changes who pays what to whom.

use anyhow::Context as _;
use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{ApiResponse, CARD, PATIENCE, TestGateway, encode_form};

use crate::request::compatibility::{FORM, NAMES, ORDER, compatible_shop, pay_by_card, post_unchanged};
use crate::support::*;

#[tokio::test]
async fn the_last_of_two_values_counts_everywhere_and_the_first_nowhere() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let twice = [
        ("merchantTransactionId", "order-first-4711"),
        ("customParameters[shop]", "first"),
        ("merchantTransactionId", "order-last-4711"),
        ("customParameters[shop]", "last"),
        ("card.holder", "First Holder"),
        ("card.holder", "Last Holder"),
    ];
    let paid = pay_by_card(&shop, &twice).await?;
    assert_result(&paid, 200, "000.100.110");
    let shown = |answer: &ApiResponse| {
        let json = &answer.json;
        let card = json["card"]["holder"].clone();
        [json["merchantTransactionId"].clone(), json["customParameters"]["shop"].clone(), card]
            .map(|value| value.to_string())
    };
    let last = ["\"order-last-4711\"", "\"last\"", "\"Last Holder\""].map(str::to_owned);
    assert_eq!(shown(&paid), last);
    assert_eq!(shown(&shop.get(&format!("v1/payments/{}", paid.id())).await?), last);
    assert_result(&shop.get("v1/query?merchantTransactionId=order-first-4711").await?, 404, "700.400.580");
    assert_eq!(shop.get("v1/query?merchantTransactionId=order-last-4711").await?.json["payments"][0]["id"], paid.id());
    let log = TestGateway::shared().read_log();
    assert!(!log.contains("order-first-4711") && !log.contains("First Holder"));
    // The same applies to a checkout, and to unknown parameters.
    let made =
        post_unchanged(&shop, "v1/checkouts", &[&ORDER[..], &twice, &[("foo", "1"), ("foo", "2")]].concat()).await?;
    assert_result(&made, 200, "000.200.100");
    shop.submit_card(made.id(), &[("card.holder", "Last Holder")]).await?;
    assert_eq!(shown(&shop.read_status(made.id()).await?), last);
    // The last value is validated.
    assert_errors(
        &pay_by_card(&shop, &[NAMES[0], NAMES[1], ("customer.sex", "M"), ("customer.sex", "X")]).await?,
        &["customer.sex"],
    );
    let good = pay_by_card(&shop, &[NAMES[0], NAMES[1], ("customer.sex", "X"), ("customer.sex", "M")]).await?;
    assert_result(&good, 200, "000.100.110");
    // Without the mode, each of them is refused by name.
    for pair in twice {
        assert_errors(
            &pay_by_card(&crate::support::sandbox_shop(), &[pair, (pair.0, "another value")]).await?,
            &[pair.0],
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_idempotency_key_takes_a_request_for_what_its_last_values_say() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let send = async |fields: &[(&str, &str)]| -> anyhow::Result<ApiResponse> {
        let all = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD, fields].concat();
        let request =
            shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
        ApiResponse::read_from(request.header("idempotency-key", "last-values").body(encode_form(all)).send().await?)
            .await
    };
    let one = send(&[("merchantMemo", "first memo"), ("merchantMemo", "last memo")]).await?;
    assert_result(&one, 200, "000.100.110");
    for same in [&[("merchantMemo", "last memo")][..], &[("merchantMemo", "other memo"), ("merchantMemo", "last memo")]]
    {
        let again = send(same).await?;
        assert_eq!((again.id(), &again.headers["idempotent-replayed"]), (one.id(), &"true".parse()?), "{same:?}");
    }
    let other = send(&[("merchantMemo", "last memo"), ("merchantMemo", "first memo")]).await?;
    assert_eq!(other.status, 400, "{}", other.text);
    Ok(())
}

#[tokio::test]
async fn two_values_that_leave_open_who_pays_what_to_whom_are_refused_in_either_mode() -> anyhow::Result<()> {
    let id = "8".repeat(32);
    for shop in [compatible_shop(), sandbox_shop()] {
        for (name, value, other) in [
            ("amount", "92.00", "0.01"),
            ("amount", "92.00", ""),
            ("currency", "EUR", "JPY"),
            ("paymentType", "DB", "CD"),
            ("entityId", shop.entity_id.as_str(), other_shop().entity_id.as_str()),
            ("authentication.userId", "a", "b"),
            ("authentication.password", "a", "b"),
            ("authentication.entityId", shop.entity_id.as_str(), other_shop().entity_id.as_str()),
            ("card.number", "4200000000000000", "5454545454545454"),
            ("registrationId", &id, &"1".repeat(32)),
            ("registrations[0].id", &id, &"1".repeat(32)),
            ("referencedPaymentId", &id, &"1".repeat(32)),
            ("bankAccount.iban", "DE23100000001234567890", "DE14940593100000012346"),
            ("virtualAccount.accountId", "a", "b"),
            ("walletPay.paymentToken", "a", "b"),
            ("overridePaymentType[VISA]", "PA", "CD"),
            ("standingInstruction.source", "CIT", "MIT"),
            ("threeDSecure.eci", "07", "05"),
            ("threeDSecure.exemptionFlag", "01", "02"),
        ] {
            for pair in [[value, other], [other, value]] {
                let fields: Vec<_> = ORDER.iter().chain(&CARD).filter(|(known, _)| *known != name).copied().collect();
                let twice = pair.map(|value| (name, value));
                let entity = ("entityId", shop.entity_id.as_str());
                let entity = Some(entity).filter(|_| name != "entityId");
                let body = encode_form(entity.iter().chain(&fields).chain(&twice).copied());
                let request = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token);
                let refused =
                    ApiResponse::read_from(request.header("content-type", FORM).body(body).send().await?).await?;
                assert_errors(&refused, &[name]);
                assert_eq!(parameter_error(&refused, name)["value"], Value::Null, "{}", refused.text);
            }
        }
    }
    // Identical values are not ambiguous.
    assert_result(&pay_by_card(&compatible_shop(), &ORDER).await?, 200, "000.100.110");
    assert_errors(&pay_by_card(&sandbox_shop(), &ORDER[..1]).await?, &["amount"]);
    Ok(())
}

#[tokio::test]
async fn what_a_shopper_writes_behind_an_unencoded_value_changes_no_price_and_no_account() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let fields = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD].concat();
    for added in [
        "&amount=0.01",
        "&%61mount=0.01",
        "&amount=+92.00",
        "&amount=92.00&amount=0.01&amount=92.00",
        "&currency=JPY",
        "&paymentType=CD",
        "&entityId=00000000000000000000000000000000",
        "&card.number=5454545454545454",
        "&standingInstruction.mode=INITIAL&standingInstruction.mode=REPEATED",
        "&threeDSecure.eci=07&threeDSecure.eci=05",
    ] {
        let body = format!("{}&{}{added}", encode_form(fields.iter().copied()), encode_form(NAMES));
        let request =
            shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
        let refused = ApiResponse::read_from(request.body(body).send().await?).await?;
        assert_result(&refused, 400, "200.300.404");
        assert_eq!(refused.invalid_parameters().len(), 1, "{added} {}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_name_that_comes_ten_thousand_times_is_read_quickly_and_kept_once() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let memo = "&merchantMemo=another memo".repeat(10_000).replace(' ', "+");
    let fields = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD].concat();
    let body = format!("{}{memo}&merchantMemo=the+last", encode_form(fields));
    let request = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
    // A comparison of each name with all others would take many minutes.
    let paid = tokio::time::timeout(PATIENCE, request.body(body).send()).await.context("it takes too long")??;
    let paid = ApiResponse::read_from(paid).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["merchantMemo"], "the last");
    assert!(paid.text.len() < 4000, "{}", paid.text);
    Ok(())
}
