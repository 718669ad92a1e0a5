//! The loader and the static files: bytes, encodings, caching, and who may read them.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, Method, Response};
use sha2::{Digest as _, Sha256};
use tillgate_shared::language::LANGUAGES;
use tillgate_tests::{Gateway, Merchant};

use crate::bundle::{Bundle, integrity, unpacked};
use crate::frame_document::configuration;
use crate::support::*;

/// A gateway that serves a build whose files the test knows.
struct Known {
    gateway: Gateway,
    merchant: Merchant,
    bundle: Bundle,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let make = || -> anyhow::Result<Known> {
            let bundle = Bundle::new("one")?;
            let gateway = Gateway::start_with(&["--form", bundle.folder()])?;
            let merchant = gateway.merchant()?;
            Ok(Known { gateway, merchant, bundle })
        };
        match make() {
            Ok(known) => known,
            Err(error) => panic!("no gateway: {error:#}"),
        }
    })
}

async fn get(path: &str, encodings: Option<&str>) -> anyhow::Result<Response> {
    let mut request = Client::new().get(format!("{}{path}", known().gateway.base()));
    if let Some(encodings) = encodings {
        request = request.header("accept-encoding", encodings);
    }
    Ok(request.send().await?)
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

fn own(merchant: &Merchant) -> Merchant {
    Merchant::new(merchant.base.clone(), merchant.entity_id.clone(), merchant.token.clone())
}

#[tokio::test]
async fn the_loader_is_the_same_for_every_checkout_and_for_none() -> anyhow::Result<()> {
    let known = known();
    let shop = own(&known.merchant);
    let (one, two) = (shop.checkout(&[]).await?, shop.checkout(&[("amount", "1.00")]).await?);
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
        let response = get(&format!("v1/paymentWidgets.js{query}"), None).await?;
        assert_eq!(response.status(), 200, "{query}");
        assert_eq!(header(&response, "content-type"), Some("text/javascript; charset=utf-8"), "{query}");
        assert_eq!(header(&response, "access-control-allow-origin"), Some("*"), "{query}");
        assert_eq!(response.bytes().await?, known.bundle.loader, "{query}");
    }
    Ok(())
}

#[tokio::test]
async fn the_loader_stays_for_a_checkouts_lifetime_and_static_files_for_good() -> anyhow::Result<()> {
    let build = &known().bundle.build;
    let checkout = own(&known().merchant).checkout(&[]).await?;
    for (query, cached) in [
        (String::new(), "no-cache"),
        ("?checkoutId=unknown".to_owned(), "no-cache"),
        (format!("?checkoutId={}", checkout.id()), "private, max-age=1800"),
        (format!("?checkoutId={}/registration", checkout.id()), "private, max-age=1800"),
    ] {
        let loader = get(&format!("v1/paymentWidgets.js{query}"), None).await?;
        assert_eq!(header(&loader, "cache-control"), Some(cached), "{query}");
    }
    let file = get(&format!("v1/static/{build}/js/static.min.js"), None).await?;
    assert_eq!(header(&file, "cache-control"), Some("public, max-age=31536000, immutable"));
    Ok(())
}

#[tokio::test]
async fn static_files_are_served_as_they_are_to_every_origin() -> anyhow::Result<()> {
    let Known { bundle, .. } = known();
    let script = get(&format!("v1/static/{}/js/static.min.js", bundle.build), None).await?;
    assert_eq!(script.status(), 200);
    assert_eq!(header(&script, "content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(header(&script, "access-control-allow-origin"), Some("*"));
    assert_eq!(header(&script, "cross-origin-resource-policy"), Some("cross-origin"));
    assert_eq!(header(&script, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(&script, "content-encoding"), None);
    assert_eq!(script.bytes().await?, bundle.script);
    let picture = get(&format!("v1/static/{}/img/picture.png", bundle.build), Some("br, gzip")).await?;
    assert_eq!((header(&picture, "content-type"), header(&picture, "content-encoding")), (Some("image/png"), None));
    assert_eq!(picture.bytes().await?, "one");
    Ok(())
}

#[tokio::test]
async fn files_travel_in_the_best_encoding_that_the_browser_takes() -> anyhow::Result<()> {
    let Known { bundle, .. } = known();
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
            let response = get(&path, accepted).await?;
            assert_eq!(header(&response, "content-encoding"), expected, "{path} for {accepted:?}");
            assert_eq!(header(&response, "vary"), Some("accept-encoding"), "{path} for {accepted:?}");
            let body = response.bytes().await?;
            assert!(expected.is_none() || body.len() < content.len(), "{path} for {accepted:?}");
            assert_eq!(&unpacked(expected, &body)?, content, "{path} for {accepted:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_the_build_does_not_list_is_not_served() -> anyhow::Result<()> {
    let build = &known().bundle.build;
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
        let response = get(&path, None).await?;
        assert_eq!(response.status(), 404, "{path}");
        assert_ne!(header(&response, "cache-control"), Some("public, max-age=31536000, immutable"), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() -> anyhow::Result<()> {
    let known = known();
    let path = format!("{}v1/static/{}/js/static.min.js", known.gateway.base(), known.bundle.build);
    let response = Client::new().request(Method::HEAD, path).send().await?;
    assert_eq!(response.status(), 200);
    assert_eq!(header(&response, "content-length"), Some(known.bundle.script.len().to_string().as_str()));
    assert!(response.bytes().await?.is_empty());
    Ok(())
}

/// The build inside the binary, for which a page part and its integrity are served as any other.
#[tokio::test]
async fn the_form_inside_the_binary_is_complete() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[("integrity", "true")]).await?;
    let config = configuration(&shop, made.id(), "VISA").await?;
    let build = config["build"].as_str().unwrap_or_default();
    assert!(has_shape(build, &"x".repeat(32)), "{config}");
    let loader = shop.bare(Method::GET, &format!("v1/paymentWidgets.js?checkoutId={}", made.id()));
    let loader = loader.header("accept-encoding", "br").send().await?;
    let coding = header(&loader, "content-encoding").map(str::to_owned);
    let loader = unpacked(coding.as_deref(), &loader.bytes().await?)?;
    assert_eq!(made.json["integrity"], integrity(&loader));
    let script = shop.bare(Method::GET, &format!("v1/static/{build}/js/static.min.js")).send().await?;
    assert_eq!(script.status(), 200);
    assert!(!script.bytes().await?.is_empty());
    // The merchant's value pins the loader, and the loader pins all that it loads.
    let loader = String::from_utf8(loader)?;
    let languages = LANGUAGES.iter().map(|language| language.tag).filter(|tag| *tag != "en");
    let files = ["js/static.min.js", "js/plain/static.min.js", "css/card.css", "css/plain.css"].map(str::to_owned);
    for path in files.into_iter().chain(languages.map(|tag| format!("js/locale-{tag}.js"))) {
        let file = shop.bare(Method::GET, &format!("v1/static/{build}/{path}")).send().await?;
        assert_eq!((file.status().as_u16(), header(&file, "access-control-allow-origin")), (200, Some("*")), "{path}");
        assert!(loader.contains(&hash(&file.bytes().await?)), "{path}");
    }
    // And the frames' document, which is ours, pins the scripts that the frames load, and these the module.
    let get = async |path: &str| shop.bare(Method::GET, path).send().await?.bytes().await;
    let document = format!("v1/pciIframe.html?checkoutId={}", made.id());
    let folder = format!("v1/static/{build}/frame");
    for (file, by) in [("frame.js", &document), ("plain.js", &document), ("frame.wasm", &format!("{folder}/frame.js"))]
    {
        let hash = hash(&get(&format!("{folder}/{file}")).await?);
        assert!(String::from_utf8_lossy(&get(by).await?).contains(&hash), "{file}");
    }
    Ok(())
}

/// SHA-256 in base64.
fn hash(content: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(content))
}
