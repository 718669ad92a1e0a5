//! Access: sign-in, second factor, sessions, users and invitations, the guard of every request, and the extractor of
//! the signed-in user.

mod account;
mod client;
mod confirmation;
mod cookies;
mod fields;
mod guard;
mod inputs;
mod invitation;
mod json_body;
mod own_passkeys;
mod own_path;
mod passkey_form;
mod passkey_sign_in;
pub(crate) mod people;
mod problem;
pub mod routes;
mod sign_in;
mod signed_in;
mod upload;
mod user_forms;
mod users;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use tillgate_domain::access::role::Permission;

use crate::OfficeState;
pub use client::OfficeClient;
pub use fields::Fields;
pub use guard::{FramePart, guard_request};
pub use problem::{Problem, show_missing_page};
use routes::{Need, OfficeRoute, row};
pub use signed_in::SignedIn;
pub use upload::{SentFile, Upload};

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/sign-in", Need::Nothing),
    row("POST", "/sign-in", Need::Nothing),
    row("GET", "/sign-in/factor", Need::Nothing),
    row("POST", "/sign-in/factor", Need::Nothing),
    row("POST", "/sign-in/factor/challenge", Need::Nothing),
    row("POST", "/sign-in/factor/passkey", Need::Nothing),
    row("POST", "/sign-in/passkey", Need::Nothing),
    row("POST", "/sign-in/passkey/challenge", Need::Nothing),
    row("POST", "/sign-out", Need::Nothing),
    row("GET", "/invitation/{token}", Need::Nothing),
    row("POST", "/invitation/{token}", Need::Nothing),
    row("GET", "/account", Need::SignedIn),
    row("GET", "/account/confirm", Need::SignedIn),
    row("POST", "/account/confirm", Need::SignedIn),
    row("POST", "/account/confirm/challenge", Need::SignedIn),
    row("POST", "/account/confirm/passkey", Need::SignedIn),
    row("POST", "/account/mail", Need::SignedIn),
    row("POST", "/account/password", Need::SignedIn),
    row("POST", "/account/factor", Need::SignedIn),
    row("POST", "/account/passkeys", Need::SignedIn),
    row("POST", "/account/passkeys/challenge", Need::SignedIn),
    row("POST", "/account/passkeys/remove", Need::SignedIn),
    row("POST", "/account/sessions", Need::SignedIn),
    row("GET", "/users", Need::Permission(Permission::ManageUsers)),
    row("POST", "/users", Need::Permission(Permission::ManageUsers)).after_factor(),
    row("GET", "/users/{id}", Need::Permission(Permission::ManageUsers)),
    row("POST", "/users/{id}/invite", Need::Permission(Permission::ManageUsers)).after_factor(),
    row("POST", "/users/{id}/state", Need::Permission(Permission::ManageUsers)).after_factor(),
    row("POST", "/users/{id}/roles", Need::Permission(Permission::ManageUsers)).after_factor(),
];

/// Builds the routes of access. Their permissions are in [`ROUTES`].
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/sign-in", get(sign_in::show_sign_in).post(sign_in::receive_password))
        .route("/sign-in/factor", get(sign_in::show_factor).post(sign_in::receive_factor))
        .route("/sign-in/factor/challenge", post(passkey_sign_in::begin_second))
        .route("/sign-in/factor/passkey", post(passkey_sign_in::finish_second))
        .route("/sign-in/passkey", post(passkey_sign_in::finish))
        .route("/sign-in/passkey/challenge", post(passkey_sign_in::begin))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/invitation/{token}", get(invitation::show_invitation).post(invitation::accept))
        .route("/account", get(account::show_account))
        .route("/account/confirm", get(confirmation::show).post(confirmation::receive_code))
        .route("/account/confirm/challenge", post(confirmation::begin))
        .route("/account/confirm/passkey", post(confirmation::finish))
        .route("/account/mail", post(account::change_mail))
        .route("/account/password", post(account::change_password))
        .route("/account/factor", post(account::change_factor))
        .route("/account/passkeys", post(own_passkeys::add))
        .route("/account/passkeys/challenge", post(own_passkeys::begin))
        .route("/account/passkeys/remove", post(own_passkeys::remove))
        .route("/account/sessions", post(account::revoke_session))
        .route("/users", get(users::list_users).post(users::create_user))
        .route("/users/{id}", get(users::show_user))
        .route("/users/{id}/invite", post(users::invite_user))
        .route("/users/{id}/state", post(users::change_state))
        .route("/users/{id}/roles", post(users::change_role))
}
