//! Addresses that the gateway sends requests to: one parser for webhooks, notifications, review callbacks, pushed files
//! and acquirers, which names the fault at once.

use tillgate_tests::{Receiver, TestGateway};

use crate::delivery::notifications::LOOPBACK;
use crate::service::command_line::run_tillgate;
use crate::support::*;

/// Addresses of http and https with their fault.
const WRONG: [(&str, &str); 10] = [
    ("http://user:pw@host/", "may not name a user or a password"),
    ("https://user@shop.example/", "may not name a user or a password"),
    ("ftp://shop.example/", "must be an address that starts with https:// or http://"),
    ("shop.example/hook", "must be an address that starts with https:// or http://"),
    ("https:///hook", "names no valid host"),
    ("https://a..b/hook", "names no valid host"),
    ("https://[::g]/hook", "names no valid host"),
    ("https://shop.example:65536/", "names no valid port"),
    ("https://shop.example:x/", "names no valid port"),
    ("https://shop.example/a b", "may not contain spaces"),
];

#[tokio::test]
async fn each_option_and_parameter_names_the_fault_of_an_address() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let config = gateway.folder().join("callbacks.toml");
    let file = config.to_str().unwrap_or_default();
    for (address, fault) in WRONG {
        let webhook = ["webhook", "create", "--entity", &shop.entity_id, "--url", address];
        let said = gateway.run_command(&webhook).expect_err("a refusal").to_string();
        assert!(said.contains(fault), "webhook {address}: {said}");
        let printed = said.replace(&webhook.join(" "), "");
        assert!(!printed.contains("pw@"), "the password is repeated: {printed}");
        std::fs::write(
            &config,
            format!("urls = [\"{address}\"]\nkeys = [{{ name = \"d\", field = \"decision\" }}]\n"),
        )?;
        let set = ["review-callback", "set", "--entity", &shop.entity_id, file];
        let said = gateway.run_command(&set).expect_err("a refusal").to_string();
        assert!(said.contains(fault), "review-callback {address}: {said}");
        let serve = ["serve", "--listen", "127.0.0.1:0", "--data", "/nowhere", "--acquirer", address];
        let output = run_tillgate(&serve).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(fault), "acquirer {address}: {said}");
        let made = shop.create_checkout(&[("notificationUrl", address)]).await?;
        assert_errors(&made, &["notificationUrl"]);
    }
    for (address, fault) in [
        ("sftp://shop:pw@files.example/", "contains a password"),
        ("sftp://shop@/in", "names no valid host"),
        ("sftp://shop@a..b/in", "names no valid host"),
        ("sftp://shop@files.example:x/", "names no valid port"),
        ("http://shop@files.example/", "is not an address of ftps, sftp or ftp"),
    ] {
        let set = ["file-push", "set", "--entity", &shop.entity_id, "--url", address];
        let said = gateway.run_command(&set).expect_err("a refusal").to_string();
        assert!(said.contains(fault), "file-push {address}: {said}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_beyond_ascii_are_encoded_on_the_wire() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let shop = gateway.create_merchant()?;
    let receiver = Receiver::start().await?;
    let address = format!("{}?q=ä", receiver.url("grüße"));
    // A payment that a page decides is notified.
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL")];
    let more = [("shopperResultUrl", "https://shop.example/"), ("notificationUrl", address.as_str())];
    let made = shop.post("v1/payments", &[&order[..], &more].concat()).await?;
    assert_result(&made, 200, "000.200.000");
    let page = crate::payment::asynchronous::redirect_url(&made);
    crate::payment::asynchronous::press_button(&shop, &page, "success").await?;
    let notified = receiver.next_request().await?;
    assert!(notified.target.starts_with("/gr%C3%BC%C3%9Fe"), "{}", notified.target);
    let parameters = notified.query_parameters();
    assert!(parameters.contains(&("q".to_owned(), "ä".to_owned())), "{parameters:?}");
    // A webhook, whose test is a request at once.
    let webhook = gateway.run_command(&["webhook", "create", "--entity", &shop.entity_id, "--url", &address])?;
    let id = webhook["webhookId"].as_str().unwrap_or_default();
    gateway.run_command(&[&["webhook", "test", "--webhook", id][..], &LOOPBACK].concat())?;
    let tested = receiver.next_request().await?;
    assert!(tested.target.starts_with("/gr%C3%BC%C3%9Fe"), "{}", tested.target);
    Ok(())
}
