//! The list of the audit log, newest first.

use std::sync::Arc;

use maud::{Markup, html};
use tillgate_domain::access::audit::PAYMENT;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::access::audit_log::{AuditPage, AuditedAct, AuditedValue};

use super::act_text;
use super::filter::{ALL, AuditQuery, GATEWAY, PATH, all_owners};
use crate::BASE;
use crate::access::people::KnownPeople;
use crate::components::field::{Choice, Field};
use crate::components::filter_bar::{FilterForm, FilterLink, tabs};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::describe_receivable;
use crate::payment::filter::period_tabs;

/// Largest number of entities among which a list lets people choose. With more of them they type an id.
const MAX_CHOICES: usize = 50;
/// Number of changed values in a row. The page of an entry has all of them.
const SHOWN_VALUES: usize = 3;
/// Largest number of characters of a value in a row.
const SHOWN_LENGTH: usize = 40;

/// First words of acts, in the order of the filter.
const AREAS: [&str; 29] = [
    "entity",
    "user",
    "token",
    "webhook",
    "review",
    "review-callback",
    "risk-rules",
    "risk-list",
    "dispute",
    "settlement",
    "correction",
    "records",
    "fx-rate",
    "registration",
    "schedule",
    "comment",
    "view",
    "file-push",
    "ftp-user",
    "wallet-key",
    "vault-key",
    "clock",
    "line",
    "backup",
    "restore",
    "seal",
    "schema",
    "migration",
    PAYMENT,
];

/// Renders the filters, the entries and the way to older ones.
pub(super) fn render(office: &Office, query: &AuditQuery, page: &AuditPage, people: &KnownPeople) -> Markup {
    let texts = office.texts;
    html! {
        div.card {
            (render_filters(office, query))
            @if page.acts.is_empty() && page.before.is_none() {
                (empty(texts.get("audit.none"), texts.get("audit.none_advice")))
            } @else {
                (render_table(office, query, &page.acts, people))
            }
            (render_pages(texts, query, page))
        }
    }
}

/// Renders the links and the form of the filters.
fn render_filters(office: &Office, query: &AuditQuery) -> Markup {
    let (texts, address) = (office.texts, &query.address);
    let view = |name: &str, text: &str| FilterLink {
        text: text.to_owned(),
        address: address.with(&[("view", name)]).format(),
        is_current: address.get("view") == name,
    };
    let form = FilterForm {
        title: texts.get("payments.filters"),
        active: query.count_filters(),
        chips: Vec::new(),
        has_error: !query.mistakes.is_empty(),
        action: &format!("{BASE}{PATH}"),
        fields: render_fields(office, query),
        apply: texts.get("payments.apply"),
        clear: texts.get("payments.clear"),
    };
    html! {
        div.filter {
            div.line {
                (tabs(texts.get("audit.view"), &[view("", texts.get("audit.acts")), view(ALL, texts.get("audit.all"))]))
                (period_tabs(texts, address))
            }
            (form.render())
        }
    }
}

/// Renders the rows of the form.
fn render_fields(office: &Office, query: &AuditQuery) -> Markup {
    let (texts, address) = (office.texts, &query.address);
    let field = |name: &'static str, label| Field {
        name,
        label,
        value: address.get(name),
        error: query.has_mistake(name).then(|| texts.get("payments.invalid")),
        max_length: Some(255),
        ..Field::default()
    };
    let with_hint = |field, key| Field { hint: Some(texts.get(key)), ..field };
    let zone = query.zone.iana_name().unwrap_or("UTC");
    html! {
        @if let Some(view) = address.find("view") { input type="hidden" name="view" value=(view); }
        (render_entity(office, field("entity", texts.get("audit.entity"))))
        (render_act(texts, field("act", texts.get("audit.act"))))
        (with_hint(field("actor", texts.get("audit.actor")), "audit.actor_hint").input("text"))
        (with_hint(field("subject", texts.get("audit.subject")), "audit.subject_hint").input("text"))
        (field("from", texts.get("payments.from")).input("date"))
        (field("to", texts.get("payments.to")).input("date"))
        (Field { value: zone, ..field("zone", texts.get("payments.zone")) }.input("text"))
    }
}

/// Renders the choice of an entity.
fn render_entity(office: &Office, field: Field<'_>) -> Markup {
    let (texts, entities) = (office.texts, office.entities_with(Permission::ViewAudit));
    let is_listed = field.value.is_empty()
        || field.value == GATEWAY
        || entities.iter().any(|entity| entity.id.as_str() == field.value);
    if entities.len() > MAX_CHOICES || !is_listed {
        return Field { hint: Some(texts.get("audit.entity_hint")), ..field }.input("text");
    }
    let mut choices: Vec<Choice<'_>> = vec![("", texts.get("payments.any"))];
    if all_owners(office).has_gateway {
        choices.push((GATEWAY, texts.get("users.whole_gateway")));
    }
    choices.extend(entities.iter().map(|entity| (entity.id.as_str(), &*entity.name)));
    field.select(&choices)
}

/// Renders the choice of a kind of acts, with the chosen act if it is a single one.
fn render_act(texts: &Texts, field: Field<'_>) -> Markup {
    let keys = AREAS.map(|area| format!("audit_area.{area}"));
    let areas = AREAS.iter().zip(&keys).map(|(area, key)| (*area, texts.get(key)));
    let mut choices: Vec<Choice<'_>> = std::iter::once(("", texts.get("payments.any"))).chain(areas).collect();
    if !choices.iter().any(|(area, _)| *area == field.value) {
        choices.push((field.value, act_text(texts, field.value)));
    }
    field.select(&choices)
}

/// Renders the table.
fn render_table(office: &Office, query: &AuditQuery, acts: &[AuditedAct], people: &KnownPeople) -> Markup {
    let texts = office.texts;
    let owners = &query.owners;
    let has_entities = owners.entities.len() + usize::from(owners.has_gateway) > 1;
    let mut columns = vec![
        Column::new(texts.get("audit.act")),
        Column::new(texts.get("audit.changes")).from(Shown::Wide),
        Column::new(texts.get("audit.subject")).from(Shown::Wide),
        Column::new(texts.get("audit.actor")),
    ];
    if has_entities {
        columns.push(Column::new(texts.get("audit.entity")).from(Shown::Wide));
    }
    columns.push(Column::new(texts.get("payments.time")).from(Shown::Medium));
    let row = |act: &AuditedAct| {
        let content = &act.entry.content;
        let time = texts.exact_time(&content.time.to_zoned(query.zone.clone()));
        let mut cells = vec![
            html! {
                a href={ (BASE) (PATH) "/" (act.entry.number) } { (act_text(texts, &content.action)) }
                span.under { (time) }
            },
            render_changes(texts, act),
            html! { span.cut.small { (people.find(&content.subject).unwrap_or(&content.subject)) } },
            html! {
                span.cut { (people.render_actor(texts, content.actor.as_deref())) }
                @if let Some(address) = people.find_address(office, act) { span.soft.small { (address) } }
            },
        ];
        if has_entities {
            cells.push(html! { span.cut { (owner_text(office, act)) } });
        }
        cells.push(html! { time.soft.nowrap datetime=(content.time) { (time) } });
        cells
    };
    let rows = acts.iter().map(row).collect();
    Table { caption: texts.get("audit.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Returns the name of the entity that an entry is about.
pub(super) fn owner_text(office: &Office, act: &AuditedAct) -> String {
    let Some(id) = &act.entry.entity else { return office.texts.get("users.whole_gateway").to_owned() };
    let entity: Option<Arc<Entity>> = office.app().gateway.directory.find_entity(id);
    entity.map_or_else(|| id.to_string(), |entity| entity.name.clone())
}

/// Renders the first changed values of an entry, or the money that it moves.
fn render_changes(texts: &Texts, act: &AuditedAct) -> Markup {
    let more = act.values.len().saturating_sub(SHOWN_VALUES);
    let money = describe_receivable(texts, &act.entry.content);
    html! {
        div.small {
            @if !money.is_empty() { div { (money) } }
            @for value in act.values.iter().take(SHOWN_VALUES) { div.wrap { (describe_value(value)) } }
            @if more > 0 {
                div.soft { (texts.fill("audit.more", &[("count", &more.to_string())])) }
            }
        }
    }
}

/// Describes a changed value in one line.
fn describe_value(value: &AuditedValue) -> String {
    let name = value.name.rsplit('.').next().unwrap_or(&value.name);
    let after = value.after.as_deref().map_or_else(|| "–".to_owned(), shorten);
    match &value.before {
        Some(before) => format!("{name}: {} → {after}", shorten(before)),
        None => format!("{name}: {after}"),
    }
}

/// Returns the beginning of a long value.
fn shorten(text: &str) -> String {
    if text.chars().count() <= SHOWN_LENGTH {
        return text.to_owned();
    }
    let begin: String = text.chars().take(SHOWN_LENGTH - 1).collect();
    format!("{begin}…")
}

/// Renders the end of the page: what it shows, and the way to older entries.
fn render_pages(texts: &Texts, query: &AuditQuery, page: &AuditPage) -> Markup {
    let count = texts.number(u64::try_from(page.acts.len()).unwrap_or(u64::MAX));
    html! {
        div.pages {
            span {
                @if page.is_cut {
                    @let last = page.last_time.map(|time| texts.date_time(&time.to_zoned(query.zone.clone())));
                    (texts.fill("payments.cut", &[("count", &count), ("time", &last.unwrap_or_default())]))
                } @else {
                    (texts.fill("payments.count", &[("count", &count)]))
                }
                " · " (query.zone.iana_name().unwrap_or("UTC"))
            }
            div {
                @if query.is_continued() {
                    a.button href=(query.address.with(&[]).format()) { (texts.get("payments.newest")) }
                }
                @if let Some(before) = page.before {
                    a.button href=(query.older(before)) rel="next" {
                        (texts.get(if page.is_cut { "payments.search_on" } else { "payments.older" }))
                    }
                }
            }
        }
    }
}
