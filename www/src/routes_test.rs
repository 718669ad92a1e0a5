//! The shop against a gateway that is played by the test: what it sends, what it believes, what it refuses.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{OriginalUri, Path, State};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::Shop;

/// What the played gateway heard and what it says next.
#[derive(Default)]
struct Played {
    heard: Vec<String>,
    prepared: Vec<HashMap<String, String>>,
    authorization: String,
    status: Option<(StatusCode, Value)>,
    open: bool,
}

type Gateway = Arc<Mutex<Played>>;

async fn prepare(
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Form(fields): Form<HashMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    let mut gateway = gateway.lock().unwrap();
    gateway.authorization = headers[header::AUTHORIZATION].to_str().unwrap().to_owned();
    gateway.prepared.push(fields);
    let id = format!("AAAA{}.test-1", gateway.prepared.len());
    let result = json!({ "code": "000.200.100", "description": "created" });
    (StatusCode::OK, Json(json!({ "id": id, "integrity": "sha384-abc", "result": result, "news": 1 })))
}

async fn update(State(gateway): State<Gateway>, Path(id): Path<String>) -> (StatusCode, Json<Value>) {
    let mut gateway = gateway.lock().unwrap();
    gateway.heard.push(format!("update {id}"));
    let (status, code) =
        if gateway.open { (StatusCode::OK, "000.200.101") } else { (StatusCode::BAD_REQUEST, "200.300.404") };
    (status, Json(json!({ "result": { "code": code, "description": "" } })))
}

async fn register(
    State(gateway): State<Gateway>,
    Form(fields): Form<HashMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    let brand = &fields["paymentBrand"];
    gateway.lock().unwrap().heard.push(format!("register {brand}"));
    let result = json!({ "code": "000.100.110", "description": "" });
    (StatusCode::OK, Json(json!({ "id": format!("8a0{brand}"), "result": result })))
}

async fn status(State(gateway): State<Gateway>, OriginalUri(uri): OriginalUri) -> (StatusCode, Json<Value>) {
    let mut gateway = gateway.lock().unwrap();
    gateway.heard.push(format!("status {uri}"));
    let (status, body) = gateway.status.clone().unwrap();
    (status, Json(body))
}

/// A shop whose gateway is `Gateway`.
async fn shop() -> (Router, Gateway) {
    let gateway = Gateway::default();
    let played = Router::new()
        .route("/v1/checkouts", post(prepare))
        .route("/v1/registrations", post(register))
        .route("/v1/checkouts/{id}", post(update))
        .route("//v1/checkouts/{id}/payment", get(status))
        .with_state(gateway.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, played).await });
    (router_for(&format!("http://{address}/")), gateway)
}

fn router_for(gateway: &str) -> Router {
    crate::router(Shop {
        gateway: gateway.to_owned(),
        gateway_public: "http://pay.localhost:8080/".into(),
        gateway_fields: None,
        public: "http://shop.localhost:8081/".into(),
        entity_id: "e".repeat(32),
        token: "a-token".into(),
    })
}

async fn call(shop: &Router, request: Request<Body>) -> (Response, String) {
    let (parts, body) = shop.clone().oneshot(request).await.unwrap().into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    (Response::from_parts(parts, Body::empty()), text)
}

async fn load(shop: &Router, address: &str) -> (StatusCode, String) {
    let (response, text) = call(shop, Request::get(address).body(Body::empty()).unwrap()).await;
    (response.status(), text)
}

/// Posts a form and returns where the answer leads.
async fn send(shop: &Router, address: &str, form: &str) -> String {
    let request = Request::post(address)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(form.to_owned()))
        .unwrap();
    let (response, text) = call(shop, request).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER, "{text}");
    response.headers()[header::LOCATION].to_str().unwrap().to_owned()
}

/// Orders two bowls; the answer is the order's reference.
async fn order(shop: &Router, more: &str) -> String {
    let address = send(shop, "/checkout", &format!("item=bowl&quantity=2{more}")).await;
    address.strip_prefix("/checkout/").unwrap().split('?').next().unwrap().to_owned()
}

fn paid(reference: &str, amount: &str) -> (StatusCode, Value) {
    let body = json!({
        "id": "8a0000000000000000000000000000ff", "ndc": "AAAA1.test-1", "merchantTransactionId": reference,
        "paymentType": "DB", "paymentBrand": "VISA", "amount": amount, "currency": "EUR",
        "card": { "bin": "420000", "last4Digits": "0000" },
        "result": { "code": "000.100.110", "description": "Request successfully processed" },
    });
    (StatusCode::OK, body)
}

#[tokio::test]
async fn a_checkout_is_prepared_on_the_server_and_the_page_carries_the_form() {
    let (shop, gateway) = shop().await;
    let reference = order(&shop, "&lang=de&style=plain").await;
    {
        let gateway = gateway.lock().unwrap();
        let fields = &gateway.prepared[0];
        assert_eq!(gateway.authorization, "Bearer a-token");
        assert_eq!(fields["amount"], "73.00");
        assert_eq!(fields["currency"], "EUR");
        assert_eq!(fields["paymentType"], "DB");
        assert_eq!(fields["integrity"], "true");
        assert_eq!(fields["entityId"], "e".repeat(32));
        assert_eq!(fields["merchantTransactionId"], reference);
        assert!(!fields.contains_key("customParameters[forceResultCode]"));
    }
    let request = Request::get(format!("/checkout/{reference}?lang=de")).body(Body::empty()).unwrap();
    let (response, page) = call(&shop, request).await;
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("script-src 'self' http://pay.localhost:8080 'wasm-unsafe-eval'"), "{policy}");
    assert!(page.contains(
        r#"<script src="http://pay.localhost:8080/v1/paymentWidgets.js?checkoutId=AAAA1.test-1" integrity="sha384-abc" crossorigin="anonymous">"#
    ));
    assert!(page.contains(&format!(
        r#"<form class="paymentWidgets" action="http://shop.localhost:8081/result/{reference}?lang=de" data-brands="VISA MASTER AMEX">"#
    )));
    assert!(!page.contains("a-token"));
}

#[tokio::test]
async fn a_payment_that_fits_the_order_is_a_success_and_stays_one() {
    let (shop, gateway) = shop().await;
    let reference = order(&shop, "").await;
    gateway.lock().unwrap().status = Some(paid(&reference, "73.00"));
    let back = format!("/result/{reference}?id=AAAA1.test-1&resourcePath=%2Fv1%2Fcheckouts%2FAAAA1.test-1%2Fpayment");
    for _ in 0..2 {
        let (status, page) = load(&shop, &back).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains(r#"data-outcome="paid""#), "{page}");
        assert!(page.contains("VISA") && page.contains("0000") && page.contains(&reference));
    }
    let heard = gateway.lock().unwrap().heard.clone();
    assert_eq!(heard[0], format!("status //v1/checkouts/AAAA1.test-1/payment?entityId={}", "e".repeat(32)));
    // Who goes back to the checkout of a paid order is led on to its result.
    let (response, _) = call(&shop, Request::get(format!("/checkout/{reference}")).body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()[header::LOCATION], format!("/result/{reference}"));
}

#[tokio::test]
async fn a_payment_that_differs_from_the_order_is_not_believed() {
    let (shop, gateway) = shop().await;
    let reference = order(&shop, "").await;
    let back = format!("/result/{reference}?resourcePath=/v1/checkouts/AAAA1.test-1/payment");
    let differences = [
        ("amount", json!("1.00")),
        ("amount", Value::Null),
        ("currency", json!("JPY")),
        ("paymentType", json!("PA")),
        ("ndc", json!("AAAA2.test-1")),
        ("merchantTransactionId", json!("KT-ANOTHER")),
    ];
    for (name, value) in differences {
        let (status, mut body) = paid(&reference, "73.00");
        body[name] = value;
        gateway.lock().unwrap().status = Some((status, body));
        let (status, page) = load(&shop, &back).await;
        assert_eq!(status, StatusCode::BAD_GATEWAY, "{name}");
        assert!(!page.contains("data-outcome"), "{name}");
    }
}

#[tokio::test]
async fn an_address_that_is_not_this_orders_is_refused_without_asking_anybody() {
    let (shop, gateway) = shop().await;
    let reference = order(&shop, "").await;
    let others = order(&shop, "").await;
    assert_ne!(reference, others);
    for query in [
        "resourcePath=/v1/checkouts/AAAA2.test-1/payment",
        "resourcePath=@evil.example/v1/checkouts/AAAA1.test-1/payment",
        "resourcePath=/v1/payments/AAAA1.test-1",
        "id=AAAA2.test-1&resourcePath=/v1/checkouts/AAAA1.test-1/payment",
    ] {
        let (status, _) = load(&shop, &format!("/result/{reference}?{query}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
    }
    assert!(gateway.lock().unwrap().heard.is_empty());
}

#[tokio::test]
async fn a_decline_offers_another_try_with_the_same_checkout_while_it_is_open() {
    let (shop, gateway) = shop().await;
    let reference = order(&shop, "&outcome=decline").await;
    assert_eq!(gateway.lock().unwrap().prepared[0]["customParameters[forceResultCode]"], "800.100.151");
    let declined = json!({ "result": { "code": "800.100.151", "description": "transaction declined" } });
    gateway.lock().unwrap().status = Some((StatusCode::BAD_REQUEST, declined));
    let (status, page) = load(&shop, &format!("/result/{reference}?id=AAAA1.test-1")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains(r#"data-outcome="declined""#), "{page}");
    assert!(page.contains("800.100.151"));

    gateway.lock().unwrap().open = true;
    let address = send(&shop, &format!("/checkout/{reference}/again"), "").await;
    assert!(load(&shop, &address).await.1.contains("checkoutId=AAAA1.test-1"));

    gateway.lock().unwrap().open = false;
    let address = send(&shop, &format!("/checkout/{reference}/again"), "").await;
    assert!(load(&shop, &address).await.1.contains("checkoutId=AAAA2.test-1"));
    let gateway = gateway.lock().unwrap();
    assert!(!gateway.prepared[1].contains_key("customParameters[forceResultCode]"), "forced once, not twice");
}

#[tokio::test]
async fn a_silent_gateway_makes_a_page_and_not_a_panic() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let shop = router_for(&format!("http://{address}/"));
    let request = Request::post("/checkout")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from("item=cup&quantity=1"))
        .unwrap();
    let (response, page) = call(&shop, request).await;
    assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
    assert!(page.contains("not answering"), "{page}");
}

#[tokio::test]
async fn unknown_orders_and_odd_quantities_are_answered_kindly() {
    let (shop, gateway) = shop().await;
    assert_eq!(load(&shop, "/checkout/KT-NOBODY").await.0, StatusCode::NOT_FOUND);
    assert_eq!(load(&shop, "/result/KT-NOBODY").await.0, StatusCode::NOT_FOUND);
    assert_eq!(load(&shop, "/nothing").await.0, StatusCode::NOT_FOUND);
    for form in ["item=cup&quantity=0", "item=cup&quantity=100", "item=cup&quantity=x", "item=moon&quantity=1"] {
        assert_eq!(send(&shop, "/checkout", form).await, "/", "{form}");
    }
    assert!(gateway.lock().unwrap().prepared.is_empty());
}

#[tokio::test]
async fn the_playground_has_a_control_for_every_option_and_may_ask_only_the_shop() {
    let (shop, _) = shop().await;
    let (response, page) = call(&shop, Request::get("/playground").body(Body::empty()).unwrap()).await;
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.ends_with("; connect-src 'self'") && !policy.contains("unsafe-inline"), "{policy}");
    for file in page.split("\"/playground/").skip(1).filter_map(|rest| rest.split('"').next()) {
        let (status, _) = load(&shop, &format!("/playground/{file}")).await;
        assert_eq!(status, StatusCode::OK, "{file}");
    }
    let (_, controls) = load(&shop, "/playground/options.json").await;
    let controls: Value = serde_json::from_str(&controls).unwrap();
    let rows = controls.as_array().unwrap().iter().flat_map(|group| group["rows"].as_array().unwrap());
    let names: Vec<&str> = rows.map(|row| row["name"].as_str().unwrap()).collect();
    for option in tillgate_shared::options::OPTIONS {
        assert!(names.contains(&option.name), "{}", option.name);
    }
    assert_eq!(load(&shop, "/playground/elsewhere").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_visitor_of_the_playground_says_only_what_visitors_may() {
    let (shop, gateway) = shop().await;
    let ask = async |body: &'static str| {
        let (response, text) = call(&shop, Request::post("/dev/checkout").body(Body::from(body)).unwrap()).await;
        (response.status(), text)
    };
    assert_eq!(ask("amount=5.00&currency=CHF&paymentType=PA").await.0, StatusCode::OK);
    let (status, text) = ask("amount=5.00&merchant.name=Somebody").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.contains("merchant.name"), "{text}");
    let prepared = gateway.lock().unwrap().prepared.clone();
    assert_eq!(prepared.len(), 1);
    let said = ["amount", "currency", "paymentType"].map(|name| prepared[0][name].as_str());
    assert_eq!(said, ["5.00", "CHF", "PA"]);
}

#[tokio::test]
async fn the_playgrounds_customer_has_two_stored_cards_which_are_stored_once() {
    let (shop, gateway) = shop().await;
    for _ in 0..2 {
        let request = Request::post("/dev/checkout").body(Body::from("stored+cards=true")).unwrap();
        assert_eq!(call(&shop, request).await.0.status(), StatusCode::OK);
    }
    let gateway = gateway.lock().unwrap();
    assert_eq!(gateway.heard, ["register VISA", "register MASTER"]);
    for prepared in &gateway.prepared {
        let ids = ["registrations[0].id", "registrations[1].id"].map(|name| prepared[name].as_str());
        assert_eq!(ids, ["8a0VISA", "8a0MASTER"]);
        assert_eq!(prepared["standingInstruction.mode"], "REPEATED");
    }
}

#[tokio::test]
async fn the_playground_shows_a_status_in_the_gateways_words_and_asks_for_nothing_else() {
    let (shop, gateway) = shop().await;
    gateway.lock().unwrap().status = Some((StatusCode::OK, json!({ "result": { "code": "000.100.110" }, "news": 1 })));
    let (status, text) = load(&shop, "/dev/status?resourcePath=%2Fv1%2Fcheckouts%2FAAAA1.test-1%2Fpayment").await;
    assert_eq!((status, text.contains("\"news\":1")), (StatusCode::OK, true), "{text}");
    let (status, _) = load(&shop, "/dev/status?resourcePath=%2Fv1%2Fpayments%2F1").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_checkout_for_developers_comes_as_json() {
    let (shop, _) = shop().await;
    let (response, text) = call(&shop, Request::post("/dev/checkout").body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["checkoutId"], "AAAA1.test-1");
    assert_eq!(body["integrity"], "sha384-abc");
}
