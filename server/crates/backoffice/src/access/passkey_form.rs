//! The forms that the script of passkeys sends.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tillgate_gateway::access::passkey::IssuedChallenge;

use super::client::OfficeClient;
use super::cookies::Cookie;
use crate::BASE;
use crate::layout::texts::Texts;

/// A form that the script sends. It is hidden until the script runs in a browser that has passkeys.
pub(super) struct PasskeyForm<'a> {
    /// The texts of the user's language.
    pub(super) texts: &'a Texts,
    /// The call of the browser: `create` or `get`.
    pub(super) call: &'static str,
    /// Path of the challenge, below [`BASE`].
    pub(super) challenge: &'static str,
    /// Path that takes the answer, below [`BASE`].
    pub(super) action: &'static str,
    /// Key of the text of the button.
    pub(super) button: &'static str,
    /// The inputs.
    pub(super) inputs: Markup,
}

impl PasskeyForm<'_> {
    /// Renders the form.
    pub(super) fn render(&self) -> Markup {
        let texts = self.texts;
        html! {
            form.passkey action={ (BASE) (self.action) } method="post" hidden data-passkey=(self.call)
                data-challenge={ (BASE) (self.challenge) } data-cancelled=(texts.get("passkey.cancelled"))
                data-known=(texts.get("passkey.known")) data-failed=(texts.get("passkey.failed")) {
                (self.inputs)
                div.error role="alert" {}
                button type="submit" { (texts.get(self.button)) }
            }
        }
    }
}

/// Returns the response with a challenge, whose token goes into a cookie.
pub(super) fn send_challenge(client: &OfficeClient, challenge: &IssuedChallenge) -> Response {
    let mut response = axum::Json(&challenge.options).into_response();
    let cookie = Cookie::Challenge.set(challenge.token.as_str(), client.is_secure);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

/// Deletes the cookie of a challenge, which is used.
pub(super) fn forget_challenge(headers: &mut HeaderMap<HeaderValue>, client: &OfficeClient) {
    headers.append(header::SET_COOKIE, Cookie::Challenge.set("", client.is_secure));
}
