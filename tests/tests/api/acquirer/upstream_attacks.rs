//! Attacks by the other gateway, or by whoever answers in its place: garbage, delays, answers about something else, and
//! secrets in answers.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TcpForwarder, TestGateway, poll_until};
use tokio::net::TcpListener;

use crate::acquirer::attacks::start_impostor;
use crate::acquirer::ways::{start_gateway, upstream_arguments};
use crate::support::*;

const PAID: &str = "000.100.112";
const PENDING: &str = "000.200.000";
const TOKEN: &str = "dG9rZW4tb2YtdGhlLXVwc3RyZWFt";
/// An id of the other gateway.
const ID: &str = "8ac7a4a19c1f4e5d9c1f4e5d9c1f4e5d";

/// A request to the false gateway.
#[derive(Debug, Clone)]
struct FalseRequest {
    /// Method and path.
    address: String,
    key: String,
    form: Vec<(String, String)>,
}

impl FalseRequest {
    /// Returns a parameter, or an empty text.
    fn get(&self, name: &str) -> &str {
        self.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Returns an approval of the payment in the request, in a sandbox. `change` may change it.
    fn approve(&self, change: impl Fn(&mut Value)) -> Response {
        let mut answer = json!({
            "id": ID, "paymentType": self.get("paymentType"), "paymentBrand": "VISA", "amount": self.get("amount"),
            "currency": self.get("currency"), "merchantTransactionId": self.get("merchantTransactionId"),
            "result": { "code": PAID, "description": "done" }, "resultDetails": { "AcquirerResponse": "00" },
        });
        change(&mut answer);
        reply(200, &answer)
    }
}

type Answer = Box<dyn Fn(&FalseRequest) -> Option<Response> + Send + Sync>;

/// A server in place of the other gateway. It answers as `answer` says, and otherwise as a gateway that knows no
/// payment.
#[derive(Clone)]
struct FalseGateway {
    address: String,
    requests: Arc<Mutex<Vec<FalseRequest>>>,
    answer: Arc<Mutex<Answer>>,
}

/// Returns an answer in JSON.
fn reply(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

async fn answer_request(
    State(own): State<FalseGateway>,
    method: Method,
    uri: Uri,
    headers: axum::http::HeaderMap,
    body: Bytes,
) -> Response {
    let query = uri.query().unwrap_or_default().as_bytes();
    let form = form_urlencoded::parse(if body.is_empty() { query } else { &body }).into_owned().collect();
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default().to_owned();
    let request = FalseRequest { address: format!("{method} {}", uri.path()), key, form };
    let answer = own.answer.lock().unwrap_or_else(PoisonError::into_inner)(&request);
    own.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    answer.unwrap_or_else(|| match request.address.as_str() {
        "GET /v1/query" => reply(404, &json!({ "result": { "code": "700.400.580" } })),
        "POST /v1/checkouts" => reply(200, &json!({ "id": "CHECKOUT", "result": { "code": "000.200.100" } })),
        _ => reply(503, &json!({ "result": { "code": "999.999.888" } })),
    })
}

impl FalseGateway {
    async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let own = Self { address, requests: Arc::default(), answer: Arc::new(Mutex::new(Box::new(|_| None))) };
        let app = Router::new().fallback(answer_request).with_state(own.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(own)
    }

    /// Sets the answers. `None` stands for the answer of a gateway that knows no payment.
    fn answer_with(&self, answer: impl Fn(&FalseRequest) -> Option<Response> + Send + Sync + 'static) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(answer);
    }

    /// Returns the requests so far, and forgets them.
    fn take_requests(&self) -> Vec<FalseRequest> {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A gateway whose upstream is a false one.
struct AttackScene {
    gateway: TestGateway,
    shop: MerchantClient,
    line: TcpForwarder,
    other: FalseGateway,
}

impl AttackScene {
    async fn start(arguments: &[&str], entity: &[&str]) -> anyhow::Result<Self> {
        let other = FalseGateway::start().await?;
        let line = TcpForwarder::start(Some(&other.address)).await?;
        let files = tempfile::tempdir()?;
        let mut all = upstream_arguments(&line.url, TOKEN, files.path())?;
        all.pop();
        all.push("1s".to_owned());
        all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let gateway = start_gateway(&all)?;
        let shop = gateway.create_merchant_with(&[&["--connector", "gateway"], entity].concat())?;
        Ok(Self { gateway, shop, line, other })
    }

    async fn pay(&self, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        self.shop.pay_by_card(&[&[("testMode", "EXTERNAL")], fields].concat()).await
    }

    async fn wait_for_outcome(&self, id: &str) -> anyhow::Result<ApiResponse> {
        poll_until("the outcome is known", async || {
            let status = self.shop.get(&format!("v1/payments/{id}")).await?;
            Ok(Some(status).filter(|status| status.result_code() != PENDING))
        })
        .await
    }

    /// Returns the messages of a payment as text.
    fn read_messages(&self, payment: &ApiResponse) -> anyhow::Result<String> {
        let command = ["payment", "messages", "--entity", &self.shop.entity_id, payment.id()];
        Ok(self.gateway.run_command(&command)?.to_string())
    }
}

#[tokio::test]
async fn answers_that_are_none_are_neither_an_approval_nor_a_decline() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    let http = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    let declined = format!(r#"{{"id":"{ID}","result":{{"code":"800.100.155"}}}}"#);
    let mut pending = Vec::new();
    for bytes in [
        http("200 OK", "<html>"),
        http("200 OK", "{}"),
        http("200 OK", &format!(r#"{{"id":"{ID}","result":{{"code":"{PAID}"}}}}"#)),
        http("200 OK", &format!(r#"{{"id":"{ID}","result":{{"code":"999.123.456"}}}}"#)),
        http("200 OK", &"[".repeat(100_000)),
        http("200 OK", &"x".repeat(10 << 20)),
        http("302 Found\r\nlocation: http://127.0.0.1:1/", ""),
        http("307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/v1/payments", ""),
        http("400 Bad Request", "<html>"),
        http("400 Bad Request", &format!(r#"{{"id":"{ID}","result":{{"code":"{PAID}"}}}}"#)),
        http("404 Not Found", "404 page not found"),
        http("409 Conflict", r#"{"result":{"code":"800.600.100"}}"#),
        http("500 Internal Server Error", &declined),
        http("502 Bad Gateway", "<html>"),
        http("503 Service Unavailable", r#"{"result":{"code":"999.999.888"}}"#),
        http("204 No Content", ""),
        b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\nx".to_vec(),
        format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(100_000)).into_bytes(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"id\":".to_vec(),
        Vec::new(),
    ] {
        let shown = String::from_utf8_lossy(&bytes).chars().take(80).collect::<String>();
        let impostor = start_impostor(bytes).await?;
        scene.line.set_target(Some(&impostor));
        let paid = scene.pay(&[]).await?;
        assert_eq!((paid.status, paid.result_code()), (200, PENDING), "{shown}: {}", paid.text);
        pending.push(paid.id().to_owned());
    }
    // The other gateway is there again, and knows none of the payments.
    scene.line.set_target(Some(&scene.other.address));
    scene.shop.advance_clock("31s").await?;
    for id in &pending {
        assert_result(&scene.wait_for_outcome(id).await?, 400, "900.100.300");
    }
    let checkouts: Vec<FalseRequest> =
        scene.other.take_requests().into_iter().filter(|request| request.address == "POST /v1/checkouts").collect();
    for id in &pending {
        assert!(checkouts.iter().any(|request| request.key == *id), "{id} may still arrive: {checkouts:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_byte_by_byte_is_given_up() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    scene.other.answer_with(|request| {
        let is_payment = request.address == "POST /v1/payments";
        is_payment.then(|| {
            let drops = futures_util::stream::unfold((), |()| async {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                Some((Ok::<_, std::io::Error>(Bytes::from_static(b" ")), ()))
            });
            Response::new(Body::from_stream(drops))
        })
    });
    assert_result(&scene.pay(&[]).await?, 200, PENDING);
    Ok(())
}

#[tokio::test]
async fn a_refusal_in_the_form_of_the_contract_executes_nothing() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    for (status, code, own) in [
        (401, "800.900.300", "900.100.600"),
        (403, "800.900.201", "900.100.600"),
        (429, "800.120.100", "900.100.600"),
        (404, "200.300.404", "900.100.600"),
        (400, "200.300.404", "900.100.600"),
        (400, "600.200.500", "600.200.500"),
        (400, "000.100.112", "900.100.600"),
        (400, "123.456.789", "900.100.600"),
    ] {
        scene.other.answer_with(move |_| Some(reply(status, &json!({ "result": { "code": code } }))));
        let paid = scene.pay(&[]).await?;
        assert_eq!((paid.status, paid.result_code()), (400, own), "{status} {code}: {}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_about_something_else_approves_nothing() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    let changes: [(&str, Value, &str); 12] = [
        ("amount", json!("91.99"), "amount"),
        ("amount", json!("9200"), "amount"),
        ("amount", Value::Null, "amount"),
        ("requestedAmount", json!("100.00"), "amount"),
        ("currency", json!("USD"), "currency"),
        ("currency", Value::Null, "currency"),
        ("paymentType", json!("PA"), "paymentType"),
        ("paymentType", json!("CD"), "paymentType"),
        ("merchantTransactionId", json!("order-4711"), "merchantTransactionId"),
        ("merchantTransactionId", Value::Null, "merchantTransactionId"),
        ("id", json!("../../etc/passwd"), "id"),
        ("id", json!(TOKEN), "id"),
    ];
    for (name, value, part) in changes {
        let other = value.clone();
        scene.other.answer_with(move |request| {
            let other = other.clone();
            let change = move |answer: &mut Value| answer[name] = other.clone();
            (request.address == "POST /v1/payments").then(|| request.approve(change))
        });
        let paid = scene.pay(&[]).await?;
        assert_eq!((paid.status, paid.result_code()), (200, PENDING), "{name} {value}: {}", paid.text);
        let messages = scene.read_messages(&paid)?;
        assert!(messages.contains("contradictory") && messages.contains(part), "{name} {value}: {messages}");
    }
    Ok(())
}

#[tokio::test]
async fn a_page_that_no_shopper_may_be_sent_to_is_no_redirect() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    for (url, method) in [
        ("javascript:alert(1)".to_owned(), "GET"),
        ("http://pay.example/".to_owned(), "GET"),
        ("https://user@pay.example/".to_owned(), "GET"),
        (format!("https://pay.example/?token={TOKEN}"), "GET"),
        ("https://pay.example/".to_owned(), "DELETE"),
    ] {
        let redirect = json!({ "url": url, "method": method, "parameters": [] });
        scene.other.answer_with(move |request| {
            let redirect = redirect.clone();
            let change = move |answer: &mut Value| {
                answer["result"]["code"] = json!(PENDING);
                answer["redirect"] = redirect.clone();
            };
            (request.address == "POST /v1/payments").then(|| request.approve(change))
        });
        let paid = crate::acquirer::redirects::pay_by_redirect(&scene.shop, &[]).await?;
        assert_result(&paid, 200, PENDING);
        assert!(!paid.text.contains("pay.example") && !paid.text.contains("javascript"), "{}", paid.text);
    }
    let form = json!({ "url": "https://pay.example/acs", "method": "POST",
        "parameters": [{ "name": "PaReq", "value": "abc" }, { "name": "MD", "value": "" }] });
    scene.other.answer_with(move |request| {
        let form = form.clone();
        let change = move |answer: &mut Value| {
            answer["result"]["code"] = json!(PENDING);
            answer["redirect"] = form.clone();
        };
        (request.address == "POST /v1/payments").then(|| request.approve(change))
    });
    let paid = crate::acquirer::redirects::pay_by_redirect(&scene.shop, &[]).await?;
    assert_eq!(paid.json["redirect"]["url"], "https://pay.example/acs", "{}", paid.text);
    assert_eq!(
        (&paid.json["redirect"]["method"], &paid.json["redirect"]["parameters"][0]["value"]),
        (&json!("POST"), &json!("abc"))
    );
    Ok(())
}

#[tokio::test]
async fn secrets_that_the_answer_repeats_are_nowhere() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    scene.other.answer_with(|request| {
        let number = request.get("card.number").to_owned();
        let change = move |answer: &mut Value| {
            answer["result"]["description"] = json!(format!("Bearer {TOKEN} {number}"));
            answer["resultDetails"] = json!({
                "AcquirerResponse": "00", "Echo": format!("Authorization: Bearer {TOKEN}"), TOKEN: "x",
                "Card": format!("card {number}"), "ConnectorTxID2": TOKEN, "Long": "x".repeat(3000), "<b>": "y",
                "Number": 7, "Kept": "a text",
            });
        };
        (request.address == "POST /v1/payments").then(|| request.approve(change))
    });
    let paid = scene.pay(&[]).await?;
    assert_result(&paid, 200, PAID);
    let details = &paid.json["resultDetails"];
    assert_eq!((&details["Kept"], &details["ConnectorTxID1"]), (&json!("a text"), &json!(ID)), "{}", paid.text);
    let shown = [paid.text.clone(), scene.read_messages(&paid)?, scene.gateway.read_log()];
    for text in &shown {
        for secret in [TOKEN, "4200000000000000", "xxxx", "<b>"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    let stored = scene.gateway.read_data_files()?.concat();
    assert!(!stored.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes()), "the token is stored");
    Ok(())
}

#[tokio::test]
async fn an_undocumented_code_is_a_decline_without_a_reason() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    for (code, own) in [("800.100.999", "800.100.100"), ("800.100.155", "800.100.155"), ("300.100.100", "300.100.100")]
    {
        scene.other.answer_with(move |_| Some(reply(400, &json!({ "id": ID, "result": { "code": code } }))));
        let paid = scene.pay(&[]).await?;
        assert_result(&paid, 400, own);
        assert_eq!(paid.json["resultDetails"]["AcquirerResponse"], code, "{}", paid.text);
    }
    Ok(())
}

/// Answers as a gateway with one payment, approved with this code, and records what is asked.
fn approve_all(other: &FalseGateway, code: &'static str) {
    let paid: Arc<Mutex<Option<Value>>> = Arc::default();
    other.answer_with(move |request| {
        let mut paid = paid.lock().unwrap_or_else(PoisonError::into_inner);
        match request.address.as_str() {
            "POST /v1/payments" => {
                let answer = json!({
                    "id": ID, "paymentType": request.get("paymentType"), "amount": request.get("amount"),
                    "currency": request.get("currency"),
                    "merchantTransactionId": request.get("merchantTransactionId"), "result": { "code": code },
                });
                *paid = Some(answer.clone());
                Some(reply(200, &answer))
            }
            "GET /v1/query" => {
                let paid = paid.clone()?;
                Some(reply(200, &json!({ "result": { "code": "000.000.100" }, "payments": [paid] })))
            }
            _ if request.get("paymentType") == "RV" => Some(request.approve(|answer| {
                answer["result"]["code"] = json!(code);
                answer["id"] = json!("8ac7a4a19c1f4e5d9c1f4e5d9c1f4e5e");
            })),
            _ => None,
        }
    });
}

#[tokio::test]
async fn a_live_approval_of_a_sandbox_payment_is_reversed_and_no_approval() -> anyhow::Result<()> {
    let scene = AttackScene::start(&[], &[]).await?;
    approve_all(&scene.other, "000.000.000");
    let paid = scene.pay(&[]).await?;
    assert_result(&paid, 200, PENDING);
    scene.gateway.wait_for_log("a payment was approved in the wrong mode").await?;
    scene.shop.advance_clock("31s").await?;
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 400, "900.100.300");
    let reversals: Vec<_> =
        scene.other.take_requests().into_iter().filter(|request| request.get("paymentType") == "RV").collect();
    assert_eq!(reversals.len(), 1, "{reversals:?}");
    assert_eq!(reversals[0].address, format!("POST /v1/payments/{ID}"));
    Ok(())
}

#[tokio::test]
async fn a_live_payment_is_paid_with_a_live_approval_only() -> anyhow::Result<()> {
    let scene = AttackScene::start(&LIVE, &["--live"]).await?;
    let shop = scene.shop.clone().behind_proxy();
    approve_all(&scene.other, "000.000.000");
    let paid = shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.000.000");
    let sent = scene.other.take_requests();
    assert!(sent.iter().all(|request| request.get("testMode").is_empty()), "a live entity has no test mode");
    approve_all(&scene.other, PAID);
    let fake = shop.pay_by_card(&[]).await?;
    assert_result(&fake, 200, PENDING);
    scene.gateway.wait_for_log("a payment was approved in the wrong mode").await
}
