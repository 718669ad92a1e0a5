//! The form of a new webhook.

use std::sync::Arc;

use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::administration::Administration;
use tillgate_gateway::delivery::webhook::{EventKind, NewWebhook};

use super::webhook_acts::show_secret;
use crate::BASE;
use crate::access::Fields;
use crate::components::field::{Choice, Field};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Largest number of entities in the list of the form. With more of them, their id is typed.
const MAX_ENTITIES: usize = 100;
/// Maximum length of an address, in characters.
const MAX_URL: u16 = 2048;

/// Handles `GET /deliveries/new`.
pub(super) async fn show_form(office: Office) -> Response {
    show(&office, &Fields::default(), None)
}

/// Handles `POST /deliveries/new`: creates a webhook, and shows its secret.
pub(super) async fn create(office: Office, fields: Fields) -> Response {
    let Ok(entity) = office.find_entity(Permission::ChangeDeliveries, fields.get("entity").trim()) else {
        return show(&office, &fields, Some(office.texts.get("webhook.no_entity")));
    };
    let allows = |kind: &EventKind| office.allows_on(kind.needed_permission(), &entity.id);
    let new = NewWebhook {
        entity: entity.id.clone(),
        url: fields.get("url").trim().to_owned(),
        kinds: EventKind::ALL.into_iter().filter(|kind| is_chosen(&fields, *kind)).collect(),
        without_customer: !fields.get("without-customer").is_empty(),
        wrapped: !fields.get("wrapped").is_empty(),
    };
    if let Some(kind) = new.kinds.iter().find(|kind| !allows(kind)) {
        let fault = office.texts.fill("webhook.type_not_allowed", &[("type", kind.as_str())]);
        return show(&office, &fields, Some(&fault));
    }
    if new.kinds.is_empty() {
        return show(&office, &fields, Some(office.texts.get("webhook.no_types")));
    }
    let ports = office.app().outgoing.ports().clone();
    let create = move |administration: &Administration| administration.create_webhook(new, &ports);
    match office.administer(Permission::ChangeDeliveries, Reach::Entity(entity.id.clone()), create).await {
        Ok((webhook, secret)) => show_secret(&office, webhook.id.as_str(), &secret, false),
        Err(error) => office.show_refusal(&error, async |message| show(&office, &fields, Some(message))).await,
    }
}

fn is_chosen(fields: &Fields, kind: EventKind) -> bool {
    !fields.get(&kind_field(kind)).is_empty()
}

/// Returns the name of the field of a kind of events.
fn kind_field(kind: EventKind) -> String {
    format!("type-{}", kind.as_str())
}

/// Shows the form with what was sent.
fn show(office: &Office, sent: &Fields, fault: Option<&str>) -> Response {
    let texts = office.texts;
    let title = texts.get("webhook.new");
    let entities = office.entities_with(Permission::ChangeDeliveries);
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/deliveries" } { (texts.get("deliveries.title")) } }
            h1 { (title) }
            p { (texts.get("webhook.new_text")) }
        }
        section.card.narrow aria-label=(title) { (render_form(texts, &entities, sent)) }
    };
    match fault {
        Some(fault) => office.show_fault(Section::Deliveries, title, fault, &main),
        None => office.show_page(Section::Deliveries, title, main),
    }
}

fn render_form(texts: &Texts, entities: &[Arc<Entity>], sent: &Fields) -> Markup {
    let is_new = sent.get("url").is_empty();
    let url = Field {
        name: "url",
        label: texts.get("webhook.url"),
        value: sent.get("url"),
        hint: Some(texts.get("webhook.url_hint")),
        max_length: Some(MAX_URL),
        is_required: true,
        ..Field::default()
    };
    let is_usual = |kind: EventKind| is_new && matches!(kind, EventKind::Payment | EventKind::Registration);
    let choice = |name: &str, text: &str, is_checked: bool| {
        html! { label.choice { input type="checkbox" name=(name) value="1" checked[is_checked]; (text) } }
    };
    html! {
        form action={ (BASE) "/deliveries/new" } method="post" {
            (entity_field(texts, entities, sent))
            (url.input("url"))
            fieldset {
                legend { (texts.get("webhook.types")) }
                @for kind in EventKind::ALL {
                    @let name = kind_field(kind);
                    (choice(&name, kind.as_str(), is_usual(kind) || !sent.get(&name).is_empty()))
                }
            }
            fieldset {
                legend { (texts.get("webhook.content")) }
                (choice("without-customer", texts.get("webhook.without_customer"), !sent.get("without-customer").is_empty()))
                (choice("wrapped", texts.get("webhook.wrapped"), !sent.get("wrapped").is_empty()))
            }
            button.primary type="submit" { (texts.get("webhook.create")) }
        }
    }
}

/// Renders the choice of the entity.
fn entity_field(texts: &Texts, entities: &[Arc<Entity>], sent: &Fields) -> Markup {
    let field = Field {
        name: "entity",
        label: texts.get("webhook.entity"),
        value: sent.get("entity"),
        hint: Some(texts.get("webhook.entity_hint")),
        max_length: Some(32),
        is_required: true,
        ..Field::default()
    };
    if entities.len() > MAX_ENTITIES {
        return field.input("text");
    }
    let options: Vec<Choice<'_>> = entities.iter().map(|entity| (entity.id.as_str(), &*entity.name)).collect();
    field.select(&options)
}
