//! Callbacks about reviews that no attempt has delivered: each can be sent again once, or deleted.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::EntityId;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_store::review::failed_callbacks::FailedCallback;

use super::overview::show;
use super::{outcome, time};
use crate::BASE;
use crate::components::dialog::Dialog;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Handles `POST /deliveries/callbacks/{message}/resubmit`.
pub(super) async fn resubmit(office: Office, Path(message): Path<String>) -> Response {
    change(&office, message, "callback_resubmitted", Administration::resubmit_callback).await
}

/// Handles `POST /deliveries/callbacks/{message}/delete`.
pub(super) async fn delete(office: Office, Path(message): Path<String>) -> Response {
    change(&office, message, "callback_deleted", Administration::delete_failed_callback).await
}

/// Changes a failed callback of one of the user's entities. That of another tenant is as unknown as one that does not
/// exist.
async fn change(
    office: &Office,
    message: String,
    done: &str,
    act: impl FnOnce(&Administration, &str, &str) -> Result<(), ActError> + Send + 'static,
) -> Response {
    let owner = match find_owner(office, message.clone()).await {
        Ok(owner) => owner,
        Err(response) => return *response,
    };
    let change = move |administration: &Administration| act(administration, &message, administration.actor());
    match office.administer(Permission::ChangeDeliveries, Reach::Entity(owner), change).await {
        Ok(()) => office.lead_to("/deliveries", done),
        Err(error) => office.show_refusal(&error, async |message| show(office, Some(message)).await).await,
    }
}

/// Finds the entity whose configuration sends a failed callback.
async fn find_owner(office: &Office, message: String) -> Result<EntityId, Box<Response>> {
    let ids = collect_ids(&office.entities_with(Permission::ChangeDeliveries));
    match office.read(move |app, _| Ok(app.gateway.store.find_callback_owner(&message)?)).await {
        Ok(owner) => owner.filter(|owner| ids.contains(owner)).ok_or_else(|| Box::new(office.show_unknown())),
        Err(failure) => Err(Box::new(office.show_failure(&failure))),
    }
}

/// Renders the failed callbacks.
pub(super) fn render(office: &Office, entities: &[Arc<Entity>], failed: &[FailedCallback]) -> Markup {
    let texts = office.texts;
    html! {
        div.card {
            header { h2 { (texts.get("callbacks.title")) } }
            @if failed.is_empty() {
                (empty(texts.get("callbacks.none"), texts.get("callbacks.none_advice")))
            } @else {
                (render_table(office, &find_zone("", entities), failed))
            }
        }
    }
}

fn render_table(office: &Office, zone: &TimeZone, failed: &[FailedCallback]) -> Markup {
    let texts = office.texts;
    let row = |callback: &FailedCallback| {
        let owner = EntityId::parse(&callback.callback_entity_id);
        let may_change = owner.is_some_and(|owner| office.allows_on(Permission::ChangeDeliveries, &owner));
        vec![
            html! { a href={ (BASE) "/payments/" (callback.payment_id) } { (callback.transaction_id) } },
            html! { (callback.decision) },
            time(texts, zone, callback.failed),
            outcome(texts, callback.status, callback.fault.as_deref(), false),
            html! { @if may_change { div.acts { (render_acts(texts, callback)) } } },
        ]
    };
    let column = |key: &'static str| Column::new(texts.get(key));
    Table {
        caption: texts.get("callbacks.title"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            column("callbacks.transaction"),
            column("callbacks.decision").from(Shown::Medium),
            column("callbacks.failed").from(Shown::Medium),
            column("callbacks.answer"),
            column("callbacks.act"),
        ],
        rows: failed.iter().map(row).collect(),
    }
    .render()
}

fn render_acts(texts: &Texts, callback: &FailedCallback) -> Markup {
    let name = format!("delete-{}", callback.message_id);
    let content = html! { p.soft { (texts.get("callbacks.delete_text")) } };
    let title = texts.fill("callbacks.delete_question", &[("transaction", &callback.transaction_id)]);
    let dialog = Dialog { name: &name, title: &title, content, close: texts.get("callbacks.keep") };
    let address = format!("{BASE}/deliveries/callbacks/{}", callback.message_id);
    let act = html! {
        form action={ (address) "/delete" } method="post" {
            button.danger type="submit" { (texts.get("callbacks.delete")) }
        }
    };
    html! {
        @if callback.resubmitted {
            span.soft { (texts.get("callbacks.resubmitted")) }
        } @else {
            form action={ (address) "/resubmit" } method="post" {
                button type="submit" { (texts.get("callbacks.resubmit")) }
            }
        }
        (dialog.opener("quiet", texts.get("callbacks.delete")))
        (dialog.render(&act))
    }
}
