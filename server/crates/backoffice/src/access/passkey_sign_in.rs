//! Sign-in with a passkey: requests of our own script.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tillgate_gateway::Failure;
use tillgate_gateway::access::link_token::LinkToken;
use tillgate_gateway::access::passkey::{IssuedChallenge, RelyingParty};
use tillgate_gateway::access::passkey_sign_in::{begin_factor, begin_sign_in, confirm_session, sign_in};
use tillgate_gateway::access::sign_in::{ConfirmedSession, SignInRefusal};

use super::client::OfficeClient;
use super::cookies::Cookie;
use super::json_body::{JsonBody, lead_to, refuse};
use super::own_path::own_path;
use super::passkey_form::{forget_challenge, send_challenge};
use super::problem::Problem;
use super::sign_in::set_session;
use crate::OfficeState;

/// Sends a challenge for a sign-in without a user name.
pub(super) async fn begin(State(state): State<Arc<OfficeState>>, client: OfficeClient, _: JsonBody) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let begun = begin_sign_in(&state.app, &state.sign_in_limits, &party, &client.for_sign_in()).await;
    answer_begun(&client, begun)
}

/// Signs in with a passkey alone, and leads to the page that was asked for.
pub(super) async fn finish(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    headers: HeaderMap,
    body: JsonBody,
) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let Some(challenge) = read_challenge(&client, &headers) else {
        return answer_refusal(&client, SignInRefusal::Expired);
    };
    let (limits, browser) = (&state.sign_in_limits, client.for_sign_in());
    let signed_in = sign_in(&state.app, limits, (&party, &browser), &challenge, body.value("answer")).await;
    // A session that this browser had before ends, so that a cookie from before leads nowhere.
    if let (Ok(Ok(_)), Some(before)) = (&signed_in, &client.token)
        && let Err(error) = state.app.gateway.sign_out(before, client.address).await
    {
        return answer_failure(&client, &error);
    }
    answer_finished(&client, own_path(body.text("next")), signed_in)
}

/// Sends a challenge for the second factor of the browser's session.
pub(super) async fn begin_second(State(state): State<Arc<OfficeState>>, client: OfficeClient, _: JsonBody) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let Some(session) = &client.token else { return answer_refusal(&client, SignInRefusal::Expired) };
    let begun = begin_factor(&state.app, &state.sign_in_limits, &party, session).await;
    answer_begun(&client, begun)
}

/// Checks the second factor of the browser's session, and leads to the page that was asked for.
pub(super) async fn finish_second(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    headers: HeaderMap,
    body: JsonBody,
) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let (Some(session), Some(challenge)) = (&client.token, read_challenge(&client, &headers)) else {
        return answer_refusal(&client, SignInRefusal::Expired);
    };
    let (limits, browser) = (&state.sign_in_limits, client.for_sign_in());
    let tokens = (session, &challenge);
    let confirmed = confirm_session(&state.app, limits, (&party, &browser), tokens, body.value("answer")).await;
    answer_finished(&client, own_path(body.text("next")), confirmed)
}

/// Reads the token of the browser's challenge.
pub(super) fn read_challenge(client: &OfficeClient, headers: &HeaderMap) -> Option<LinkToken> {
    Cookie::Challenge.read(headers, client.is_secure).and_then(LinkToken::parse)
}

/// Refuses a request at an address without a host name.
pub(super) fn refuse_host(client: &OfficeClient) -> Response {
    refuse(StatusCode::CONFLICT, client.texts.get("passkey.no_host"))
}

/// Answers that the store or the vault failed, and logs the reason.
pub(super) fn answer_failure(client: &OfficeClient, error: &Failure) -> Response {
    // The problem logs the failure. Its page is not needed.
    let _ = Problem::failed(error);
    refuse(StatusCode::SERVICE_UNAVAILABLE, client.texts.get("problem.unavailable"))
}

fn answer_begun(client: &OfficeClient, begun: Result<Result<IssuedChallenge, SignInRefusal>, Failure>) -> Response {
    match begun {
        Ok(Ok(challenge)) => send_challenge(client, &challenge),
        Ok(Err(refusal)) => answer_refusal(client, refusal),
        Err(error) => answer_failure(client, &error),
    }
}

fn answer_finished(
    client: &OfficeClient,
    next: &str,
    finished: Result<Result<ConfirmedSession, SignInRefusal>, Failure>,
) -> Response {
    let mut response = match &finished {
        Ok(Ok(_)) => lead_to(next),
        Ok(Err(refusal)) => answer_refusal(client, *refusal),
        Err(error) => answer_failure(client, error),
    };
    forget_challenge(response.headers_mut(), client);
    if let Ok(Ok(session)) = &finished {
        set_session(response.headers_mut(), client, session);
    }
    response
}

fn answer_refusal(client: &OfficeClient, refusal: SignInRefusal) -> Response {
    let (status, key) = match refusal {
        SignInRefusal::Wrong => (StatusCode::UNAUTHORIZED, "passkey.wrong"),
        SignInRefusal::Expired => (StatusCode::UNAUTHORIZED, "passkey.expired"),
        SignInRefusal::TooMany => (StatusCode::TOO_MANY_REQUESTS, "sign_in.too_many"),
        SignInRefusal::Busy => (StatusCode::SERVICE_UNAVAILABLE, "sign_in.busy"),
    };
    refuse(status, client.texts.get(key))
}
