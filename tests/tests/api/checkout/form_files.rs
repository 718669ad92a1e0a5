//! The loader and the static files: content, encodings, caching, and access from other origins.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, Method, Response};
use sha2::{Digest as _, Sha256};
use tillgate_shared::language::LANGUAGES;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::bundle::{TestBundle, decode_content, integrity_value};
use crate::checkout::frame_document::read_configuration;
use crate::support::*;

/// A gateway that serves a build with known files.
struct FormGateway {
    gateway: TestGateway,
    merchant: MerchantClient,
    bundle: TestBundle,
}

/// Returns the gateway of these tests. The first call starts it with a build and a merchant.
fn form_gateway() -> &'static FormGateway {
    static KNOWN: OnceLock<FormGateway> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let start = || -> anyhow::Result<FormGateway> {
            let bundle = TestBundle::new("one")?;
            let gateway = TestGateway::start_with(&["--form", bundle.folder()])?;
            let merchant = gateway.create_merchant()?;
            Ok(FormGateway { gateway, merchant, bundle })
        };
        match start() {
            Ok(gateway) => gateway,
            Err(error) => panic!("no gateway: {error:#}"),
        }
    })
}

/// Gets a path of the shared gateway, with this `Accept-Encoding` if any.
async fn get_file(path: &str, encodings: Option<&str>) -> anyhow::Result<Response> {
    let mut request = Client::new().get(format!("{}{path}", form_gateway().gateway.base_url()));
    if let Some(encodings) = encodings {
        request = request.header("accept-encoding", encodings);
    }
    Ok(request.send().await?)
}

fn response_header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// Returns another client of the same merchant, with its own connections.
fn new_client(merchant: &MerchantClient) -> MerchantClient {
    MerchantClient::new(merchant.base.clone(), merchant.entity_id.clone(), merchant.token.clone())
}

#[tokio::test]
async fn the_loader_is_the_same_for_every_checkout_and_for_none() -> anyhow::Result<()> {
    let known = form_gateway();
    let shop = new_client(&known.merchant);
    let (one, two) = (shop.create_checkout(&[]).await?, shop.create_checkout(&[("amount", "1.00")]).await?);
    let queries = [
        String::new(),
        "?checkoutId=".to_owned(),
        format!("?checkoutId={}", one.id()),
        format!("?checkoutId={}", two.id()),
        format!("?checkoutId={}/registration", one.id()),
        "?checkoutId=unknown".to_owned(),
        format!("?checkoutId={}&checkoutId={}", one.id(), two.id()),
        "?checkoutId=%FF%00".to_owned(),
        "?%ZZ".to_owned(),
    ];
    for query in queries {
        let response = get_file(&format!("v1/paymentWidgets.js{query}"), None).await?;
        assert_eq!(response.status(), 200, "{query}");
        assert_eq!(response_header(&response, "content-type"), Some("text/javascript; charset=utf-8"), "{query}");
        assert_eq!(response_header(&response, "access-control-allow-origin"), Some("*"), "{query}");
        assert_eq!(response.bytes().await?, known.bundle.loader, "{query}");
    }
    Ok(())
}

#[tokio::test]
async fn the_loader_stays_for_a_checkouts_lifetime_and_static_files_for_good() -> anyhow::Result<()> {
    let build = &form_gateway().bundle.build;
    let checkout = new_client(&form_gateway().merchant).create_checkout(&[]).await?;
    for (query, cached) in [
        (String::new(), "no-cache"),
        ("?checkoutId=unknown".to_owned(), "no-cache"),
        (format!("?checkoutId={}", checkout.id()), "private, max-age=1800"),
        (format!("?checkoutId={}/registration", checkout.id()), "private, max-age=1800"),
    ] {
        let loader = get_file(&format!("v1/paymentWidgets.js{query}"), None).await?;
        assert_eq!(response_header(&loader, "cache-control"), Some(cached), "{query}");
    }
    let file = get_file(&format!("v1/static/{build}/js/static.min.js"), None).await?;
    assert_eq!(response_header(&file, "cache-control"), Some("public, max-age=31536000, immutable"));
    Ok(())
}

#[tokio::test]
async fn static_files_are_served_as_they_are_to_every_origin() -> anyhow::Result<()> {
    let FormGateway { bundle, .. } = form_gateway();
    let script = get_file(&format!("v1/static/{}/js/static.min.js", bundle.build), None).await?;
    assert_eq!(script.status(), 200);
    assert_eq!(response_header(&script, "content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(response_header(&script, "access-control-allow-origin"), Some("*"));
    assert_eq!(response_header(&script, "cross-origin-resource-policy"), Some("cross-origin"));
    assert_eq!(response_header(&script, "x-content-type-options"), Some("nosniff"));
    assert_eq!(response_header(&script, "content-encoding"), None);
    assert_eq!(script.bytes().await?, bundle.script);
    let picture = get_file(&format!("v1/static/{}/img/picture.png", bundle.build), Some("br, gzip")).await?;
    assert_eq!(
        (response_header(&picture, "content-type"), response_header(&picture, "content-encoding")),
        (Some("image/png"), None)
    );
    assert_eq!(picture.bytes().await?, "one");
    Ok(())
}

#[tokio::test]
async fn files_travel_in_the_best_encoding_that_the_browser_takes() -> anyhow::Result<()> {
    let FormGateway { bundle, .. } = form_gateway();
    for (path, content) in [
        ("v1/paymentWidgets.js".to_owned(), &bundle.loader),
        (format!("v1/static/{}/js/static.min.js", bundle.build), &bundle.script),
    ] {
        for (accepted, expected) in [
            (None, None),
            (Some(""), None),
            (Some("identity"), None),
            (Some("br"), Some("br")),
            (Some("gzip"), Some("gzip")),
            (Some("gzip, deflate, br, zstd"), Some("br")),
            (Some("GZIP"), Some("gzip")),
            (Some("gzip;q=1.0, br;q=0"), Some("gzip")),
            (Some("br;q=0.000, gzip;q=0"), None),
            (Some("br; q=0"), None),
            (Some("deflate, compress"), None),
            (Some("broken, gzipped"), None),
        ] {
            let response = get_file(&path, accepted).await?;
            assert_eq!(response_header(&response, "content-encoding"), expected, "{path} for {accepted:?}");
            assert_eq!(response_header(&response, "vary"), Some("accept-encoding"), "{path} for {accepted:?}");
            let body = response.bytes().await?;
            assert!(expected.is_none() || body.len() < content.len(), "{path} for {accepted:?}");
            assert_eq!(&decode_content(expected, &body)?, content, "{path} for {accepted:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_the_build_does_not_list_is_not_served() -> anyhow::Result<()> {
    let build = &form_gateway().bundle.build;
    for path in [
        format!("v1/static/{build}/js/other.js"),
        format!("v1/static/{build}/js/static.min.js.br"),
        format!("v1/static/{build}/manifest.json"),
        format!("v1/static/{build}/%2e%2e/manifest.json"),
        format!("v1/static/{build}/..%2fpaymentWidgets.js"),
        format!("v1/static/{build}/%2fetc%2fpasswd"),
        format!("v1/static/{build}/"),
        format!("v1/static/{}/js/static.min.js", "0".repeat(32)),
        "v1/static/%2e%2e/js/static.min.js".to_owned(),
    ] {
        let response = get_file(&path, None).await?;
        assert_eq!(response.status(), 404, "{path}");
        assert_ne!(response_header(&response, "cache-control"), Some("public, max-age=31536000, immutable"), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() -> anyhow::Result<()> {
    let known = form_gateway();
    let path = format!("{}v1/static/{}/js/static.min.js", known.gateway.base_url(), known.bundle.build);
    let response = Client::new().request(Method::HEAD, path).send().await?;
    assert_eq!(response.status(), 200);
    assert_eq!(response_header(&response, "content-length"), Some(known.bundle.script.len().to_string().as_str()));
    assert!(response.bytes().await?.is_empty());
    Ok(())
}

/// The build in the binary. Its page module and the integrity values are served like those of any other build.
#[tokio::test]
async fn the_form_inside_the_binary_is_complete() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("integrity", "true")]).await?;
    let config = read_configuration(&shop, made.id(), "VISA").await?;
    let build = config["build"].as_str().unwrap_or_default();
    assert!(has_shape(build, &"x".repeat(32)), "{config}");
    let loader = shop.bare_request(Method::GET, &format!("v1/paymentWidgets.js?checkoutId={}", made.id()));
    let loader = loader.header("accept-encoding", "br").send().await?;
    let coding = response_header(&loader, "content-encoding").map(str::to_owned);
    let loader = decode_content(coding.as_deref(), &loader.bytes().await?)?;
    assert_eq!(made.json["integrity"], integrity_value(&loader));
    let script = shop.bare_request(Method::GET, &format!("v1/static/{build}/js/static.min.js")).send().await?;
    assert_eq!(script.status(), 200);
    assert!(!script.bytes().await?.is_empty());
    // The merchant's integrity value pins the loader, and the loader pins every file that it loads.
    let loader = String::from_utf8(loader)?;
    let languages = LANGUAGES.iter().map(|language| language.tag).filter(|tag| *tag != "en");
    let files = [
        "js/static.min.js",
        "js/plain/static.min.js",
        "js/later-en.js",
        "css/card.css",
        "css/plain.css",
        "css/later.css",
        "css/marks.css",
    ];
    let files = files.map(str::to_owned);
    for path in files.into_iter().chain(languages.map(|tag| format!("js/locale-{tag}.js"))) {
        let file = shop.bare_request(Method::GET, &format!("v1/static/{build}/{path}")).send().await?;
        assert_eq!(
            (file.status().as_u16(), response_header(&file, "access-control-allow-origin")),
            (200, Some("*")),
            "{path}"
        );
        assert!(loader.contains(&sha256_base64(&file.bytes().await?)), "{path}");
    }
    // The first script of a language pins the second. The frames' document, which the gateway serves, pins the scripts
    // of the frames, and these pin the module.
    let get = async |path: &str| shop.bare_request(Method::GET, path).send().await?.bytes().await;
    let document = format!("v1/pciIframe.html?checkoutId={}", made.id());
    let folder = format!("v1/static/{build}");
    for (file, by) in [
        ("js/later-de.js", &format!("{folder}/js/locale-de.js")),
        ("frame/frame.js", &document),
        ("frame/plain.js", &document),
        ("frame/frame.wasm", &format!("{folder}/frame/frame.js")),
    ] {
        let hash = sha256_base64(&get(&format!("{folder}/{file}")).await?);
        assert!(String::from_utf8_lossy(&get(by).await?).contains(&hash), "{file}");
    }
    Ok(())
}

/// Returns SHA-256 in base64.
pub fn sha256_base64(content: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(content))
}
