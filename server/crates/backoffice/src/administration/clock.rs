//! The clock of a sandbox: its time, and the form that moves it forward.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::administration::{ActError, Administration};

use crate::BASE;
use crate::access::Fields;
use crate::components::facts::facts;
use crate::components::field::Field;
use crate::layout::page::Section;
use crate::office::Office;
use crate::payment::filter::find_zone;

/// Handles `GET /administration/entities/{id}/clock`.
pub(super) async fn show_clock(office: Office, Path(id): Path<String>) -> Response {
    match find_sandbox(&office, &id) {
        Ok(entity) => office.show_page(Section::Administration, title(&office), render(&office, &entity, "")),
        Err(unknown) => *unknown,
    }
}

/// Handles `POST /administration/entities/{id}/clock`.
pub(super) async fn advance_clock(office: Office, Path(id): Path<String>, sent: Fields) -> Response {
    let entity = match find_sandbox(&office, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let (by, seen, owner) = (sent.get("by").to_owned(), sent.get("ahead").to_owned(), entity.id.clone());
    let message = office.texts.get("clock.moved_meanwhile");
    let act = move |administration: &Administration| {
        // A form that is sent twice moves the clock once.
        if administration.load_entity(&owner)?.ahead.as_secs().to_string() != seen {
            return Err(ActError::refuse("ahead", message));
        }
        administration.advance_clock(&owner, &by, true)
    };
    match office.administer(Permission::ManageEntities, Reach::Entity(entity.clock_owner().clone()), act).await {
        Ok(_) => {
            // The next page shows the new time. If it cannot be read now, it follows within a second.
            if let Err(error) = office.app().gateway.store.fill_directory().await {
                tracing::warn!(%error, "reading the entities again after a move of a clock failed");
            }
            office.lead_to(&format!("/administration/entities/{id}/clock"), "clock_moved")
        }
        Err(error) => {
            let main = render(&office, &entity, sent.get("by"));
            let show = async |message: &str| office.show_fault(Section::Administration, title(&office), message, &main);
            office.show_refusal(&error, show).await
        }
    }
}

/// Returns true if the user may move the clock of an entity. A live entity has none. A channel shares that of its
/// merchant, so whoever administers the channel alone would move the time of others.
pub(super) fn may_move_clock(office: &Office, entity: &Entity) -> bool {
    !entity.live && office.allows_on(Permission::ManageEntities, entity.clock_owner())
}

/// Finds a sandbox whose clock the user may move.
fn find_sandbox(office: &Office, id: &str) -> Result<Arc<Entity>, Box<Response>> {
    let entity = office.find_entity(Permission::ManageEntities, id)?;
    if may_move_clock(office, &entity) { Ok(entity) } else { Err(Box::new(office.show_unknown())) }
}

fn title(office: &Office) -> &'static str {
    office.texts.get("clock.title")
}

/// Renders the page. `by` is what was typed.
fn render(office: &Office, entity: &Arc<Entity>, by: &str) -> Markup {
    let texts = office.texts;
    let account = format!("{BASE}/administration/entities/{}", entity.id);
    let zone = find_zone("", std::slice::from_ref(entity));
    let now = office.app().gateway.now_of(entity).to_zoned(zone);
    let ahead =
        if entity.ahead.is_zero() { texts.get("clock.not_ahead").to_owned() } else { format!("{:#}", entity.ahead) };
    let by_field = Field {
        name: "by",
        label: texts.get("clock.by"),
        value: by,
        hint: Some(texts.get("clock.by_hint")),
        max_length: Some(40),
        is_required: true,
        ..Field::default()
    };
    html! {
        div.title {
            p.crumb { a href=(account) { (entity.name) } }
            h1 { (title(office)) }
            p { (texts.get("clock.advice")) }
        }
        section.card {
            div.body.stack {
                (facts(&[
                    (texts.get("clock.time"), Some(html! { (texts.exact_time(&now)) })),
                    (texts.get("clock.ahead"), Some(html! { (ahead) })),
                ]))
                form action={ (account) "/clock" } method="post" {
                    input type="hidden" name="ahead" value=(entity.ahead.as_secs());
                    (by_field.input("text"))
                    div.actions { button.primary type="submit" { (texts.get("clock.advance")) } }
                }
            }
        }
    }
}
