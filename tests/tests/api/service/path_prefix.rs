//! A public address with a path: every link, form and file of our pages keeps it. A proxy in front of the gateway takes
//! the path off, and answers nothing outside of it.

use std::collections::{BTreeSet, VecDeque};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use reqwest::redirect::Policy;
use tillgate_tests::{CARD, MerchantClient, TestGateway, encode_form};

use crate::payment::asynchronous::redirect_url;

/// Largest number of pages that are opened.
const MOST_PAGES: usize = 200;

/// Starts a proxy that serves the gateway below `/pay`. Returns that address without a slash at its end, and the
/// gateway.
async fn start_below_path() -> anyhow::Result<(String, TestGateway)> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let public = format!("http://{}/pay", listener.local_addr()?);
    let gateway = TestGateway::start_with(&["--public-url", &public])?;
    let router = Router::new().fallback(forward).with_state(gateway.base_url());
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((public, gateway))
}

/// Forwards a request below the path without it. Any other one is not found.
async fn forward(State(base): State<String>, request: Request) -> Response {
    let uri = request.uri().to_string();
    let Some(path) = uri.strip_prefix("/pay/").map(str::to_owned) else {
        return (axum::http::StatusCode::NOT_FOUND, "outside of the path").into_response();
    };
    let client = reqwest::Client::builder().redirect(Policy::none()).build().unwrap_or_default();
    let mut forwarded = client.request(request.method().clone(), format!("{base}{path}"));
    if let Some(kind) = request.headers().get("content-type") {
        forwarded = forwarded.header("content-type", kind);
    }
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap_or_default();
    match forwarded.body(body).send().await {
        Ok(response) => {
            let mut answer = Response::builder().status(response.status());
            for name in ["content-type", "location"] {
                if let Some(value) = response.headers().get(name) {
                    answer = answer.header(name, value);
                }
            }
            answer.body(Body::from(response.bytes().await.unwrap_or_default())).unwrap_or_default()
        }
        Err(error) => (axum::http::StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

/// Returns the addresses in a page, as they stand in it.
fn list_addresses(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in ["href=\"", "src=\"", "action=\"", "content=\"0;url="] {
        for part in page.split(attribute).skip(1) {
            let address = part.split('"').next().unwrap_or_default();
            found.push(address.replace("&amp;", "&"));
        }
    }
    found
}

/// Opens a page and everything that it leads to on the same host. Each answers, and lies below the path.
async fn follow_links(public: &str, first: &str) -> anyhow::Result<BTreeSet<String>> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let host = public.trim_end_matches("/pay");
    let (mut waiting, mut seen) = (VecDeque::from([reqwest::Url::parse(first)?]), BTreeSet::new());
    while let Some(address) = waiting.pop_front().filter(|_| seen.len() < MOST_PAGES) {
        if !address.as_str().starts_with(host) || !seen.insert(address.to_string()) {
            continue;
        }
        assert!(address.path().starts_with("/pay/"), "{address} is outside of the path");
        let response = client.get(address.clone()).send().await?;
        assert!(
            response.status().as_u16() < 400 || response.status().as_u16() == 405,
            "{address}: {}",
            response.status()
        );
        let is_page = response
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.starts_with("text/html")));
        if !is_page {
            continue;
        }
        for found in list_addresses(&response.text().await?) {
            let mut next = address.join(&found)?;
            next.set_fragment(None);
            waiting.push_back(next);
        }
    }
    Ok(seen)
}

async fn submit(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<String> {
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/back")]).await?;
    let submitted = shop.submit_card(made.id(), fields).await?;
    Ok(redirect_url(&submitted))
}

#[tokio::test]
async fn every_page_of_ours_keeps_the_path_of_the_public_address() -> anyhow::Result<()> {
    let (public, gateway) = start_below_path().await?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    let id = made.id();
    let mut pages = vec![
        format!("{public}/reference"),
        format!("{public}/v1/plainForm.html?checkoutId={id}&brands=VISA"),
        format!("{public}/v1/pciIframe.html?checkoutId={id}&brands=VISA"),
        format!("{public}/v1/internalRequestIframe.html?checkoutId={id}"),
        format!("{public}/v1/paymentWidgets.js?checkoutId={id}"),
    ];
    for fields in
        [&[("paymentBrand", "IDEAL")][..], &[("paymentBrand", "PAYPAL")], &[("card.number", "4200000000000018")]]
    {
        let url = submit(&shop, fields).await?;
        assert!(url.starts_with(&format!("{public}/")), "{url}");
        pages.push(url);
    }
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL")];
    let paid =
        shop.post("v1/payments", &[&order[..], &[("shopperResultUrl", "https://shop.example/")]].concat()).await?;
    pages.push(redirect_url(&paid));
    for page in &pages {
        let seen = follow_links(&public, page).await?;
        assert!(seen.contains(page) || !seen.is_empty(), "{page}");
    }
    let reference = follow_links(&public, &pages[0]).await?;
    for linked in ["/openapi.json", "/v1/resultcodes"] {
        assert!(reference.contains(&format!("{public}{linked}")), "{reference:?}");
    }
    let document: serde_json::Value = reqwest::get(format!("{public}/openapi.json")).await?.json().await?;
    assert_eq!(document["servers"][0]["url"], "/pay");
    Ok(())
}

#[tokio::test]
async fn a_payment_through_the_pages_below_a_path_is_made() -> anyhow::Result<()> {
    let (public, gateway) = start_below_path().await?;
    let shop = gateway.create_merchant()?;
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/back")]).await?;
    let form = reqwest::Url::parse(&format!("{public}/v1/plainForm.html?checkoutId={}&brands=VISA", made.id()))?;
    let page = client.get(form.clone()).send().await?.text().await?;
    let action = page.split("action=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let action = form.join(&action.replace("&amp;", "&"))?;
    assert!(action.path().starts_with("/pay/"), "{action}");
    let fields: Vec<_> = CARD.into_iter().chain([("card.expiry", "05 / 34")]).collect();
    let request = client.post(action).header("content-type", "application/x-www-form-urlencoded");
    let answer = request.body(encode_form(fields)).send().await?;
    assert_eq!(answer.status(), 303);
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.100.110");
    // The brand's page takes its own answer.
    let url = submit(&shop, &[("paymentBrand", "IDEAL")]).await?;
    let page = client.get(&url).send().await?.text().await?;
    let action = page.split("action=\"").nth(1).and_then(|rest| rest.split('"').next());
    let action = reqwest::Url::parse(&url)?.join(&action.unwrap_or_default().replace("&amp;", "&"))?;
    let request = client.post(action).header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(request.body(encode_form([("answer", "success")])).send().await?.status(), 200);
    Ok(())
}
