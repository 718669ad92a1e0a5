//! The separate host of the card frames (`--fields-url`): the routes that it serves, the routes that it does not serve,
//! and its address in the form's configuration.

use reqwest::Method;
use serde_json::Value;
use sha2::{Digest as _, Sha384};
use tillgate_api::reference::{ROUTES, RouteHost};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::bundle::decode_content;

const PUBLIC: &str = "pay.example";
const FIELDS: &str = "fields.pay.example";
const OPTIONS: [&str; 4] = ["--public-url", "https://pay.example", "--fields-url", "https://fields.pay.example"];

/// Sends a request without credentials to `path`, with this host name in its header.
async fn send_to_host(shop: &MerchantClient, method: &str, path: &str, host: &str) -> anyhow::Result<ApiResponse> {
    let request = shop.bare_request(method.parse()?, path.trim_start_matches('/')).header("host", host);
    ApiResponse::read_from(request.send().await?).await
}

/// Returns true if the gateway responds that it has no such route.
fn is_missing(answer: &ApiResponse) -> bool {
    answer.status == 404 && answer.text.contains("There is no endpoint at this address")
}

/// Returns the path of a route with existing ids and files, and with the checkout's id in the query.
fn existing_path(path: &str, checkout: &str, build: &str) -> String {
    let path = path.replace("{id}", checkout).replace("{build}", build);
    let path = path.replace("frame/{*path}", "frame/frame.js").replace("{*path}", "js/static.min.js");
    path.replace("{registration}", "x").replace("{advance}", "0s") + "?checkoutId=" + checkout
}

/// Returns the configuration in a frame document.
fn parse_configuration(document: &str) -> anyhow::Result<Value> {
    let start = document.split_once(r#"id="tillgate-config">"#).map_or("", |(_, rest)| rest);
    Ok(serde_json::from_str(start.split_once("</script>").map_or("", |(config, _)| config))?)
}

/// Returns the id of the form's build in the frame document that this host serves for a checkout.
async fn current_build(shop: &MerchantClient, checkout: &str, host: &str) -> anyhow::Result<String> {
    let frame = send_to_host(shop, "GET", &format!("v1/pciIframe.html?checkoutId={checkout}"), host).await?;
    Ok(parse_configuration(&frame.text)?["build"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn each_route_exists_on_its_hosts_and_on_no_other() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&OPTIONS)?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    let build = current_build(&shop, checkout.id(), FIELDS).await?;
    // Every name other than the fields host is treated as the public host.
    let public = [PUBLIC, "PAY.example:443", "127.0.0.1", "localhost:8080", "evil.example", "fields.pay.example.evil"];
    for (hosts, host) in [
        (RouteHost::Public, &public[..]),
        (RouteHost::Fields, &[FIELDS, "Fields.Pay.EXAMPLE", "fields.pay.example:443", "fields.pay.example:8443"]),
    ] {
        for name in host {
            for row in ROUTES.iter() {
                let path = existing_path(row.path, checkout.id(), &build);
                let answer = send_to_host(&shop, row.method.as_str(), &path, name).await?;
                let exists = row.host == RouteHost::Both || row.host == hosts;
                let what = format!("{} {path} at {name}: {} {}", row.method.as_str(), answer.status, answer.text);
                assert_eq!(!is_missing(&answer), exists, "{what}");
                if hosts == RouteHost::Fields && row.path.ends_with(".html") && row.method.as_str() == "GET" {
                    assert_eq!(answer.status, 200, "{what}");
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_fields_host_has_nothing_besides_the_routes_of_the_frames() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&OPTIONS)?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    let on_fields: Vec<_> = ROUTES.iter().filter(|row| row.host != RouteHost::Public).collect();
    for row in ROUTES.iter() {
        let path = existing_path(row.path, checkout.id(), "0");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
            let served = on_fields.iter().any(|other| other.path == row.path && other.method.as_str() == method);
            if !served {
                let answer = send_to_host(&shop, method, &path, FIELDS).await?;
                assert!(is_missing(&answer), "{method} {path}: {} {}", answer.status, answer.text);
            }
        }
    }
    for path in ["", "v1", "v1/static/0/js/static.min.js", "v1/static/0/frame", "v1//paymentWidgets.js", "reference/"] {
        assert!(is_missing(&send_to_host(&shop, "GET", path, FIELDS).await?), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn without_the_option_every_host_serves_every_route() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    let build = current_build(&shop, checkout.id(), PUBLIC).await?;
    for row in ROUTES.iter() {
        let path = existing_path(row.path, checkout.id(), &build);
        for host in [PUBLIC, FIELDS, "127.0.0.1"] {
            let answer = send_to_host(&shop, row.method.as_str(), &path, host).await?;
            assert!(!is_missing(&answer), "{} {path} at {host}: {}", row.method.as_str(), answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_trusted_proxy_alone_says_which_host_the_browser_asked() -> anyhow::Result<()> {
    const RELAY: &str = "v1/internalRequestIframe.html";
    for (trusted, exists) in [(&["--trusted-proxy", "127.0.0.0/8"][..], true), (&[], false)] {
        let gateway = TestGateway::start_with(&[&OPTIONS[..], trusted].concat())?;
        let shop = gateway.create_merchant()?;
        for (forwarded, wanted) in [
            (vec![FIELDS], exists),
            (vec!["evil.example, fields.pay.example"], exists),
            (vec!["evil.example", FIELDS], exists),
            (vec!["fields.pay.example, evil.example"], false),
            (vec![""], false),
        ] {
            let mut request = shop.bare_request(Method::GET, RELAY).header("host", "127.0.0.1");
            for host in &forwarded {
                request = request.header("x-forwarded-host", *host);
            }
            let answer = ApiResponse::read_from(request.send().await?).await?;
            assert_eq!(!is_missing(&answer), wanted, "{forwarded:?} {trusted:?}");
        }
        // The forwarded host of a trusted proxy takes precedence over the host of the request.
        let request = shop.bare_request(Method::GET, RELAY).header("host", FIELDS).header("x-forwarded-host", PUBLIC);
        assert_eq!(is_missing(&ApiResponse::read_from(request.send().await?).await?), exists, "{trusted:?}");
    }
    Ok(())
}

#[tokio::test]
async fn the_loader_knows_the_frames_address_and_its_integrity_says_so() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&OPTIONS)?;
    let shop = gateway.create_merchant()?;
    let mut loaders = Vec::new();
    for _ in 0..2 {
        let checkout = shop.create_checkout(&[("integrity", "true")]).await?;
        for coding in ["identity", "gzip", "br"] {
            let path = format!("v1/paymentWidgets.js?checkoutId={}", checkout.id());
            let response = shop.bare_request(Method::GET, &path).header("accept-encoding", coding).send().await?;
            let used =
                response.headers().get("content-encoding").and_then(|used| used.to_str().ok()).map(str::to_owned);
            assert_eq!(used.as_deref().unwrap_or("identity"), coding);
            let bytes = decode_content(used.as_deref(), &response.bytes().await?)?;
            let digest = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, Sha384::digest(&bytes));
            assert_eq!(checkout.json["integrity"], format!("sha384-{digest}"));
            loaders.push(String::from_utf8(bytes)?);
        }
        let build = current_build(&shop, checkout.id(), FIELDS).await?;
        assert!(loaders[0].contains("https://fields.pay.example/") && loaders[0].contains(&build));
        // Every file whose address contains the build exists.
        for (path, host) in [("js/static.min.js", PUBLIC), ("css/card.css", PUBLIC), ("frame/frame.wasm", FIELDS)] {
            assert_eq!(
                send_to_host(&shop, "GET", &format!("v1/static/{build}/{path}"), host).await?.status,
                200,
                "{path}"
            );
        }
        // The frame of the code has its own document, which was created with the build.
        let code = format!("v1/pciIframe.html?checkoutId={}&field=card.cvv", checkout.id());
        assert_eq!(
            parse_configuration(&send_to_host(&shop, "GET", &code, FIELDS).await?.text)?["build"],
            build.as_str()
        );
    }
    loaders.dedup();
    assert_eq!(loaders.len(), 1, "the same bytes for every checkout and coding");
    Ok(())
}

#[tokio::test]
async fn checkouts_keep_their_loader_when_the_option_comes_and_goes() -> anyhow::Result<()> {
    let load = async |shop: &MerchantClient, checkout: &str| {
        let path = format!("v1/paymentWidgets.js?checkoutId={checkout}");
        anyhow::Ok(shop.bare_request(Method::GET, &path).send().await?.text().await?)
    };
    let mut gateway = TestGateway::start()?;
    let (entity, token) = (gateway.create_merchant()?.entity_id, gateway.run_command(&["entity", "list"])?);
    assert!(token[0]["id"] == entity.as_str());
    let made = gateway.run_command(&["token", "create", "--entity", &entity])?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    let mut known: Vec<(String, String)> = Vec::new();
    let other = ["--public-url", "https://pay.example", "--fields-url", "https://other.example/cards"];
    for options in [&OPTIONS[..], &other, &[], &OPTIONS] {
        gateway = gateway.kill_and_restart(options)?;
        let shop = MerchantClient::new(gateway.base_url(), entity.clone(), token.clone());
        let checkout = shop.create_checkout(&[]).await?;
        known.push((checkout.id().to_owned(), load(&shop, checkout.id()).await?));
        for (checkout, loader) in &known {
            assert!(load(&shop, checkout).await? == *loader, "{options:?}");
        }
    }
    assert!(known[0].1 == known[3].1, "the same address makes the same build");
    assert!(known[1].1.contains("https://other.example/cards/") && !known[2].1.contains("example"));
    Ok(())
}

#[tokio::test]
async fn an_address_that_separates_nothing_stops_the_start_with_a_reason() {
    for (options, word) in [
        (&["--fields-url", "https://fields.pay.example"][..], "--public-url"),
        (&["--public-url", "https://pay.example", "--fields-url", "https://pay.example:8443"], "separate host name"),
        (&["--public-url", "https://pay.example", "--fields-url", "https://PAY.EXAMPLE"], "separate host name"),
        (&["--public-url", "https://pay.example", "--fields-url", "http://fields.pay.example"], "same scheme"),
        (&["--public-url", "https://pay.example", "--fields-url", "https://fields.pay.example/'x"], "letters"),
        (&["--public-url", "https://pay.example", "--fields-url", "fields"], "https://pay.example"),
    ] {
        let error = TestGateway::start_with(options).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(word), "{options:?}: {error}");
    }
}

#[tokio::test]
async fn every_document_of_ours_in_a_frame_names_the_merchants_origins() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&OPTIONS)?;
    let shop =
        gateway.create_merchant_with(&["--origin", "https://shop.example", "--origin", "https://other.example"])?;
    let checkout = shop.create_checkout(&[]).await?;
    // A channel without its own origins uses those of its merchant.
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let of_channel = channel.create_checkout(&[]).await?;
    let mut documents = 0;
    let checkouts = [checkout.id(), of_channel.id(), "", "unknown"];
    for (row, checkout) in ROUTES
        .iter()
        .flat_map(|row| checkouts.map(|checkout| (row, checkout)))
        .filter(|(row, _)| row.method.as_str() == "GET" && row.path != "/reference")
    {
        let host = if row.host == RouteHost::Public { PUBLIC } else { FIELDS };
        for field in ["", "card.number", "card.cvv", "card.holder"] {
            let path = existing_path(row.path, checkout, "0") + "&brand=APPLEPAY&inline=true&field=" + field;
            let answer = send_to_host(&shop, "GET", &path, host).await?;
            let kind = answer.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            if !kind.starts_with("text/html") {
                continue;
            }
            let policy = answer.headers["content-security-policy"].to_str()?;
            let (_, ancestors) = policy.split_once("frame-ancestors ").unwrap_or_default();
            let ancestors = ancestors.split(';').next().unwrap_or_default();
            // A page without a payment may belong to any merchant of the gateway. Here there is only this one.
            let mut ancestors: Vec<&str> = ancestors.split(' ').filter(|source| *source != "'self'").collect();
            ancestors.sort_unstable();
            let named = ["https://other.example", "https://shop.example"];
            assert!(ancestors == ["'none'"] || ancestors == named, "{path}: {policy}");
            documents += 1;
        }
    }
    assert!(documents >= 4 * 4 * 4, "{documents}");
    Ok(())
}

#[tokio::test]
async fn a_live_entity_without_named_origins_is_warned_about() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    for (options, warned) in
        [(&["--live"][..], true), (&["--live", "--origin", "https://shop.example"], false), (&[], false)]
    {
        let entity = gateway.create_merchant_with(options)?.entity_id;
        let shown = gateway.run_command(&["entity", "show", "--entity", &entity])?;
        let warnings = shown["warnings"].as_array().cloned().unwrap_or_default();
        assert_eq!(warnings.iter().any(|warning| warning.to_string().contains("--origin")), warned, "{shown}");
        let data = gateway.data_folder();
        let text = std::process::Command::new(tillgate_tests::binary_path())
            .args(["entity", "show", "--entity", &entity, "--data"])
            .arg(data)
            .output()?;
        let text = String::from_utf8(text.stdout)?;
        assert_eq!(
            text.lines().any(|line| line.starts_with("warning ") && line.contains("--origin")),
            warned,
            "{text}"
        );
    }
    Ok(())
}
