//! The page of a webhook: its facts, and the attempts to deliver its messages.

use axum::extract::Path;
use axum::response::Response;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_store::delivery::webhook::{DeliveryLogEntry, Webhook};

use super::overview::state_badge;
use super::{outcome, time};
use crate::BASE;
use crate::components::copy::copyable;
use crate::components::dialog::Dialog;
use crate::components::facts::facts;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of attempts on the page.
const MAX_LINES: u32 = 50;

/// A webhook with the attempts to deliver its messages.
pub(super) struct WebhookPage {
    pub(super) webhook: Webhook,
    log: Vec<DeliveryLogEntry>,
}

/// Handles `GET /deliveries/{id}`.
pub(super) async fn show_webhook(office: Office, Path(id): Path<String>) -> Response {
    match WebhookPage::load(&office, Permission::ViewDeliveries, &id).await {
        Ok(page) => page.show(&office, None),
        Err(refused) => *refused,
    }
}

impl WebhookPage {
    /// Loads a webhook on whose entity the user has a permission.
    ///
    /// # Errors
    /// The page for a webhook that does not exist, which is also that for a webhook of another tenant.
    pub(super) async fn load(office: &Office, permission: Permission, id: &str) -> Result<Self, Box<Response>> {
        let (ids, id) = (collect_ids(&office.entities_with(permission)), id.to_owned());
        let found = office.read(move |app, _| Ok(app.gateway.store.load_webhook_with_log(&id, MAX_LINES)?)).await;
        let found = found.map_err(|failure| Box::new(office.show_failure(&failure)))?;
        let found = found.filter(|(webhook, _)| ids.contains(&webhook.entity));
        found.map(|(webhook, log)| Self { webhook, log }).ok_or_else(|| Box::new(office.show_unknown()))
    }

    /// Shows the page. `fault` is the reason why an act was refused.
    pub(super) fn show(&self, office: &Office, fault: Option<&str>) -> Response {
        let (texts, webhook) = (office.texts, &self.webhook);
        let owner = office.app().gateway.directory.find_entity(&webhook.entity);
        let zone = find_zone("", owner.as_slice());
        let may_change = office.allows_on(Permission::ChangeDeliveries, &webhook.entity);
        let title = texts.get("webhook.title");
        let main = html! {
            div.title {
                p.crumb { a href={ (BASE) "/deliveries" } { (texts.get("deliveries.title")) } }
                h1.wrap { (webhook.url) }
                (state_badge(texts, webhook))
            }
            section.card aria-labelledby="webhook" {
                header { h2 id="webhook" { (title) } }
                div.body.stack {
                    (facts(&[
                        (texts.get("webhook.id"), Some(copyable(texts, webhook.id.as_str()))),
                        (texts.get("webhook.entity"), owner.as_ref().map(|owner| html! { (owner.name) })),
                        (texts.get("webhook.types"), Some(html! { (webhook.types.replace(',', ", ")) })),
                        (texts.get("webhook.customer"), Some(html! { (texts.get(customer_key(webhook))) })),
                        (texts.get("webhook.form"), Some(html! { (texts.get(form_key(webhook))) })),
                        (texts.get("webhook.created"), Some(time(texts, &zone, webhook.created))),
                    ]))
                    @if may_change { div.acts { (render_acts(texts, webhook)) } }
                }
            }
            div.card {
                header { h2 { (texts.get("webhook.log")) } }
                @if self.log.is_empty() {
                    (empty(texts.get("webhook.log_none"), texts.get("webhook.log_none_advice")))
                } @else {
                    (self.render_log(texts, &zone, may_change))
                }
            }
        };
        match fault {
            Some(fault) => office.show_fault(Section::Deliveries, title, fault, &main),
            None => office.show_page(Section::Deliveries, title, main),
        }
    }

    fn render_log(&self, texts: &Texts, zone: &TimeZone, may_change: bool) -> Markup {
        let row = |(index, line): (usize, &DeliveryLogEntry)| {
            // A message with several attempts has its button once, beside the latest.
            let is_first = index == 0 || self.log[index - 1].message_id != line.message_id;
            let is_good = line.status.is_some_and(|status| (200..300).contains(&status));
            vec![
                html! { (line.what) },
                html! { @if let Some(at) = line.at { (time(texts, zone, at)) } @else { "–" } },
                outcome(texts, line.status, line.fault.as_deref(), is_good),
                html! { @if let Some(milliseconds) = line.milliseconds { (milliseconds) " ms" } },
                html! { @if let Some(next) = line.next { (time(texts, zone, next)) } @else { "–" } },
                html! { @if is_first && may_change { (render_replay(texts, &self.webhook, &line.message_id)) } },
            ]
        };
        let column = |key: &'static str| Column::new(texts.get(key));
        Table {
            caption: texts.get("webhook.log"),
            hides_caption: true,
            is_linked: false,
            columns: vec![
                column("webhook.event"),
                column("webhook.attempt"),
                column("webhook.answer"),
                Column::number(texts.get("webhook.duration")).from(Shown::Wide),
                column("webhook.next").from(Shown::Wide),
                column("webhook.act").from(Shown::Medium),
            ],
            rows: self.log.iter().enumerate().map(row).collect(),
        }
        .render()
    }
}

fn customer_key(webhook: &Webhook) -> &'static str {
    if webhook.without_customer { "webhook.without_customer" } else { "webhook.with_customer" }
}

fn form_key(webhook: &Webhook) -> &'static str {
    if webhook.wrapped { "webhook.wrapped" } else { "webhook.plain" }
}

fn render_replay(texts: &Texts, webhook: &Webhook, message: &str) -> Markup {
    html! {
        form action={ (BASE) "/deliveries/" (webhook.id) "/messages/" (message) "/replay" } method="post" {
            button type="submit" { (texts.get("webhook.replay")) }
        }
    }
}

/// Renders the test, the rotation of the secret, and the deletion.
fn render_acts(texts: &Texts, webhook: &Webhook) -> Markup {
    let address = format!("{BASE}/deliveries/{}", webhook.id);
    let content = html! { p.soft { (texts.get("webhook.delete_text")) } };
    let title = texts.get("webhook.delete_question");
    let dialog = Dialog { name: "delete", title, content, close: texts.get("webhook.keep") };
    let deletion = html! {
        form action={ (address) "/delete" } method="post" {
            button.danger type="submit" { (texts.get("webhook.delete")) }
        }
    };
    let rotation = |act: &str, text: &str| {
        html! {
            form action={ (address) "/rotation" } method="post" {
                button type="submit" name="act" value=(act) { (text) }
            }
        }
    };
    html! {
        form action={ (address) "/test" } method="post" {
            button.primary type="submit" { (texts.get("webhook.test")) }
        }
        @if webhook.next_secret.is_some() {
            (rotation("finish", texts.get("webhook.finish")))
            (rotation("cancel", texts.get("webhook.cancel")))
        } @else {
            (rotation("begin", texts.get("webhook.rotate")))
        }
        (dialog.opener("quiet", texts.get("webhook.delete")))
        (dialog.render(&deletion))
    }
}
