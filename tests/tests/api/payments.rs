//! Payments server to server: what goes in, what comes back, and how it is read again.

use crate::support::*;

#[tokio::test]
async fn a_debit_answers_with_everything_that_merchants_read_in_this_order() -> anyhow::Result<()> {
    let shop = shop();
    let fields = [
        ("merchantTransactionId", "order-4711"),
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("billing.city", "Leeds"),
        ("customParameters[basket]", "7"),
    ];
    let paid = shop.pay(&fields).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_envelope(&paid);
    let names = keys(&paid.json);
    let first = ["id", "paymentType", "paymentBrand", "amount", "currency", "descriptor", "result", "card"];
    assert_eq!(names[..first.len()], first, "{}", paid.text);
    assert!(has_shape(paid.id(), &format!("8a{}", "x".repeat(30))), "{}", paid.text);
    assert_eq!(paid.json["paymentType"], "DB");
    assert_eq!(paid.json["paymentBrand"], "VISA");
    assert_eq!(paid.json["amount"], "92.00");
    assert_eq!(paid.json["currency"], "EUR");
    let descriptor = paid.json["descriptor"].as_str().unwrap_or_default();
    assert!(has_shape(descriptor, "9999.9999.9999 Kiln & Tide"), "{descriptor}");
    let card = serde_json::json!({
        "bin": "420000", "last4Digits": "0000", "holder": "Jane Jones", "expiryMonth": "05", "expiryYear": "2034",
    });
    assert_eq!(paid.json["card"], card);
    assert_eq!(paid.json["customer"], serde_json::json!({ "givenName": "Jane", "surname": "Jones" }));
    assert_eq!(paid.json["billing"], serde_json::json!({ "city": "Leeds" }));
    assert_eq!(paid.json["customParameters"], serde_json::json!({ "basket": "7" }));
    assert_eq!(paid.json["merchantTransactionId"], "order-4711");
    let ndc = paid.json["ndc"].as_str().unwrap_or_default();
    assert!(has_shape(ndc.trim_start_matches(&shop.entity_id), &format!("_{}", "x".repeat(32))), "{ndc}");
    Ok(())
}

#[tokio::test]
async fn a_preauthorization_says_that_it_is_one() -> anyhow::Result<()> {
    let paid = shop().pay(&[("paymentType", "PA")]).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_eq!(paid.json["paymentType"], "PA");
    Ok(())
}

#[tokio::test]
async fn amounts_come_back_as_texts_with_two_decimals() -> anyhow::Result<()> {
    let shop = shop();
    for (sent, currency, shown) in [
        ("92", "EUR", "92.00"),
        ("0.01", "EUR", "0.01"),
        ("007.50", "EUR", "7.50"),
        ("9999999999.99", "EUR", "9999999999.99"),
        ("1250", "JPY", "1250.00"),
        ("12.50", "KWD", "12.50"),
    ] {
        let paid = shop.pay(&[("amount", sent), ("currency", currency)]).await?;
        assert_answer(&paid, 200, "000.100.110");
        assert_eq!((&paid.json["amount"], &paid.json["currency"]), (&shown.into(), &currency.into()));
    }
    assert_errors(&shop.pay(&[("amount", "12.50"), ("currency", "JPY")]).await?, &["amount"]);
    Ok(())
}

#[tokio::test]
async fn a_decline_is_400_with_an_id_and_without_an_amount() -> anyhow::Result<()> {
    let shop = shop();
    let declined = shop.pay(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_answer(&declined, 400, "800.100.151");
    assert_envelope(&declined);
    assert!(has_shape(declined.id(), &format!("8a{}", "x".repeat(30))), "{}", declined.text);
    for name in ["amount", "currency"] {
        assert!(declined.json[name].is_null(), "{}", declined.text);
    }
    assert_eq!(declined.json["card"]["last4Digits"], "0000");
    Ok(())
}

#[tokio::test]
async fn the_descriptor_is_the_merchants_text_behind_the_payments_own_number() -> anyhow::Result<()> {
    let shop = shop();
    let paid = shop.pay(&[("descriptor", "SPRING SALE")]).await?;
    assert!(has_shape(paid.json["descriptor"].as_str().unwrap_or_default(), "9999.9999.9999 SPRING SALE"));
    let long = "é".repeat(127);
    let paid = shop.pay(&[("descriptor", &long)]).await?;
    let shown = paid.json["descriptor"].as_str().unwrap_or_default().chars().count();
    assert_eq!(shown, 127, "{}", paid.text);
    Ok(())
}

#[tokio::test]
async fn a_payment_is_read_again_as_it_was_answered() -> anyhow::Result<()> {
    let shop = shop();
    let fields = [
        ("customParameters[b.a]", "1"),
        ("billing.city", "Málaga"),
        ("merchantMemo", "two \"quotes\" \\ and \u{1F4B3}"),
    ];
    for more in [None, Some(("customParameters[forceResultCode]", "800.100.151"))] {
        let fields: Vec<_> = fields.into_iter().chain(more).collect();
        let paid = shop.pay(&fields).await?;
        let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
        assert_eq!(outcome(&read), outcome(&paid));
        assert_eq!(read.json["timestamp"], paid.json["timestamp"]);
        assert_eq!(keys(&read.json), keys(&paid.json));
    }
    Ok(())
}

#[tokio::test]
async fn another_merchants_payment_is_as_unknown_as_one_that_never_was() -> anyhow::Result<()> {
    let (shop, stranger) = (shop(), other_shop());
    let paid = shop.pay(&[]).await?;
    let foreign = stranger.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_answer(&foreign, 404, "200.300.404");
    let never = stranger.get(&format!("v1/payments/8a{}", "0".repeat(30))).await?;
    assert_eq!(outcome(&foreign), outcome(&never));
    for id in ["x", "8A00000000000000000000000000000F", "%00", "%F0%9F%92%B3"] {
        assert_eq!(outcome(&stranger.get(&format!("v1/payments/{id}")).await?), outcome(&never), "{id}");
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_names_what_is_missing() -> anyhow::Result<()> {
    let shop = shop();
    assert_errors(&shop.post("v1/payments", &[]).await?, &["amount", "currency", "paymentBrand", "paymentType"]);
    let basic = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "VISA")];
    let no_card = shop.post("v1/payments", &basic).await?;
    assert_errors(&no_card, &["paymentBrand"]);
    assert_eq!(error(&no_card, "paymentBrand")["message"], "card properties must be set");
    for name in ["amount", "currency", "paymentType", "card.number", "card.expiryMonth", "card.expiryYear"] {
        let without = shop.pay(&[(name, "")]).await?;
        assert_errors(&without, &[name]);
        assert_eq!(error(&without, name)["message"], "may not be empty");
    }
    // The holder is nobody's duty, and neither is the code.
    for name in ["card.holder", "card.cvv", "paymentBrand"] {
        assert_answer(&shop.pay(&[(name, "")]).await?, 200, "000.100.110");
    }
    Ok(())
}
