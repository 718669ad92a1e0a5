//! A host of its own for the back office (`--backoffice-url`).

use tillgate_tests::TestGateway;

use crate::access::office_browser::{OfficeBrowser, Person};

const URL: &str = "http://office.localhost:8080";

/// Opens a browser that asks for a host.
fn open_browser(gateway: &TestGateway, host: &str) -> OfficeBrowser {
    let mut browser = OfficeBrowser::new(gateway);
    browser.headers.push(("host", host.to_owned()));
    browser
}

#[tokio::test]
async fn the_back_office_and_the_gateway_answer_at_their_own_hosts_only() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--backoffice-url", URL])?;
    gateway.wait_for_log("first administrator").await?;
    assert!(gateway.read_log().contains("http://office.localhost:8080/backoffice/invitation/"));
    let (office, other) = (open_browser(&gateway, "Office.localhost:8080"), open_browser(&gateway, "pay.localhost"));
    assert_eq!(office.get("/sign-in").await?.status, 200);
    assert_eq!(office.get("").await?.header("location"), "/backoffice/sign-in");
    for path in ["", "/sign-in", "/account", "/assets/x", "/unknown"] {
        assert_eq!(other.get(path).await?.status, 404, "{path}");
    }
    assert_eq!(other.post("/sign-in", &[("mail", "a")]).await?.status, 404);
    for path in [
        "/health",
        "/v1/payments/x",
        "/v1/paymentWidgets.js",
        "/openapi.json",
        "/backofficex",
        "/",
        "//backoffice/../health",
    ] {
        let address = format!("{}{path}", office.base);
        assert_eq!(office.get(&address).await?.status, 404, "{path}");
    }
    assert_eq!(other.get(&format!("{}/health", other.base)).await?.status, 200);
    // A browser cannot choose another host by a header of proxies.
    let mut forged = open_browser(&gateway, "pay.localhost");
    forged.headers.push(("x-forwarded-host", "office.localhost".to_owned()));
    assert_eq!(forged.get("/sign-in").await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn links_and_the_check_of_origins_use_the_host_of_the_back_office() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--backoffice-url", URL, "--public-url", "http://pay.localhost:8080"])?;
    let link = Person::invite(&gateway, "first@shop.example", "administrator", None)?;
    let path = link.split_once("/backoffice").map_or("", |(_, path)| path);
    let mut browser = open_browser(&gateway, "office.localhost:8080");
    assert_eq!(browser.get(path).await?.status, 200);
    // Without Sec-Fetch-Site the origin decides.
    browser.headers.retain(|(name, _)| *name != "sec-fetch-site");
    for (origin, status) in [("http://pay.localhost:8080", 403), (URL, 401)] {
        browser.headers.push(("origin", origin.to_owned()));
        assert_eq!(browser.post("/sign-in", &[("mail", "a"), ("password", "b")]).await?.status, status, "{origin}");
        browser.headers.pop();
    }
    assert!(browser.get("/sign-in").await?.page.contains("data-passkey"));
    Ok(())
}

#[test]
fn an_address_that_is_no_safe_origin_of_its_own_is_refused() {
    for (arguments, reason) in [
        (&["--backoffice-url", "http://office.example"][..], "has to begin with https://"),
        (&["--backoffice-url", "https://office.example/x"], "without a path"),
        (&["--backoffice-url", "office.example"], "such as https://"),
        (&["--backoffice-url", URL, "--backoffice", "off"], "needs --backoffice on"),
        (&["--backoffice-url", URL, "--public-url", "http://office.localhost:9090"], "needs a host"),
    ] {
        let error = TestGateway::start_with(arguments).err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.contains(reason), "{arguments:?}: {error}");
    }
}
