#![allow(clippy::unwrap_used)]

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use serde_json::{Value, json};
use tillgate_domain::three_ds::{AuthenticationResult, MethodCompletion, ThreeDsPolicy, TransactionStatus};
use tillgate_os::clock::{Clock, SystemClock};
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::money::{Amount, Currency};
use tokio::net::TcpListener;

use super::super::ThreeDsPages;
use super::super::message::MESSAGE_LIMIT;
use super::super::request::ThreeDsMessage;
use super::*;
use crate::http::SharedKey;
use crate::http::signature::{DATE, IDEMPOTENCY_KEY, SIGNATURE, SignedRequest, format_date, sign_response};

const CAVV: &str = "AAACAgSRBklmQCFgMpEGAAAAAAA=";
const DIRECTORY: &str = "f25084f0-5b16-4c0a-ae5d-b24808a95e4b";
const ACS: &str = "d7c1ee99-9478-44a6-b1f2-391e29c6b340";
const TRANSACTION: &str = "8a880dc0-d2d2-4067-bcb1-b08d1690b26e";

/// Answers of a scripted server: from the request's body to the answer's.
type Script = Arc<dyn Fn(&str, Value) -> Vec<u8> + Send + Sync>;

#[derive(Clone)]
struct ScriptedServer {
    script: Script,
    /// The key with which the answers are signed. `None` for answers without a signature.
    signing_key: Option<SharedKey>,
}

fn test_key() -> SharedKey {
    SharedKey::new([7; 32])
}

async fn answer(State(server): State<ScriptedServer>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (date, idempotency_key) = (header(DATE), header(IDEMPOTENCY_KEY));
    let signed =
        SignedRequest { method: "POST", path: uri.path(), date: &date, idempotency_key: &idempotency_key, body: &body };
    assert!(signed.is_signed_by(&test_key(), &header(SIGNATURE)));
    let answer = (server.script)(uri.path(), serde_json::from_slice(&body).unwrap());
    let mut response = Response::builder();
    if let Some(key) = &server.signing_key {
        let signature = sign_response(key, &signed.sign(&test_key()), 200, &answer);
        response = response.header(SIGNATURE, signature.as_str());
    }
    response.body(Body::from(answer)).unwrap()
}

/// Starts a server whose answers `script` makes, and the client of it.
async fn start(
    signing_key: Option<SharedKey>,
    script: impl Fn(&str, Value) -> Vec<u8> + Send + Sync + 'static,
) -> ThreeDsServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = HostAddress::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let state = ScriptedServer { script: Arc::new(script), signing_key };
    tokio::spawn(axum::serve(listener, Router::new().fallback(answer).with_state(state)).into_future());
    ThreeDsServer::new(MessageClient::new(address, test_key(), Arc::new(SystemClock)).unwrap(), test_profile())
}

fn test_profile() -> RequestorProfile {
    RequestorProfile {
        requestor_id: "10001".to_owned(),
        requestor_name: "Shop".to_owned(),
        server_reference: "3DS_LOA_1".to_owned(),
        acquirer_bin: "400551".to_owned(),
        mcc: "5411".to_owned(),
        country: "DE".to_owned(),
    }
}

/// Asks a server to authenticate a cardholder who pays 92.00 EUR.
async fn authenticate(server: &ThreeDsServer, fields: &[(&str, &str)]) -> ThreeDsAnswer {
    let defaults = [
        ("customer.browser.acceptHeader", "text/html"),
        ("customer.browser.language", "de-AT"),
        ("customer.browser.screenHeight", "1080"),
        ("customer.browser.screenWidth", "1920"),
        ("customer.browser.timezone", "-60"),
        ("customer.browser.userAgent", "Mozilla/5.0"),
        ("customer.browser.javaEnabled", "false"),
        ("billing.country", "AT"),
    ];
    let parameters: Parameters = defaults.iter().chain(fields).copied().collect();
    let amount = Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap();
    let message = ThreeDsMessage::from_parameters(&parameters, amount, ThreeDsPolicy::WhenEnrolled).unwrap();
    let request = ThreeDsRequest {
        brand: Brand::find("VISA").unwrap(),
        number: &CardNumber::parse("4200000000000018").unwrap(),
        expiry: Expiry::parse("05", "2034").unwrap(),
        merchant_id: "m-1",
        merchant_name: "Shop",
        pages: &ThreeDsPages::of_page("https://pay.example/v1/threeDSecure/0a"),
        method_completion: MethodCompletion::Completed,
        version: Some(ThreeDsVersion::V22),
        transaction_id: Some(TRANSACTION),
        message: &message,
        parameters: &parameters,
    };
    server.authenticate(&request).await
}

/// Makes an authentication response to a request, with changed elements.
fn ares(request: &Value, changes: &[(&str, Value)]) -> Vec<u8> {
    let mut message = json!({
        "messageType": "ARes", "messageVersion": request["messageVersion"], "dsTransID": DIRECTORY, "acsTransID": ACS,
        "threeDSServerTransID": request["threeDSServerTransID"], "transStatus": "Y", "authenticationValue": CAVV,
        "eci": "05",
    });
    for (name, value) in changes {
        message[name] = value.clone();
    }
    message.to_string().into_bytes()
}

fn status(answer: &ThreeDsAnswer) -> TransactionStatus {
    match answer.proof.result {
        AuthenticationResult::Issuer(status) => status,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_cardholder_is_authenticated_with_the_data_of_the_payment() {
    let server = start(Some(test_key()), |path, request| {
        assert_eq!(path, AUTHENTICATION_ROUTE);
        for (name, value) in [
            ("messageType", "AReq"),
            ("messageVersion", "2.2.0"),
            ("acctNumber", "4200000000000018"),
            ("cardExpiryDate", "3405"),
            ("purchaseAmount", "9200"),
            ("purchaseCurrency", "978"),
            ("purchaseExponent", "2"),
            ("merchantCountryCode", "276"),
            ("billAddrCountry", "040"),
            ("threeDSCompInd", "Y"),
            ("browserTZ", "-60"),
            ("threeDSServerURL", "https://pay.example/v1/threeDSecure/0a/result"),
            ("notificationURL", "https://pay.example/v1/threeDSecure/0a/challenge"),
            ("threeDSRequestorID", "own-id"),
            ("threeDSRequestorChallengeInd", "04"),
        ] {
            assert_eq!(request[name], value, "{name}");
        }
        ares(&request, &[])
    })
    .await;
    let fields = [("threeDSecure.challengeIndicator", "04"), ("threeDSecure.v2.visa.requestorId", "own-id")];
    let answer = authenticate(&server, &fields).await;
    assert_eq!((status(&answer), answer.challenge.is_none()), (TransactionStatus::Authenticated, true));
    assert_eq!((answer.proof.cavv.as_deref(), answer.proof.eci.as_deref()), (Some(CAVV), Some("05")));
    assert_eq!(answer.proof.transaction.as_deref(), Some(DIRECTORY));
}

#[tokio::test]
async fn a_challenge_has_the_address_of_the_issuer() {
    let changes = [("transStatus", json!("C")), ("acsURL", json!("https://acs.example/challenge"))];
    let server = start(Some(test_key()), move |_, request| ares(&request, &changes)).await;
    let answer = authenticate(&server, &[]).await;
    assert_eq!((status(&answer), answer.proof.cavv.is_none()), (TransactionStatus::ChallengeRequired, true));
    let expected = IssuerChallenge {
        url: "https://acs.example/challenge".to_owned(),
        acs_transaction: ACS.to_owned(),
        ds_transaction: DIRECTORY.to_owned(),
    };
    assert_eq!(answer.challenge, Some(expected));
}

#[tokio::test]
async fn an_answer_that_is_not_valid_authenticates_nobody() {
    let cases: [(&str, Value); 8] = [
        ("threeDSServerTransID", json!(ACS)),
        ("messageVersion", json!("2.3.1")),
        ("messageType", json!("RReq")),
        ("authenticationValue", json!("x")),
        ("eci", json!("06")),
        ("transStatus", json!("D")),
        ("dsTransID", json!("")),
        ("padding", json!("x".repeat(MESSAGE_LIMIT))),
    ];
    for (name, value) in cases {
        let change = (name, value);
        let server = start(Some(test_key()), move |_, request| ares(&request, std::slice::from_ref(&change))).await;
        let answer = authenticate(&server, &[]).await;
        assert_eq!((status(&answer), answer.challenge), (TransactionStatus::Unavailable, None), "{name}");
    }
    for url in ["javascript:alert(1)", "http://acs.example/", "https://user:secret@acs.example/"] {
        let changes = [("transStatus", json!("C")), ("acsURL", json!(url))];
        let server = start(Some(test_key()), move |_, request| ares(&request, &changes)).await;
        let answer = authenticate(&server, &[]).await;
        assert_eq!((status(&answer), answer.challenge), (TransactionStatus::Unavailable, None), "{url}");
    }
}

#[tokio::test]
async fn an_unsigned_answer_authenticates_nobody() {
    for key in [None, Some(SharedKey::new([8; 32]))] {
        let server = start(key, |_, request| ares(&request, &[])).await;
        assert_eq!(status(&authenticate(&server, &[]).await), TransactionStatus::Unavailable);
    }
}

#[tokio::test]
async fn a_server_that_is_silent_or_gone_authenticates_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = HostAddress::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let client = MessageClient::new(address, test_key(), Arc::new(SystemClock)).unwrap();
    // It accepts the connection, and never answers.
    let server = ThreeDsServer::new(client, test_profile()).with_time_limit(Duration::from_millis(50));
    assert_eq!(status(&authenticate(&server, &[]).await), TransactionStatus::Unavailable);
    drop(listener);
    assert_eq!(status(&authenticate(&server, &[]).await), TransactionStatus::Unavailable);
}

/// Makes card ranges, each from its start number to the number with nines at its end.
fn pres(request: &Value, serial: &str, starts: &[&str]) -> Vec<u8> {
    let ranges: Vec<Value> = starts
        .iter()
        .map(|start| {
            json!({
                "startRange": start, "endRange": format!("{}9999999999", &start[..6]), "actionInd": "A",
                "acsStartProtocolVersion": "2.1.0", "acsEndProtocolVersion": "2.3.1",
                "threeDSMethodURL": "https://acs.example/method",
            })
        })
        .collect();
    json!({
        "messageType": "PRes", "messageVersion": "2.2.0", "threeDSServerTransID": request["threeDSServerTransID"],
        "dsTransID": DIRECTORY, "serialNum": serial, "cardRangeData": ranges,
    })
    .to_string()
    .into_bytes()
}

#[tokio::test]
async fn card_ranges_are_loaded_and_a_list_with_a_fault_changes_nothing() {
    let server = start(Some(test_key()), |path, request| {
        assert_eq!(path, CARD_RANGES_ROUTE);
        match request["serialNum"].as_str() {
            None => pres(&request, "1", &["4200000000000000"]),
            Some("1") => pres(&request, "2", &["4300000000000000"]),
            // The changes overlap. The whole list replaces them.
            Some(_) => pres(&request, "3", &["4300000000000000", "4300001000000000"]),
        }
    })
    .await;
    let number = |digits: &str| CardNumber::parse(digits).unwrap();
    let parameters = Parameters::default();
    let unknown = server.look_up_card(&number("4300000000000000"), &parameters).await.unwrap();
    assert_eq!((unknown.version, unknown.method), (Some(ThreeDsVersion::V22), MethodPage::None));
    assert_eq!(server.load_ranges().await, Ok(1));
    assert_eq!(server.look_up_card(&number("4300000000000000"), &parameters).await, None);
    let known = server.look_up_card(&number("4200000000000018"), &parameters).await.unwrap();
    assert_eq!(known.version, Some(ThreeDsVersion::V231));
    assert_eq!(known.method, MethodPage::Foreign("https://acs.example/method".into()));
    assert_eq!(server.load_ranges().await, Ok(2));
    assert_eq!(server.load_ranges().await, Ok(1));
}

#[tokio::test]
async fn overlapping_ranges_leave_the_earlier_ones_in_use() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let server =
        start(Some(test_key()), move |_, request| match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => pres(&request, "1", &["4200000000000000"]),
            _ => pres(&request, "2", &["4200000000000000", "4200000100000000"]),
        })
        .await;
    assert_eq!(server.load_ranges().await, Ok(1));
    assert_eq!(server.load_ranges().await, Err("two card ranges overlap".to_owned()));
    let parameters = Parameters::default();
    assert!(server.look_up_card(&CardNumber::parse("4200000000000018").unwrap(), &parameters).await.is_some());
}

#[tokio::test]
async fn an_inquiry_finds_the_result_of_its_own_transaction_only() {
    for (status, other, found) in [("Y", false, true), ("Y", true, false), ("C", false, false)] {
        let server = start(Some(test_key()), move |path, request| {
            assert_eq!(path, RESULT_ROUTE);
            json!({
                "messageType": "RReq", "messageVersion": "2.2.0", "threeDSServerTransID": request["threeDSServerTransID"],
                "dsTransID": request["dsTransID"], "transStatus": status, "messageCategory": "01",
                "acsTransID": if other { json!(DIRECTORY) } else { request["acsTransID"].clone() },
            })
            .to_string()
            .into_bytes()
        })
        .await;
        let session = ThreeDsSession::with_challenge(ThreeDsVersion::V22, TRANSACTION.to_owned());
        let challenge = IssuerChallenge {
            url: String::new(),
            acs_transaction: ACS.to_owned(),
            ds_transaction: DIRECTORY.to_owned(),
        };
        assert_eq!(server.inquire_result("m", &session, &challenge).await.is_some(), found, "{status} {other}");
    }
}

#[tokio::test]
async fn a_request_of_the_server_is_authentic_for_its_path_its_body_and_five_minutes() {
    let server = start(Some(test_key()), |_, _| Vec::new()).await;
    let date = format_date(SystemClock.now());
    let path = "/v1/threeDSecure/0a/result";
    let request = SignedRequest { method: "POST", path, date: &date, idempotency_key: TRANSACTION, body: b"{}" };
    let signature = request.sign(&test_key());
    assert!(server.client().verify_request(&request, signature.as_str()).is_some());
    let old = format_date(SystemClock.now() - jiff::SignedDuration::from_secs(400));
    let replayed = SignedRequest { date: &old, ..request };
    assert!(server.client().verify_request(&replayed, replayed.sign(&test_key()).as_str()).is_none());
    for forged in [
        SignedRequest { path: "/v1/threeDSecure/0b/result", ..request },
        SignedRequest { body: b"{ }", ..request },
        SignedRequest { idempotency_key: "x", ..request },
    ] {
        assert!(server.client().verify_request(&forged, signature.as_str()).is_none());
    }
    let foreign = request.sign(&SharedKey::new([8; 32]));
    for signature in ["", "0", foreign.as_str()] {
        assert!(server.client().verify_request(&request, signature).is_none());
    }
}
