//! Users of the FTP server who read the reconciliation files of an entity. A password is shown once, when its user is
//! created.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::EntityId;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::delivery::ftp_user::{CreatedFtpUser, parse_user_name};
use tillgate_gateway::settlement::reconciliation::has_files;
use tillgate_store::delivery::ftp_user::FtpUserInfo;

use super::account_data::entity_title;
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::copy::copyable;
use crate::components::dialog::Dialog;
use crate::components::facts::facts;
use crate::components::field::Field;
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table, empty};
use crate::components::time::time;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;

/// Number of users on the page.
const MAX_USERS: usize = 100;

/// A refused form: what was sent, and the reason.
type Fault<'a> = (&'a Fields, &'a str);

/// Handles `GET /administration/entities/{id}/ftp-users`.
pub(super) async fn show_users(office: Office, Path(id): Path<String>) -> Response {
    match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => show(&office, &entity, None).await,
        Err(unknown) => *unknown,
    }
}

/// Handles `POST /administration/entities/{id}/ftp-users`: creates a user, and shows the password.
pub(super) async fn create_user(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let name = match fields.get("name").trim() {
        "" => None,
        name => match parse_user_name(name) {
            Ok(name) => Some(name),
            Err(_) => return show(&office, &entity, Some((&fields, office.texts.get("ftp.wrong_name")))).await,
        },
    };
    let (owner, requires_resumption) = (entity.id.clone(), fields.get("without-resumption").is_empty());
    let (seen, message) = (fields.get("seen").to_owned(), office.texts.get("ftp.newer"));
    let create = move |administration: &Administration| {
        // A form that is sent twice creates one user, whose password is shown once.
        if administration.load_ftp_users(Some(&owner))?.len().to_string() != seen {
            return Err(ActError::refuse("name", message));
        }
        administration.create_ftp_user(&owner, name, requires_resumption)
    };
    match office.administer(Permission::ManageTokens, Reach::Entity(entity.id.clone()), create).await {
        Ok(created) => show_created(&office, &entity, &created),
        Err(error) => {
            office.show_refusal(&error, async |message| show(&office, &entity, Some((&fields, message))).await).await
        }
    }
}

/// Handles `POST /administration/entities/{id}/ftp-users/{name}/revoke`.
pub(super) async fn revoke_user(office: Office, Path((id, name)): Path<(String, String)>, _: Fields) -> Response {
    let entity = match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let owner = entity.id.clone();
    let revoke = move |administration: &Administration| revoke_own_user(administration, &owner, &name);
    match office.administer(Permission::ManageTokens, Reach::Entity(entity.id.clone()), revoke).await {
        Ok(()) => office.lead_to(&format!("/administration/entities/{}/ftp-users", entity.id), "ftp_revoked"),
        Err(error) => office.show_refusal(&error, async |_| office.show_unknown()).await,
    }
}

/// Revokes a user of an entity. That of another entity is as unknown as one that does not exist. A form that is sent
/// twice finds its user revoked, which is the state that it asks for.
fn revoke_own_user(administration: &Administration, owner: &EntityId, name: &str) -> Result<(), ActError> {
    let users = administration.load_ftp_users(Some(owner))?;
    match users.iter().find(|user| user.user == name) {
        None => Err(ActError::refuse("name", "the entity has no such user")),
        Some(user) if user.revoked.is_some() => Ok(()),
        Some(_) => administration.revoke_ftp_user(name),
    }
}

/// Shows a new user with the password, which is known only now.
pub(crate) fn show_created(office: &Office, entity: &Entity, created: &CreatedFtpUser) -> Response {
    let texts = office.texts;
    let title = texts.get("ftp.created_title");
    let page = format!("{BASE}/administration/entities/{}/ftp-users", entity.id);
    let main = html! {
        div.title {
            p.crumb { a href=(page) { (texts.get("ftp.title")) } }
            h1 { (title) }
        }
        (notice(Tone::Warn, &html! { (texts.get("ftp.created_text")) }))
        section.card aria-label=(title) { div.body {
            (facts(&[
                (texts.get("ftp.name"), Some(copyable(texts, &created.user))),
                (texts.get("ftp.password"), Some(html! { span id="password" { (copyable(texts, &created.password)) } })),
            ]))
            div.acts { a.button.primary href=(page) { (texts.get("ftp.go_on")) } }
        } }
    };
    office.show_page(Section::Administration, title, main)
}

/// Shows the page. `fault` is a refused form, with the reason.
async fn show(office: &Office, entity: &Arc<Entity>, fault: Option<Fault<'_>>) -> Response {
    let texts = office.texts;
    let owner = entity.id.clone();
    let load = move |administration: &Administration| administration.load_ftp_users(Some(&owner));
    let users = match office.examine(Permission::ManageTokens, Reach::Entity(entity.id.clone()), load).await {
        Ok(users) => users,
        Err(error) => return office.show_refusal(&error, async |_| office.show_unknown()).await,
    };
    let title = texts.get("ftp.title");
    let zone = find_zone("", std::slice::from_ref(entity));
    let main = html! {
        (entity_title(texts, entity, title))
        div.stack {
            div.card {
                header { h2 { (texts.get("ftp.users")) } }
                @if users.is_empty() {
                    (empty(texts.get("ftp.none"), texts.get("ftp.none_advice")))
                } @else {
                    (user_table(texts, &zone, entity, &users))
                }
                @if users.len() > MAX_USERS { div.pages { span { (texts.get("ftp.cut")) } } }
            }
            @if has_files(entity.level) {
                section.card.narrow aria-labelledby="new-user" {
                    header { h2 id="new-user" { (texts.get("ftp.new")) } }
                    (creation_form(texts, entity, users.len(), fault))
                }
            } @else {
                (notice(Tone::Calm, &html! { (texts.get("ftp.no_files")) }))
            }
        }
    };
    match fault {
        Some((_, message)) => office.show_fault(Section::Administration, title, message, &main),
        None => office.show_page(Section::Administration, title, main),
    }
}

fn user_table(texts: &Texts, zone: &TimeZone, entity: &Entity, users: &[FtpUserInfo]) -> Markup {
    let time = |moment: Timestamp| time(texts, zone, moment);
    let row = |user: &FtpUserInfo| {
        vec![
            html! { code { (user.user) } },
            time(user.created),
            html! { (texts.get(if user.session_reuse { "ftp.required" } else { "ftp.not_required" })) },
            match user.revoked {
                None => badge(Tone::Good, texts.get("ftp.valid")),
                Some(revoked) => html! { (badge(Tone::Calm, texts.get("ftp.revoked"))) " " (time(revoked)) },
            },
            html! { @if user.revoked.is_none() { (revocation(texts, entity, user)) } },
        ]
    };
    // Valid users first, so that those who were revoked long ago never push one off the page.
    let (valid, revoked): (Vec<_>, Vec<_>) = users.iter().partition(|user| user.revoked.is_none());
    let column = |key: &'static str| Column::new(texts.get(key));
    Table {
        caption: texts.get("ftp.users"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            column("ftp.name"),
            column("ftp.created").from(Shown::Medium),
            column("ftp.resumption").from(Shown::Wide),
            column("ftp.state"),
            column("ftp.act"),
        ],
        rows: valid.into_iter().chain(revoked).take(MAX_USERS).map(row).collect(),
    }
    .render()
}

/// Renders the revocation of a user, with a question before it.
fn revocation(texts: &Texts, entity: &Entity, user: &FtpUserInfo) -> Markup {
    let title = texts.fill("ftp.revoke_question", &[("name", &user.user)]);
    let name = format!("revoke-{}", user.user);
    let content = html! { p.soft { (texts.get("ftp.revoke_text")) } };
    let dialog = Dialog { name: &name, title: &title, content, close: texts.get("ftp.keep") };
    let act = html! {
        form action={ (BASE) "/administration/entities/" (entity.id) "/ftp-users/" (user.user) "/revoke" } method="post" {
            button.danger type="submit" { (texts.get("ftp.revoke")) }
        }
    };
    html! { (dialog.opener("quiet", texts.get("ftp.revoke"))) (dialog.render(&act)) }
}

fn creation_form(texts: &Texts, entity: &Entity, seen: usize, fault: Option<Fault<'_>>) -> Markup {
    let name = Field {
        name: "name",
        label: texts.get("ftp.name"),
        value: fault.map_or("", |(sent, _)| sent.get("name")),
        hint: Some(texts.get("ftp.name_hint")),
        error: fault.map(|(_, message)| message),
        max_length: Some(32),
        ..Field::default()
    };
    let is_without = fault.is_some_and(|(sent, _)| !sent.get("without-resumption").is_empty());
    html! {
        form action={ (BASE) "/administration/entities/" (entity.id) "/ftp-users" } method="post" {
            input type="hidden" name="seen" value=(seen);
            (name.input("text"))
            label.choice {
                input type="checkbox" name="without-resumption" value="1" checked[is_without];
                (texts.get("ftp.without_resumption"))
            }
            p.soft.small { (texts.get("ftp.resumption_text")) }
            button.primary type="submit" { (texts.get("ftp.create")) }
        }
    }
}
