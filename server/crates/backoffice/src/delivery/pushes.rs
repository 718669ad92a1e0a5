//! Servers of merchants to which reconciliation files are pushed: the list with its failures, and the page of one with
//! the deliveries of its files.

mod server_form;

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_store::delivery::file_delivery::DeliveryStatus;
use tillgate_store::delivery::file_push::PushTargetInfo;

pub(crate) use self::server_form::read_credentials;
pub(super) use self::server_form::{set_server, show_form};
use super::time;
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::dialog::Dialog;
use crate::components::facts::facts;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;

/// Number of deliveries on the page of a server.
const MAX_DELIVERIES: u32 = 62;

/// A server with the latest deliveries of its files.
struct PushPage {
    entity: Arc<Entity>,
    target: PushTargetInfo,
    deliveries: Vec<DeliveryStatus>,
}

/// Handles `GET /deliveries/pushes/{id}`.
pub(super) async fn show_server(office: Office, Path(id): Path<String>) -> Response {
    match PushPage::load(&office, Permission::ViewDeliveries, &id).await {
        Ok(page) => page.show(&office, None),
        Err(refused) => *refused,
    }
}

/// Handles `POST /deliveries/pushes/{id}/retry`: sends the file of a day again, or all that were not sent.
pub(super) async fn retry(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let page = match PushPage::load(&office, Permission::ChangeDeliveries, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let day = match fields.get("day") {
        "" => None,
        text => match text.parse::<Date>() {
            Ok(day) => Some(day),
            Err(_) => return page.show(&office, Some(office.texts.get("push.no_day"))),
        },
    };
    let entity = page.entity.id.clone();
    let retry = move |administration: &Administration| administration.retry_pushes(&entity, day);
    let retried = page.administer(&office, retry).await.map(drop);
    page.lead_back(&office, retried, "push_retried").await
}

/// Handles `POST /deliveries/pushes/{id}/remove`.
pub(super) async fn remove(office: Office, Path(id): Path<String>, _: Fields) -> Response {
    let page = match PushPage::load(&office, Permission::ChangeDeliveries, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let entity = page.entity.id.clone();
    match page.administer(&office, move |administration| administration.remove_push_target(&entity)).await {
        Ok(()) => office.lead_to("/deliveries", "push_removed"),
        Err(error) => page.lead_back(&office, Err(error), "").await,
    }
}

impl PushPage {
    /// Loads the server of an entity on which the user has a permission.
    ///
    /// # Errors
    /// The page for a server that does not exist, which is also that for a server of another tenant.
    async fn load(office: &Office, permission: Permission, id: &str) -> Result<Self, Box<Response>> {
        let entity = office.find_entity(permission, id)?;
        let owner = entity.id.clone();
        let loaded = office.read(move |app, _| {
            let store = &app.gateway.store;
            let target = store.load_push_targets(std::slice::from_ref(&owner), 1)?.pop();
            Ok(target.map(|target| {
                Ok::<_, tillgate_gateway::Failure>((target, store.load_push_deliveries(&owner, MAX_DELIVERIES)?))
            }))
        });
        let loaded = loaded.await.and_then(Option::transpose);
        let found = loaded.map_err(|failure| Box::new(office.show_failure(&failure)))?;
        let (target, deliveries) = found.ok_or_else(|| Box::new(office.show_unknown()))?;
        Ok(Self { entity, target, deliveries })
    }

    async fn administer<T: Send + 'static>(
        &self,
        office: &Office,
        act: impl FnOnce(&Administration) -> Result<T, ActError> + Send + 'static,
    ) -> Result<T, ActError> {
        office.administer(Permission::ChangeDeliveries, Reach::Entity(self.entity.id.clone()), act).await
    }

    async fn lead_back(&self, office: &Office, outcome: Result<(), ActError>, done: &str) -> Response {
        match outcome {
            Ok(()) => office.lead_to(&format!("/deliveries/pushes/{}", self.entity.id), done),
            Err(error) => office.show_refusal(&error, async |message| self.show(office, Some(message))).await,
        }
    }

    /// Shows the page. `fault` is the reason why an act was refused.
    fn show(&self, office: &Office, fault: Option<&str>) -> Response {
        let (texts, target) = (office.texts, &self.target);
        let zone = find_zone("", std::slice::from_ref(&self.entity));
        let may_change = office.allows_on(Permission::ChangeDeliveries, &self.entity.id);
        let title = texts.get("push.title");
        let main = html! {
            div.title {
                p.crumb { a href={ (BASE) "/deliveries" } { (texts.get("deliveries.title")) } }
                h1.wrap { (target.url) }
                (state_badge(texts, target))
            }
            section.card aria-labelledby="server" {
                header { h2 id="server" { (title) } }
                div.body.stack {
                    (facts(&[
                        (texts.get("push.entity"), Some(html! { (self.entity.name) })),
                        (texts.get("push.host_key"), target.host_key.as_ref().map(|key| html! { code.wrap { (key) } })),
                        (texts.get("push.changed"), Some(time(texts, &zone, target.changed))),
                        (texts.get("push.waiting"), Some(html! { (texts.number(target.waiting)) })),
                        (texts.get("push.failed_files"), Some(html! { (texts.number(target.failed)) })),
                    ]))
                    @if may_change { div.acts { (self.render_acts(texts)) } }
                }
            }
            div.card {
                header { h2 { (texts.get("push.log")) } }
                @if self.deliveries.is_empty() {
                    (empty(texts.get("push.log_none"), texts.get("push.log_none_advice")))
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

    fn render_acts(&self, texts: &Texts) -> Markup {
        let address = format!("{BASE}/deliveries/pushes/{}", self.entity.id);
        let content = html! { p.soft { (texts.get("push.remove_text")) } };
        let title = texts.get("push.remove_question");
        let dialog = Dialog { name: "remove", title, content, close: texts.get("push.keep") };
        let removal = html! {
            form action={ (address) "/remove" } method="post" {
                button.danger type="submit" { (texts.get("push.remove")) }
            }
        };
        html! {
            @if self.target.waiting > 0 || self.target.failed > 0 {
                form action={ (address) "/retry" } method="post" {
                    button.primary type="submit" { (texts.get("push.retry_all")) }
                }
            }
            a.button href={ (BASE) "/deliveries/pushes/new?entity=" (self.entity.id) } { (texts.get("push.change")) }
            (dialog.opener("quiet", texts.get("push.remove")))
            (dialog.render(&removal))
        }
    }

    fn render_log(&self, texts: &Texts, zone: &TimeZone, may_change: bool) -> Markup {
        let address = format!("{BASE}/deliveries/pushes/{}/retry", self.entity.id);
        let moment = |moment| html! { @if let Some(moment) = moment { (time(texts, zone, moment)) } @else { "–" } };
        let row = |delivery: &DeliveryStatus| {
            vec![
                html! { (delivery.day.strftime(texts.get("format.date")).to_string()) },
                html! {
                    (delivery_badge(texts, delivery.state))
                    @if let Some(fault) = &delivery.fault { " " span.soft.small.wrap { (fault) } }
                },
                html! { (texts.number(u64::from(delivery.failures))) },
                moment(delivery.tried),
                moment(delivery.next),
                html! {
                    @if may_change {
                        form action=(address) method="post" {
                            input type="hidden" name="day" value=(delivery.day);
                            button type="submit" { (texts.get("push.retry")) }
                        }
                    }
                },
            ]
        };
        let column = |key: &'static str| Column::new(texts.get(key));
        Table {
            caption: texts.get("push.log"),
            hides_caption: true,
            is_linked: false,
            columns: vec![
                column("push.day"),
                column("push.state"),
                Column::number(texts.get("push.failures")).from(Shown::Wide),
                column("push.tried").from(Shown::Medium),
                column("push.next").from(Shown::Wide),
                column("push.act"),
            ],
            rows: self.deliveries.iter().map(row).collect(),
        }
        .render()
    }
}

/// Renders the state of the delivery of a file.
fn delivery_badge(texts: &Texts, state: &str) -> Markup {
    let tone = match state {
        "sent" => Tone::Good,
        "waiting" => Tone::Warn,
        _ => Tone::Bad,
    };
    badge(tone, texts.get(&format!("push.{state}")))
}

/// Renders the state of a server.
fn state_badge(texts: &Texts, target: &PushTargetInfo) -> Markup {
    if target.failed > 0 {
        return badge(Tone::Bad, &texts.fill("push.count_failed", &[("number", &texts.number(target.failed))]));
    }
    if target.waiting > 0 {
        return badge(Tone::Warn, &texts.fill("push.count_waiting", &[("number", &texts.number(target.waiting))]));
    }
    badge(Tone::Good, texts.get("push.all_sent"))
}

/// Renders the servers of a user's entities, for the page of all deliveries.
pub(super) fn render_list(
    texts: &Texts,
    entities: &[Arc<Entity>],
    targets: &[PushTargetInfo],
    may_add: bool,
) -> Markup {
    let row = |target: &PushTargetInfo| {
        let owner = entities.iter().find(|entity| entity.id == target.entity_id);
        vec![
            html! { a href={ (BASE) "/deliveries/pushes/" (target.entity_id) } { span.cut { (target.url) } } },
            state_badge(texts, target),
            html! { @if let Some(owner) = owner { (owner.name) } },
        ]
    };
    let column = |key: &'static str| Column::new(texts.get(key));
    let table = Table {
        caption: texts.get("push.list"),
        hides_caption: true,
        is_linked: true,
        columns: vec![column("push.url"), column("push.state"), column("push.entity").from(Shown::Medium)],
        rows: targets.iter().map(row).collect(),
    };
    html! {
        div.card {
            header {
                h2 { (texts.get("push.list")) }
                @if may_add { a.button href={ (BASE) "/deliveries/pushes/new" } { (texts.get("push.new")) } }
            }
            @if targets.is_empty() {
                (empty(texts.get("push.none"), texts.get("push.none_advice")))
            } @else {
                (table.render())
            }
        }
    }
}
