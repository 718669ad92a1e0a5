//! A hostile script in the merchant's page, with valid credentials of another entity of the same gateway: the requests
//! that it can make the form's frames send, and the data that it learns. The card is typed in by the shopper.

use serde_json::{Value, json};
use tillgate_tests::{
    Browser, CardForm, MerchantClient, MerchantPage, MerchantSite, TestGateway, poll_until, run_in_desktop_browser,
};

/// The hostile script. It runs before the form is loaded.
const SCRIPT: &str = include_str!("attacker.js");

const NUMBER: &str = "4111111111111111";
const CODE: &str = "737";

/// The names in a response that a page may read.
const READABLE_NAMES: [&str; 11] = [
    "status",
    "id",
    "flow",
    "advice",
    "redirect",
    "threeDSecure",
    "saved",
    "checkoutState",
    "description",
    "wrong",
    "ignored",
];

/// Asserts that there are more than 50 messages, all of a shape that the form needs, and that they contain nothing of
/// the card except its brand.
fn check_messages(messages: &Value) {
    let messages = messages.as_array().cloned().unwrap_or_default();
    assert!(messages.len() > 50, "too few messages of the frames: {}", messages.len());
    for message in messages {
        let text = message.to_string();
        let data = &message["data"];
        // The build, the form's nonce and times also contain digits, so only long runs and whole words are compared.
        assert!(!text.contains(&NUMBER[..9]) && !text.contains(&NUMBER[6..]), "{text}");
        assert!(!text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == CODE), "{text}");
        if data["type"] != "answer" {
            continue;
        }
        let answer = data["answer"].as_object().unwrap_or_else(|| panic!("{text}"));
        assert!(answer.keys().all(|name| READABLE_NAMES.contains(&name.as_str())), "{text}");
        assert!(answer["wrong"].as_array().is_some_and(|names| names.iter().all(Value::is_string)), "{text}");
        assert!(
            !text.contains("8a0") && !text.contains("registrationId"),
            "an id of a stored card or a payment: {text}"
        );
    }
}

/// Returns a status without the values that may contain any digits by chance. Asserts that none of them is the code.
fn without_random_values(status: &Value) -> String {
    let mut status = status.clone();
    let mut remove_from = |part: &str, names: &[&str]| {
        let Some(fields) = status.pointer_mut(part).and_then(Value::as_object_mut) else { return };
        for name in names {
            assert_ne!(fields.remove(*name), Some(json!(CODE)), "{name}");
        }
    };
    remove_from("", &["id", "ndc", "timestamp", "descriptor"]);
    remove_from("/resultDetails", &["ConnectorTxID1", "ConnectorTxID2", "ConnectorTxID3"]);
    status.to_string()
}

/// Fills in the form as the shopper, and runs the hostile script with the attacker's credentials. Asserts that it sent
/// more than 300 messages, and returns the messages that it received.
async fn run_attack(browser: &Browser, attacker: &MerchantClient, checkout: &str) -> anyhow::Result<Value> {
    let form = CardForm::wait_until_ready(browser).await?;
    form.enter_number(NUMBER).await?;
    form.enter_expiry("05 / 34").await?;
    form.enter_holder("Jane Jones").await?;
    form.enter_security_code(CODE).await?;
    form.wait_until_code_valid().await?;
    let arguments = vec![json!(attacker.entity_id), json!(attacker.token), json!(checkout)];
    let sent = browser.execute_async("attack(...[...arguments].slice(0, 3)).then(arguments[3])", arguments).await?;
    assert!(sent.json().as_u64() > Some(300), "{:?}", sent.json());
    browser.evaluate("heardByAttacker()").await
}

/// Returns the logged requests after the first `before` that only a merchant's server sends.
fn server_requests(gateway: &TestGateway, before: usize) -> Vec<String> {
    let paths = ["/v1/registrations", "/v1/payments", "/v1/query", "/v3/query", "/v1/clock"];
    let is_server_request = |request: &String| {
        paths.iter().any(|path| request.contains(path)) || request.starts_with("POST /v1/checkouts ")
    };
    gateway.logged_requests().into_iter().skip(before).filter(is_server_request).collect()
}

#[tokio::test]
async fn a_hostile_script_with_credentials_makes_a_frame_send_the_card_nowhere_else() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (merchant, attacker) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let site = MerchantSite::start(&gateway).await?;
    let checkout = merchant.create_checkout(&[("integrity", "true")]).await?;
    let own = attacker.create_checkout(&[("createRegistration", "true")]).await?;
    let address = site.add_page(MerchantPage::for_checkout(&checkout).with_script(SCRIPT));
    run_in_desktop_browser(move |browser| async move {
        let before = gateway.logged_requests().len();
        browser.goto(address).await?;
        check_messages(&run_attack(&browser, &attacker, own.id()).await?);
        let of_servers = server_requests(&gateway, before);
        assert!(of_servers.is_empty(), "{of_servers:?}");
        // A frame of the attacker's checkout sends only the attacker's parameters, without the card.
        let theirs = attacker.read_status(own.id()).await?;
        assert!(theirs.result_code() == "000.200.000" && !theirs.text.contains(&NUMBER[..6]), "{}", theirs.text);
        // The script can submit the form like the page's button. The frame then pays its own checkout.
        assert!(gateway.submit_count(checkout.id()) > 0);
        let paid = merchant.read_status(checkout.id()).await?;
        assert!(paid.json["checkoutState"] == "PAID" && paid.json["amount"] == "92.00", "{}", paid.text);
        assert!(!paid.text.contains("\"attack\""), "{}", paid.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_without_a_checkout_gives_a_hostile_script_no_more_than_bin_and_last_four() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let attacker = gateway.create_merchant()?;
    let site = MerchantSite::start(&gateway).await?;
    let own = attacker.create_checkout(&[]).await?;
    let script = format!("{SCRIPT} var wpwlOptions = {{ createCheckout: () => '' }};");
    let address = site.add_page(MerchantPage::for_checkout_id("").with_script(&script));
    run_in_desktop_browser(move |browser| async move {
        let before = gateway.logged_requests().len();
        browser.goto(address).await?;
        check_messages(&run_attack(&browser, &attacker, own.id()).await?);
        let of_servers = server_requests(&gateway, before);
        assert!(of_servers.is_empty(), "{of_servers:?}");
        // The attacker may use its own checkout, and can read the card data that every merchant can read.
        let status = poll_until("the attacker's checkout", async || {
            let status = attacker.read_status(own.id()).await?;
            Ok(Some(status).filter(|status| status.result_code() != "000.200.000"))
        })
        .await?;
        assert_eq!(status.json["card"]["bin"], NUMBER[..6]);
        assert_eq!(status.json["card"]["last4Digits"], NUMBER[12..]);
        let text = without_random_values(&status.json);
        assert!(!status.text.contains(&NUMBER[..9]) && !text.contains(CODE), "{}", status.text);
        Ok(())
    })
    .await
}
