//! A hostile script in the merchant's page, with valid credentials of another entity on the same gateway: what it can make the
//! form's frames do, and what it learns. The card is typed in by the shopper.

use serde_json::{Value, json};
use tillgate_tests::{Browser, CardForm, Gateway, Merchant, Page, Site, browse, until};

/// The hostile script. It is there before the form.
const SCRIPT: &str = include_str!("attacker.js");

const NUMBER: &str = "4111111111111111";
const CODE: &str = "737";

/// What a page may learn of an answer, by name.
const TOLD: [&str; 9] =
    ["status", "id", "flow", "redirect", "threeDSecure", "saved", "checkoutState", "description", "wrong"];

/// The messages that came back are of the shapes that the form needs, and say nothing of the card but its brand.
fn check_messages(messages: &Value) {
    let messages = messages.as_array().cloned().unwrap_or_default();
    assert!(messages.len() > 50, "the frames have spoken: {}", messages.len());
    for message in messages {
        let text = message.to_string();
        let data = &message["data"];
        // A run of digits that is no shopper's business: the build, the form's nonce, a time.
        assert!(!text.contains(&NUMBER[..9]) && !text.contains(&NUMBER[6..]), "{text}");
        assert!(!text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == CODE), "{text}");
        if data["type"] != "answer" {
            continue;
        }
        let answer = data["answer"].as_object().unwrap_or_else(|| panic!("{text}"));
        assert!(answer.keys().all(|name| TOLD.contains(&name.as_str())), "{text}");
        assert!(answer["wrong"].as_array().is_some_and(|names| names.iter().all(Value::is_string)), "{text}");
        assert!(
            !text.contains("8a0") && !text.contains("registrationId"),
            "an id of a stored card or a payment: {text}"
        );
    }
}

async fn attack(browser: &Browser, attacker: &Merchant, checkout: &str) -> anyhow::Result<Value> {
    let form = CardForm::ready(browser).await?;
    form.number(NUMBER).await?;
    form.expiry("05 / 34").await?;
    form.holder("Jane Jones").await?;
    form.code(CODE).await?;
    form.code_is_known().await?;
    let arguments = vec![json!(attacker.entity_id), json!(attacker.token), json!(checkout)];
    let sent = browser.execute_async("attack(...[...arguments].slice(0, 3)).then(arguments[3])", arguments).await?;
    assert!(sent.json().as_u64() > Some(300), "{:?}", sent.json());
    browser.value("heardByAttacker()").await
}

/// The requests since the first `before` that only a merchant's server makes.
fn of_servers(gateway: &Gateway, before: usize) -> Vec<String> {
    let paths = ["/v1/registrations", "/v1/payments", "/v1/query", "/v3/query", "/v1/clock"];
    let is_of_servers = |request: &String| {
        paths.iter().any(|path| request.contains(path)) || request.starts_with("POST /v1/checkouts ")
    };
    gateway.requests().into_iter().skip(before).filter(is_of_servers).collect()
}

#[tokio::test]
async fn a_hostile_script_with_credentials_makes_a_frame_send_the_card_nowhere_else() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let (merchant, attacker) = (gateway.merchant()?, gateway.merchant()?);
    let site = Site::start(&gateway).await?;
    let checkout = merchant.checkout(&[("integrity", "true")]).await?;
    let own = attacker.checkout(&[("createRegistration", "true")]).await?;
    let address = site.add(Page::of(&checkout).script(SCRIPT));
    browse(move |browser| async move {
        let before = gateway.requests().len();
        browser.goto(address).await?;
        check_messages(&attack(&browser, &attacker, own.id()).await?);
        let of_servers = of_servers(&gateway, before);
        assert!(of_servers.is_empty(), "{of_servers:?}");
        // A frame of the attacker's checkout sends what the attacker says; the card is not in it.
        let theirs = attacker.status(own.id()).await?;
        assert!(theirs.code() == "000.200.000" && !theirs.text.contains(&NUMBER[..6]), "{}", theirs.text);
        // What the page's button does, its script can do: the frame pays its own checkout.
        assert!(gateway.submits(checkout.id()) > 0);
        let paid = merchant.status(checkout.id()).await?;
        assert!(paid.json["checkoutState"] == "PAID" && paid.json["amount"] == "92.00", "{}", paid.text);
        assert!(!paid.text.contains("\"attack\""), "{}", paid.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_without_a_checkout_gives_a_hostile_script_no_more_than_bin_and_last_four() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let attacker = gateway.merchant()?;
    let site = Site::start(&gateway).await?;
    let own = attacker.checkout(&[]).await?;
    let script = format!("{SCRIPT} var wpwlOptions = {{ createCheckout: () => '' }};");
    let address = site.add(Page::for_id("").script(&script));
    browse(move |browser| async move {
        let before = gateway.requests().len();
        browser.goto(address).await?;
        check_messages(&attack(&browser, &attacker, own.id()).await?);
        let of_servers = of_servers(&gateway, before);
        assert!(of_servers.is_empty(), "{of_servers:?}");
        // It may name a checkout of its own, and reads there what every merchant reads of a card.
        let status = until("the attacker's checkout", async || {
            let status = attacker.status(own.id()).await?;
            Ok(Some(status).filter(|status| status.code() != "000.200.000"))
        })
        .await?;
        assert_eq!(status.json["card"]["bin"], NUMBER[..6]);
        assert_eq!(status.json["card"]["last4Digits"], NUMBER[12..]);
        assert!(!status.text.contains(&NUMBER[..9]) && !status.text.contains(CODE), "{}", status.text);
        Ok(())
    })
    .await
}
