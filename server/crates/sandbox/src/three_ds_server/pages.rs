//! The pages of the simulated issuers: the method page, and the challenge. The cardholder chooses the answer.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Deserialize;
use tillgate_connector::http::HostAddress;
use tillgate_connector::three_ds::message::{
    CReq, CRes, MessageOrError, MethodData, RReq, WireMessage as _, decode_browser_message, encode_browser_message,
};
use tillgate_connector::three_ds::server::send_result;
use tillgate_domain::three_ds::{AuthenticationResult, TransactionStatus};

use super::{ChallengedTransaction, ServerState};
use crate::simulator::issuer::build_proof;

/// Posts the only form of a page.
const POST_SCRIPT: &str = "document.forms[0].submit()";

/// An answer of the cardholder.
struct IssuerAnswer {
    /// The value that the page posts.
    value: &'static str,
    /// The text of the button.
    label: &'static str,
    status: TransactionStatus,
    /// `challengeCancel`.
    cancel: Option<&'static str>,
    /// False if the result gets lost on its way, so that the gateway has to inquire.
    is_sent: bool,
    /// False if the browser returns with a response for which there is no result.
    has_result: bool,
}

/// Makes an answer whose result is sent.
const fn issuer_answer(
    value: &'static str,
    label: &'static str,
    status: TransactionStatus,
    cancel: Option<&'static str>,
) -> IssuerAnswer {
    IssuerAnswer { value, label, status, cancel, is_sent: true, has_result: true }
}

/// The answers, in the page's order.
static ANSWERS: [IssuerAnswer; 8] = [
    issuer_answer("confirm", "Confirm", TransactionStatus::Authenticated, None),
    issuer_answer("attempt", "Attempt only", TransactionStatus::Attempted, None),
    issuer_answer("fail", "Fail", TransactionStatus::Failed, None),
    issuer_answer("cancel", "Cancel", TransactionStatus::Failed, Some("01")),
    issuer_answer("reject", "Reject", TransactionStatus::Rejected, None),
    issuer_answer("unavailable", "Technical problem", TransactionStatus::Unavailable, None),
    IssuerAnswer {
        is_sent: false,
        ..issuer_answer("lost", "Confirm, and lose the result", TransactionStatus::Authenticated, None)
    },
    IssuerAnswer {
        is_sent: false,
        has_result: false,
        ..issuer_answer("forged", "Return without a result", TransactionStatus::Authenticated, None)
    },
];

/// The fields that the browser posts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PostedFields {
    #[serde(default, rename = "threeDSMethodData")]
    method_data: String,
    #[serde(default)]
    creq: String,
    #[serde(default)]
    transaction: String,
    #[serde(default)]
    answer: String,
}

/// Runs the method page: posts the data back at once.
pub(super) async fn run_method(Form(fields): Form<PostedFields>) -> Response {
    let data = MethodData::decode(&fields.method_data);
    let Some((data, url)) = data.ok().and_then(|data| Some((data.clone(), data.notification_url?))) else {
        return render(StatusCode::BAD_REQUEST, "The method data cannot be read", html! {});
    };
    let back = MethodData { notification_url: None, ..data };
    let encoded = encode_browser_message(&back).unwrap_or_default();
    render(StatusCode::OK, "Method", posting_form(&url, "threeDSMethodData", &encoded))
}

/// Shows the challenge of an open transaction.
pub(super) async fn show_challenge(
    State(state): State<Arc<ServerState>>,
    Form(fields): Form<PostedFields>,
) -> Response {
    let Ok(MessageOrError::Message(request)) = decode_browser_message::<CReq>(&fields.creq) else {
        return render(StatusCode::BAD_REQUEST, "The challenge request cannot be read", html! {});
    };
    let open = state.lock_transactions().get(&request.acs_transaction_id).cloned();
    let Some(open) = open.filter(|open| open.draft.server_transaction_id == request.server_transaction_id) else {
        return render(StatusCode::NOT_FOUND, "There is no such transaction", html! {});
    };
    if let Some(result) = &open.result {
        return return_browser(&open, result);
    }
    let [merchant, amount, card] = &open.summary;
    let body = html! {
        p { (merchant) ": " (amount) ", " (card) }
        form method="post" action="/acs/answer" {
            input type="hidden" name="transaction" value=(request.acs_transaction_id);
            @for answer in &ANSWERS {
                p { button name="answer" value=(answer.value) { (answer.label) } }
            }
        }
        p { "This is a simulation. No money moves." }
    };
    render(StatusCode::OK, "Your bank asks you to confirm", body)
}

/// Takes the cardholder's answer: sends the result to the gateway, and returns the browser. The first answer counts.
pub(super) async fn take_answer(State(state): State<Arc<ServerState>>, Form(fields): Form<PostedFields>) -> Response {
    let answer = ANSWERS.iter().find(|answer| answer.value == fields.answer);
    let open = state.lock_transactions().get(&fields.transaction).cloned();
    let (Some(answer), Some(open)) = (answer, open) else {
        return render(StatusCode::NOT_FOUND, "There is no such transaction", html! {});
    };
    if let Some(result) = &open.result {
        return return_browser(&open, result);
    }
    let result = build_result(&open, answer);
    if answer.has_result
        && let Some(stored) = state.lock_transactions().get_mut(&fields.transaction)
    {
        stored.result = Some(result.clone());
    }
    if answer.is_sent {
        let sent = match HostAddress::parse(&open.result_url) {
            Ok(address) => send_result(&state.client, address, &result).await.map(drop),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = sent {
            tracing::warn!(error, "sending a 3-D Secure result to the gateway failed");
        }
    }
    return_browser(&open, &result)
}

/// Builds the result of an answer.
fn build_result(open: &ChallengedTransaction, answer: &IssuerAnswer) -> RReq {
    let transaction = open.draft.ds_transaction_id.as_str();
    let proof = build_proof(open.brand, None, Some(transaction), AuthenticationResult::Issuer(answer.status), None);
    RReq {
        transaction_status: answer.status.as_str().to_owned(),
        status_reason: proof.reason.map(|reason| reason.as_str().to_owned()),
        authentication_value: proof.cavv,
        eci: proof.eci,
        challenge_cancel: answer.cancel.map(str::to_owned),
        ..open.draft.clone()
    }
}

/// Makes the page that posts the challenge response to the gateway.
fn return_browser(open: &ChallengedTransaction, result: &RReq) -> Response {
    let response = CRes {
        message_type: CRes::MESSAGE_TYPE.to_owned(),
        message_version: result.message_version.clone(),
        server_transaction_id: result.server_transaction_id.clone(),
        acs_transaction_id: result.acs_transaction_id.clone(),
        completion: Some("Y".to_owned()),
        transaction_status: Some(result.transaction_status.clone()),
    };
    let encoded = encode_browser_message(&response).unwrap_or_default();
    render(StatusCode::OK, "Back to the shop", posting_form(&open.notification_url, "cres", &encoded))
}

/// Makes a form that posts one field at once, or with its button without scripts.
fn posting_form(url: &str, name: &str, value: &str) -> Markup {
    html! {
        form method="post" action=(url) {
            input type="hidden" name=(name) value=(value);
            button { "Continue" }
        }
        script { (PreEscaped(POST_SCRIPT)) }
    }
}

/// Renders a page. Every gateway may show it in a frame, as issuers do not know the gateways of shops.
fn render(status: StatusCode, title: &str, body: Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
            }
            body { h1 { (title) } (body) }
        }
    };
    let headers: [(HeaderName, &str); 2] =
        [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (status, headers, page).into_response()
}
