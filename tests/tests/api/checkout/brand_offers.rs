//! Brands by risk: rules decide which brands a shopper is offered. The form shows them and the gateway enforces them,
//! whatever a browser sends.

use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form, poll_until};

use crate::checkout::presence::{SUBMIT_FLOWS, assert_unpaid, browser_parameters, submit_in_flow, to_fields};
use crate::risk::payments::{activate_rules, create_shop_with_rules};
use crate::support::*;

const HIDDEN: &str = "600.200.500";
const PAID: &str = "000.100.110";
const MASTER: [(&str, &str); 2] = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454")];
pub const NAMED: [&str; 5] = ["VISA", "MASTER", "PAYPAL", "DIRECTDEBIT_SEPA", "APPLEPAY"];
const BANK: [(&str, &str); 3] = [
    ("bankAccount.holder", "Jane Jones"),
    ("bankAccount.iban", "DE89370400440532013000"),
    ("bankAccount.bic", "COBADEFFXXX"),
];

/// Formats an offer of a rules file.
pub fn format_offer(condition: &str, effect: &str) -> String {
    format!("[[offer]]\nname = 'offer'\nwhen = '''{condition}'''\n{effect}\n")
}

/// Creates a merchant with one offer that is active when this returns.
async fn create_shop(condition: &str, effect: &str) -> anyhow::Result<MerchantClient> {
    create_shop_with_rules(TestGateway::shared(), &[], &format_offer(condition, effect)).await
}

/// Creates a checkout, and returns its id.
pub async fn open_checkout(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<String> {
    Ok(shop.create_checkout(fields).await?.id().to_owned())
}

/// Updates a checkout as its merchant.
pub async fn update_checkout(shop: &MerchantClient, checkout: &str, fields: &[(&str, &str)]) -> anyhow::Result<()> {
    assert_result(&shop.post(&format!("v1/checkouts/{checkout}"), fields).await?, 200, "000.200.101");
    Ok(())
}

/// Returns the configuration that the form reads from a document, for a browser at this address.
pub async fn read_configuration(
    shop: &MerchantClient,
    document: &str,
    checkout: &str,
    from: &str,
) -> anyhow::Result<Value> {
    let path = format!("v1/{document}?checkoutId={checkout}&field=card.number&brands={}", NAMED.join("+"));
    let request = shop.bare_request(Method::GET, &path).header("x-forwarded-for", from);
    let document = request.send().await?.text().await?;
    let config = document.split_once(r#"id="tillgate-config">"#).map_or("", |(_, rest)| rest);
    Ok(serde_json::from_str(config.split_once("</script>").map_or("", |(config, _)| config))?)
}

/// Returns the brands that every form of a checkout shows, with blanks between. Asserts that they are the same in all.
pub async fn read_offered_brands(shop: &MerchantClient, checkout: &str) -> anyhow::Result<String> {
    let mut shown = Vec::new();
    for document in ["pciIframe.html", "internalRequestIframe.html"] {
        let config = read_configuration(shop, document, checkout, "127.0.0.1").await?;
        shown.push(NAMED.into_iter().filter(|code| !config["brands"][code].is_null()).collect::<Vec<_>>());
    }
    let path = format!("v1/plainForm.html?checkoutId={checkout}&brands={}", NAMED.join("+"));
    let plain = shop.bare_request(Method::GET, &path).send().await?.text().await?;
    let has_brand = |code: &&str| {
        plain.contains(&format!("<option value=\"{code}\""))
            || plain.contains(&format!("name=\"paymentBrand\" value=\"{code}\""))
    };
    let without_wallets =
        |brands: &[&'static str]| brands.iter().copied().filter(|code| *code != "APPLEPAY").collect::<Vec<_>>();
    assert_eq!(NAMED.into_iter().filter(has_brand).collect::<Vec<_>>(), without_wallets(&shown[0]), "{plain}");
    assert_eq!(shown[0], shown[1]);
    Ok(shown[0].join(" "))
}

/// Asserts that a submit was refused because its brand is not offered.
pub fn assert_hidden(answer: &ApiResponse, brand: &str) {
    assert_result(answer, 400, HIDDEN);
    assert_eq!(answer.invalid_parameters(), ["paymentBrand"], "{}", answer.text);
    assert_eq!(parameter_error(answer, "paymentBrand")["value"], brand, "{}", answer.text);
}

#[tokio::test]
async fn the_offer_follows_every_update_of_the_checkout() -> anyhow::Result<()> {
    let shop = create_shop("amount > 500 or billing.country is missing", "hide = ['MASTER', 'PAYPAL', 'SEPA']").await?;
    let checkout = open_checkout(&shop, &[]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, "VISA APPLEPAY");
    assert_hidden(&shop.submit_card(&checkout, &MASTER).await?, "MASTER");
    update_checkout(&shop, &checkout, &[("billing.country", "DE")]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "));
    update_checkout(&shop, &checkout, &[("amount", "501.00")]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, "VISA APPLEPAY");
    assert_hidden(&shop.submit_card(&checkout, &MASTER).await?, "MASTER");
    update_checkout(&shop, &checkout, &[("amount", "500.00")]).await?;
    assert_eq!(shop.submit_card(&checkout, &MASTER).await?.status, 200);
    assert_result(&shop.read_status(&checkout).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn a_hidden_brand_is_refused_in_every_way_to_submit_and_nothing_is_written() -> anyhow::Result<()> {
    // A tokenisation checkout has no amount.
    let shop = create_shop("amount > 0 or amount is missing", "hide = ['VISA']").await?;
    let renamed = ["", "MASTER", "CARTEBLEUE"].map(|brand| to_fields(&[("paymentBrand", brand)]));
    for flow in SUBMIT_FLOWS {
        for fields in [Vec::new()].iter().chain(&renamed) {
            let status = submit_in_flow(&shop, flow, "4200000000000000", "123", &[], fields).await?;
            assert_unpaid(&status, flow, fields);
        }
    }
    let checkout = open_checkout(&shop, &[]).await?;
    let cards_only = create_shop("amount > 0", "only = ['MASTER']").await?;
    for (brand, fields) in
        [("DIRECTDEBIT_SEPA", &BANK[..]), ("SEPA", &BANK), ("PAYPAL", &[]), ("APPLEPAY", &[]), ("AMEX", &[])]
    {
        let checkout = open_checkout(&cards_only, &[]).await?;
        let path = format!("v1/checkouts/{checkout}/payment");
        let fields = [&[("paymentBrand", brand)], fields].concat();
        assert_hidden(&cards_only.post_as_browser(&path, &fields).await?, brand);
        assert!(stored_payments(TestGateway::shared(), &checkout)?.is_empty(), "{brand}");
        assert_eq!(cards_only.submit_card(&checkout, &MASTER).await?.status, 200);
    }
    let refused = shop.submit_card(&checkout, &[("useSummaryPage", "true")]).await?;
    assert_hidden(&refused, "VISA");
    assert!(stored_payments(TestGateway::shared(), &checkout)?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_summary_is_not_confirmed_with_a_brand_that_was_taken_away_meanwhile() -> anyhow::Result<()> {
    let shop = create_shop("amount > 500", "hide = ['VISA']").await?;
    let checkout = open_checkout(&shop, &[]).await?;
    assert_eq!(shop.submit_card(&checkout, &[("useSummaryPage", "true")]).await?.status, 200);
    update_checkout(&shop, &checkout, &[("amount", "501.00")]).await?;
    let confirm = format!("v1/checkouts/{checkout}/confirm");
    assert_hidden(&shop.post(&confirm, &[]).await?, "VISA");
    update_checkout(&shop, &checkout, &[("amount", "92.00")]).await?;
    assert_result(&shop.post(&confirm, &[]).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn no_parameter_of_a_browser_brings_a_hidden_brand_back() -> anyhow::Result<()> {
    // Each condition would be false with a value that a browser sends.
    for condition in [
        "billing.country is missing",
        "customer.email is missing",
        "customer.status != \"EXISTING\" or customer.status is missing",
        "amount > 50",
        "currency = \"EUR\"",
        "risk.parameters[vip] is missing",
        "device.fingerprint is missing",
        "cart.count is missing",
        "ip = \"127.0.0.1\"",
    ] {
        let shop = create_shop(condition, "hide = ['MASTER', 'VISA']").await?;
        let checkout = open_checkout(&shop, &[]).await?;
        let mut all: Vec<(String, String)> = browser_parameters().into_iter().flatten().collect();
        all.extend(to_fields(&[
            ("amount", "1.00"),
            ("currency", "USD"),
            ("risk.amount", "1.00"),
            ("risk.parameters[vip]", "yes"),
            ("billing.country", "DE"),
            ("customer.ip", "203.0.113.9"),
            ("customer.status", "EXISTING"),
            ("brands", "VISA MASTER"),
        ]));
        for fields in all.chunks(40).map(|fields| fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))) {
            let fields: Vec<(&str, &str)> = fields.chain(MASTER).collect();
            let answer = shop.submit_card(&checkout, &fields).await?;
            assert!(answer.status == 400, "{condition} {fields:?} {}", answer.text);
        }
        let own = [("billing.country", "DE"), ("customer.ip", "203.0.113.9"), ("amount", "1.00"), ("currency", "USD")];
        assert_hidden(&shop.submit_card(&checkout, &[&MASTER[..], &own].concat()).await?, "MASTER");
        assert!(stored_payments(TestGateway::shared(), &checkout)?.is_empty(), "{condition}");
    }
    Ok(())
}

#[tokio::test]
async fn a_hidden_card_is_refused_under_the_name_of_another_brand() -> anyhow::Result<()> {
    let shop = create_shop("amount > 0", "hide = ['VISA']").await?;
    for brand in ["MASTER", "CARTEBLEUE", "AXESS", "APPLEPAY"] {
        let checkout = open_checkout(&shop, &[]).await?;
        assert_hidden(&shop.submit_card(&checkout, &[("paymentBrand", brand)]).await?, brand);
    }
    // The number is also within the ranges of this brand, which is not hidden.
    let checkout = open_checkout(&shop, &[]).await?;
    assert_eq!(shop.submit_card(&checkout, &[("paymentBrand", "VISADEBIT")]).await?.status, 200);
    // A regional brand that alone is offered takes the cards of the big schemes.
    let shop = create_shop("amount > 0", "only = ['CARTEBLEUE']").await?;
    let checkout = open_checkout(&shop, &[]).await?;
    assert_hidden(&shop.submit_card(&checkout, &[]).await?, "VISA");
    assert_eq!(shop.submit_card(&checkout, &[("paymentBrand", "CARTEBLEUE")]).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_stored_card_of_a_hidden_brand_is_neither_shown_nor_accepted() -> anyhow::Result<()> {
    let shop = create_shop("amount > 500", "hide = ['VISA']").await?;
    let card = [("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let visa = shop
        .post(
            "v1/registrations",
            &[&[("paymentBrand", "VISA"), ("card.number", "4200000000000000")], &card[..]].concat(),
        )
        .await?;
    let master = shop.post("v1/registrations", &[&MASTER[..], &card].concat()).await?;
    let stored = [("registrations[0].id", visa.id()), ("registrations[1].id", master.id())];
    let checkout = open_checkout(&shop, &stored).await?;
    let ids = |config: &Value| -> Vec<String> {
        let all = config["registrations"].as_array().into_iter().flatten();
        all.map(|stored| stored["id"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let read = || read_configuration(&shop, "internalRequestIframe.html", &checkout, "127.0.0.1");
    assert_eq!(ids(&read().await?), [visa.id(), master.id()]);
    update_checkout(&shop, &checkout, &[("amount", "501.00")]).await?;
    assert_eq!(ids(&read().await?), [master.id()]);
    let plain = shop.bare_request(Method::GET, &format!("v1/plainForm.html?checkoutId={checkout}&brands=MASTER"));
    let plain = plain.send().await?.text().await?;
    assert!(plain.contains(master.id()) && !plain.contains(visa.id()), "{plain}");
    let path = format!("v1/checkouts/{checkout}/payment");
    for more in [&[][..], &[("paymentBrand", "MASTER")]] {
        let fields = [&[("registrationId", visa.id())], more].concat();
        assert_hidden(&shop.post_as_browser(&path, &fields).await?, "VISA");
    }
    assert_eq!(shop.post_as_browser(&path, &[("registrationId", master.id())]).await?.status, 200);
    // The merchant's server chooses freely.
    assert_result(&shop.pay_by_card(&[("amount", "501.00")]).await?, 200, PAID);
    let order = [("amount", "501.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_result(&shop.post(&format!("v1/registrations/{}/payments", visa.id()), &order).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn a_running_gateway_follows_the_rules_and_a_shadow_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    let checkout = open_checkout(&shop, &[]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "));
    activate_rules(&shop, &format_offer("amount > 0", "only = ['VISA']")).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, "VISA");
    activate_rules(&shop, &format_offer("amount > 0", "hide = ['VISA']")).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, "MASTER PAYPAL DIRECTDEBIT_SEPA APPLEPAY");
    assert_hidden(&shop.submit_card(&checkout, &[]).await?, "VISA");
    activate_rules(&shop, "").await?;
    let added = shop.post("v2/risk/rules", &[("rules", &*format_offer("amount > 1", "hide = ['VISA']"))]).await?;
    let shadow = format!("v2/risk/rules/{}/shadow", added.json["version"].as_str().unwrap_or_default());
    assert_result(&shop.post(&shadow, &[]).await?, 200, "000.000.100");
    assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "));
    assert_eq!(shop.submit_card(&checkout, &[]).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn rules_of_other_merchants_and_of_a_channel_without_checks_have_no_effect() -> anyhow::Result<()> {
    let shop = create_shop("amount > 0", "only = ['PAYPAL']").await?;
    let other = TestGateway::shared().create_merchant_with(&["--risk", "on"])?;
    let checkout = open_checkout(&other, &[]).await?;
    assert_eq!(read_offered_brands(&other, &checkout).await?, NAMED.join(" "));
    assert_eq!(other.submit_card(&checkout, &[]).await?.status, 200);
    let checkout = open_checkout(&shop, &[]).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, "PAYPAL");
    TestGateway::shared().run_command(&["entity", "set", "--entity", &shop.entity_id, "--risk", "off"])?;
    let shows_all = async || {
        let config = read_configuration(&shop, "pciIframe.html", &checkout, "127.0.0.1").await?;
        Ok(config["brands"]["VISA"].is_object().then_some(()))
    };
    poll_until("the gateway takes the setting", shows_all).await?;
    assert_eq!(read_offered_brands(&shop, &checkout).await?, NAMED.join(" "));
    assert_eq!(shop.submit_card(&checkout, &[]).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_brand_that_one_channel_hides_does_not_move_to_another() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let merchant = gateway.create_merchant()?;
    let channel = |priority: &str, arguments: &[&str]| {
        let own = ["--merchant", &merchant.entity_id, "--priority", priority];
        gateway.create_merchant_with(&[&own[..], arguments].concat())
    };
    let hiding = channel("1", &["--risk", "on", "--brands", "VISA,MASTER"])?;
    channel("2", &[])?;
    activate_rules(&hiding, &format_offer("amount > 500", "hide = ['VISA']")).await?;
    let checkout = open_checkout(&merchant, &[]).await?;
    assert_eq!(read_offered_brands(&merchant, &checkout).await?, NAMED.join(" "));
    // The second channel takes VISA, too, but a payment with it is the first channel's.
    update_checkout(&merchant, &checkout, &[("amount", "501.00")]).await?;
    assert_eq!(read_offered_brands(&merchant, &checkout).await?, "MASTER PAYPAL DIRECTDEBIT_SEPA APPLEPAY");
    for fields in [&[][..], &[("paymentBrand", "VISA")], &[("paymentBrand", "")]] {
        let refused = merchant.submit_card(&checkout, fields).await?;
        assert_result(&refused, 400, HIDDEN);
    }
    assert!(stored_payments(gateway, &checkout)?.is_empty());
    // The second channel takes the brands that the first one does not, and its rules hide nothing.
    assert_eq!(merchant.submit_card(&checkout, &MASTER).await?.status, 200);
    let amex = [("paymentBrand", "AMEX"), ("card.number", "377777777777770"), ("card.cvv", "1234")];
    let checkout = open_checkout(&merchant, &[("amount", "501.00")]).await?;
    assert_eq!(merchant.submit_card(&checkout, &amex).await?.status, 200);
    assert_result(&merchant.read_status(&checkout).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn the_address_of_the_shopper_is_the_one_that_the_gateway_sees() -> anyhow::Result<()> {
    let shop = create_shop("ip = \"127.0.0.1\"", "hide = ['VISA']").await?;
    // Neither a header that no trusted proxy sent nor the merchant's parameter changes it.
    let checkout = open_checkout(&shop, &[("customer.ip", "203.0.113.9")]).await?;
    for from in ["127.0.0.1", "203.0.113.9"] {
        let config = read_configuration(&shop, "pciIframe.html", &checkout, from).await?;
        assert!(config["brands"]["VISA"].is_null() && config["brands"]["MASTER"].is_object(), "{config}");
    }
    assert_hidden(&shop.submit_card(&checkout, &[]).await?, "VISA");
    Ok(())
}

#[tokio::test]
async fn the_script_that_integrity_covers_is_the_same_for_every_offer() -> anyhow::Result<()> {
    let shop = create_shop("amount > 500", "only = ['PAYPAL']").await?;
    let mut loaders = Vec::new();
    for amount in ["92.00", "501.00"] {
        let made = shop.create_checkout(&[("amount", amount), ("integrity", "true")]).await?;
        for updated in ["1.00", "502.00"] {
            let path = format!("v1/paymentWidgets.js?checkoutId={}", made.id());
            let script = shop.bare_request(Method::GET, &path).send().await?.bytes().await?;
            loaders.push((made.json["integrity"].as_str().unwrap_or_default().to_owned(), script));
            update_checkout(&shop, made.id(), &[("amount", updated)]).await?;
        }
    }
    assert!(loaders[0].0.starts_with("sha384-") && loaders[0].1.len() > 1000);
    assert!(loaders.iter().all(|loader| *loader == loaders[0]));
    Ok(())
}

#[tokio::test]
async fn the_plain_form_says_in_its_language_that_a_brand_was_taken_away_and_shows_the_others() -> anyhow::Result<()> {
    let shop = create_shop("amount > 500", "hide = ['VISA']").await?;
    let checkout = open_checkout(&shop, &[]).await?;
    update_checkout(&shop, &checkout, &[("amount", "501.00")]).await?;
    let path = format!("v1/plainForm.html?checkoutId={checkout}&brands=VISA+MASTER&locale=de");
    let card =
        [("paymentBrand", "VISA"), ("card.number", "4200000000000000"), ("card.expiry", "05/34"), ("card.cvv", "123")];
    let request = shop.bare_request(Method::POST, &path).header("content-type", "application/x-www-form-urlencoded");
    let answer = request.body(encode_form(card)).send().await?;
    assert_eq!(answer.status().as_u16(), 400);
    let page = answer.text().await?;
    assert!(page.contains("Visa ist zurzeit nicht verfügbar."), "{page}");
    assert!(page.contains("value=\"MASTER\"") && !page.contains("value=\"VISA\""), "{page}");
    Ok(())
}
