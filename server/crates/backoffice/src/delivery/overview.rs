//! The webhooks of a user's entities, the servers to which files are pushed, and the callbacks that failed.

use std::sync::Arc;

use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_store::delivery::webhook::Webhook;

use super::{callbacks, pushes};
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;

/// Largest number of webhooks on the page.
const MAX_WEBHOOKS: usize = 200;
/// Largest number of servers on the page.
const MAX_PUSHES: usize = 100;
/// Largest number of failed callbacks on the page.
const MAX_FAILED: u32 = 100;

/// Handles `GET /deliveries`.
pub(super) async fn show_overview(office: Office) -> Response {
    show(&office, None).await
}

/// Shows the page. `fault` is the reason why an act was refused.
pub(super) async fn show(office: &Office, fault: Option<&str>) -> Response {
    let texts = office.texts;
    let entities = office.entities_with(Permission::ViewDeliveries);
    let ids = collect_ids(&entities);
    let loaded = office
        .read(move |app, _| {
            let store = &app.gateway.store;
            let pushes = store.load_push_targets(&ids, MAX_PUSHES)?;
            Ok((store.load_webhooks(&ids, MAX_WEBHOOKS)?, pushes, store.load_failed_callbacks(&ids, MAX_FAILED)?))
        })
        .await;
    let (webhooks, pushes, failed) = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => return office.show_failure(&failure),
    };
    let title = texts.get("deliveries.title");
    let may_create = !office.entities_with(Permission::ChangeDeliveries).is_empty();
    let is_cut = webhooks.len() == MAX_WEBHOOKS
        || pushes.len() == MAX_PUSHES
        || failed.len() == usize::try_from(MAX_FAILED).unwrap_or(usize::MAX);
    let main = html! {
        div.title {
            h1 { (title) }
            @if may_create {
                div.actions {
                    a.button href={ (BASE) "/approvals" } { (texts.get("approvals.title")) }
                    a.button.primary href={ (BASE) "/deliveries/new" } { (texts.get("webhook.new")) }
                }
            }
        }
        @if is_cut { (notice(Tone::Warn, &html! { (texts.get("deliveries.cut")) })) }
        div.card {
            header { h2 { (texts.get("webhook.list")) } }
            @if webhooks.is_empty() {
                (empty(texts.get("webhook.none"), texts.get("webhook.none_advice")))
            } @else {
                (webhook_table(texts, &entities, &webhooks))
            }
        }
        (pushes::render_list(texts, &entities, &pushes, may_create))
        (callbacks::render(office, &entities, &failed))
    };
    match fault {
        Some(fault) => office.show_fault(Section::Deliveries, title, fault, &main),
        None => office.show_page(Section::Deliveries, title, main),
    }
}

fn webhook_table(texts: &Texts, entities: &[Arc<Entity>], webhooks: &[Webhook]) -> Markup {
    let row = |webhook: &Webhook| {
        let owner = entities.iter().find(|entity| entity.id == webhook.entity);
        vec![
            html! { a href={ (BASE) "/deliveries/" (webhook.id) } { span.cut { (webhook.url) } } },
            state_badge(texts, webhook),
            html! { (webhook.types.replace(',', ", ")) },
            html! { @if let Some(owner) = owner { (owner.name) } },
        ]
    };
    Table {
        caption: texts.get("webhook.list"),
        hides_caption: true,
        is_linked: true,
        columns: vec![
            Column::new(texts.get("webhook.url")),
            Column::new(texts.get("webhook.state")),
            Column::new(texts.get("webhook.types")).from(Shown::Medium),
            Column::new(texts.get("webhook.entity")).from(Shown::Medium),
        ],
        rows: webhooks.iter().map(row).collect(),
    }
    .render()
}

/// Renders the state of a webhook.
pub(super) fn state_badge(texts: &Texts, webhook: &Webhook) -> Markup {
    match (webhook.active, webhook.next_secret.is_some()) {
        (true, false) => badge(Tone::Good, texts.get("webhook.active")),
        (true, true) => badge(Tone::Warn, texts.get("webhook.rotating")),
        (false, _) => badge(Tone::Calm, texts.get("webhook.inactive")),
    }
}
