//! Stand-alone risk checks: `/v2/riskScreen`, and with a registration.

use tillgate_tests::{CARD, MerchantClient, TestGateway};

use crate::registrations::merge_fields;
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
    let shop = sandbox_shop();
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
