//! Brands by what the risk system knows: lists, score, counters and the age of stored accounts, of which an offer reads
//! only what the merchant's server has sent.

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::checkout::brand_offers::{
    NAMED, assert_hidden, format_offer, open_checkout, read_configuration, read_offered_brands, update_checkout,
};
use crate::risk::payments::{activate_rules, create_shop_with_rules, format_rule};
use crate::risk::store::delete_entry;
use crate::support::*;

const NAMES: [(&str, &str); 2] = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];
const WITHOUT_VISA: &str = "MASTER PAYPAL DIRECTDEBIT_SEPA APPLEPAY";
const PAID: &str = "000.100.110";

fn with_email(email: &str) -> Vec<(&str, &str)> {
    [&NAMES[..], &[("customer.email", email)]].concat()
}

async fn create_shop(rules: &str) -> anyhow::Result<MerchantClient> {
    create_shop_with_rules(TestGateway::shared(), &[], rules).await
}

#[tokio::test]
async fn a_shopper_on_a_list_is_not_offered_what_the_offers_take_away() -> anyhow::Result<()> {
    let shop = create_shop(&format_offer("list.deny or list.review", "hide = ['VISA']")).await?;
    let listed = open_checkout(&shop, &with_email("jo@shop.example")).await?;
    let other = open_checkout(&shop, &with_email("jane@shop.example")).await?;
    assert_eq!(read_offered_brands(&shop, &listed).await?, NAMED.join(" "));
    for list in ["deny", "review"] {
        let entry = [("list", list), ("key", "email"), ("value", "jo@shop.example")];
        assert_result(&shop.post("v2/risk/lists", &entry).await?, 200, "000.000.100");
        assert_eq!(read_offered_brands(&shop, &listed).await?, WITHOUT_VISA, "{list}");
        assert_eq!(read_offered_brands(&shop, &other).await?, NAMED.join(" "), "{list}");
        assert_hidden(&shop.submit_card(&listed, &[]).await?, "VISA");
        // The word of a browser changes nothing, neither for the better nor for the worse.
        assert_hidden(&shop.submit_card(&listed, &with_email("jane@shop.example")).await?, "VISA");
        assert!(stored_payments(TestGateway::shared(), &listed)?.is_empty());
        assert_result(&delete_entry(&shop, &entry).await?, 200, "000.000.100");
        assert_eq!(read_offered_brands(&shop, &listed).await?, NAMED.join(" "), "{list}");
    }
    update_checkout(&shop, &listed, &[("customer.email", "free@shop.example")]).await?;
    assert_eq!(shop.submit_card(&listed, &[]).await?.status, 200);
    assert_result(&shop.read_status(&listed).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn what_only_a_browser_states_tells_nobody_what_is_on_a_list() -> anyhow::Result<()> {
    let shop = create_shop(&format_offer("list.deny", "hide = ['VISA']")).await?;
    let entry = [("list", "deny"), ("key", "email"), ("value", "jo@shop.example")];
    assert_result(&shop.post("v2/risk/lists", &entry).await?, 200, "000.000.100");
    let card = [("list", "deny"), ("key", "card"), ("card.number", "5454545454545454")];
    assert_result(&shop.post("v2/risk/lists", &card).await?, 200, "000.000.100");
    let checkout = open_checkout(&shop, &[]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "));
    // The offer lets the listed shopper and the listed card pass. The check of the payment, an attempt, does not.
    for fields in [with_email("jo@shop.example"), vec![("paymentBrand", "MASTER"), ("card.number", "5454545454545454")]]
    {
        assert_result(&shop.submit_card(&checkout, &fields).await?, 200, "000.000.100");
        assert_result(&shop.read_status(&checkout).await?, 400, "100.400.142");
        assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "));
    }
    Ok(())
}

#[tokio::test]
async fn an_offer_reads_the_score_of_what_is_known_before_the_payment() -> anyhow::Result<()> {
    let rules = [
        format_rule("large", "amount > 500", "score = 30"),
        format_rule("abroad", "billing.country != \"DE\"", "score = 30"),
        format_rule("card", "bin is present", "score = 90"),
        format_offer("score >= 50", "hide = ['VISA']"),
    ];
    let shop = create_shop(&rules.concat()).await?;
    let checkout = open_checkout(&shop, &[("amount", "501.00")]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "));
    update_checkout(&shop, &checkout, &[("billing.country", "FR")]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, WITHOUT_VISA);
    assert_hidden(&shop.submit_card(&checkout, &[]).await?, "VISA");
    update_checkout(&shop, &checkout, &[("billing.country", "DE")]).await?;
    assert_eq!(shop.submit_card(&checkout, &[]).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_counter_of_an_offer_counts_payments_and_not_the_forms_that_read_it() -> anyhow::Result<()> {
    let shop = create_shop(&format_offer("count(email, 1 d) > 1", "hide = ['VISA']")).await?;
    let checkout = open_checkout(&shop, &with_email("jo@shop.example")).await?;
    for shown in [NAMED.join(" "), NAMED.join(" "), WITHOUT_VISA.to_owned()] {
        for _ in 0..4 {
            assert_eq!(read_offered_brands(&shop, &checkout).await?, shown);
        }
        assert_result(&shop.pay_by_card(&with_email("JO@shop.example")).await?, 200, PAID);
    }
    assert_hidden(&shop.submit_card(&checkout, &[]).await?, "VISA");
    let other = open_checkout(&shop, &with_email("jane@shop.example")).await?;
    assert_eq!(shop.submit_card(&other, &[]).await?.status, 200);
    shop.advance_clock("25h").await?;
    let later = open_checkout(&shop, &with_email("jo@shop.example")).await?;
    assert_eq!(read_offered_brands(&shop, &later).await?, NAMED.join(" "));
    Ok(())
}

/// Returns the ids of the stored accounts that the form of a checkout shows.
async fn read_registrations(shop: &MerchantClient, checkout: &str) -> anyhow::Result<Vec<String>> {
    let config = read_configuration(shop, "internalRequestIframe.html", checkout, "127.0.0.1").await?;
    let shown = config["registrations"].as_array().into_iter().flatten();
    Ok(shown.filter_map(|stored| stored["id"].as_str()).map(str::to_owned).collect())
}

#[tokio::test]
async fn a_stored_account_is_offered_by_its_own_age() -> anyhow::Result<()> {
    for condition in ["registration.age < 1 d", "account.age < 1 d"] {
        let shop = create_shop(&format_rule("none", "account.age > 9999 d", "score = 1")).await?;
        let store = async |number: &str| -> anyhow::Result<String> {
            let stored = shop.pay_by_card(&[("card.number", number), ("createRegistration", "true")]).await?;
            Ok(stored.json["registrationId"].as_str().unwrap_or_default().to_owned())
        };
        let old = store("4200000000000000").await?;
        shop.advance_clock("25h").await?;
        let new = store("4242424242424242").await?;
        activate_rules(&shop, &format_offer(condition, "hide = ['VISA']")).await?;
        let stored = [("registrations[0].id", old.as_str()), ("registrations[1].id", new.as_str())];
        let checkout = open_checkout(&shop, &stored).await?;
        assert_eq!(read_registrations(&shop, &checkout).await?, [old.as_str()], "{condition}");
        // The age of a card that is yet to be typed is missing.
        assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "), "{condition}");
        let path = format!("v1/checkouts/{checkout}/payment");
        assert_hidden(&shop.post_as_browser(&path, &[("registrationId", &new)]).await?, "VISA");
        assert_result(&shop.post_as_browser(&path, &[("registrationId", &old)]).await?, 200, "000.000.100");
        assert_result(&shop.read_status(&checkout).await?, 200, PAID);
    }
    Ok(())
}

#[tokio::test]
async fn the_page_and_the_command_line_say_what_an_offer_may_read() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    for (condition, message) in [
        ("count(card, 1 h) > 1", "cannot count by `card`"),
        ("distinct(email by account, 1 h) > 1", "cannot count by `account`"),
        ("bin = \"420000\"", "cannot read `bin`"),
        ("source(customer.email) = browser", "nothing that a browser sent"),
    ] {
        let refused = shop.post("v2/risk/rules", &[("rules", &format_offer(condition, "hide = ['VISA']"))]).await?;
        assert_errors(&refused, &["rules"]);
        assert!(refused.text.contains(message), "{}", refused.text);
    }
    let refused = shop.post("v2/risk/rules", &[("rules", &format_rule("r", "list.deny", "score = 1"))]).await?;
    assert_eq!(parameter_error(&refused, "rules")["value"], Value::Null);
    assert!(refused.text.contains("is for offers"), "{}", refused.text);
    Ok(())
}
