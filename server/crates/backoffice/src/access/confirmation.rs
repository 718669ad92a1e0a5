//! Confirmation of a session by a fresh second factor, before acts that a browser left open must not do.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;
use serde::Deserialize;
use tillgate_gateway::Failure;
use tillgate_gateway::access::confirmation::{begin_confirmation, confirm_with_code, confirm_with_passkey};
use tillgate_gateway::access::passkey::RelyingParty;

use super::account::describe_fault;
use super::client::OfficeClient;
use super::fields::Fields;
use super::inputs::code_input;
use super::json_body::JsonBody;
use super::own_passkeys::{answer_begun, answer_finished};
use super::own_path::own_path;
use super::passkey_form::PasskeyForm;
use super::passkey_sign_in::{read_challenge, refuse_host};
use super::problem::Problem;
use super::signed_in::SignedIn;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::layout::page::{Page, Section};
use crate::layout::passkey_script_tag;
use crate::{BASE, OfficeState};

/// Query of the page.
#[derive(Deserialize)]
pub(super) struct ConfirmationQuery {
    /// The page that follows.
    #[serde(default)]
    next: String,
}

/// Shows the form of the second factor.
pub(super) async fn show(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    Query(query): Query<ConfirmationQuery>,
) -> Response {
    render(&state, &client, &signed_in, own_path(&query.next), (StatusCode::OK, None))
}

/// Confirms the session with a code, and leads to the page that was asked for.
pub(super) async fn receive_code(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    fields: Fields,
) -> Response {
    let (next, who) = (own_path(fields.get("next")), (&signed_in.session, client.address));
    match confirm_with_code(&state.app, &state.sign_in_limits, who, fields.get("code")).await {
        Ok(Ok(())) => Redirect::to(next).into_response(),
        Ok(Err(fault)) => {
            let (status, key) = describe_fault(fault);
            render(&state, &client, &signed_in, next, (status, Some(key)))
        }
        Err(error) => Problem::failed(&error).render(client.texts, Some(&signed_in.user)),
    }
}

/// Sends a challenge for a passkey of the user.
pub(super) async fn begin(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    _: JsonBody,
) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let begun = begin_confirmation(&state.app, &state.sign_in_limits, (&party, &signed_in.session)).await;
    answer_begun(&client, begun)
}

/// Confirms the session with a passkey, and leads to the page that was asked for.
pub(super) async fn finish(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    headers: HeaderMap,
    body: JsonBody,
) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let (limits, who) = (&state.sign_in_limits, (&party, &signed_in.session, client.address));
    let challenge = read_challenge(&client, &headers);
    let confirmed = confirm_with_passkey(&state.app, limits, who, challenge.as_ref(), body.value("answer")).await;
    answer_finished(&client, own_path(body.text("next")), confirmed)
}

fn render(
    state: &OfficeState,
    client: &OfficeClient,
    signed_in: &SignedIn,
    next: &str,
    (status, fault): (StatusCode, Option<&str>),
) -> Response {
    let texts = client.texts;
    let title = texts.get("confirmation.title");
    let has_passkey: Result<bool, Failure> = state.app.gateway.load_passkeys(&signed_in.user).map(|known| {
        let party = RelyingParty::of_origin(&client.base);
        party.is_some_and(|party| known.iter().any(|passkey| passkey.host == party.host()))
    });
    let code = code_input(texts);
    let inputs = html! { input type="hidden" name="next" value=(next); };
    let (challenge, action) = ("/account/confirm/challenge", "/account/confirm/passkey");
    let passkey = PasskeyForm { texts, call: "get", challenge, action, button: "passkey.use", inputs };
    let main = html! {
        h1 { (title) }
        @if let Some(key) = fault { (notice(Tone::Bad, &html! { (texts.get(key)) })) }
        p { (texts.get("confirmation.text")) }
        form action={ (BASE) "/account/confirm" } method="post" {
            input type="hidden" name="next" value=(next);
            (code.render())
            button type="submit" { (texts.get("sign_in.continue")) }
        }
        // The form of the code is of use without the passkeys.
        @if has_passkey.unwrap_or(false) { (passkey.render()) }
        (passkey_script_tag())
    };
    let page = Page { texts, title, section: Section::Other, user: Some(&signed_in.user), search: "", main };
    (status, page.render()).into_response()
}
