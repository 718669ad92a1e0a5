//! Pages of the sign-in: password, second factor, and the way out.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;
use serde::Deserialize;
use tillgate_domain::access::user::SessionStage;
use tillgate_gateway::access::sign_in::{ConfirmedSession, SignInRefusal, check_password, confirm_session};

use super::client::OfficeClient;
use super::cookies::Cookie;
use super::fields::Fields;
use super::inputs::Input;
use super::own_path::own_path;
use super::problem::Problem;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::layout::page::{Page, Section};
use crate::layout::texts::Texts;
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
    texts: &'a Texts,
    next: &'a str,
    mail: &'a str,
    refusal: Option<SignInRefusal>,
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

    fn render(&self, title_key: &str, wrong: &'static str, inputs: &[Input<'_>], action: &str) -> Response {
        let texts = self.texts;
        let title = texts.get(title_key);
        let main = html! {
            h1 { (title) }
            @if let Some(key) = self.key(wrong) { (notice(Tone::Bad, &html! { (texts.get(key)) })) }
            form action={ (BASE) (action) } method="post" {
                input type="hidden" name="next" value=(self.next);
                @for input in inputs { (input.render()) }
                button type="submit" { (texts.get("sign_in.continue")) }
            }
        };
        let page = Page { texts, title, section: Section::Other, user: None, search: "", main };
        (self.status(), page.render()).into_response()
    }

    /// Renders the form of mail address and password.
    fn render_password(&self) -> Response {
        let texts = self.texts;
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
        self.render("sign_in.title", "sign_in.wrong", &[mail, password], "/sign-in")
    }

    /// Renders the form of the second factor.
    fn render_factor(&self) -> Response {
        let texts = self.texts;
        let code = Input {
            name: "code",
            label: texts.get("sign_in.code"),
            kind: "text",
            autocomplete: "one-time-code",
            hint: Some(texts.get("sign_in.code_hint")),
            has_focus: true,
            ..Input::default()
        };
        self.render("sign_in.factor_title", "sign_in.wrong_code", &[code], "/sign-in/factor")
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
    SignInForm { texts: client.texts, next, mail: "", refusal: None }.render_password()
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
            return SignInForm { texts: client.texts, next, mail, refusal: Some(refusal) }.render_password();
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
            SignInForm { texts: client.texts, next, mail: "", refusal: None }.render_factor()
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
            let form = SignInForm { texts: client.texts, next, mail: "", refusal: Some(refusal) };
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
