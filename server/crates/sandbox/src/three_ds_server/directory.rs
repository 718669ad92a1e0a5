//! The messages of the 3DS server: authentications, card ranges, and inquiries about results. Every request is
//! verified, and every answer signed.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header};
use tillgate_connector::http::request::from_minor_units;
use tillgate_connector::http::signature::{DATE, IDEMPOTENCY_KEY, SIGNATURE, Signature, SignedRequest};
use tillgate_connector::three_ds::message::{
    AReq, ARes, CardRangeAction, CardRangeEntry, ChallengeIndicators, Erro, ErrorCode, MessageError, MessageOrError,
    MessageVersion, PReq, PRes, RReq, WireMessage, read_message, write_message,
};
use tillgate_connector::three_ds::server::{ResultInquiry, random_transaction};
use tillgate_domain::three_ds::{AuthenticationResult, Proof, ThreeDsVersion, TransactionStatus};
use tillgate_shared::money::Currency;

use super::{ChallengedTransaction, ServerState};
use crate::simulator::issuer::{IssuerWishes, authenticate_cardholder, build_proof};
use crate::test_data::three_ds::{CARDS, ThreeDsCard};

/// The component of error messages: a directory server.
const COMPONENT: &str = "D";
/// Serial number of the card ranges, which never change.
const SERIAL_NUMBER: &str = "1";
/// Preferences that demand a challenge.
const CHALLENGES: [&str; 3] = ["03", "04", "09"];
/// Preferences that request an exemption.
const EXEMPTIONS: [&str; 6] = ["05", "06", "07", "08", "10", "11"];

/// Verifies a request. Returns its signature.
///
/// # Errors
/// 401 without a body if it is not authentic.
fn verify(state: &ServerState, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Result<Signature, StatusCode> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let signed = SignedRequest {
        method: "POST",
        path: uri.path(),
        date: header(DATE),
        idempotency_key: header(IDEMPOTENCY_KEY),
        body,
    };
    state.client.verify_request(&signed, header(SIGNATURE)).ok_or(StatusCode::UNAUTHORIZED)
}

/// Signs an answer.
fn reply(state: &ServerState, request: &Signature, message: &impl WireMessage) -> Response<Body> {
    let body = write_message(message).unwrap_or_default();
    let signature = state.client.sign_answer(request, 200, &body);
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    if let Ok(signature) = HeaderValue::from_str(signature.as_str()) {
        response.headers_mut().insert(SIGNATURE, signature);
    }
    response
}

/// Answers a message, or makes the error message about it.
fn answer<T: WireMessage, A: WireMessage>(
    state: &ServerState,
    request: &Signature,
    body: &[u8],
    decide: impl FnOnce(T) -> Result<A, MessageError>,
) -> Response<Body> {
    let decided = read_message::<T>(body, None).and_then(|received| match received {
        MessageOrError::Message(message) => decide(message),
        MessageOrError::Error(_) => Err(MessageError::new(ErrorCode::InvalidMessage, "messageType")),
    });
    match decided {
        Ok(message) => reply(state, request, &message),
        Err(error) => reply(state, request, &Erro::new(&error, COMPONENT, T::MESSAGE_TYPE, MessageVersion::V22)),
    }
}

/// Handles an authentication request.
pub(super) async fn authenticate(
    State(state): State<Arc<ServerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Body>, StatusCode> {
    let signature = verify(&state, &uri, &headers, &body)?;
    Ok(answer(&state, &signature, &body, |request| decide_authentication(&state, &request)))
}

/// Decides as the simulated directories and issuers of the sandbox do.
fn decide_authentication(state: &ServerState, request: &AReq) -> Result<ARes, MessageError> {
    let failure = || MessageError::new(ErrorCode::TransientFailure, "random");
    let directory = random_transaction().ok_or_else(failure)?;
    let acs = random_transaction().ok_or_else(failure)?;
    let version = MessageVersion::find(&request.message_version).map(ThreeDsVersion::from);
    let card = find_card(request.account_number.expose());
    let codes = request.challenge_indicators.as_ref().map(ChallengeIndicators::codes).unwrap_or_default();
    let has = |known: &[&str]| codes.iter().any(|code| known.contains(&code.as_str()));
    let wishes = IssuerWishes { challenge: has(&CHALLENGES), exemption: has(&EXEMPTIONS) };
    // The directory server stands in for issuers that do not take part.
    let unknown = AuthenticationResult::Issuer(TransactionStatus::Unavailable);
    let result = card.map_or(unknown, |card| authenticate_cardholder(card.flow, wishes));
    let brand = card.map_or("VISA", |card| card.brand);
    let proof = build_proof(brand, version, Some(&directory), result, None);
    let status = status_of(&proof);
    let is_challenged = status == TransactionStatus::ChallengeRequired;
    if is_challenged {
        state.add_transaction(&acs, open_transaction(request, brand, &directory, &acs));
    }
    Ok(ARes {
        message_type: ARes::MESSAGE_TYPE.to_owned(),
        message_version: request.message_version.clone(),
        server_transaction_id: request.server_transaction_id.clone(),
        ds_transaction_id: directory,
        acs_transaction_id: acs,
        transaction_status: status.as_str().to_owned(),
        status_reason: proof.reason.map(|reason| reason.as_str().to_owned()),
        authentication_value: proof.cavv,
        eci: proof.eci,
        acs_url: is_challenged.then(|| format!("{}/acs/challenge", state.public_url)),
        acs_reference: Some("TILLGATE_ACS".to_owned()),
        ds_reference: Some("TILLGATE_DS".to_owned()),
        authentication_type: is_challenged.then(|| "02".to_owned()),
        challenge_mandated: is_challenged.then(|| "N".to_owned()),
        ..ARes::default()
    })
}

fn status_of(proof: &Proof) -> TransactionStatus {
    match proof.result {
        AuthenticationResult::Issuer(status) => status,
        _ => TransactionStatus::Unavailable,
    }
}

fn find_card(number: &str) -> Option<&'static ThreeDsCard> {
    CARDS.iter().find(|card| card.number == number && has_range(card))
}

/// Returns true if a card is enrolled in version 2.
fn has_range(card: &ThreeDsCard) -> bool {
    card.flow.version().is_some_and(|version| version != ThreeDsVersion::V1)
}

fn open_transaction(request: &AReq, brand: &'static str, directory: &str, acs: &str) -> ChallengedTransaction {
    let number = request.account_number.expose();
    let last4 = number.get(number.len().saturating_sub(4)..).unwrap_or_default();
    let currency = Currency::parse_number(&request.purchase_currency);
    let units = request.purchase_amount.parse().ok();
    let amount = currency.zip(units).and_then(|(currency, units)| from_minor_units(units, currency));
    let amount = amount.map(|amount| format!("{amount} {}", amount.currency().code()));
    ChallengedTransaction {
        draft: RReq {
            message_type: RReq::MESSAGE_TYPE.to_owned(),
            message_version: request.message_version.clone(),
            server_transaction_id: request.server_transaction_id.clone(),
            ds_transaction_id: directory.to_owned(),
            acs_transaction_id: acs.to_owned(),
            message_category: request.message_category.clone(),
            interaction_counter: Some("01".to_owned()),
            ..RReq::default()
        },
        brand,
        result_url: request.server_url.clone(),
        notification_url: request.notification_url.clone(),
        summary: [
            request.merchant_name.clone().unwrap_or_default(),
            amount.unwrap_or_default(),
            format!("•••• {last4}"),
        ],
        result: None,
    }
}

/// Handles a request for the card ranges: one range for each test card, or none if the sender has them already.
pub(super) async fn send_card_ranges(
    State(state): State<Arc<ServerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Body>, StatusCode> {
    let signature = verify(&state, &uri, &headers, &body)?;
    Ok(answer(&state, &signature, &body, |request: PReq| list_ranges(&state, &request)))
}

fn list_ranges(state: &ServerState, request: &PReq) -> Result<PRes, MessageError> {
    let ranges = match request.serial_number.as_deref() {
        None => Some(CARDS.iter().filter(|card| has_range(card)).map(|card| card_range(state, card)).collect()),
        Some(SERIAL_NUMBER) => None,
        Some(_) => return Err(MessageError::new(ErrorCode::InvalidSerialNumber, "serialNum")),
    };
    Ok(PRes {
        message_type: PRes::MESSAGE_TYPE.to_owned(),
        message_version: request.message_version.clone(),
        server_transaction_id: request.server_transaction_id.clone(),
        ds_transaction_id: random_transaction()
            .ok_or_else(|| MessageError::new(ErrorCode::TransientFailure, "random"))?,
        ds_start_version: Some(MessageVersion::V21.as_str().to_owned()),
        ds_end_version: Some(MessageVersion::V231.as_str().to_owned()),
        serial_number: Some(SERIAL_NUMBER.to_owned()),
        ranges,
    })
}

/// Makes the range of one card. Cards of Mastercard are enrolled in 2.3.1, all others in 2.2.0.
fn card_range(state: &ServerState, card: &ThreeDsCard) -> CardRangeEntry {
    let newest = if card.brand == "MASTER" { MessageVersion::V231 } else { MessageVersion::V22 };
    CardRangeEntry {
        start: Some(card.number.to_owned()),
        end: Some(card.number.to_owned()),
        action: CardRangeAction::Add,
        acs_start_version: Some(MessageVersion::V21.as_str().to_owned()),
        acs_end_version: Some(newest.as_str().to_owned()),
        method_url: card.flow.has_method().then(|| format!("{}/acs/method", state.public_url)),
        ..CardRangeEntry::default()
    }
}

/// Handles an inquiry about a result: sends it again, or an error message if there is none yet.
pub(super) async fn send_result_again(
    State(state): State<Arc<ServerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Body>, StatusCode> {
    let signature = verify(&state, &uri, &headers, &body)?;
    let inquiry: ResultInquiry = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let found = state.lock_transactions().get(&inquiry.acs_transaction_id).and_then(|open| open.result.clone());
    let own = found.filter(|result| {
        result.server_transaction_id == inquiry.server_transaction_id
            && result.ds_transaction_id == inquiry.ds_transaction_id
    });
    Ok(match own {
        Some(result) => reply(&state, &signature, &result),
        None => {
            let error = MessageError::new(ErrorCode::UnknownTransaction, "acsTransID");
            reply(&state, &signature, &Erro::new(&error, COMPONENT, RReq::MESSAGE_TYPE, MessageVersion::V22))
        }
    })
}
