//! Information about the service, its access log, and its operation behind a proxy.

use std::collections::HashSet;

use reqwest::Method;
use tillgate_tests::{ApiResponse, TestGateway, poll_until};

use crate::support::*;

#[tokio::test]
async fn health_is_a_word_and_needs_no_credentials() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let answer = ApiResponse::read_from(shop.bare_request(Method::GET, "health").send().await?).await?;
    assert_eq!((answer.status, &answer.json["status"]), (200, &"ok".into()));
    assert_envelope(&answer);
    Ok(())
}

#[tokio::test]
async fn every_result_code_is_listed_once_and_described() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let answer = ApiResponse::read_from(shop.bare_request(Method::GET, "v1/resultcodes").send().await?).await?;
    assert_eq!(answer.status, 200);
    let codes = answer.json["resultCodes"].as_array().cloned().unwrap_or_default();
    assert_eq!(codes.len(), 671);
    let distinct: HashSet<_> = codes.iter().map(|code| code["code"].to_string()).collect();
    assert_eq!(distinct.len(), 671);
    for code in &codes {
        assert!(has_shape(code["code"].as_str().unwrap_or_default(), "999.999.999"), "{code}");
        let description = code["description"].as_str().unwrap_or_default();
        assert!((1..=255).contains(&description.chars().count()), "{code}");
    }
    for known in [
        "000.000.000",
        "000.100.110",
        "000.100.111",
        "000.100.112",
        "000.000.100",
        "000.200.000",
        "000.200.100",
        "000.200.101",
        "000.200.102",
        "000.200.103",
        "000.200.200",
        "100.396.101",
        "100.396.104",
        "100.150.200",
        "100.100.101",
        "100.100.303",
        "200.300.404",
        "700.400.510",
        "700.400.200",
        "700.300.700",
        "600.200.201",
        "800.110.100",
        "800.900.201",
        "800.900.300",
        "999.999.999",
    ] {
        assert!(codes.iter().any(|code| code["code"] == known), "{known}");
    }
    Ok(())
}

#[tokio::test]
async fn the_access_log_has_the_route_and_neither_path_nor_query() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let payment = format!("8a{}", "7".repeat(30));
    shop.get(&format!("v1/payments/{payment}?card.number=4242424242424242&authentication.password=hunter2")).await?;
    shop.get(&format!("//v1/payments/{payment}?note=two-slashes")).await?;
    let line = "GET /v1/payments/{id} 404";
    let requests = poll_until("both requests are in the access log", async || {
        let found = gateway.logged_requests_about(&payment);
        Ok((found.len() == 2).then_some(found))
    })
    .await?;
    assert_eq!(requests, [line, line]);
    let log = gateway.read_log();
    for secret in [payment.as_str(), "entityId=", "4242424242424242", "hunter2", "two-slashes", &shop.token, "Bearer"] {
        assert!(!log.contains(secret), "{secret} is in the log:\n{log}");
    }
    Ok(())
}

#[tokio::test]
async fn a_submit_is_logged_without_what_was_posted() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[("card.holder", "Wilhelmina Vantongerloo")]).await?;
    poll_until("the submit is in the access log", async || Ok((gateway.submit_count(made.id()) == 1).then_some(())))
        .await?;
    assert!(!gateway.read_log().contains("Vantongerloo"));
    Ok(())
}

#[tokio::test]
async fn a_forwarded_address_is_believed_from_a_trusted_proxy_only() -> anyhow::Result<()> {
    let address = async |gateway: &TestGateway, forwarded: &str| -> anyhow::Result<String> {
        let shop = gateway.create_merchant()?;
        let made = shop.create_checkout(&[]).await?;
        let request = shop.bare_request(Method::POST, &format!("v1/checkouts/{}/payment", made.id()));
        let request =
            request.header("x-forwarded-for", forwarded).header("content-type", "application/x-www-form-urlencoded");
        let submitted =
            ApiResponse::read_from(request.body(tillgate_tests::encode_form(tillgate_tests::CARD)).send().await?)
                .await?;
        assert_result(&submitted, 200, "000.000.100");
        Ok(shop.read_status(made.id()).await?.json["customer"]["ip"].as_str().unwrap_or_default().to_owned())
    };
    let trusting = TestGateway::start_with(&["--trusted-proxy", "127.0.0.0/8", "--trusted-proxy", "10.0.0.0/8"])?;
    assert_eq!(address(&trusting, "203.0.113.9").await?, "203.0.113.9");
    assert_eq!(address(&trusting, "1.2.3.4, 203.0.113.9, 10.0.0.2").await?, "203.0.113.9");
    assert_eq!(address(&trusting, "2001:db8::7").await?, "2001:db8::7");
    for (header, client) in [
        ("203.0.113.7:51234", "203.0.113.7"),
        ("198.51.100.4, 203.0.113.7:51234", "203.0.113.7"),
        ("\"203.0.113.7:51234\",", "203.0.113.7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("\"[2001:db8::7]\", 10.0.0.2:80,", "2001:db8::7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
    ] {
        assert_eq!(address(&trusting, header).await?, client, "{header}");
    }
    assert!(!trusting.read_log().contains("failed to report an address"));
    assert_eq!(address(&trusting, "nonsense").await?, "127.0.0.1");
    assert_eq!(address(&trusting, "203.0.113.7:x").await?, "127.0.0.1");
    // One warning a minute, however many requests there are.
    trusting.wait_for_log("failed to report an address").await?;
    assert_eq!(trusting.read_log().matches("failed to report an address").count(), 1);
    assert_eq!(address(TestGateway::shared(), "203.0.113.9").await?, "127.0.0.1");
    Ok(())
}

/// Returns the gateway's public address in the frame document of a new checkout, which is requested with these headers.
/// Empty if the document has none.
async fn configured_base(gateway: &TestGateway, headers: &[(&str, &str)]) -> anyhow::Result<String> {
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    let mut request =
        shop.bare_request(Method::GET, &format!("v1/pciIframe.html?checkoutId={}&brands=VISA", made.id()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let document = request.send().await?.text().await?;
    let base = document.split_once(r#""base":""#).map_or("", |(_, rest)| rest);
    Ok(base.split('"').next().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn the_standard_header_of_proxies_is_read_as_well() -> anyhow::Result<()> {
    let trusting = TestGateway::start_with(&["--trusted-proxy", "127.0.0.0/8", "--trusted-proxy", "10.0.0.0/8"])?;
    let shop = trusting.create_merchant()?;
    for (headers, client) in [
        (&[("forwarded", "for=192.0.2.60;proto=http;by=203.0.113.43")][..], "192.0.2.60"),
        (&[("forwarded", "for=\"[2001:db8::17]:4711\"")], "2001:db8::17"),
        (&[("forwarded", "for=1.2.3.4, For=192.0.2.43;host=\"a,b\", for=10.0.0.2")], "192.0.2.43"),
        (&[("forwarded", "for=192.0.2.60"), ("x-forwarded-for", "203.0.113.9")], "203.0.113.9"),
    ] {
        let made = shop.create_checkout(&[]).await?;
        let mut request = shop
            .bare_request(Method::POST, &format!("v1/checkouts/{}/payment", made.id()))
            .header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let submitted = request.body(tillgate_tests::encode_form(tillgate_tests::CARD)).send().await?;
        assert_eq!(submitted.status(), 200);
        assert_eq!(shop.read_status(made.id()).await?.json["customer"]["ip"], client, "{headers:?}");
    }
    let https = [("host", "pay.example"), ("forwarded", "for=192.0.2.60;proto=https")];
    assert_eq!(configured_base(&trusting, &https).await?, "https://pay.example/");
    assert_eq!(configured_base(TestGateway::shared(), &https).await?, "http://pay.example/");
    Ok(())
}

#[tokio::test]
async fn the_public_address_is_the_configured_one_whatever_a_request_says() -> anyhow::Result<()> {
    for (url, expected) in
        [("https://pay.example", "https://pay.example/"), ("https://pay.example/till//", "https://pay.example/till/")]
    {
        let gateway = TestGateway::start_with(&["--public-url", url])?;
        assert_eq!(
            configured_base(&gateway, &[("host", "evil.example"), ("x-forwarded-proto", "http")]).await?,
            expected
        );
    }
    Ok(())
}

#[tokio::test]
async fn without_a_configured_address_the_proxys_scheme_counts_when_it_is_trusted() -> anyhow::Result<()> {
    let headers = [("host", "pay.example"), ("x-forwarded-proto", "https")];
    let trusting = TestGateway::start_with(&["--trusted-proxy", "127.0.0.1/32"])?;
    assert_eq!(configured_base(&trusting, &headers).await?, "https://pay.example/");
    assert_eq!(
        configured_base(&trusting, &[("host", "pay.example"), ("x-forwarded-proto", "javascript")]).await?,
        "http://pay.example/"
    );
    assert_eq!(configured_base(TestGateway::shared(), &headers).await?, "http://pay.example/");
    Ok(())
}
