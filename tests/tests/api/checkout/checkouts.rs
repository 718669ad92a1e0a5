//! Checkouts as the merchant uses them: created, updated, read.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use sha2::{Digest as _, Sha384};

use crate::support::*;

#[tokio::test]
async fn a_new_checkout_answers_with_its_id_and_nothing_that_was_not_asked_for() -> anyhow::Result<()> {
    let made = sandbox_shop().create_checkout(&[]).await?;
    assert_result(&made, 200, "000.200.100");
    assert_envelope(&made);
    let hexadecimal = made.id().strip_suffix(".tx01").unwrap_or_default();
    assert!(has_shape(hexadecimal, &"X".repeat(32)), "{}", made.text);
    assert_eq!(made.json["ndc"], made.json["id"]);
    let mut names = member_names(&made.json);
    names.sort_unstable();
    assert_eq!(names, ["buildNumber", "id", "ndc", "result", "timestamp"]);
    Ok(())
}

#[tokio::test]
async fn checkout_ids_share_no_random_part() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let mut tails = HashSet::new();
    for _ in 0..20 {
        let made = shop.create_checkout(&[]).await?;
        // The first twelve digits are the time. The next twenty are the random part that makes the id a secret.
        tails.insert(made.id().get(12..32).unwrap_or_default().to_owned());
    }
    assert_eq!(tails.len(), 20);
    Ok(())
}

#[tokio::test]
async fn the_timestamp_is_now_in_utc() -> anyhow::Result<()> {
    let made = sandbox_shop().create_checkout(&[]).await?;
    let text = made.json["timestamp"].as_str().unwrap_or_default();
    let time = jiff::Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", text)?;
    assert!(jiff::Timestamp::now().duration_since(time).abs() < jiff::SignedDuration::from_secs(60), "{text}");
    Ok(())
}

#[tokio::test]
async fn integrity_is_the_hash_of_exactly_the_script_that_the_checkout_loads() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("integrity", "true")]).await?;
    assert_result(&made, 200, "000.200.100");
    let path = format!("v1/paymentWidgets.js?checkoutId={}", made.id());
    let script = shop.bare_request(Method::GET, &path).send().await?.bytes().await?;
    assert!(!script.is_empty());
    let integrity = format!("sha384-{}", STANDARD.encode(Sha384::digest(&script)));
    assert_eq!(made.json["integrity"], integrity.as_str());
    assert!(shop.create_checkout(&[("integrity", "false")]).await?.json["integrity"].is_null());
    Ok(())
}

#[tokio::test]
async fn amount_currency_and_type_are_required_and_missing_ones_are_all_named() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let nothing = shop.post("v1/checkouts", &[]).await?;
    assert_errors(&nothing, &["amount", "currency", "paymentType"]);
    for name in ["amount", "currency", "paymentType"] {
        let without = shop.create_checkout(&[(name, "")]).await?;
        assert_errors(&without, &[name]);
        assert!(parameter_error(&without, name)["value"].is_null(), "{}", without.text);
    }
    Ok(())
}

#[tokio::test]
async fn amounts_are_digits_with_two_decimals_or_none() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for amount in ["1", "92", "0.01", "92.00", "9999999999", "9999999999.99"] {
        assert_result(&shop.create_checkout(&[("amount", amount)]).await?, 200, "000.200.100");
    }
    let wrong =
        ["-1", "+1", "1.5", "1.555", "1,50", "1.", ".50", "12345678901", "1e3", "0x10", "NaN", "1\n", "٣", "1.00.00"];
    for amount in wrong {
        let refused = shop.create_checkout(&[("amount", amount)]).await?;
        assert_errors(&refused, &["amount"]);
        assert_eq!(parameter_error(&refused, "amount")["value"], amount, "{}", refused.text);
        assert_eq!(
            parameter_error(&refused, "amount")["message"],
            r"must match ^[0-9]{1,10}(\.[0-9]{2})?$",
            "{amount}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn currencies_are_those_of_iso_4217_in_upper_case() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for currency in ["EUR", "USD", "JPY", "KWD", "CHF"] {
        assert_result(&shop.create_checkout(&[("currency", currency)]).await?, 200, "000.200.100");
    }
    for currency in ["eur", "EURO", "EU", "ZZZ", "E R", "978"] {
        assert_errors(&shop.create_checkout(&[("currency", currency)]).await?, &["currency"]);
    }
    Ok(())
}

#[tokio::test]
async fn an_amount_that_its_currency_cannot_express_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    assert_errors(&shop.create_checkout(&[("currency", "JPY"), ("amount", "12.50")]).await?, &["amount"]);
    for (currency, amount) in [("JPY", "12"), ("JPY", "12.00"), ("KWD", "12.50")] {
        assert_result(&shop.create_checkout(&[("currency", currency), ("amount", amount)]).await?, 200, "000.200.100");
    }
    // The same check applies to an update: the amount was valid in the checkout's earlier currency.
    let made = shop.create_checkout(&[("amount", "12.50")]).await?;
    let path = format!("v1/checkouts/{}", made.id());
    assert_errors(&shop.post(&path, &[("currency", "JPY")]).await?, &["amount"]);
    Ok(())
}

#[tokio::test]
async fn a_checkout_begins_with_a_type_that_needs_no_earlier_payment() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for kind in ["PA", "DB"] {
        assert_result(&shop.create_checkout(&[("paymentType", kind)]).await?, 200, "000.200.100");
    }
    for kind in ["CP", "RF", "RV", "XX", "db", "D"] {
        assert_errors(&shop.create_checkout(&[("paymentType", kind)]).await?, &["paymentType"]);
    }
    Ok(())
}

#[tokio::test]
async fn before_anyone_pays_a_checkout_is_pending() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.200.000");
    assert_envelope(&status);
    assert_eq!((status.id(), &status.json["ndc"]), (made.id(), &made.json["id"]));
    assert!(status.json["amount"].is_null(), "{}", status.text);
    Ok(())
}

#[tokio::test]
async fn after_an_approval_the_status_tells_the_payment_as_often_as_it_is_asked() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("merchantTransactionId", "order-4711")]).await?;
    assert_eq!(shop.submit_card(made.id(), &[]).await?.status, 200);
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_envelope(&status);
    assert_eq!(status.json["ndc"], made.json["id"]);
    assert_eq!((&status.json["amount"], &status.json["currency"]), (&"92.00".into(), &"EUR".into()));
    assert_eq!((&status.json["paymentType"], &status.json["paymentBrand"]), (&"DB".into(), &"VISA".into()));
    assert_eq!(status.json["merchantTransactionId"], "order-4711");
    assert!(has_shape(status.id(), &format!("8a{}", "x".repeat(30))), "{}", status.text);
    for _ in 0..10 {
        assert_eq!(shop.read_status(made.id()).await?.text, status.text);
    }
    // It can also be read like any other payment.
    let payment = shop.get(&format!("v1/payments/{}", status.id())).await?;
    let (http, mut told) = comparable_response(&status);
    assert_eq!(told.remove("checkoutState"), Some("PAID".into()));
    assert_eq!(comparable_response(&payment), (http, told));
    Ok(())
}

#[tokio::test]
async fn after_a_decline_the_status_is_400_with_an_id_and_without_an_amount() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 400, "800.100.151");
    assert!(has_shape(status.id(), &format!("8a{}", "x".repeat(30))), "{}", status.text);
    assert!(status.json["amount"].is_null() && status.json["currency"].is_null(), "{}", status.text);
    assert_eq!(shop.read_status(made.id()).await?.text, status.text);
    Ok(())
}

#[tokio::test]
async fn a_base_address_and_a_resource_path_joined_with_two_slashes_work() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.post("/v1/checkouts", &[("amount", "1"), ("currency", "EUR"), ("paymentType", "DB")]).await?;
    assert_result(&made, 200, "000.200.100");
    assert_result(&shop.get(&format!("/v1/checkouts/{}/payment", made.id())).await?, 200, "000.200.000");
    // An id that is encoded once more is the same id.
    let encoded = made.id().replace('.', "%2E");
    assert_result(&shop.get(&format!("v1/checkouts/{encoded}/payment")).await?, 200, "000.200.000");
    let script =
        shop.bare_request(Method::GET, &format!("/v1/paymentWidgets.js?checkoutId={}", made.id())).send().await?;
    assert_eq!(script.status(), 200);
    Ok(())
}

#[tokio::test]
async fn an_update_changes_what_is_paid() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}", made.id());
    let updated = shop.post(&path, &[("amount", "17.30"), ("merchantTransactionId", "order-4712")]).await?;
    assert_result(&updated, 200, "000.200.101");
    assert_envelope(&updated);
    assert_eq!((updated.id(), &updated.json["ndc"]), (made.id(), &made.json["id"]));
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_eq!((&status.json["amount"], &status.json["currency"]), (&"17.30".into(), &"EUR".into()));
    assert_eq!(status.json["merchantTransactionId"], "order-4712");
    Ok(())
}

#[tokio::test]
async fn an_update_that_is_refused_changes_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}", made.id());
    assert_errors(&shop.post(&path, &[("amount", "1.5"), ("currency", "USD")]).await?, &["amount"]);
    assert_errors(&shop.post(&path, &[("paymentType", "RF"), ("currency", "USD")]).await?, &["paymentType"]);
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_eq!((&status.json["amount"], &status.json["currency"]), (&"92.00".into(), &"EUR".into()));
    Ok(())
}

#[tokio::test]
async fn an_empty_value_in_an_update_takes_no_price_away() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    shop.post(&format!("v1/checkouts/{}", made.id()), &[("amount", ""), ("currency", "")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["amount"], "92.00");
    Ok(())
}

#[tokio::test]
async fn a_paid_checkout_takes_no_update() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let before = shop.read_status(made.id()).await?;
    let refused = shop.post(&format!("v1/checkouts/{}", made.id()), &[("amount", "1.00")]).await?;
    assert_result(&refused, 400, "200.300.404");
    assert_eq!(refused.json["ndc"], made.json["id"]);
    assert_eq!(shop.read_status(made.id()).await?.text, before.text);
    Ok(())
}

#[tokio::test]
async fn a_type_for_one_brand_is_given_when_the_checkout_is_opened_and_never_after() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("overridePaymentType[MASTER]", "PA")]).await?;
    assert_result(&made, 200, "000.200.100");
    let update = shop.post(&format!("v1/checkouts/{}", made.id()), &[("overridePaymentType[VISA]", "PA")]).await?;
    assert_result(&update, 400, "200.300.404");
    shop.submit_card(made.id(), &[("paymentBrand", "MASTER"), ("card.number", "5454545454545454")]).await?;
    assert_eq!(shop.read_status(made.id()).await?.json["paymentType"], "PA");

    let made = shop.create_checkout(&[("overridePaymentType[MASTER]", "PA")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    assert_eq!(shop.read_status(made.id()).await?.json["paymentType"], "DB");

    let wrong = shop.create_checkout(&[("overridePaymentType[MASTER]", "RF")]).await?;
    assert_errors(&wrong, &["overridePaymentType[MASTER]"]);
    Ok(())
}

#[tokio::test]
async fn an_id_that_no_checkout_has_is_404_however_it_is_written() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let (hex, node) = made.id().split_once('.').unwrap_or_default();
    let ids = [
        format!("{}.tx01", "0".repeat(32)),
        format!("{}.{node}", hex.to_lowercase()),
        hex.to_owned(),
        format!("{hex}.{node}x"),
        format!("{hex}."),
        format!("{hex}.{node}%00"),
        format!("{hex}.{node}%2F"),
        format!("{hex}.{node}%0A"),
        "%F0%9F%92%B3".to_owned(),
        "%27%20OR%201=1--".to_owned(),
        "x".repeat(5000),
    ];
    for id in ids {
        for answer in [
            shop.read_status(&id).await?,
            shop.post(&format!("v1/checkouts/{id}"), &[("amount", "1.00")]).await?,
            shop.submit_card(&id, &[]).await?,
        ] {
            assert_result(&answer, 404, "200.300.404");
            assert_envelope(&answer);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_path_that_is_not_text_is_a_clear_refusal() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for path in ["v1/checkouts/%FF/payment", "v1/payments/%FF%FE"] {
        let answer = shop.get(path).await?;
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.text);
        assert_eq!(answer.result_code(), "200.300.404", "{path}: {}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn another_merchants_checkout_is_as_unknown_as_one_that_never_was() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let made = shop.create_checkout(&[]).await?;
    let never = format!("{}.tx01", "0".repeat(32));
    let change = [("amount", "0.01")];
    let post = async |id: &str| stranger.post(&format!("v1/checkouts/{id}"), &change).await;
    assert_result(&stranger.read_status(made.id()).await?, 404, "200.300.404");
    assert_eq!(
        comparable_response(&stranger.read_status(made.id()).await?),
        comparable_response(&stranger.read_status(&never).await?)
    );
    assert_eq!(comparable_response(&post(made.id()).await?), comparable_response(&post(&never).await?));
    // The same holds for a paid checkout, which is unchanged.
    shop.submit_card(made.id(), &[]).await?;
    assert_eq!(shop.read_status(made.id()).await?.json["amount"], "92.00");
    assert_eq!(
        comparable_response(&stranger.read_status(made.id()).await?),
        comparable_response(&stranger.read_status(&never).await?)
    );
    assert_eq!(comparable_response(&post(made.id()).await?), comparable_response(&post(&never).await?));
    Ok(())
}
