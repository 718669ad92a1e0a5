//! Access tokens of an entity: the table, creation, and revocation. A token is shown once, when it is created.

use axum::extract::Path;
use axum::response::Response;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::access::scope::Scope;
use tillgate_domain::id::EntityId;
use tillgate_gateway::access::settings::parse_name;
use tillgate_gateway::access::token::{IssuedCredentials, NewToken, parse_expiry};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_store::access::token::TokenInfo;

use super::account_data::show_entity;
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::copy::copyable;
use crate::components::dialog::Dialog;
use crate::components::facts::facts;
use crate::components::field::Field;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Handles `POST /administration/entities/{id}/tokens`: creates a token, and shows it.
pub(super) async fn create_token(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let new = match read_token(&fields, Timestamp::now()) {
        Ok(new) => new,
        Err(message) => return show_entity(&office, &entity, Some((&fields, &message))).await,
    };
    let owner = entity.id.clone();
    let create = move |administration: &Administration| administration.create_token(&owner, new);
    match office.administer(Permission::ManageTokens, Reach::Entity(entity.id.clone()), create).await {
        Ok(issued) => show_issued(&office, &entity, &issued),
        Err(error) => {
            let show = async |message: &str| show_entity(&office, &entity, Some((&fields, message))).await;
            office.show_refusal(&error, show).await
        }
    }
}

/// Handles `POST /administration/entities/{id}/tokens/{user}/revoke`.
pub(super) async fn revoke_token(office: Office, Path((id, user)): Path<(String, String)>) -> Response {
    let entity = match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let owner = entity.id.clone();
    let revoke = move |administration: &Administration| revoke_own_token(administration, &owner, &user);
    match office.administer(Permission::ManageTokens, Reach::Entity(entity.id.clone()), revoke).await {
        Ok(()) => office.lead_to(&format!("/administration/entities/{}", entity.id), "token_revoked"),
        Err(error) => office.show_refusal(&error, async |_| office.show_unknown()).await,
    }
}

/// Revokes a token of an entity. That of another entity is as unknown as one that does not exist. A form that is sent
/// twice finds its token revoked, which is the state that it asks for.
fn revoke_own_token(administration: &Administration, owner: &EntityId, user: &str) -> Result<(), ActError> {
    let tokens = administration.load_tokens(Some(owner))?;
    match tokens.iter().find(|token| token.user_id == user) {
        None => Err(ActError::refuse("user", "the entity has no such token")),
        Some(token) if token.revoked.is_some() => Ok(()),
        Some(_) => administration.revoke_token(user),
    }
}

/// Reads the form of a new token.
///
/// # Errors
/// The message about a field.
fn read_token(fields: &Fields, now: Timestamp) -> Result<NewToken, String> {
    let label = parse_name(fields.get("label"))?;
    let expires = match fields.get("expires").trim() {
        "" => None,
        text => Some(parse_expiry(text, now)?),
    };
    let is_chosen = |scope: &Scope| !fields.get(&scope_field(*scope)).is_empty();
    let scopes: Vec<Scope> = Scope::ALL.into_iter().filter(is_chosen).collect();
    if scopes.is_empty() {
        // Without a scope a token would allow everything, which nobody means who has chosen nothing.
        return Err("choose at least one kind of requests that the token may make".to_owned());
    }
    Ok(NewToken { label, expires, scopes, networks: Vec::new() })
}

/// Returns the name of the field of a scope.
fn scope_field(scope: Scope) -> String {
    format!("scope-{}", scope.as_str())
}

/// Shows a new token, which is known only now.
pub(crate) fn show_issued(office: &Office, entity: &Entity, issued: &IssuedCredentials) -> Response {
    let texts = office.texts;
    let title = texts.get("token.issued");
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/administration/entities/" (entity.id) } { (entity.name) } }
            h1 { (title) }
            p { (texts.get("token.issued_text")) }
        }
        section.card { div.body {
            (facts(&[
                (texts.get("token.bearer"), Some(html! { span id="token" { (copyable(texts, &issued.bearer_token())) } })),
                (texts.get("administration.entity_id"), Some(copyable(texts, entity.id.as_str()))),
            ]))
        } }
    };
    office.show_page(Section::Administration, title, main)
}

/// Renders the tokens of an entity, newest first.
pub(super) fn token_table(texts: &Texts, zone: &TimeZone, entity: &Entity, tokens: &[TokenInfo]) -> Markup {
    if tokens.is_empty() {
        return empty(texts.get("token.none"), texts.get("token.none_advice"));
    }
    let now = Timestamp::now();
    let day = |moment: Option<Timestamp>| {
        let text = moment.map_or_else(|| "–".to_owned(), |moment| texts.date_time(&moment.to_zoned(zone.clone())));
        html! { (text) }
    };
    let row = |token: &TokenInfo| {
        let is_valid = token.revoked.is_none() && token.expires.is_none_or(|end| end > now);
        vec![
            html! { (token.label) },
            html! { code { (token.user_id) } },
            html! { (scope_texts(texts, token)) },
            day(Some(token.created)),
            day(token.last_used),
            token.expires.map_or_else(|| html! { (texts.get("token.never")) }, |end| day(Some(end))),
            state_badge(texts, token, is_valid),
            html! { @if token.revoked.is_none() { (revocation(texts, entity, token)) } },
        ]
    };
    let column = |key: &'static str| Column::new(texts.get(key));
    Table {
        caption: texts.get("token.title"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            column("token.label"),
            column("token.user").from(Shown::Wide),
            column("token.scopes").from(Shown::Wide),
            column("token.created").from(Shown::Medium),
            column("token.last_used").from(Shown::Medium),
            column("token.expires").from(Shown::Medium),
            column("token.state"),
            column("token.act"),
        ],
        rows: tokens.iter().rev().map(row).collect(),
    }
    .render()
}

/// Returns the requests that a token allows, in the words of the form.
fn scope_texts(texts: &Texts, token: &TokenInfo) -> String {
    let scopes = Scope::ALL.into_iter().filter(|scope| token.scopes.iter().any(|name| *name == scope.as_str()));
    scopes.map(|scope| texts.get(scope_key(scope))).collect::<Vec<_>>().join(" · ")
}

/// Renders the state of a token.
fn state_badge(texts: &Texts, token: &TokenInfo, is_valid: bool) -> Markup {
    if is_valid {
        badge(Tone::Good, texts.get("token.valid"))
    } else if token.revoked.is_some() {
        badge(Tone::Calm, texts.get("token.revoked"))
    } else {
        badge(Tone::Warn, texts.get("token.expired"))
    }
}

/// Renders the revocation of a token, with a question before it.
fn revocation(texts: &Texts, entity: &Entity, token: &TokenInfo) -> Markup {
    let title = texts.fill("token.revoke_question", &[("label", &token.label)]);
    let name = format!("revoke-{}", token.user_id);
    let content = html! { p.soft { (texts.get("token.revoke_text")) } };
    let dialog = Dialog { name: &name, title: &title, content, close: texts.get("token.keep") };
    let act = html! {
        form action={ (BASE) "/administration/entities/" (entity.id) "/tokens/" (token.user_id) "/revoke" } method="post" {
            button.danger type="submit" { (texts.get("token.revoke")) }
        }
    };
    html! { (dialog.opener("quiet", texts.get("token.revoke"))) (dialog.render(&act)) }
}

/// Renders the form of a new token, with what was sent.
pub(super) fn creation_form(texts: &Texts, entity: &Entity, sent: &Fields) -> Markup {
    let field = |name, key, hint| Field {
        name,
        label: texts.get(key),
        value: sent.get(name),
        hint,
        max_length: Some(100),
        ..Field::default()
    };
    let is_new = sent.get("label").is_empty();
    html! {
        form action={ (BASE) "/administration/entities/" (entity.id) "/tokens" } method="post" {
            h3 { (texts.get("token.new")) }
            (field("label", "token.label", Some(texts.get("token.label_hint"))).input("text"))
            (field("expires", "token.expires", Some(texts.get("token.expires_hint"))).input("text"))
            fieldset {
                legend { (texts.get("token.scopes")) }
                @for scope in Scope::ALL {
                    @let name = scope_field(scope);
                    label.choice {
                        input type="checkbox" name=(name) value="1" checked[is_new && matches!(scope, Scope::Read | Scope::Pay) || !sent.get(&name).is_empty()];
                        (texts.get(scope_key(scope)))
                    }
                }
            }
            button.primary type="submit" { (texts.get("token.create")) }
        }
    }
}

/// Returns the key of the text of a scope.
fn scope_key(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "token.read",
        Scope::Pay => "token.pay",
        Scope::Refund => "token.refund",
        Scope::Admin => "token.admin",
        Scope::Review => "token.review",
    }
}
