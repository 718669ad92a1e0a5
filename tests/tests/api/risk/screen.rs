//! Stand-alone risk checks: `/v2/riskScreen`, and with a registration.

use tillgate_tests::{CARD, MerchantClient, TestGateway};

use crate::registration::registrations::merge_fields;
use crate::risk::payments::{create_shop_with_rules, format_rule};
use crate::support::*;

/// The order of a check.
const ORDER: [(&str, &str); 3] = [("amount", "92.00"), ("currency", "EUR"), ("merchantTransactionId", "order-0001")];

/// Creates a merchant that checks payments, whose rules deny more than three orders of a card in an hour.
async fn create_checking_shop() -> anyhow::Result<MerchantClient> {
    let shop = TestGateway::shared().create_merchant_with(&["--risk", "on"])?;
    let rules = "[[rule]]\nname = 'often'\nwhen = 'count(card, 1 h) > 3'\noutcome = 'deny'\n\n\
                 [[rule]]\nname = 'large'\nwhen = 'amount > 500'\nscore = 7\n";
    let added = shop.post("v2/risk/rules", &[("rules", rules)]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, "000.000.100");
    Ok(shop)
}

#[tokio::test]
async fn a_check_answers_with_result_score_and_request_and_charges_nothing() -> anyhow::Result<()> {
    let shop = create_checking_shop().await?;
    let order = [("amount", "501.00"), ("currency", "EUR"), ("merchantTransactionId", "screened-0002")];
    let billing = [("billing.country", "DE"), ("risk.brand", "VISA")];
    let checked = shop.post("v2/riskScreen", &[&CARD[..], &order, &billing].concat()).await?;
    assert_result(&checked, 200, "000.100.110");
    assert_envelope(&checked);
    assert_eq!((&checked.json["risk"]["score"], &checked.json["amount"]), (&"7".into(), &"501.00".into()));
    assert_eq!((&checked.json["billing"]["country"], &checked.json["card"]["bin"]), (&"DE".into(), &"420000".into()));
    assert!(checked.json.get("id").is_none() && !checked.text.contains("4200000000000000"), "{}", checked.text);
    let found = shop.get("v1/query?merchantTransactionId=screened-0002").await?;
    assert_result(&found, 404, "700.400.580");
    let database = open_database(TestGateway::shared())?;
    let cards: u32 =
        database.query_row("SELECT count(*) FROM payment_reference WHERE reference = 'screened-0002'", [], |row| {
            row.get(0)
        })?;
    assert_eq!(cards, 0);
    Ok(())
}

#[tokio::test]
async fn a_check_takes_each_kind_of_account_and_any_payment_type() -> anyhow::Result<()> {
    let shop = create_checking_shop().await?;
    let bank = [
        ("paymentBrand", "SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23100000001234567890"),
        ("bankAccount.bic", "MARKDEF1100"),
    ];
    let provider = [("paymentBrand", "PAYPAL"), ("virtualAccount.accountId", "jane@shop.example")];
    for (account, shown) in [(&CARD[..], "card"), (&bank, "bankAccount"), (&provider, "virtualAccount")] {
        let checked = shop.post("v2/riskScreen", &[account, &ORDER].concat()).await?;
        assert_result(&checked, 200, "000.100.110");
        assert!(checked.json[shown].is_object() && checked.json.get("redirect").is_none(), "{}", checked.text);
        assert_eq!(checked.json["paymentType"], "DB", "{}", checked.text);
    }
    let shop = create_checking_shop().await?;
    for payment_type in ["PA", "CD", "PA.CP"] {
        let descriptor = [("paymentType", payment_type), ("descriptor", "Bowls")];
        let checked = shop.post("v2/riskScreen", &[&CARD[..], &ORDER, &descriptor].concat()).await?;
        assert_result(&checked, 200, "000.100.110");
        assert_eq!(checked.json["paymentType"], payment_type, "{}", checked.text);
        assert!(checked.json["descriptor"].as_str().is_some_and(|text| text.ends_with("Bowls")), "{}", checked.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_check_authenticates_nobody() -> anyhow::Result<()> {
    let rule = format_rule("large", "amount > 100", "outcome = 'challenge'");
    let named = format_rule("vip", "risk.parameters[vip] = \"no\"", "outcome = 'challenge'\ncode = '100.400.121'");
    let shop = create_shop_with_rules(TestGateway::shared(), &["--3d", "required"], &[rule, named].concat()).await?;
    // A card that is challenged, and one that is authenticated without.
    for number in ["4200000000000018", "4200000000000026"] {
        let fields = merge_fields(&[&CARD[..], &ORDER].concat(), &[("card.number", number)]);
        let checked = shop.post("v2/riskScreen", &fields).await?;
        assert_result(&checked, 200, "000.100.110");
        assert!(checked.json.get("redirect").is_none(), "{}", checked.text);
        assert!(checked.json["threeDSecure"].get("authenticationStatus").is_none(), "{}", checked.text);
        for (more, code) in [(("amount", "101.00"), "100.400.141"), (("risk.parameters[vip]", "no"), "100.400.121")] {
            assert_result(&shop.post("v2/riskScreen", &merge_fields(&fields, &[more])).await?, 400, code);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_channel_without_checks_refuses_to_check_an_order() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let stored = shop.post("v1/registrations", &CARD).await?;
    let path = format!("v2/registrations/{}/riskScreen", stored.id());
    for refused in [shop.post("v2/riskScreen", &[&CARD[..], &ORDER].concat()).await?, shop.post(&path, &ORDER).await?] {
        assert_result(&refused, 400, "600.200.201");
        assert!(refused.json["result"]["description"].as_str().is_some_and(|text| text.contains("`risk` is off")));
    }
    Ok(())
}

#[tokio::test]
async fn each_check_knows_the_time_of_the_order() -> anyhow::Result<()> {
    let rule = format_rule("dated", "risk.orderTimestamp is present", "score = 5");
    let old = format_rule("old", "risk.orderTimestamp starts with \"2001-\"", "score = 2");
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &[rule, old].concat()).await?;
    for (sent, score) in [(&[][..], "5"), (&[("risk.orderTimestamp", "2001-02-03 04:05:06")], "7")] {
        let checked = shop.post("v2/riskScreen", &[&CARD[..], &ORDER, sent].concat()).await?;
        assert_result(&checked, 200, "000.100.110");
        assert_eq!(checked.json["risk"]["score"], score, "{}", checked.text);
    }
    Ok(())
}

#[tokio::test]
async fn checks_count_like_payments_and_a_refusal_has_its_code() -> anyhow::Result<()> {
    let shop = create_checking_shop().await?;
    for _ in 0..3 {
        assert_result(&shop.post("v2/riskScreen", &[&CARD[..], &ORDER].concat()).await?, 200, "000.100.110");
    }
    assert_result(&shop.post("v2/riskScreen", &[&CARD[..], &ORDER].concat()).await?, 400, "100.400.142");
    assert_result(&shop.pay_by_card(&[]).await?, 400, "100.400.142");
    for (surname, code) in [("red", "100.400.142"), ("yellow", "100.400.141"), ("error", "100.400.145")] {
        let names = [("customer.givenName", "simulate"), ("customer.surname", surname)];
        assert_result(&shop.post("v2/riskScreen", &[&CARD[..], &ORDER, &names].concat()).await?, 400, code);
    }
    Ok(())
}

#[tokio::test]
async fn a_stored_account_is_checked_as_if_it_were_charged() -> anyhow::Result<()> {
    let shop = create_checking_shop().await?;
    let stored = shop.post("v1/registrations", &CARD).await?;
    assert_result(&stored, 200, "000.100.110");
    let path = format!("v2/registrations/{}/riskScreen", stored.id());
    for _ in 0..3 {
        let checked = shop.post(&path, &ORDER).await?;
        assert_result(&checked, 200, "000.100.110");
        assert_eq!(checked.json["registrationId"], stored.id(), "{}", checked.text);
    }
    assert_result(&shop.post(&path, &ORDER).await?, 400, "100.400.142");
    let foreign = sandbox_shop().post(&path, &ORDER).await?;
    assert_eq!(foreign.status, 404, "{}", foreign.text);
    Ok(())
}

#[tokio::test]
async fn what_is_missing_in_a_check_is_named() -> anyhow::Result<()> {
    let shop = create_checking_shop().await?;
    let without = |name: &str| -> Vec<(&str, &str)> {
        [&CARD[..], &ORDER].concat().into_iter().filter(|(sent, _)| *sent != name).collect()
    };
    for name in ["amount", "currency", "merchantTransactionId", "card.number"] {
        let refused = shop.post("v2/riskScreen", &without(name)).await?;
        assert_eq!(
            (refused.status, refused.invalid_parameters().contains(&name)),
            (400, true),
            "{name}: {}",
            refused.text
        );
    }
    let short = merge_fields(&[&CARD[..], &ORDER].concat(), &[("merchantTransactionId", "order-1")]);
    let refused = shop.post("v2/riskScreen", &short).await?;
    assert_errors(&refused, &["merchantTransactionId"]);
    Ok(())
}
