//! Tests of the shop against a fake gateway: the requests it sends, the responses it trusts, and those it refuses.

mod playground;

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

use crate::ShopConfig;

/// Requests that the fake gateway received, and its next responses.
#[derive(Default)]
struct FakeGateway {
    received: Vec<String>,
    prepared: Vec<HashMap<String, String>>,
    authorization: String,
    status: Option<(StatusCode, Value)>,
    open: bool,
    /// Response to updates, in place of the one that depends on `open`.
    update: Option<(StatusCode, Value)>,
}

type SharedGateway = Arc<Mutex<FakeGateway>>;

/// Records the fields and the token. The checkouts have the ids `AAAA1.test-1`, `AAAA2.test-1` and so on.
async fn prepare_checkout(
    State(gateway): State<SharedGateway>,
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

/// Records the call. Refuses it unless `open` is set; the response that the test has set takes precedence.
async fn update_checkout(State(gateway): State<SharedGateway>, Path(id): Path<String>) -> (StatusCode, Json<Value>) {
    let mut gateway = gateway.lock().unwrap();
    gateway.received.push(format!("update {id}"));
    if let Some((status, body)) = gateway.update.clone() {
        return (status, Json(body));
    }
    let (status, code) =
        if gateway.open { (StatusCode::OK, "000.200.101") } else { (StatusCode::BAD_REQUEST, "200.300.404") };
    (status, Json(json!({ "result": { "code": code, "description": "" } })))
}

/// Records the call. The registration's id is `8a0` and the brand.
async fn register_card(
    State(gateway): State<SharedGateway>,
    Form(fields): Form<HashMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    let brand = &fields["paymentBrand"];
    gateway.lock().unwrap().received.push(format!("register {brand}"));
    let result = json!({ "code": "000.100.110", "description": "" });
    (StatusCode::OK, Json(json!({ "id": format!("8a0{brand}"), "result": result })))
}

/// Records the address, and returns the next status. Panics if the test has set none.
async fn read_status(State(gateway): State<SharedGateway>, OriginalUri(uri): OriginalUri) -> (StatusCode, Json<Value>) {
    let mut gateway = gateway.lock().unwrap();
    gateway.received.push(format!("status {uri}"));
    let (status, body) = gateway.status.clone().unwrap();
    (status, Json(body))
}

/// Creates a shop whose gateway is the returned one, which listens on a free port.
async fn start_shop() -> (Router, SharedGateway) {
    let gateway = SharedGateway::default();
    let fake = Router::new()
        .route("/v1/checkouts", post(prepare_checkout))
        .route("/v1/registrations", post(register_card))
        .route("/v1/checkouts/{id}", post(update_checkout))
        .route("//v1/checkouts/{id}/payment", get(read_status))
        .with_state(gateway.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, fake).await });
    (router_for(&format!("http://{address}/")), gateway)
}

/// Creates a shop with its gateway at a base address.
fn router_for(gateway: &str) -> Router {
    crate::shop_router(ShopConfig {
        gateway: gateway.to_owned(),
        gateway_public: "http://pay.localhost:8080/".into(),
        gateway_fields: None,
        public: "http://shop.localhost:8081/".into(),
        entity_id: "e".repeat(32),
        token: "a-token".into(),
        command: "/opt/tillgate".into(),
        data: Some("/var/lib/tillgate".into()),
    })
}

/// Sends a request to the shop. Returns the response without its body, and the body as text.
async fn send_request(shop: &Router, request: Request<Body>) -> (Response, String) {
    let (parts, body) = shop.clone().oneshot(request).await.unwrap().into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    (Response::from_parts(parts, Body::empty()), text)
}

/// Loads a page. Returns its HTTP status and its text.
async fn load_page(shop: &Router, address: &str) -> (StatusCode, String) {
    let (response, text) = send_request(shop, Request::get(address).body(Body::empty()).unwrap()).await;
    (response.status(), text)
}

/// Posts a form. Returns the address of the redirect; panics if the response is none.
async fn post_form(shop: &Router, address: &str, form: &str) -> String {
    let request = Request::post(address)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(form.to_owned()))
        .unwrap();
    let (response, text) = send_request(shop, request).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER, "{text}");
    response.headers()[header::LOCATION].to_str().unwrap().to_owned()
}

/// Orders two bowls, with more fields of the form. Returns the order's reference.
async fn order_bowls(shop: &Router, more: &str) -> String {
    let address = post_form(shop, "/checkout", &format!("item=bowl&quantity=2{more}")).await;
    address.strip_prefix("/checkout/").unwrap().split('?').next().unwrap().to_owned()
}

/// Returns the status of a paid first checkout.
fn paid_status(reference: &str, amount: &str) -> (StatusCode, Value) {
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
    let (shop, gateway) = start_shop().await;
    let reference = order_bowls(&shop, "&lang=de&style=plain").await;
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
        assert_eq!(fields["bankAccount.mandate.id"], reference.replace('-', ""));
        assert!(!fields.contains_key("customParameters[forceResultCode]"));
        assert_eq!(fields["customer.email"], "jane.jones@example.com");
        assert_eq!(fields["shipping.country"], fields["billing.country"]);
    }
    let request = Request::get(format!("/checkout/{reference}?lang=de")).body(Body::empty()).unwrap();
    let (response, page) = send_request(&shop, request).await;
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("script-src 'self' http://pay.localhost:8080 'wasm-unsafe-eval'"), "{policy}");
    assert_eq!(response.headers()["integrity-policy"], "blocked-destinations=(script)");
    let scripts = page.matches("<script ").count();
    assert_eq!(page.matches("\" crossorigin=\"anonymous\">").count(), scripts, "every script has its hash: {page}");
    assert!(page.contains(
        r#"<script src="http://pay.localhost:8080/v1/paymentWidgets.js?checkoutId=AAAA1.test-1" integrity="sha384-abc" crossorigin="anonymous">"#
    ));
    assert!(page.contains(&format!(
        r#"<form class="paymentWidgets" action="http://shop.localhost:8081/result/{reference}?lang=de" data-brands="VISA MASTER AMEX DIRECTDEBIT_SEPA PAYPAL">"#
    )));
    assert!(!page.contains("a-token"));
}

#[tokio::test]
async fn a_payment_that_fits_the_order_is_a_success_and_stays_one() {
    let (shop, gateway) = start_shop().await;
    let reference = order_bowls(&shop, "").await;
    gateway.lock().unwrap().status = Some(paid_status(&reference, "73.00"));
    let back = format!("/result/{reference}?id=AAAA1.test-1&resourcePath=%2Fv1%2Fcheckouts%2FAAAA1.test-1%2Fpayment");
    for _ in 0..2 {
        let (status, page) = load_page(&shop, &back).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains(r#"data-outcome="paid""#), "{page}");
        assert!(page.contains("Visa") && page.contains("0000") && page.contains(&reference));
    }
    let received = gateway.lock().unwrap().received.clone();
    assert_eq!(received[0], format!("status //v1/checkouts/AAAA1.test-1/payment?entityId={}", "e".repeat(32)));
    // A shopper who returns to the checkout of a paid order is redirected to its result.
    let (response, _) =
        send_request(&shop, Request::get(format!("/checkout/{reference}")).body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()[header::LOCATION], format!("/result/{reference}"));
}

#[tokio::test]
async fn a_payment_that_differs_from_the_order_is_not_believed() {
    let (shop, gateway) = start_shop().await;
    let reference = order_bowls(&shop, "").await;
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
        let (status, mut body) = paid_status(&reference, "73.00");
        body[name] = value;
        gateway.lock().unwrap().status = Some((status, body));
        let (status, page) = load_page(&shop, &back).await;
        assert_eq!(status, StatusCode::BAD_GATEWAY, "{name}");
        assert!(!page.contains("data-outcome"), "{name}");
    }
}

#[tokio::test]
async fn an_address_that_is_not_this_orders_is_refused_without_asking_anybody() {
    let (shop, gateway) = start_shop().await;
    let reference = order_bowls(&shop, "").await;
    let others = order_bowls(&shop, "").await;
    assert_ne!(reference, others);
    for query in [
        "resourcePath=/v1/checkouts/AAAA2.test-1/payment",
        "resourcePath=@evil.example/v1/checkouts/AAAA1.test-1/payment",
        "resourcePath=/v1/payments/AAAA1.test-1",
        "id=AAAA2.test-1&resourcePath=/v1/checkouts/AAAA1.test-1/payment",
    ] {
        let (status, _) = load_page(&shop, &format!("/result/{reference}?{query}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
    }
    assert!(gateway.lock().unwrap().received.is_empty());
}

#[tokio::test]
async fn a_decline_offers_another_try_with_the_same_checkout_while_it_is_open() {
    let (shop, gateway) = start_shop().await;
    let reference = order_bowls(&shop, "&outcome=decline").await;
    assert_eq!(gateway.lock().unwrap().prepared[0]["customParameters[forceResultCode]"], "800.100.151");
    let declined = json!({ "result": { "code": "800.100.151", "description": "transaction declined" } });
    gateway.lock().unwrap().status = Some((StatusCode::BAD_REQUEST, declined));
    let (status, page) = load_page(&shop, &format!("/result/{reference}?id=AAAA1.test-1")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains(r#"data-outcome="declined""#), "{page}");
    assert!(page.contains("800.100.151"));

    gateway.lock().unwrap().open = true;
    let address = post_form(&shop, &format!("/checkout/{reference}/again"), "").await;
    assert!(load_page(&shop, &address).await.1.contains("checkoutId=AAAA1.test-1"));

    gateway.lock().unwrap().open = false;
    let address = post_form(&shop, &format!("/checkout/{reference}/again"), "").await;
    assert!(load_page(&shop, &address).await.1.contains("checkoutId=AAAA2.test-1"));
    let gateway = gateway.lock().unwrap();
    assert!(!gateway.prepared[1].contains_key("customParameters[forceResultCode]"), "forced once, not twice");
}

#[tokio::test]
async fn a_suspicious_order_that_is_stopped_says_why_and_is_ordinary_at_the_second_try() {
    let (shop, gateway) = start_shop().await;
    let reference = order_bowls(&shop, "&suspicious=1").await;
    let first = gateway.lock().unwrap().prepared[0].clone();
    assert!(first["customer.email"].ends_with("@trash.example"), "{first:?}");
    assert_ne!(first["shipping.country"], first["billing.country"]);
    assert!(load_page(&shop, &format!("/checkout/{reference}")).await.1.contains("Portland"));
    let payment = "8a0000000000000000000000000000ff";
    for (code, outcome, title) in [
        ("100.400.141", "declined", "We stopped this order."),
        ("100.400.500", "pending", "We are looking at this order."),
        ("800.100.151", "declined", "That did not work."),
    ] {
        let body = json!({ "id": payment, "result": { "code": code, "description": "" } });
        gateway.lock().unwrap().status = Some((StatusCode::BAD_REQUEST, body));
        let (_, page) = load_page(&shop, &format!("/result/{reference}?id=AAAA1.test-1")).await;
        assert!(page.contains(&format!(r#"data-outcome="{outcome}""#)) && page.contains(title), "{page}");
        let explain = format!("risk explain --entity {} {payment}", "e".repeat(32));
        let decide = [format!("review approve {payment}"), format!("review cancel {payment} --reason 1")];
        let shown =
            |command: &str| page.contains(&format!("<code>/opt/tillgate {command} --data /var/lib/tillgate</code>"));
        assert_eq!(shown(&explain), code.starts_with("100.400."), "{page}");
        // Only a held order can be decided.
        for command in decide.iter().map(String::as_str).chain(["review list"]) {
            assert_eq!(shown(command), code == "100.400.500", "{command}: {page}");
        }
    }
    let address = post_form(&shop, &format!("/checkout/{reference}/again"), "").await;
    assert!(load_page(&shop, &address).await.1.contains("Hamburg"));
    let second = gateway.lock().unwrap().prepared[1].clone();
    assert_eq!(second["customer.email"], "jane.jones@example.com");
    assert_eq!(second["shipping.country"], second["billing.country"]);
}

#[tokio::test]
async fn another_try_opens_no_new_checkout_if_the_refusal_is_about_something_else() {
    let (shop, gateway) = start_shop().await;
    let reference = order_bowls(&shop, "").await;
    let at_fault = json!([{ "name": "merchantTransactionId", "message": "is too long" }]);
    for (status, result) in [
        (StatusCode::UNAUTHORIZED, json!({ "code": "800.900.300" })),
        (StatusCode::BAD_REQUEST, json!({ "code": "200.300.404", "parameterErrors": at_fault })),
        (StatusCode::BAD_REQUEST, json!({ "code": "600.200.500" })),
        (StatusCode::SERVICE_UNAVAILABLE, json!({ "code": "200.300.404" })),
        (StatusCode::BAD_GATEWAY, Value::Null),
    ] {
        gateway.lock().unwrap().update = Some((status, json!({ "result": result })));
        let request = Request::post(format!("/checkout/{reference}/again")).body(Body::empty()).unwrap();
        assert_eq!(send_request(&shop, request).await.0.status(), StatusCode::BAD_GATEWAY, "{status}");
        assert_eq!(gateway.lock().unwrap().prepared.len(), 1, "{status}");
    }
    for status in [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND] {
        let closed = json!({ "result": { "code": "200.300.404", "description": "closed" } });
        gateway.lock().unwrap().update = Some((status, closed));
        let before = gateway.lock().unwrap().prepared.len();
        post_form(&shop, &format!("/checkout/{reference}/again"), "").await;
        assert_eq!(gateway.lock().unwrap().prepared.len(), before + 1, "{status}");
    }
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
    let (response, page) = send_request(&shop, request).await;
    assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
    assert!(page.contains("not answering"), "{page}");
}

#[tokio::test]
async fn unknown_orders_and_odd_quantities_are_answered_kindly() {
    let (shop, gateway) = start_shop().await;
    assert_eq!(load_page(&shop, "/checkout/KT-NOBODY").await.0, StatusCode::NOT_FOUND);
    assert_eq!(load_page(&shop, "/result/KT-NOBODY").await.0, StatusCode::NOT_FOUND);
    assert_eq!(load_page(&shop, "/nothing").await.0, StatusCode::NOT_FOUND);
    for form in ["item=cup&quantity=0", "item=cup&quantity=100", "item=cup&quantity=x", "item=moon&quantity=1"] {
        assert_eq!(post_form(&shop, "/checkout", form).await, "/", "{form}");
    }
    assert!(gateway.lock().unwrap().prepared.is_empty());
}
