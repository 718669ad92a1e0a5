//! The list of imports with their outcome, the age of the unmatched lines, and the form of another import.

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::access::audit_log::{AuditFilter, AuditPage, AuditedAct};
use tillgate_gateway::settlement::file_import::MAX_INSTITUTE;
use tillgate_store::access::audit_log::AuditOwners;

use super::{FILE, INSTITUTE, MAPPING, PATH};
use crate::BASE;
use crate::access::Fields;
use crate::access::people::KnownPeople;
use crate::components::facts::summary;
use crate::components::field::Field;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::components::time::time;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::money::areas::render_areas;
use crate::money::entity_choice::{ENTITY, EntityChoice};
use crate::money::render_list_end;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of imports on a page.
const PAGE_SIZE: usize = 25;
/// The act of an import in the audit log.
const ACT: &str = "settlement import";

/// A form that was refused: the field at fault with the message.
pub(super) type FormFault<'a> = Option<(&'a str, &'a str)>;

/// Handles `GET /money/imports`.
pub(in crate::money) async fn show_imports(office: Office, RawQuery(query): RawQuery) -> Response {
    show_list(&office, query.as_deref().unwrap_or_default(), &Fields::default(), None).await
}

/// Returns true if files can be imported for an entity.
pub(super) fn can_have_files(entity: &Entity) -> bool {
    matches!(entity.level, Level::Division | Level::Merchant)
}

/// Shows the list. `sent` are the values of a form that was refused.
pub(super) async fn show_list(office: &Office, query: &str, sent: &Fields, fault: FormFault<'_>) -> Response {
    let address = ListAddress::read(PATH, &[], query);
    let before = match address.find(BEFORE).map(str::parse::<i64>) {
        Some(Err(_)) => return office.show_unknown(),
        place => place.and_then(Result::ok),
    };
    let entities = collect_ids(&office.entities_with(Permission::ViewMoney));
    let filter = AuditFilter { acts_only: true, act: Some(ACT.to_owned()), ..AuditFilter::default() };
    let read = office.read(move |app, cancelled| {
        let counts = app.gateway.count_unmatched_by_age(&entities, Timestamp::now())?;
        let owners = AuditOwners { entities, has_gateway: false };
        let before = before.unwrap_or(i64::MAX);
        Ok((app.gateway.list_audit_entries(&owners, &filter, before, PAGE_SIZE, cancelled)?, counts))
    });
    let (page, counts) = match read.await {
        Ok(read) => read,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("imports.title");
    let next = page.before.map(|before| address.with(&[(BEFORE, &before.to_string())]).format());
    let first = address.find(BEFORE).map(|_| address.with(&[]).format());
    let count = u64::try_from(page.acts.len()).unwrap_or(u64::MAX);
    let main = html! {
        div.title { h1 { (title) } p { (texts.get("imports.text")) } }
        (render_ages(texts, counts))
        div.card {
            div.filter { (render_areas(texts, PATH)) }
            @if page.acts.is_empty() {
                (empty(texts.get("imports.none"), texts.get("imports.none_advice")))
            } @else {
                (render_table(office, &page))
            }
            (render_list_end(texts, first.as_deref(), count, next.as_deref()))
        }
        (render_form(office, sent, fault))
    };
    match fault {
        Some((_, message)) => office.show_fault(Section::Money, title, message, &main),
        None => office.show_page(Section::Money, title, main),
    }
}

/// Renders the number of lines that wait for a decision, by their age.
fn render_ages(texts: &Texts, counts: [u64; 3]) -> Markup {
    let [week, month, older] = counts.map(|count| html! { (texts.number(count)) });
    summary(&[
        (texts.get("imports.age_week"), Some(week)),
        (texts.get("imports.age_month"), Some(month)),
        (texts.get("imports.age_older"), Some(older)),
    ])
}

fn render_table(office: &Office, page: &AuditPage) -> Markup {
    let texts = office.texts;
    let columns = vec![
        Column::new(texts.get("imports.institute")),
        Column::number(texts.get("imports.lines")),
        Column::number(texts.get("imports.matched")),
        Column::number(texts.get("imports.unmatched")),
        Column::number(texts.get("imports.broken")).from(Shown::Medium),
        Column::new(texts.get("imports.at")).from(Shown::Medium),
        Column::new(texts.get("entity_choice.label")).from(Shown::Wide),
        Column::new(texts.get("step.actor")).from(Shown::Wide),
        Column::new(texts.get("imports.file")).from(Shown::Wide),
    ];
    let people = KnownPeople::of_reader(office);
    let rows = page.acts.iter().map(|act| render_row(office, &people, act)).collect();
    Table { caption: texts.get("imports.title"), hides_caption: true, is_linked: false, columns, rows }.render()
}

fn render_row(office: &Office, people: &KnownPeople, act: &AuditedAct) -> Vec<Markup> {
    let (texts, entry) = (office.texts, &act.entry.content);
    let detail = |name: &str| entry.details.get(name).map_or("", String::as_str);
    let number = |name: &str| detail(name).parse::<u64>().unwrap_or(0);
    let entity = act.entry.entity.as_ref().and_then(|id| office.app().gateway.directory.find_entity(id));
    let zone = find_zone("", entity.as_slice());
    vec![
        html! { span.cut { (detail("institute")) } },
        html! { (texts.number(number("lines"))) },
        html! { (texts.number(number("matched"))) },
        // Entries of earlier versions do not have this number.
        html! { @if !detail("unmatched").is_empty() { (texts.number(number("unmatched"))) } },
        html! { (texts.number(number("broken"))) },
        time(texts, &zone, entry.time),
        html! { span.cut { (entity.as_ref().map_or("", |entity| &entity.name)) } },
        html! { @if let Some(actor) = &entry.actor { (people.render_actor(texts, Some(actor))) } },
        html! { code { (entry.subject.chars().take(8).collect::<String>()) } },
    ]
}

/// Renders the form of another import, for somebody who may import.
fn render_form(office: &Office, sent: &Fields, fault: FormFault<'_>) -> Markup {
    let texts = office.texts;
    let typed = Some(sent.get(ENTITY)).filter(|id| !id.is_empty());
    let choice = EntityChoice::from_id(office, Permission::ChangeMoney, typed).only(can_have_files);
    if choice.chosen.is_none() {
        return html! {};
    }
    let error = |name: &str| fault.filter(|(field, _)| *field == name).map(|(_, message)| message);
    let institute = Field {
        name: INSTITUTE,
        label: texts.get("imports.institute"),
        value: sent.get(INSTITUTE),
        hint: Some(texts.get("imports.institute_hint")),
        error: error(INSTITUTE),
        max_length: u16::try_from(MAX_INSTITUTE).ok(),
        is_required: true,
        ..Field::default()
    };
    let file = |name, key, hint, is_required| Field {
        name,
        label: texts.get(key),
        hint: Some(texts.get(hint)),
        error: error(name),
        is_required,
        ..Field::default()
    };
    html! {
        section.card aria-labelledby="import" {
            header { h2 id="import" { (texts.get("imports.form")) } }
            form method="post" action={ (BASE) (PATH) } enctype="multipart/form-data" {
                p.soft { (texts.get("imports.form_text")) }
                (choice.render(texts, sent.get(ENTITY), error(ENTITY).is_some()))
                (institute.input("text"))
                (file(FILE, "imports.file", "imports.file_hint", true).file(".csv,.txt,text/csv"))
                (file(MAPPING, "imports.mapping", "imports.mapping_hint", false).file(".toml"))
                div.acts { button.primary type="submit" { (texts.get("imports.preview")) } }
            }
        }
    }
}
