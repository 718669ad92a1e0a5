//! Account data of an entity: its ids, the entities above and below it, its channels, and its access tokens.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::access::entity::EntityOverview;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::settlement::reconciliation::has_files;
use tillgate_store::access::token::TokenInfo;

use super::clock::may_move_clock;
use super::entity_tree::{level_text, mode_badge};
use super::tokens::{creation_form, token_table};
use crate::BASE;
use crate::access::Fields;
use crate::components::copy::copyable;
use crate::components::facts::facts;
use crate::components::table::{Column, Shown, Table};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;

/// An entity with its relatives and its tokens.
struct AccountData {
    overview: EntityOverview,
    tokens: Vec<TokenInfo>,
}

/// Handles `GET /administration/entities/{id}`.
pub(super) async fn show_account_data(office: Office, Path(id): Path<String>) -> Response {
    match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => show_entity(&office, &entity, None).await,
        Err(unknown) => *unknown,
    }
}

/// Shows the page of an entity. `fault` is a refused form of a new token, with the reason.
pub(super) async fn show_entity(office: &Office, entity: &Arc<Entity>, fault: Option<(&Fields, &str)>) -> Response {
    let texts = office.texts;
    let account = match load_account(office, entity).await {
        Ok(account) => account,
        Err(error) => return office.show_refusal(&error, async |_| office.show_unknown()).await,
    };
    let zone = find_zone("", std::slice::from_ref(entity));
    let none = Fields::default();
    let sent = fault.map_or(&none, |(sent, _)| sent);
    let main = html! {
        div.title {
            p.crumb {
                a href={ (BASE) "/administration" } { (texts.get("administration.title")) } " › "
                (texts.get("administration.crumb"))
            }
            h1 { (entity.name) }
            (mode_badge(texts, entity))
            (render_links(office, entity))
        }
        div.stack {
            (render_facts(office, &account.overview))
            (render_channels(texts, &account.overview))
            (render_tokens(texts, &zone, &account, sent))
        }
    };
    match fault {
        Some((_, message)) => office.show_fault(Section::Administration, &entity.name, message, &main),
        None => office.show_page(Section::Administration, &entity.name, main),
    }
}

/// Renders the head of a page below the account data of an entity.
pub(super) fn entity_title(texts: &Texts, entity: &Entity, title: &str) -> Markup {
    html! {
        div.title {
            p.crumb {
                a href={ (BASE) "/administration" } { (texts.get("administration.title")) } " › "
                (entity_link(entity))
            }
            h1 { (title) }
            (mode_badge(texts, entity))
        }
    }
}

/// Renders the links to the other pages about an entity that the user may open.
fn render_links(office: &Office, entity: &Entity) -> Markup {
    html! {
        div.actions {
            @if has_files(entity.level) {
                a.button href={ (BASE) "/administration/entities/" (entity.id) "/ftp-users" } { (office.texts.get("ftp.title")) }
            }
            @if entity.level.allows_payments() {
                a.button href={ (BASE) "/administration/entities/" (entity.id) "/wallet-keys" } { (office.texts.get("wallet.title")) }
            }
            a.button href={ (BASE) "/approvals" } { (office.texts.get("approvals.title")) }
            @if office.allows_on(Permission::ManageEntities, &entity.id) {
                a.button href={ (BASE) "/administration/entities/" (entity.id) "/settings" } {
                    (office.texts.get("settings.link"))
                }
            }
            @if office.allows_on(Permission::ViewPayments, &entity.id) {
                a.button href={ (BASE) "/administration/entities/" (entity.id) "/look" } { (office.texts.get("look.link")) }
            }
            @if may_move_clock(office, entity) {
                a.button href={ (BASE) "/administration/entities/" (entity.id) "/clock" } {
                    (office.texts.get("clock.title"))
                }
            }
            @if office.allows_on(Permission::ViewAudit, &entity.id) {
                a.button href={ (BASE) "/administration/audit?entity=" (entity.id) } { (office.texts.get("audit.title")) }
            }
        }
    }
}

/// Loads an entity with its relatives and its tokens.
async fn load_account(office: &Office, entity: &Arc<Entity>) -> Result<AccountData, ActError> {
    let (reach, entity) = (Reach::Entity(entity.id.clone()), Arc::clone(entity));
    let load = move |administration: &Administration| {
        let tokens = administration.load_tokens(Some(&entity.id))?;
        let overview = administration.describe_entity(administration.load_entity(&entity.id)?)?;
        Ok(AccountData { overview, tokens })
    };
    office.examine(Permission::ManageTokens, reach, load).await
}

/// Renders the ids, and the entities above on which the user has the permission.
fn render_facts(office: &Office, overview: &EntityOverview) -> Markup {
    let (texts, entity) = (office.texts, &overview.entity);
    let above = overview.above.iter().filter(|above| office.allows_on(Permission::ManageTokens, &above.id));
    let above: Vec<Markup> = above.map(|above| html! { div { (entity_link(above)) } }).collect();
    let zone = overview.effective.time_zone.as_ref();
    html! {
        section.card aria-labelledby="account-data" {
            header { h2 id="account-data" { (texts.get("administration.account_data")) } }
            div.body {
                (facts(&[
                    (texts.get("administration.entity_id"), Some(copyable(texts, entity.id.as_str()))),
                    (texts.get("administration.level"), Some(html! { (level_text(texts, entity.level)) })),
                    (texts.get("administration.above"), (!above.is_empty()).then(|| html! { @for link in &above { (link) } })),
                    (texts.get("administration.time_zone"), zone.map(|zone| html! { (zone) })),
                ]))
            }
        }
    }
}

/// Renders the channels of a merchant, or the entities directly below a PSP or a division.
fn render_channels(texts: &Texts, overview: &EntityOverview) -> Markup {
    let (title, entities) = if overview.channels.is_empty() {
        (texts.get("administration.below"), &overview.below)
    } else {
        (texts.get("administration.channels"), &overview.channels)
    };
    if entities.is_empty() {
        return html! {};
    }
    let row = |entity: &Entity| {
        vec![entity_link(entity), copyable(texts, entity.id.as_str()), html! { (level_text(texts, entity.level)) }]
    };
    let table = Table {
        caption: title,
        hides_caption: true,
        is_linked: true,
        columns: vec![
            Column::new(texts.get("administration.name")),
            Column::new(texts.get("administration.entity_id")),
            Column::new(texts.get("administration.level")).from(Shown::Medium),
        ],
        rows: entities.iter().map(row).collect(),
    };
    html! {
        div.card {
            header { h2 { (title) } }
            (table.render())
        }
    }
}

/// Renders the tokens, and the form of a new one.
fn render_tokens(texts: &Texts, zone: &TimeZone, account: &AccountData, sent: &Fields) -> Markup {
    let entity = &account.overview.entity;
    html! {
        div.card {
            header { h2 { (texts.get("token.title")) } }
            (token_table(texts, zone, entity, &account.tokens))
            (creation_form(texts, entity, sent))
        }
    }
}

/// Renders a link to the page of an entity.
fn entity_link(entity: &Entity) -> Markup {
    html! { a href={ (BASE) "/administration/entities/" (entity.id) } { (entity.name) } }
}
