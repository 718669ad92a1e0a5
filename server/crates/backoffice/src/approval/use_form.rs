//! The act of the user who asked, after a second person has approved it: the form, and the secret that it shows once.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::approval::ApprovalRequest;
use tillgate_domain::access::approval::act::{ApprovalAct, KeyAct};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Reach;
use tillgate_gateway::access::approved_key_act::{KeyActInput, KeyActResult};
use tillgate_gateway::administration::Administration;
use tillgate_gateway::delivery::file_push::PushCredentials;

use super::decision::{show_page, show_refused};
use super::load_request;
use crate::BASE;
use crate::access::Fields;
use crate::administration::{show_created_user, show_issued_token};
use crate::components::field::Field;
use crate::delivery::{read_push_login, show_webhook_secret};
use crate::office::Office;

/// Handles `POST /approvals/{id}/use`: carries the act out, once, and shows its secret to the user who asked.
pub(super) async fn carry_out(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let (request, names) = match load_request(&office, &id).await {
        Ok(found) => found,
        Err(refused) => return *refused,
    };
    let Some(entity) = office.app().gateway.directory.find_entity(&request.entity) else {
        return office.show_unknown();
    };
    let credentials = match read_secret(&office, &request, &fields) {
        Ok(credentials) => credentials,
        Err(fault) => return show_page(&office, &request, &names, Some(&fault), ""),
    };
    let (app, user, target) = (Arc::clone(office.app()), office.signed_in.user.id.clone(), request.id.clone());
    let act = move |acts: &Administration| {
        let ports = app.outgoing.ports().clone();
        acts.carry_out_approved(&app.gateway, &target, &user, KeyActInput { ports: &ports, credentials })
    };
    let (permission, reach) = (request.act.kind().permission(), Reach::Entity(request.entity.clone()));
    match office.administer(permission, reach, act).await {
        Ok((_, result)) => show_result(&office, &entity, &result),
        Err(error) => show_refused(&office, &request, &names, &error).await,
    }
}

/// Reads the password or the private key that no request has. Checked before the act, because an act is carried out
/// once.
///
/// # Errors
/// The message about it.
fn read_secret(office: &Office, request: &ApprovalRequest, fields: &Fields) -> Result<Option<PushCredentials>, String> {
    let ApprovalAct::Key(KeyAct::FilePush { has_private_key, .. }) = &request.act else { return Ok(None) };
    let credentials = read_push_login(office, fields).map_err(|(_, message)| message)?;
    let needed = if *has_private_key { "private-key" } else { "password" };
    if fields.get(needed).trim().is_empty() {
        return Err(office.texts.get("approvals.other_login").to_owned());
    }
    Ok(Some(credentials))
}

/// Shows what was made, with its secret.
fn show_result(office: &Office, entity: &Entity, result: &KeyActResult) -> Response {
    match result {
        KeyActResult::Token(issued) => show_issued_token(office, entity, issued),
        KeyActResult::FtpUser(created) => show_created_user(office, entity, created),
        KeyActResult::Webhook(webhook, secret) => show_webhook_secret(office, webhook.id.as_str(), secret, false),
        KeyActResult::WebhookRotation(webhook, secret) => {
            show_webhook_secret(office, webhook.id.as_str(), secret, true)
        }
        KeyActResult::WalletKey(_) => {
            office.lead_to(&format!("/administration/entities/{}/wallet-keys", entity.id), "wallet_key_created")
        }
        KeyActResult::FilePush => office.lead_to(&format!("/deliveries/pushes/{}", entity.id), "push_set"),
    }
}

/// Renders the form of an approved act, for the user who asked.
pub(super) fn render(office: &Office, request: &ApprovalRequest) -> Markup {
    let texts = office.texts;
    let login = match &request.act {
        ApprovalAct::Key(KeyAct::FilePush { has_private_key, .. }) => Some(*has_private_key),
        _ => None,
    };
    let field = |name, key, hint| Field {
        name,
        label: texts.get(key),
        hint: Some(texts.get(hint)),
        is_required: true,
        ..Field::default()
    };
    html! {
        form method="post" action={ (BASE) "/approvals/" (request.id) "/use" } {
            p { (texts.get("approvals.use_text")) }
            @match login {
                Some(true) => (field("private-key", "push.private_key", "push.private_key_hint").text_area(4)),
                Some(false) => (field("password", "push.password", "push.password_hint").input("password")),
                None => {}
            }
            button.primary type="submit" { (texts.get("approvals.use")) }
        }
    }
}
