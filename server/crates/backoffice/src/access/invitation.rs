//! The page of an invitation: password, authenticator app, and then the recovery codes.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, PreEscaped, html};
use qrcode::{Color, EcLevel, QrCode};
use tillgate_domain::access::one_time_code::CodeSecret;
use tillgate_domain::access::user::User;
use tillgate_gateway::access::invitation::{
    Acceptance, AcceptanceFault, OpenInvitation, accept_invitation, find_invitation,
};
use tillgate_gateway::access::link_token::LinkToken;
use zeroize::Zeroizing;

use super::client::OfficeClient;
use super::fields::Fields;
use super::inputs::Input;
use super::problem::Problem;
use super::sign_in::set_session;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::layout::page::{Page, Section};
use crate::layout::texts::Texts;
use crate::{BASE, OfficeState};

/// Shows the form of an invitation. Opening the link uses nothing up, because mail programs open links to check them.
pub(super) async fn show_invitation(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    Path(token): Path<String>,
) -> Response {
    match load_invitation(&state, &client, &token) {
        Ok((_, invitation)) => render_form(&client, &invitation, &Fields::default(), None),
        Err(refused) => *refused,
    }
}

/// Accepts an invitation, and shows the recovery codes.
pub(super) async fn accept(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    Path(token): Path<String>,
    fields: Fields,
) -> Response {
    let (token, invitation) = match load_invitation(&state, &client, &token) {
        Ok(found) => found,
        Err(refused) => return *refused,
    };
    if fields.get("password") != fields.get("repeated") {
        return render_form(&client, &invitation, &fields, Some("invitation.not_repeated"));
    }
    let form = Acceptance {
        mail: fields.get("mail").to_owned(),
        name: fields.get("name").to_owned(),
        password: Zeroizing::new(fields.get("password").to_owned()),
        code: fields.get("code").to_owned(),
    };
    match accept_invitation(&state.app, state.setup.as_ref(), &client.for_sign_in(), &token, &form).await {
        Ok(Ok(accepted)) => {
            let mut response = render_recovery_codes(client.texts, None, &accepted.recovery);
            set_session(response.headers_mut(), &client, &accepted.session);
            response
        }
        Ok(Err(AcceptanceFault::Closed)) => render_closed(client.texts),
        Ok(Err(fault)) => render_form(&client, &invitation, &fields, Some(fault_key(&fault))),
        Err(error) => Problem::failed(&error).render(client.texts, None),
    }
}

/// Finds the invitation of a link. Returns the response if it is not open.
fn load_invitation(
    state: &OfficeState,
    client: &OfficeClient,
    token: &str,
) -> Result<(LinkToken, OpenInvitation), Box<Response>> {
    let Some(token) = LinkToken::parse(token) else { return Err(Box::new(render_closed(client.texts))) };
    match find_invitation(&state.app.gateway, state.setup.as_ref(), &token) {
        Ok(Some(invitation)) => Ok((token, invitation)),
        Ok(None) => Err(Box::new(render_closed(client.texts))),
        Err(error) => Err(Box::new(Problem::failed(&error).render(client.texts, None))),
    }
}

/// Returns the key of the text about a fault.
fn fault_key(fault: &AcceptanceFault) -> &'static str {
    use tillgate_domain::access::password::PasswordFault;
    match fault {
        AcceptanceFault::Closed => "invitation.closed_text",
        AcceptanceFault::Mail => "invitation.mail_fault",
        AcceptanceFault::Name => "invitation.name_fault",
        AcceptanceFault::Code => "sign_in.wrong_code",
        AcceptanceFault::Password(PasswordFault::TooShort) => "password.too_short",
        AcceptanceFault::Password(PasswordFault::TooLong) => "password.too_long",
        AcceptanceFault::Password(PasswordFault::Personal) => "password.personal",
        AcceptanceFault::Password(PasswordFault::Common) => "password.common",
    }
}

fn render_closed(texts: &Texts) -> Response {
    let title = texts.get("invitation.closed");
    let main = html! {
        h1 { (title) }
        p { (texts.get("invitation.closed_text")) }
        p { a href={ (BASE) "/sign-in" } { (texts.get("sign_in.title")) } }
    };
    let page = Page { texts, title, section: Section::Other, user: None, search: "", main };
    (StatusCode::GONE, page.render()).into_response()
}

/// Renders the form, with the key of a text about a fault.
fn render_form(client: &OfficeClient, invitation: &OpenInvitation, sent: &Fields, fault: Option<&str>) -> Response {
    let texts = client.texts;
    let title = texts.get("invitation.title");
    let input = |name, kind, autocomplete, label| Input {
        name,
        kind,
        autocomplete,
        label: texts.get(label),
        ..Input::default()
    };
    let mail = invitation.user.as_ref().map_or_else(|| sent.get("mail"), |user| &user.mail);
    let main = html! {
        h1 { (title) }
        @if let Some(key) = fault { (notice(Tone::Bad, &html! { (texts.get(key)) })) }
        form method="post" {
            @match &invitation.user {
                Some(user) => {
                    p { (user.name) " · " (user.mail) }
                    // Password managers store the password under this name.
                    input type="hidden" name="mail" value=(user.mail) autocomplete="username";
                }
                None => {
                    p { (texts.get("invitation.first")) }
                    (Input { value: mail, has_focus: true, ..input("mail", "email", "username", "sign_in.mail") }.render())
                    (Input { value: sent.get("name"), ..input("name", "text", "name", "users.name") }.render())
                }
            }
            h2 { (texts.get("invitation.password")) }
            (Input {
                hint: Some(texts.get("password.hint")),
                ..input("password", "password", "new-password", "sign_in.password")
            }.render())
            (input("repeated", "password", "new-password", "invitation.repeated").render())
            h2 { (texts.get("invitation.app")) }
            p { (texts.get("invitation.app_text")) }
            (render_secret(texts, &invitation.secret, &client.base, mail))
            (input("code", "text", "one-time-code", "sign_in.code").render())
            button type="submit" { (texts.get("invitation.accept")) }
        }
    };
    let page = Page { texts, title, section: Section::Other, user: None, search: "", main };
    let status = if fault.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    (status, page.render()).into_response()
}

/// Renders the secret of an authenticator app: as a picture to scan, and as text to type.
pub(super) fn render_secret(texts: &Texts, secret: &CodeSecret, base: &str, mail: &str) -> Markup {
    let host = base.split_once("://").map_or(base, |(_, rest)| rest).trim_end_matches('/');
    let issuer = format!("Tillgate {}", host.split(':').next().unwrap_or_default());
    // The mail address of the first administrator is not known when the picture is made.
    let account = if mail.is_empty() { "administrator" } else { mail };
    let address = secret.to_address(&issuer, account);
    let text = secret.to_base32();
    let groups: Vec<&str> = text.as_bytes().chunks(4).filter_map(|group| std::str::from_utf8(group).ok()).collect();
    html! {
        div.enrolment {
            (render_code(texts, &address))
            p { (texts.get("invitation.secret")) " " code id="secret" { (groups.join(" ")) } }
        }
    }
}

/// Renders a QR code as a picture in the page: a path with a square for each dark module.
fn render_code(texts: &Texts, content: &str) -> Markup {
    let Ok(code) = QrCode::with_error_correction_level(content, EcLevel::M) else { return html! {} };
    let width = code.width();
    // Readers need a margin of four modules (ISO/IEC 18004).
    let size = width + 8;
    let mut path = String::new();
    for (index, _) in code.to_colors().iter().enumerate().filter(|(_, color)| **color == Color::Dark) {
        path.push_str(&format!("M{} {}h1v1h-1z", index % width + 4, index / width + 4));
    }
    html! {
        svg.qr viewBox={ "0 0 " (size) " " (size) } width="220" height="220" role="img"
            aria-label=(texts.get("invitation.qr")) shape-rendering="crispEdges" {
            rect width=(size) height=(size) fill="#fff" {}
            path d=(PreEscaped(path)) fill="#000" {}
        }
    }
}

/// Renders the recovery codes, which are shown this once. `user` is the name of the signed-in user.
pub(super) fn render_recovery_codes(texts: &Texts, user: Option<&User>, codes: &[Zeroizing<String>]) -> Response {
    let title = texts.get("recovery.title");
    let main = html! {
        h1 { (title) }
        (notice(Tone::Warn, &html! { (texts.get("recovery.text")) }))
        ol.recovery { @for code in codes { li { code { (**code) } } } }
        p { a.button href=(BASE) { (texts.get("recovery.continue")) } }
    };
    let page = Page { texts, title, section: Section::Other, user, search: "", main };
    page.render().into_response()
}
