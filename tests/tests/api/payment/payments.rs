//! Server-to-server payments: parameters, responses, and reads.

use tillgate_tests::ApiResponse;

use crate::support::*;

#[tokio::test]
async fn a_debit_answers_with_everything_that_merchants_read_in_this_order() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let fields = [
        ("merchantTransactionId", "order-4711"),
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("billing.city", "Leeds"),
        ("customParameters[basket]", "7"),
    ];
    let paid = shop.pay_by_card(&fields).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_envelope(&paid);
    let names = member_names(&paid.json);
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
    let paid = sandbox_shop().pay_by_card(&[("paymentType", "PA")]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["paymentType"], "PA");
    Ok(())
}

#[tokio::test]
async fn amounts_come_back_as_texts_with_two_decimals() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (sent, currency, shown) in [
        ("92", "EUR", "92.00"),
        ("0.01", "EUR", "0.01"),
        ("007.50", "EUR", "7.50"),
        ("9999999999.99", "EUR", "9999999999.99"),
        ("1250", "JPY", "1250.00"),
        ("12.50", "KWD", "12.50"),
    ] {
        let paid = shop.pay_by_card(&[("amount", sent), ("currency", currency)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!((&paid.json["amount"], &paid.json["currency"]), (&shown.into(), &currency.into()));
    }
    assert_errors(&shop.pay_by_card(&[("amount", "12.50"), ("currency", "JPY")]).await?, &["amount"]);
    Ok(())
}

#[tokio::test]
async fn a_decline_is_400_with_an_id_and_without_an_amount() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let declined = shop.pay_by_card(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_result(&declined, 400, "800.100.151");
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
    let shop = sandbox_shop();
    let paid = shop.pay_by_card(&[("descriptor", "SPRING SALE")]).await?;
    assert!(has_shape(paid.json["descriptor"].as_str().unwrap_or_default(), "9999.9999.9999 SPRING SALE"));
    Ok(())
}

#[tokio::test]
async fn a_long_descriptor_is_cut_behind_a_number_that_stays_whole_and_the_reference_says_so() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (letters, kept) in [(112, 112), (113, 112), (127, 112)] {
        let paid = shop.pay_by_card(&[("descriptor", &"é".repeat(letters))]).await?;
        let shown = paid.json["descriptor"].as_str().unwrap_or_default();
        assert!(has_shape(shown, &format!("9999.9999.9999 {}", "é".repeat(kept))), "{}", paid.text);
        let found = shop.get(&format!("v1/query/{}", shown.get(..14).unwrap_or_default())).await?;
        assert_eq!(found.id(), paid.id(), "{}", found.text);
    }
    let reference = shop.client.get(format!("{}reference", shop.base)).send().await?.text().await?;
    assert!(reference.contains("a longer text is cut to its first 112 characters"));
    Ok(())
}

#[tokio::test]
async fn the_second_line_of_a_street_is_not_shown_beside_a_house_number() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for address in ["billing", "shipping", "merchant.billing", "merchant.shipping"] {
        let names = ["street1", "street2", "houseNumber1"].map(|field| format!("{address}.{field}"));
        let fields = [(names[0].as_str(), "Main Street"), (&names[1], "Back yard"), (&names[2], "4")];
        for (sent, second_line) in [(&fields[..], false), (&fields[..2], true)] {
            let paid = shop.pay_by_card(sent).await?;
            let shown = address.split('.').fold(&paid.json, |json, part| &json[part]);
            assert_eq!((shown["street1"].as_str(), shown["street2"].is_string()), (Some("Main Street"), second_line));
            let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
            assert_eq!(comparable_response(&read), comparable_response(&paid));
        }
    }
    // The same applies if the merchant sends the second line and the form sends the house number.
    let made = shop.create_checkout(&[("billing.street1", "Main Street"), ("billing.street2", "Back yard")]).await?;
    shop.submit_card(made.id(), &[("billing.houseNumber1", "4")]).await?;
    let billing = &shop.read_status(made.id()).await?.json["billing"];
    assert_eq!((&billing["houseNumber1"], billing["street2"].is_null()), (&"4".into(), true), "{billing}");
    Ok(())
}

#[tokio::test]
async fn the_amount_for_the_risk_check_is_judged_and_shown_like_the_amount() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let message = |answer: &ApiResponse, name: &str| {
        parameter_error(answer, name)["message"].as_str().unwrap_or_default().to_owned()
    };
    for value in ["80", "80.00", "0", "9999999999.99"] {
        let paid = shop.pay_by_card(&[("risk.amount", value)]).await?;
        assert_result(&paid, 200, "000.100.110");
        let decimals = if value.contains('.') { "" } else { ".00" };
        assert_eq!(paid.json["risk"]["amount"], format!("{value}{decimals}"), "{}", paid.text);
    }
    for value in ["80.5", "80.555", "-1", "1,50", "12345678901", "1e3", "x"] {
        let (risk, amount) =
            (shop.pay_by_card(&[("risk.amount", value)]).await?, shop.pay_by_card(&[("amount", value)]).await?);
        assert_errors(&risk, &["risk.amount"]);
        assert_eq!(message(&risk, "risk.amount"), message(&amount, "amount"), "{value}");
    }
    // An amount with too many decimals for the currency is refused for every amount parameter, with the same message.
    let yen = [("currency", "JPY"), ("amount", "92")];
    let amount = shop.pay_by_card(&[yen[0], ("amount", "80.50")]).await?;
    let wrong = [yen[0], yen[1], ("risk.amount", "80.50")];
    let paid = shop.pay_by_card(&yen).await?;
    let path = format!("v1/payments/{}", paid.id());
    for refused in [
        shop.pay_by_card(&wrong).await?,
        shop.create_checkout(&wrong).await?,
        shop.post(&path, &[&wrong[..], &[("paymentType", "RF")]].concat()).await?,
        shop.post(&path, &[wrong[2], ("paymentType", "RV")]).await?,
    ] {
        assert_errors(&refused, &["risk.amount"]);
        assert_eq!(message(&refused, "risk.amount"), message(&amount, "amount"));
    }
    let open = shop.create_checkout(&yen).await?;
    let updated = shop.post(&format!("v1/checkouts/{}", open.id()), &[wrong[2]]).await?;
    assert_errors(&updated, &["risk.amount"]);
    assert_result(&shop.pay_by_card(&[yen[0], yen[1], ("risk.amount", "80.00")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn network_address_and_browser_data_alone_ask_for_no_names() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for fields in [
        &[("customer.ip", "203.0.113.9")][..],
        &[("customer.browser.language", "de-AT"), ("customer.browser.userAgent", "Mozilla/5.0")],
        &[("customer.browserFingerprint.id", "f-1")],
    ] {
        assert_result(&shop.pay_by_card(fields).await?, 200, "000.100.110");
        let named = [fields, &[("customer.email", "jane@shop.example")]].concat();
        assert_errors(&shop.pay_by_card(&named).await?, &["customer.givenName", "customer.surname"]);
    }
    let reference = shop.client.get(format!("{}reference", shop.base)).send().await?.text().await?;
    assert!(reference.contains(" as well, except for "));
    Ok(())
}

#[tokio::test]
async fn a_payment_is_read_again_as_it_was_answered() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let fields = [
        ("customParameters[b.a]", "1"),
        ("billing.city", "Málaga"),
        ("merchantMemo", "two \"quotes\" \\ and \u{1F4B3}"),
    ];
    for more in [None, Some(("customParameters[forceResultCode]", "800.100.151"))] {
        let fields: Vec<_> = fields.into_iter().chain(more).collect();
        let paid = shop.pay_by_card(&fields).await?;
        let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
        assert_eq!(comparable_response(&read), comparable_response(&paid));
        assert_eq!(read.json["timestamp"], paid.json["timestamp"]);
        assert_eq!(member_names(&read.json), member_names(&paid.json));
    }
    Ok(())
}

#[tokio::test]
async fn another_merchants_payment_is_as_unknown_as_one_that_never_was() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let paid = shop.pay_by_card(&[]).await?;
    let foreign = stranger.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_result(&foreign, 404, "200.300.404");
    let never = stranger.get(&format!("v1/payments/8a{}", "0".repeat(30))).await?;
    assert_eq!(comparable_response(&foreign), comparable_response(&never));
    for id in ["x", "8A00000000000000000000000000000F", "%00", "%F0%9F%92%B3"] {
        assert_eq!(
            comparable_response(&stranger.get(&format!("v1/payments/{id}")).await?),
            comparable_response(&never),
            "{id}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_names_what_is_missing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    assert_errors(&shop.post("v1/payments", &[]).await?, &["amount", "currency", "paymentBrand", "paymentType"]);
    let basic = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "VISA")];
    let no_card = shop.post("v1/payments", &basic).await?;
    assert_errors(&no_card, &["paymentBrand"]);
    assert_eq!(parameter_error(&no_card, "paymentBrand")["message"], "card properties must be set");
    for name in ["amount", "currency", "paymentType", "card.number", "card.expiryMonth", "card.expiryYear"] {
        let without = shop.pay_by_card(&[(name, "")]).await?;
        assert_errors(&without, &[name]);
        assert_eq!(parameter_error(&without, name)["message"], "may not be empty");
    }
    // The holder, the code and the brand are optional.
    for name in ["card.holder", "card.cvv", "paymentBrand"] {
        assert_result(&shop.pay_by_card(&[(name, "")]).await?, 200, "000.100.110");
    }
    Ok(())
}
