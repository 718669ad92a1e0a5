//! Pages of the sign-in: password, second factor, and the way out.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use tillgate_domain::access::session::SessionStage;
use tillgate_gateway::access::passkey::RelyingParty;
use tillgate_gateway::access::sign_in::{ConfirmedSession, SignInRefusal, check_password, confirm_session};

use super::client::OfficeClient;
use super::cookies::Cookie;
use super::fields::Fields;
use super::inputs::{Input, code_input};
use super::own_path::own_path;
use super::passkey_form::PasskeyForm;
use super::problem::Problem;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::layout::page::{Page, Section};
use crate::layout::passkey_script_tag;
use crate::{BASE, OfficeState};

/// Query of the pages.
#[derive(Deserialize)]
pub(super) struct SignInQuery {
    /// The page that follows.
    #[serde(default)]
    next: String,
}

/// A form of the sign-in, with the reason why it is shown again.
struct SignInForm<'a> {
    client: &'a OfficeClient,
    next: &'a str,
    mail: &'a str,
    refusal: Option<SignInRefusal>,
    /// True if the second factor can be a passkey.
    has_passkey: bool,
}

impl SignInForm<'_> {
    fn status(&self) -> StatusCode {
        match self.refusal {
            None => StatusCode::OK,
            Some(SignInRefusal::Wrong | SignInRefusal::Expired) => StatusCode::UNAUTHORIZED,
            Some(SignInRefusal::TooMany) => StatusCode::TOO_MANY_REQUESTS,
            Some(SignInRefusal::Busy) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn key(&self, wrong: &'static str) -> Option<&'static str> {
        Some(match self.refusal? {
            SignInRefusal::Wrong => wrong,
            SignInRefusal::Expired => "sign_in.expired",
            SignInRefusal::TooMany => "sign_in.too_many",
            SignInRefusal::Busy => "sign_in.busy",
        })
    }

    fn render(
        &self,
        (title_key, wrong): (&str, &'static str),
        inputs: &[Input<'_>],
        action: &str,
        passkey: &Markup,
    ) -> Response {
        let texts = self.client.texts;
        let title = texts.get(title_key);
        let main = html! {
            h1 { (title) }
            @if let Some(key) = self.key(wrong) { (notice(Tone::Bad, &html! { (texts.get(key)) })) }
            form action={ (BASE) (action) } method="post" {
                input type="hidden" name="next" value=(self.next);
                @for input in inputs { (input.render()) }
                button type="submit" { (texts.get("sign_in.continue")) }
            }
            (passkey)
            (passkey_script_tag())
        };
        let page = Page { texts, title, section: Section::Other, user: None, search: "", main };
        (self.status(), page.render()).into_response()
    }

    /// Renders the button of a passkey, if the address of the page has a host name.
    fn render_passkey(&self, (challenge, action): (&'static str, &'static str), button: &'static str) -> Markup {
        let inputs = html! { input type="hidden" name="next" value=(self.next); };
        let form = PasskeyForm { texts: self.client.texts, call: "get", challenge, action, button, inputs };
        html! { @if RelyingParty::of_origin(&self.client.base).is_some() { (form.render()) } }
    }

    /// Renders the form of mail address and password.
    fn render_password(&self) -> Response {
        let texts = self.client.texts;
        let mail = Input {
            name: "mail",
            label: texts.get("sign_in.mail"),
            kind: "email",
            autocomplete: "username",
            value: self.mail,
            has_focus: self.mail.is_empty(),
            ..Input::default()
        };
        let password = Input {
            name: "password",
            label: texts.get("sign_in.password"),
            kind: "password",
            autocomplete: "current-password",
            has_focus: !self.mail.is_empty(),
            ..Input::default()
        };
        let passkey = self.render_passkey(("/sign-in/passkey/challenge", "/sign-in/passkey"), "passkey.sign_in");
        self.render(("sign_in.title", "sign_in.wrong"), &[mail, password], "/sign-in", &passkey)
    }

    /// Renders the form of the second factor.
    fn render_factor(&self) -> Response {
        let texts = self.client.texts;
        let code = code_input(texts);
        let paths = ("/sign-in/factor/challenge", "/sign-in/factor/passkey");
        let passkey = html! { @if self.has_passkey { (self.render_passkey(paths, "passkey.use")) } };
        self.render(("sign_in.factor_title", "sign_in.wrong_code"), &[code], "/sign-in/factor", &passkey)
    }
}

/// Shows the form of the password, or leads on if the user is signed in.
pub(super) async fn show_sign_in(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    Query(query): Query<SignInQuery>,
) -> Response {
    let next = own_path(&query.next);
    if find_stage(&state, &client) == Some(SessionStage::Confirmed) {
        return Redirect::to(next).into_response();
    }
    SignInForm { client: &client, next, mail: "", refusal: None, has_passkey: false }.render_password()
}

/// Checks mail address and password, and leads to the second factor.
pub(super) async fn receive_password(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    fields: Fields,
) -> Response {
    let (next, mail) = (own_path(fields.get("next")), fields.get("mail"));
    let (limits, browser) = (&state.sign_in_limits, client.for_sign_in());
    let checked = check_password(&state.app, limits, &browser, mail, fields.get("password")).await;
    let token = match checked {
        Ok(Ok(token)) => token,
        Ok(Err(refusal)) => {
            let form = SignInForm { client: &client, next, mail, refusal: Some(refusal), has_passkey: false };
            return form.render_password();
        }
        Err(error) => return Problem::failed(&error).render(client.texts, None),
    };
    // A session that this browser had before ends, so that a cookie from before leads nowhere.
    if let Some(before) = &client.token
        && let Err(error) = state.app.gateway.sign_out(before, client.address).await
    {
        return Problem::failed(&error).render(client.texts, None);
    }
    let encoded: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    let mut response = Redirect::to(&format!("{BASE}/sign-in/factor?next={encoded}")).into_response();
    response.headers_mut().append(header::SET_COOKIE, Cookie::Session.set(token.as_str(), client.is_secure));
    response
}

/// Shows the form of the second factor, if a session waits for it.
pub(super) async fn show_factor(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    Query(query): Query<SignInQuery>,
) -> Response {
    let next = own_path(&query.next);
    match find_stage(&state, &client) {
        Some(SessionStage::Unconfirmed) => {
            let has_passkey = has_passkey(&state, &client);
            SignInForm { client: &client, next, mail: "", refusal: None, has_passkey }.render_factor()
        }
        Some(SessionStage::Confirmed) => Redirect::to(next).into_response(),
        _ => Redirect::to(&format!("{BASE}/sign-in")).into_response(),
    }
}

/// Checks the second factor, and leads to the page that was asked for.
pub(super) async fn receive_factor(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    fields: Fields,
) -> Response {
    let next = own_path(fields.get("next"));
    let Some(token) = &client.token else { return Redirect::to(&format!("{BASE}/sign-in")).into_response() };
    let (limits, browser) = (&state.sign_in_limits, client.for_sign_in());
    match confirm_session(&state.app, limits, &browser, token, fields.get("code")).await {
        Ok(Ok(session)) => {
            let mut response = Redirect::to(next).into_response();
            set_session(response.headers_mut(), &client, &session);
            response
        }
        Ok(Err(refusal)) => {
            let has_passkey = has_passkey(&state, &client);
            let form = SignInForm { client: &client, next, mail: "", refusal: Some(refusal), has_passkey };
            if refusal == SignInRefusal::Expired { form.render_password() } else { form.render_factor() }
        }
        Err(error) => Problem::failed(&error).render(client.texts, None),
    }
}

/// Sets the cookies of a session with both factors.
pub(super) fn set_session(headers: &mut HeaderMap, client: &OfficeClient, session: &ConfirmedSession) {
    headers.append(header::SET_COOKIE, Cookie::Session.set(session.token.as_str(), client.is_secure));
    headers.append(header::SET_COOKIE, Cookie::Device.set(&session.device, client.is_secure));
}

/// Ends the session of the browser. The browser forgets the pages that it keeps for the way back.
pub(super) async fn sign_out(State(state): State<Arc<OfficeState>>, client: OfficeClient) -> Response {
    if let Some(token) = &client.token
        && let Err(error) = state.app.gateway.sign_out(token, client.address).await
    {
        return Problem::failed(&error).render(client.texts, None);
    }
    let mut response = Redirect::to(&format!("{BASE}/sign-in")).into_response();
    let headers = response.headers_mut();
    headers.append(header::SET_COOKIE, Cookie::Session.set("", client.is_secure));
    headers.insert("clear-site-data", HeaderValue::from_static("\"cache\""));
    response
}

/// Returns the stage of the browser's session. `None` if it has none, or the store cannot be read.
fn find_stage(state: &OfficeState, client: &OfficeClient) -> Option<SessionStage> {
    state.app.gateway.find_session(client.token.as_ref()?).ok()?.map(|found| found.stage)
}

/// Returns true if the browser's session waits for a second factor that can be a passkey.
fn has_passkey(state: &OfficeState, client: &OfficeClient) -> bool {
    let (Some(party), Some(session)) = (RelyingParty::of_origin(&client.base), &client.token) else { return false };
    // The form of the code is of use without the passkeys.
    state.app.gateway.find_factors(&party, session).is_ok_and(|known| !known.is_empty())
}
