//! Entries of lists and the party that states the value of a payment: what only a browser states opens no allow list.

use tillgate_tests::{MerchantClient, TestGateway};

use crate::risk::payments::{activate_rules, create_shop_with_rules, format_rule};
use crate::risk::store::entry_values;
use crate::support::*;

const NAMES: [(&str, &str); 2] = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];
const ADDRESS: [(&str, &str); 3] =
    [("billing.street1", "Main St. 1"), ("billing.postcode", "10115"), ("billing.country", "DE")];

/// A key of lists, a value, and the parameters with which a payment has it.
type ListedValue = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const VALUES: [ListedValue; 5] = [
    ("email", "jo@shop.example", &[("customer.email", "jo@shop.example")]),
    ("device", "device-77", &[("customer.browserFingerprint.id", "device-77")]),
    ("device", "device-78", &[("customer.browserFingerprint.value", "device-78")]),
    ("holder", "Grace Hopper", &[("card.holder", "Grace Hopper")]),
    ("address", "Main St. 1|10115|DE", &ADDRESS),
];

/// Creates a merchant whose rules deny every payment by its score.
async fn create_denying_shop() -> anyhow::Result<MerchantClient> {
    let rules = ["[thresholds]\ndeny = 50\n", &format_rule("all", "amount > 1", "score = 50")].concat();
    create_shop_with_rules(TestGateway::shared(), &["--browser-registrations"], &rules).await
}

async fn put_entry(shop: &MerchantClient, list: &str, key: &str, value: &str, source: &str) -> anyhow::Result<()> {
    let fields = [("list", list), ("key", key), ("value", value), ("source", source)];
    assert_result(&shop.post("v2/risk/lists", &fields).await?, 200, "000.000.100");
    Ok(())
}

/// Pays a checkout with `of_merchant` by a form with `of_browser`. Returns the result code.
async fn pay_in_form(
    shop: &MerchantClient,
    of_merchant: &[(&str, &str)],
    of_browser: &[(&str, &str)],
) -> anyhow::Result<String> {
    let checkout = shop.create_checkout(of_merchant).await?;
    assert_result(&checkout, 200, "000.200.100");
    let submitted = shop.submit_card(checkout.id(), of_browser).await?;
    assert_result(&submitted, 200, "000.000.100");
    Ok(shop.read_status(checkout.id()).await?.result_code().to_owned())
}

const PAID: &str = "000.100.110";
const DENIED: &str = "100.400.142";

#[tokio::test]
async fn a_browser_opens_an_allow_list_only_if_its_entry_says_so() -> anyhow::Result<()> {
    for (key, value, fields) in VALUES {
        let shop = create_denying_shop().await?;
        let fields = [&NAMES[..], fields].concat();
        put_entry(&shop, "allow", key, value, "").await?;
        assert_eq!(pay_in_form(&shop, &[], &fields).await?, DENIED, "{key}");
        assert_eq!(shop.pay_by_card(&fields).await?.result_code(), PAID, "{key}: the merchant's server states it");
        if key != "holder" {
            assert_eq!(pay_in_form(&shop, &fields, &[]).await?, PAID, "{key}: the checkout states it");
            // A browser replaces nothing that the merchant has set.
            let other: Vec<_> = fields.iter().map(|(name, _)| (*name, "XX")).collect();
            assert_eq!(pay_in_form(&shop, &fields, &other).await?, PAID, "{key}");
        }
        put_entry(&shop, "allow", key, value, "any").await?;
        assert_eq!(pay_in_form(&shop, &[], &fields).await?, PAID, "{key}");
        put_entry(&shop, "allow", key, value, "server").await?;
        assert_eq!(pay_in_form(&shop, &[], &fields).await?, DENIED, "{key}");
    }
    Ok(())
}

#[tokio::test]
async fn one_part_of_an_address_from_the_browser_makes_it_the_browsers() -> anyhow::Result<()> {
    let shop = create_denying_shop().await?;
    put_entry(&shop, "allow", "address", "Main St. 1|10115|DE", "").await?;
    for left_out in 0..ADDRESS.len() {
        let (mut of_merchant, mut of_browser) = (NAMES.to_vec(), Vec::new());
        for (number, field) in ADDRESS.into_iter().enumerate() {
            if number == left_out { of_browser.push(field) } else { of_merchant.push(field) }
        }
        assert_eq!(pay_in_form(&shop, &of_merchant, &of_browser).await?, DENIED, "{of_browser:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_browser_once_stored_with_a_card_opens_no_list_later() -> anyhow::Result<()> {
    let shop = create_denying_shop().await?;
    activate_rules(&shop, &format_rule("none", "amount > 1000000", "score = 1")).await?;
    let fields = [&NAMES[..], &[("customer.email", "jo@shop.example"), ("createRegistration", "true")]].concat();
    let checkout = shop.create_checkout(&[]).await?;
    shop.submit_card(checkout.id(), &fields).await?;
    let by_browser = shop.read_status(checkout.id()).await?;
    let by_server = shop.pay_by_card(&fields).await?;
    let rules = ["[thresholds]\ndeny = 50\n", &format_rule("all", "amount > 1", "score = 50")].concat();
    activate_rules(&shop, &rules).await?;
    put_entry(&shop, "allow", "email", "jo@shop.example", "").await?;
    for (stored, code) in [(&by_browser, DENIED), (&by_server, PAID)] {
        let id = stored.json["registrationId"].as_str().unwrap_or_default();
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        let paid = shop.post(&format!("v1/registrations/{id}/payments"), &order).await?;
        assert_eq!(paid.result_code(), code, "{} {}", stored.text, paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_account_that_is_only_typed_opens_no_list_and_a_card_that_pays_does() -> anyhow::Result<()> {
    let shop = create_denying_shop().await?;
    let bank = [
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23100000001234567890"),
        ("bankAccount.bic", "MARKDEF1100"),
    ];
    let number = [("card.number", "4200000000000000")];
    for account in [&bank[2..3], &number] {
        let entry = [&[("list", "allow"), ("key", "account")][..], account].concat();
        assert_result(&shop.post("v2/risk/lists", &entry).await?, 200, "000.000.100");
    }
    let checkout = shop.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}/payment", checkout.id());
    assert_result(&shop.post_as_browser(&path, &bank).await?, 200, "000.000.100");
    assert_result(&shop.read_status(checkout.id()).await?, 400, DENIED);
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_result(&shop.post("v1/payments", &[&bank[..], &order].concat()).await?, 200, PAID);
    assert_eq!(pay_in_form(&shop, &[], &[]).await?, PAID);
    Ok(())
}

#[tokio::test]
async fn a_deny_list_believes_everybody_unless_its_entry_says_otherwise() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--risk", "on"])?;
    for (key, value, fields) in VALUES {
        let fields = [&NAMES[..], fields].concat();
        for (source, by_browser) in [("", DENIED), ("server", PAID)] {
            put_entry(&shop, "deny", key, value, source).await?;
            assert_eq!(pay_in_form(&shop, &[], &fields).await?, by_browser, "{key} {source}");
            assert_eq!(shop.pay_by_card(&fields).await?.result_code(), DENIED, "{key} {source}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_source_of_an_entry_is_shown_and_set_by_api_and_command_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let value = "jo@shop.example";
    for (list, default) in [("allow", "server"), ("review", "any"), ("deny", "any")] {
        let fields = [("list", list), ("key", "email"), ("value", value)];
        assert_eq!(shop.post("v2/risk/lists", &fields).await?.json["source"], default, "{list}");
        let other = if default == "any" { "server" } else { "any" };
        let by_command = ["risk", "list", "add", &shop.entity_id, list, "email", value, "--source", other];
        assert_eq!(gateway.run_command(&by_command)?["source"], other);
        let path = format!("v2/risk/lists?list={list}");
        assert_eq!(shop.get(&path).await?.json["entries"][0]["source"], other, "{list}");
        assert_eq!(gateway.run_command(&by_command[..7])?["source"], default);
        assert_eq!(shop.get(&path).await?.json["entries"][0]["source"], default, "{list}");
        for wrong in ["browser", "Server", "everybody"] {
            let answer = shop.post("v2/risk/lists", &[&fields[..], &[("source", wrong)]].concat()).await?;
            assert_errors(&answer, &["source"]);
        }
        assert!(gateway.run_command(&[&by_command[..8], &["browser"]].concat()).is_err());
    }
    assert_eq!(entry_values(&shop.get("v2/risk/lists").await?).len(), 3);
    Ok(())
}
