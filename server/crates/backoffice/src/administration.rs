//! Administration: the entities as a tree, the account data of one with its ids, channels, access tokens, FTP users,
//! wallet keys, settings and clock, the audit log, and the state of the whole gateway.

mod account_data;
mod audit;
pub(crate) mod certificates;
mod clock;
mod entity_tree;
mod ftp_users;
mod look;
mod settings;
mod system;
mod tokens;
mod wallet_keys;

pub(crate) use ftp_users::show_created as show_created_user;
pub(crate) use tokens::show_issued as show_issued_token;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use tillgate_domain::access::role::Permission;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/administration", Need::Permission(Permission::ManageTokens)),
    row("GET", "/administration/entities/{id}", Need::Permission(Permission::ManageTokens)),
    row("POST", "/administration/entities/{id}/tokens", Need::Permission(Permission::ManageTokens)).after_factor(),
    row("POST", "/administration/entities/{id}/tokens/{user}/revoke", Need::Permission(Permission::ManageTokens)),
    row("GET", "/administration/entities/{id}/ftp-users", Need::Permission(Permission::ManageTokens)),
    row("POST", "/administration/entities/{id}/ftp-users", Need::Permission(Permission::ManageTokens)),
    row("POST", "/administration/entities/{id}/ftp-users/{name}/revoke", Need::Permission(Permission::ManageTokens)),
    row("GET", "/administration/entities/{id}/wallet-keys", Need::Permission(Permission::ManageTokens)),
    row("POST", "/administration/entities/{id}/wallet-keys", Need::Permission(Permission::ManageTokens)),
    row("POST", "/administration/entities/{id}/wallet-keys/token", Need::Permission(Permission::ManageTokens)),
    row("POST", "/administration/entities/{id}/wallet-keys/{key}/retire", Need::Permission(Permission::ManageTokens)),
    row("GET", "/administration/entities/{id}/settings", Need::Permission(Permission::ManageEntities)),
    row("POST", "/administration/entities/{id}/settings/{form}", Need::Permission(Permission::ManageEntities)),
    row("GET", "/administration/entities/{id}/look", Need::Permission(Permission::ViewPayments)),
    row("POST", "/administration/entities/{id}/look", Need::Permission(Permission::ManageEntities)),
    row("GET", "/administration/entities/{id}/look/preview", Need::Permission(Permission::ViewPayments)),
    row("GET", "/administration/entities/{id}/look/preview.css", Need::Permission(Permission::ViewPayments)),
    row("GET", "/administration/entities/{id}/clock", Need::Permission(Permission::ManageEntities)),
    row("POST", "/administration/entities/{id}/clock", Need::Permission(Permission::ManageEntities)),
    row("GET", "/administration/system", Need::Permission(Permission::ViewSystem)),
    row("GET", "/administration/audit", Need::Permission(Permission::ViewAudit)),
    row("GET", "/administration/audit/{number}", Need::Permission(Permission::ViewAudit)),
    row("POST", "/administration/audit/check", Need::Permission(Permission::ViewAudit)),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/administration", get(entity_tree::show_tree))
        .route("/administration/entities/{id}", get(account_data::show_account_data))
        .route("/administration/entities/{id}/tokens", post(tokens::create_token))
        .route("/administration/entities/{id}/tokens/{user}/revoke", post(tokens::revoke_token))
        .route("/administration/entities/{id}/ftp-users", get(ftp_users::show_users).post(ftp_users::create_user))
        .route("/administration/entities/{id}/ftp-users/{name}/revoke", post(ftp_users::revoke_user))
        .route("/administration/entities/{id}/wallet-keys", get(wallet_keys::show_keys).post(wallet_keys::create_key))
        .route("/administration/entities/{id}/wallet-keys/token", post(wallet_keys::make_token))
        .route("/administration/entities/{id}/wallet-keys/{key}/retire", post(wallet_keys::retire_key))
        .route("/administration/entities/{id}/settings", get(settings::show_settings))
        .route("/administration/entities/{id}/settings/{form}", post(settings::change_settings))
        .route("/administration/entities/{id}/look", get(look::show_look).post(look::change_look))
        .route("/administration/entities/{id}/look/preview", get(look::preview::show_preview))
        .route("/administration/entities/{id}/look/preview.css", get(look::preview::send_style))
        .route("/administration/entities/{id}/clock", get(clock::show_clock).post(clock::advance_clock))
        .route("/administration/system", get(system::show_system))
        .route("/administration/audit", get(audit::show_list))
        .route("/administration/audit/{number}", get(audit::show_entry))
        .route("/administration/audit/check", post(audit::check_chain))
}
