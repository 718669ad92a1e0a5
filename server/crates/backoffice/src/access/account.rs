//! The user's own account: sessions, password, and second factor.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use jiff::tz::TimeZone;
use maud::{Markup, html};
use serde::Deserialize;
use tillgate_domain::access::password::PasswordFault;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::Failure;
use tillgate_gateway::access::own_account::{self, OwnAccountFault};

use super::client::OfficeClient;
use super::fields::Fields;
use super::inputs::Input;
use super::invitation::{render_recovery_codes, render_secret};
use super::own_passkeys::render_passkeys;
use super::problem::Problem;
use super::signed_in::SignedIn;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::components::table::{Column, Table};
use crate::layout::page::{Page, Section};
use crate::layout::passkey_script_tag;
use crate::{BASE, OfficeState};

/// Query of the page.
#[derive(Deserialize)]
pub(super) struct AccountQuery {
    /// The act that has led to the page.
    #[serde(default)]
    done: String,
}

/// Shows the account.
pub(super) async fn show_account(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    Query(query): Query<AccountQuery>,
) -> Response {
    let done = match &*query.done {
        "passkey_added" => Some((Tone::Good, "passkey.added")),
        "mail_changed" => Some((Tone::Good, "account.mail_changed")),
        "passkey_removed" => Some((Tone::Good, "passkey.was_removed")),
        _ => None,
    };
    render_account(&state, &client, &signed_in, StatusCode::OK, done)
}

/// Ends a session of the user.
pub(super) async fn revoke_session(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    fields: Fields,
) -> Response {
    let number = fields.get("session").parse().unwrap_or_default();
    match state.app.gateway.revoke_session(&signed_in.user, number, client.address).await {
        Ok(()) => Redirect::to(&format!("{BASE}/account")).into_response(),
        Err(error) => Problem::failed(&error).render(client.texts, Some(&signed_in.user)),
    }
}

/// Changes the password.
pub(super) async fn change_password(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    fields: Fields,
) -> Response {
    if fields.get("password") != fields.get("repeated") {
        let notice = (Tone::Bad, "invitation.not_repeated");
        return render_account(&state, &client, &signed_in, StatusCode::UNPROCESSABLE_ENTITY, Some(notice));
    }
    let (limits, session, address) = (&state.sign_in_limits, &signed_in.session, client.address);
    let changed =
        own_account::change_password(&state.app, limits, session, address, fields.get("code"), fields.get("password"))
            .await;
    match changed {
        Ok(Ok(())) => {
            let notice = (Tone::Good, "account.password_changed");
            render_account(&state, &client, &signed_in, StatusCode::OK, Some(notice))
        }
        Ok(Err(fault)) => render_fault(&state, &client, &signed_in, fault),
        Err(error) => Problem::failed(&error).render(client.texts, Some(&signed_in.user)),
    }
}

/// Changes the mail address.
pub(super) async fn change_mail(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    fields: Fields,
) -> Response {
    let who = (&signed_in.session, client.address);
    let (code, mail) = (fields.get("code"), fields.get("mail"));
    match own_account::change_mail(&state.app, &state.sign_in_limits, who, code, mail).await {
        Ok(Ok(())) => Redirect::to(&format!("{BASE}/account?done=mail_changed")).into_response(),
        Ok(Err(fault)) => render_fault(&state, &client, &signed_in, fault),
        Err(error) => Problem::failed(&error).render(client.texts, Some(&signed_in.user)),
    }
}

/// Changes the authenticator app, and shows the new recovery codes.
pub(super) async fn change_factor(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    fields: Fields,
) -> Response {
    let (limits, session, address) = (&state.sign_in_limits, &signed_in.session, client.address);
    let (code, new_code) = (fields.get("code"), fields.get("new-code"));
    match own_account::change_factor(&state.app, limits, session, address, code, new_code).await {
        Ok(Ok(codes)) => render_recovery_codes(client.texts, Some(&signed_in.user), &codes),
        Ok(Err(fault)) => render_fault(&state, &client, &signed_in, fault),
        Err(error) => Problem::failed(&error).render(client.texts, Some(&signed_in.user)),
    }
}

/// Renders the account with the fault of what was sent.
pub(super) fn render_fault(
    state: &OfficeState,
    client: &OfficeClient,
    signed_in: &SignedIn,
    fault: OwnAccountFault,
) -> Response {
    let (status, key) = describe_fault(fault);
    render_account(state, client, signed_in, status, Some((Tone::Bad, key)))
}

/// Returns the status of a fault, and the key of its text.
pub(super) fn describe_fault(fault: OwnAccountFault) -> (StatusCode, &'static str) {
    let key = match fault {
        OwnAccountFault::Expired => return (StatusCode::UNAUTHORIZED, "sign_in.expired"),
        OwnAccountFault::TooMany => return (StatusCode::TOO_MANY_REQUESTS, "sign_in.too_many"),
        OwnAccountFault::Busy => return (StatusCode::SERVICE_UNAVAILABLE, "sign_in.busy"),
        OwnAccountFault::Factor => "sign_in.wrong_code",
        OwnAccountFault::NewCode => "account.wrong_new_code",
        OwnAccountFault::Mail => "account.mail_fault",
        OwnAccountFault::PasskeyName => "passkey.name_fault",
        OwnAccountFault::TooManyPasskeys => "passkey.too_many",
        OwnAccountFault::UnknownPasskey => "passkey.unknown",
        OwnAccountFault::Challenge => "passkey.not_added",
        OwnAccountFault::Password(fault) => match fault {
            PasswordFault::TooShort => "password.too_short",
            PasswordFault::TooLong => "password.too_long",
            PasswordFault::Personal => "password.personal",
            PasswordFault::Common => "password.common",
        },
    };
    (StatusCode::UNPROCESSABLE_ENTITY, key)
}

/// Renders the account, with a notice about an act.
fn render_account(
    state: &OfficeState,
    client: &OfficeClient,
    signed_in: &SignedIn,
    status: StatusCode,
    result: Option<(Tone, &str)>,
) -> Response {
    let texts = client.texts;
    let title = texts.get("account.title");
    let parts = render_sessions(state, client, signed_in).and_then(|sessions| {
        let passkeys = render_passkeys(state, client, signed_in)?;
        Ok((sessions, passkeys, render_factor_form(state, client, signed_in)?))
    });
    let (sessions, passkeys, factor) = match parts {
        Ok(parts) => parts,
        Err(error) => return Problem::failed(&error).render(texts, Some(&signed_in.user)),
    };
    let main = html! {
        h1 { (title) }
        @if let Some((tone, key)) = result { (notice(tone, &html! { (texts.get(key)) })) }
        p { (signed_in.user.name) " · " (signed_in.user.mail) }
        @if signed_in.permissions.allows_somewhere(Permission::ManageUsers) {
            p { a href={ (BASE) "/users" } { (texts.get("users.title")) } }
        }
        (sessions)
        (passkeys)
        h2 { (texts.get("account.change_password")) }
        p { (texts.get("account.ends_others")) }
        form action={ (BASE) "/account/password" } method="post" {
            (credential(client, "code", "one-time-code", "account.present_code").render())
            (Input {
                hint: Some(texts.get("password.hint")),
                ..credential(client, "password", "new-password", "account.new_password")
            }.render())
            (credential(client, "repeated", "new-password", "invitation.repeated").render())
            button type="submit" { (texts.get("account.change_password")) }
        }
        (factor)
        (render_mail_form(client))
        (passkey_script_tag())
    };
    let page = Page { texts, title, section: Section::Other, user: Some(&signed_in.user), search: "", main };
    (status, page.render()).into_response()
}

/// Renders the form of another mail address.
fn render_mail_form(client: &OfficeClient) -> Markup {
    let texts = client.texts;
    html! {
        h2 { (texts.get("account.change_mail")) }
        p { (texts.get("account.mail_text")) }
        form action={ (BASE) "/account/mail" } method="post" {
            div.field {
                label for="new-mail" { (texts.get("account.new_mail")) }
                input id="new-mail" name="mail" type="email" autocomplete="email" required maxlength="254";
            }
            div.field {
                label for="mail-code" { (texts.get("account.present_code")) }
                input id="mail-code" name="code" autocomplete="one-time-code" required maxlength="254";
            }
            button type="submit" { (texts.get("account.change_mail")) }
        }
    }
}

/// Returns the input of a credential.
fn credential<'a>(client: &OfficeClient, name: &'a str, autocomplete: &'a str, label: &'a str) -> Input<'a> {
    let kind = if autocomplete == "new-password" { "password" } else { "text" };
    Input { name, kind, autocomplete, label: client.texts.get(label), ..Input::default() }
}

/// Renders the form of another authenticator app.
fn render_factor_form(state: &OfficeState, client: &OfficeClient, signed_in: &SignedIn) -> Result<Markup, Failure> {
    let texts = client.texts;
    let secret = state.app.gateway.offered_secret(&signed_in.session)?;
    let new_code = Input { name: "new-code", ..credential(client, "new-code", "one-time-code", "account.new_code") };
    let code = Input { name: "code", ..credential(client, "code", "one-time-code", "account.present_code") };
    Ok(html! {
        h2 { (texts.get("account.change_factor")) }
        p { (texts.get("account.factor_text")) }
        form action={ (BASE) "/account/factor" } method="post" {
            (render_secret(texts, &secret, &client.base, &signed_in.user.mail))
            // The ids differ from those of the other form.
            div.field { label { (new_code.label) " " input name="new-code" autocomplete="one-time-code" required; } }
            div.field { label { (code.label) " " input name="code" autocomplete="one-time-code" required; } }
            button type="submit" { (texts.get("account.change_factor")) }
        }
    })
}

/// Renders the sessions of the user, each with a button that ends it.
fn render_sessions(state: &OfficeState, client: &OfficeClient, signed_in: &SignedIn) -> Result<Markup, Failure> {
    let texts = client.texts;
    let sessions = state.app.gateway.load_open_sessions(&signed_in.user)?;
    let time = |moment: jiff::Timestamp| texts.date_time(&moment.to_zoned(TimeZone::UTC));
    let rows = sessions.iter().map(|session| {
        let is_this = session.number == signed_in.session.session.number;
        vec![
            // A client may send no name.
            html! { (if session.agent.is_empty() { texts.get("account.unknown_browser") } else { &session.agent }) },
            html! { (session.address) },
            html! { (time(session.times.created)) },
            html! { (time(session.times.last_used)) },
            html! {
                @if is_this {
                    (texts.get("account.this_session"))
                } @else {
                    form action={ (BASE) "/account/sessions" } method="post" {
                        input type="hidden" name="session" value=(session.number);
                        button.quiet type="submit" { (texts.get("account.end_session")) }
                    }
                }
            },
        ]
    });
    let columns = ["account.browser", "account.address", "account.since", "account.last_used", "account.act"];
    let table = Table {
        caption: texts.get("account.sessions"),
        hides_caption: false,
        is_linked: false,
        columns: columns.iter().map(|key| Column::new(texts.get(key))).collect(),
        rows: rows.collect(),
    };
    Ok(table.render())
}
