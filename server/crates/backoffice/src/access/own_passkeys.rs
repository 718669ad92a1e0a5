//! The user's own passkeys: the list, and the forms that add and remove them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::passkey::MAX_PASSKEY_NAME;
use tillgate_gateway::Failure;
use tillgate_gateway::access::own_account::OwnAccountFault;
use tillgate_gateway::access::own_passkeys::{add_passkey, begin_passkey, remove_passkey};
use tillgate_gateway::access::passkey::{IssuedChallenge, RelyingParty};
use tillgate_store::access::passkey::StoredPasskey;

use super::account::{describe_fault, render_fault};
use super::client::OfficeClient;
use super::fields::Fields;
use super::json_body::{JsonBody, lead_to, refuse};
use super::passkey_form::{PasskeyForm, forget_challenge, send_challenge};
use super::passkey_sign_in::{answer_failure, read_challenge, refuse_host};
use super::problem::Problem;
use super::signed_in::SignedIn;
use crate::components::table::{Column, Table};
use crate::{BASE, OfficeState};

/// Sends a challenge for a new passkey, if the code is right.
pub(super) async fn begin(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    body: JsonBody,
) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let (limits, who) = (&state.sign_in_limits, (&party, &signed_in.session, client.address));
    let begun = begin_passkey(&state.app, limits, who, body.text("name"), body.text("code")).await;
    answer_begun(&client, begun)
}

/// Adds the passkey that the browser has made.
pub(super) async fn add(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    headers: HeaderMap,
    body: JsonBody,
) -> Response {
    let Some(party) = RelyingParty::of_origin(&client.base) else { return refuse_host(&client) };
    let (who, challenge) = ((&party, &signed_in.session, client.address), read_challenge(&client, &headers));
    let added = add_passkey(&state.app, who, challenge.as_ref(), body.value("answer")).await;
    answer_finished(&client, &format!("{BASE}/account?done=passkey_added"), added)
}

/// Removes a passkey.
pub(super) async fn remove(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    fields: Fields,
) -> Response {
    let who = (&signed_in.session, client.address);
    let (id, code) = (fields.get("passkey"), fields.get("code"));
    match remove_passkey(&state.app, &state.sign_in_limits, who, id, code).await {
        Ok(Ok(())) => Redirect::to(&format!("{BASE}/account?done=passkey_removed")).into_response(),
        Ok(Err(fault)) => render_fault(&state, &client, &signed_in, fault),
        Err(error) => Problem::failed(&error).render(client.texts, Some(&signed_in.user)),
    }
}

/// Answers our script with a challenge, or with the reason why there is none.
pub(super) fn answer_begun(
    client: &OfficeClient,
    begun: Result<Result<IssuedChallenge, OwnAccountFault>, Failure>,
) -> Response {
    match begun {
        Ok(Ok(challenge)) => send_challenge(client, &challenge),
        Ok(Err(fault)) => answer_fault(client, fault),
        Err(error) => answer_failure(client, &error),
    }
}

/// Answers our script after the challenge was used: with the address of the next page, or with a fault.
pub(super) fn answer_finished(
    client: &OfficeClient,
    next: &str,
    finished: Result<Result<(), OwnAccountFault>, Failure>,
) -> Response {
    let mut response = match finished {
        Ok(Ok(())) => lead_to(next),
        Ok(Err(fault)) => answer_fault(client, fault),
        Err(error) => answer_failure(client, &error),
    };
    forget_challenge(response.headers_mut(), client);
    response
}

/// Answers our script with a fault.
fn answer_fault(client: &OfficeClient, fault: OwnAccountFault) -> Response {
    let (status, key): (StatusCode, _) = describe_fault(fault);
    refuse(status, client.texts.get(key))
}

/// Renders the passkeys of the user, and the forms that change them.
pub(super) fn render_passkeys(
    state: &OfficeState,
    client: &OfficeClient,
    signed_in: &SignedIn,
) -> Result<Markup, Failure> {
    let texts = client.texts;
    let passkeys = state.app.gateway.load_passkeys(&signed_in.user)?;
    let party = RelyingParty::of_origin(&client.base);
    Ok(html! {
        h2 { (texts.get("passkey.title")) }
        p { (texts.get("passkey.text")) }
        @if !passkeys.is_empty() {
            (render_list(client, &passkeys, party.as_ref()))
            (render_removal(client, &passkeys))
        }
        @if party.is_some() {
            (render_addition(client))
            p data-without-passkeys { (texts.get("passkey.no_script")) }
        } @else {
            p { (texts.get("passkey.no_host")) }
        }
    })
}

fn render_list(client: &OfficeClient, passkeys: &[StoredPasskey], party: Option<&RelyingParty>) -> Markup {
    let texts = client.texts;
    let time = |moment: Timestamp| texts.date_time(&moment.to_zoned(TimeZone::UTC));
    let rows = passkeys.iter().map(|passkey| {
        let is_here = party.is_some_and(|party| party.host() == passkey.host);
        vec![
            html! {
                (passkey.name)
                @if !is_here { " · " (texts.get("passkey.for_host")) " " (passkey.host) }
            },
            html! { (time(passkey.created)) },
            html! {
                @match passkey.last_used {
                    Some(used) => (time(used)),
                    None => (texts.get("passkey.never_used")),
                }
            },
        ]
    });
    let columns = ["passkey.name", "passkey.created", "account.last_used"];
    let table = Table {
        caption: texts.get("passkey.title"),
        hides_caption: true,
        is_linked: false,
        columns: columns.iter().map(|key| Column::new(texts.get(key))).collect(),
        rows: rows.collect(),
    };
    table.render()
}

fn render_removal(client: &OfficeClient, passkeys: &[StoredPasskey]) -> Markup {
    let texts = client.texts;
    html! {
        form action={ (BASE) "/account/passkeys/remove" } method="post" {
            div.field {
                label for="removed-passkey" { (texts.get("passkey.removed")) }
                select id="removed-passkey" name="passkey" required {
                    @for passkey in passkeys { option value=(passkey.id) { (passkey.name) } }
                }
            }
            (render_code(client, "removal-code"))
            button type="submit" { (texts.get("passkey.remove")) }
        }
    }
}

fn render_addition(client: &OfficeClient) -> Markup {
    let texts = client.texts;
    let inputs = html! {
        div.field {
            label for="passkey-name" { (texts.get("passkey.name")) }
            input id="passkey-name" name="name" required maxlength=(MAX_PASSKEY_NAME) autocomplete="off"
                aria-describedby="passkey-name-help";
            div.hint id="passkey-name-help" { (texts.get("passkey.name_hint")) }
        }
        (render_code(client, "passkey-code"))
    };
    let (challenge, action) = ("/account/passkeys/challenge", "/account/passkeys");
    PasskeyForm { texts, call: "create", challenge, action, button: "passkey.add", inputs }.render()
}

fn render_code(client: &OfficeClient, id: &str) -> Markup {
    html! {
        div.field {
            label for=(id) { (client.texts.get("account.present_code")) }
            input id=(id) name="code" autocomplete="one-time-code" required maxlength="254" autocapitalize="none"
                spellcheck="false";
        }
    }
}
