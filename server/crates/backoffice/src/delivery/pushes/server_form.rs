//! The form of a server: its address, and the password or key. They are never shown again.

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::civil::Date;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::delivery::file_push::{NewPushTarget, PushCredentials};
use tillgate_gateway::settlement::reconciliation::has_files;

use crate::BASE;
use crate::access::Fields;
use crate::components::field::{Choice, Field};
use crate::layout::page::Section;
use crate::office::Office;

/// Largest number of entities in the list of the form. With more of them, their id is typed.
const MAX_ENTITIES: usize = 100;
/// Maximum length of an address, in characters.
const MAX_URL: u16 = 1024;

/// A fault of a field: its name and the reason.
type Fault<'a> = (&'a str, &'a str);

/// Values with which the form is shown.
#[derive(Default)]
struct Shown {
    entity: String,
    url: String,
    host_key: String,
    ca: String,
    from: String,
}

/// Handles `GET /deliveries/pushes/new`. With the parameter `entity`, the form has the server of that entity.
pub(in crate::delivery) async fn show_form(office: Office, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let named = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "entity").map(|(_, value)| value);
    let Some(named) = named else { return show(&office, &Shown::default(), None) };
    let entity = match office.find_entity(Permission::ChangeDeliveries, &named) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let id = entity.id.clone();
    let read = office.read(move |app, _| Ok(app.gateway.store.load_push_targets(&[id], 1)?.pop())).await;
    match read {
        Ok(known) => {
            let (url, host_key) =
                known.map(|known| (known.url, known.host_key.unwrap_or_default())).unwrap_or_default();
            show(&office, &Shown { entity: entity.id.to_string(), url, host_key, ..Shown::default() }, None)
        }
        Err(failure) => office.show_failure(&failure),
    }
}

/// Handles `POST /deliveries/pushes/new`: sets the server of an entity, in place of the one before.
pub(in crate::delivery) async fn set_server(office: Office, fields: Fields) -> Response {
    let text = |name: &str| fields.get(name).trim().to_owned();
    let shown = Shown {
        entity: text("entity"),
        url: text("url"),
        host_key: text("host-key"),
        ca: text("ca"),
        from: text("from"),
    };
    let texts = office.texts;
    let Ok(entity) = office.find_entity(Permission::ChangeDeliveries, &shown.entity) else {
        return show(&office, &shown, Some(("entity", texts.get("push.no_entity"))));
    };
    if !office.allows_on(Permission::ViewMoney, &entity.id) {
        return show(&office, &shown, Some(("entity", texts.get("push.no_money"))));
    }
    let (credentials, from) =
        match read_credentials(&office, &fields).and_then(|read| Ok((read, read_day(&office, &shown.from)?))) {
            Ok(read) => read,
            Err((name, message)) => return show(&office, &shown, Some((name, &message))),
        };
    let new = NewPushTarget {
        entity: entity.id.clone(),
        url: shown.url.clone(),
        host_key: Some(shown.host_key.clone()).filter(|key| !key.is_empty()),
        has_private_key: !fields.get("private-key").trim().is_empty(),
        has_ca: credentials.ca.is_some(),
    };
    match store_server(&office, &entity, new, credentials, from).await {
        Ok(()) => office.lead_to(&format!("/deliveries/pushes/{}", entity.id), "push_set"),
        Err(error) => {
            let field = match &error {
                ActError::Refused { parameter, .. } => field_of(parameter),
                _ => "url",
            };
            office.show_refusal(&error, async |message| show(&office, &shown, Some((field, message)))).await
        }
    }
}

/// Checks and stores a server.
async fn store_server(
    office: &Office,
    entity: &Entity,
    new: NewPushTarget,
    credentials: PushCredentials,
    from: Option<Date>,
) -> Result<(), ActError> {
    let reach = Reach::Entity(entity.id.clone());
    // The files have the money of the entity, so only somebody who may see it may send them to a server. The right may
    // have ended since the head of the request.
    office.examine(Permission::ViewMoney, reach.clone(), |_| Ok(())).await?;
    let ports = office.app().outgoing.ports().clone();
    let set = move |administration: &Administration| {
        let checked = administration.check_push_target(new, &ports)?;
        administration.set_push_target(checked, credentials, from).map(drop)
    };
    office.administer(Permission::ChangeDeliveries, reach, set).await
}

/// Reads the password or the key, and the certificates.
///
/// # Errors
/// The field at fault with the reason.
pub(crate) fn read_credentials(office: &Office, fields: &Fields) -> Result<PushCredentials, (&'static str, String)> {
    let (texts, checks) = (office.texts, office.state.push_logins);
    // Browsers end lines with CR LF, and keys have LF.
    let lines = |name: &str| zeroize::Zeroizing::new(fields.get(name).replace("\r\n", "\n"));
    let (password, key) = (fields.get("password"), lines("private-key"));
    let secret = match (password.is_empty(), key.trim().is_empty()) {
        (true, true) => return Err(("password", texts.get("push.no_secret").to_owned())),
        (false, false) => return Err(("private-key", texts.get("push.two_secrets").to_owned())),
        (false, true) => (checks.read_password)(password)
            .map_err(|fault| ("password", format!("{} {fault}", texts.get("push.password"))))?,
        (true, false) => (checks.read_private_key)(&key)
            .map_err(|fault| ("private-key", format!("{} {fault}", texts.get("push.private_key"))))?,
    };
    let ca = Some(lines("ca").to_string()).filter(|ca| !ca.trim().is_empty());
    if ca.as_ref().is_some_and(|ca| !(checks.has_certificates)(ca)) {
        return Err(("ca", texts.get("push.no_certificates").to_owned()));
    }
    Ok(PushCredentials { secret, ca })
}

/// Reads the day from which existing files are sent.
///
/// # Errors
/// The field with the reason.
fn read_day(office: &Office, text: &str) -> Result<Option<Date>, (&'static str, String)> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| ("from", office.texts.get("push.no_day").to_owned()))
}

/// Returns the field of the form for an input of the act.
fn field_of(parameter: &str) -> &'static str {
    match parameter {
        "private-key-file" => "private-key",
        "host-key" => "host-key",
        "ca-file" => "ca",
        "entity" => "entity",
        _ => "url",
    }
}

/// Shows the form. Password and key are not shown again.
fn show(office: &Office, shown: &Shown, fault: Option<Fault<'_>>) -> Response {
    let texts = office.texts;
    let title = texts.get("push.new");
    let may_push =
        |entity: &Arc<Entity>| has_files(entity.level) && office.allows_on(Permission::ViewMoney, &entity.id);
    let entities: Vec<_> = office.entities_with(Permission::ChangeDeliveries).into_iter().filter(may_push).collect();
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/deliveries" } { (texts.get("deliveries.title")) } }
            h1 { (title) }
            p { (texts.get("push.new_text")) }
        }
        section.card.narrow aria-label=(title) { (render_form(office, &entities, shown, fault)) }
    };
    match fault {
        Some((_, message)) => office.show_fault(Section::Deliveries, title, message, &main),
        None => office.show_page(Section::Deliveries, title, main),
    }
}

fn render_form(office: &Office, entities: &[Arc<Entity>], shown: &Shown, fault: Option<Fault<'_>>) -> Markup {
    let texts = office.texts;
    let field = |name, key, value, hint| Field {
        name,
        label: texts.get(key),
        value,
        hint: Some(texts.get(hint)),
        error: fault.filter(|(at_fault, _)| *at_fault == name).map(|(_, message)| message),
        ..Field::default()
    };
    let url = field("url", "push.url", &*shown.url, "push.url_hint");
    let entity = Field { max_length: Some(32), ..field("entity", "push.entity", &*shown.entity, "push.entity_hint") };
    let options: Vec<Choice<'_>> = entities.iter().map(|entity| (entity.id.as_str(), &*entity.name)).collect();
    html! {
        form action={ (BASE) "/deliveries/pushes/new" } method="post" {
            @if entities.len() > MAX_ENTITIES { (entity.input("text")) } @else { (entity.select(&options)) }
            (Field { max_length: Some(MAX_URL), is_required: true, ..url }.input("text"))
            (field("password", "push.password", "", "push.password_hint").input("password"))
            (field("private-key", "push.private_key", "", "push.private_key_hint").text_area(4))
            (field("host-key", "push.host_key", &*shown.host_key, "push.host_key_hint").input("text"))
            (field("ca", "push.ca", &*shown.ca, "push.ca_hint").text_area(3))
            (field("from", "push.from", &*shown.from, "push.from_hint").input("date"))
            button.primary type="submit" { (texts.get("push.save")) }
        }
    }
}
