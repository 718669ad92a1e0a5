//! Tests of the playground: its options, its checkouts, and the statuses that it shows.

#![allow(clippy::unwrap_used)]

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use serde_json::{Value, json};

use super::{load_page, send_request, start_shop};

#[tokio::test]
async fn the_playground_has_a_control_for_every_option_and_may_ask_only_the_shop() {
    let (shop, _) = start_shop().await;
    let (response, page) = send_request(&shop, Request::get("/playground").body(Body::empty()).unwrap()).await;
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.ends_with("; connect-src 'self'") && !policy.contains("unsafe-inline"), "{policy}");
    for file in page.split("\"/playground/").skip(1).filter_map(|rest| rest.split('"').next()) {
        let (status, _) = load_page(&shop, &format!("/playground/{file}")).await;
        assert_eq!(status, StatusCode::OK, "{file}");
    }
    let (_, controls) = load_page(&shop, "/playground/options.json").await;
    let controls: Value = serde_json::from_str(&controls).unwrap();
    let rows = controls.as_array().unwrap().iter().flat_map(|group| group["rows"].as_array().unwrap());
    let names: Vec<&str> = rows.map(|row| row["name"].as_str().unwrap()).collect();
    for option in tillgate_shared::form_options::OPTIONS {
        assert!(names.contains(&option.name), "{}", option.name);
    }
    assert_eq!(load_page(&shop, "/playground/elsewhere").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_visitor_of_the_playground_says_only_what_visitors_may() {
    let (shop, gateway) = start_shop().await;
    let create = async |body: &'static str| {
        let (response, text) =
            send_request(&shop, Request::post("/dev/checkout").body(Body::from(body)).unwrap()).await;
        (response.status(), text)
    };
    assert_eq!(create("amount=5.00&currency=CHF&paymentType=PA").await.0, StatusCode::OK);
    let (status, text) = create("amount=5.00&merchant.name=Somebody").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.contains("merchant.name"), "{text}");
    let prepared = gateway.lock().unwrap().prepared.clone();
    assert_eq!(prepared.len(), 1);
    let sent = ["amount", "currency", "paymentType"].map(|name| prepared[0][name].as_str());
    assert_eq!(sent, ["5.00", "CHF", "PA"]);
}

#[tokio::test]
async fn the_playgrounds_customer_has_two_stored_cards_which_are_stored_once() {
    let (shop, gateway) = start_shop().await;
    for _ in 0..2 {
        let request = Request::post("/dev/checkout").body(Body::from("stored+cards=true")).unwrap();
        assert_eq!(send_request(&shop, request).await.0.status(), StatusCode::OK);
    }
    let gateway = gateway.lock().unwrap();
    assert_eq!(gateway.received, ["register VISA", "register MASTER"]);
    for prepared in &gateway.prepared {
        let ids = ["registrations[0].id", "registrations[1].id"].map(|name| prepared[name].as_str());
        assert_eq!(ids, ["8a0VISA", "8a0MASTER"]);
        assert_eq!(prepared["standingInstruction.mode"], "REPEATED");
    }
}

#[tokio::test]
async fn the_playground_shows_a_status_in_the_gateways_words_and_asks_for_nothing_else() {
    let (shop, gateway) = start_shop().await;
    gateway.lock().unwrap().status = Some((StatusCode::OK, json!({ "result": { "code": "000.100.110" }, "news": 1 })));
    let (status, text) = load_page(&shop, "/dev/status?resourcePath=%2Fv1%2Fcheckouts%2FAAAA1.test-1%2Fpayment").await;
    assert_eq!((status, text.contains("\"news\":1")), (StatusCode::OK, true), "{text}");
    let (status, _) = load_page(&shop, "/dev/status?resourcePath=%2Fv1%2Fpayments%2F1").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_checkout_for_developers_comes_as_json() {
    let (shop, _) = start_shop().await;
    let (response, text) = send_request(&shop, Request::post("/dev/checkout").body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["checkoutId"], "AAAA1.test-1");
    assert_eq!(body["integrity"], "sha384-abc");
}
