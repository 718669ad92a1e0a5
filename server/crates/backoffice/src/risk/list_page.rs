//! One list: the search for a value, the entries in pages, one entry with its removal, and the form of a new entry.

use std::sync::Arc;

use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::risk::list::{ListPosition, ListSource, MAX_REASON, RiskListEntry, RiskListKind};
use tillgate_gateway::risk::list_entries::EntryValue;
use tillgate_risk::{VelocityKey, find_list_key};
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_shared::format::text::truncate_text;
use tillgate_store::risk::list::ListSelection;

use super::lists::{EntryCounts, count_of, key_name, list_name, load_counts};
use super::numbered_text::markup_size;
use super::{Area, may_change, page_title, path_of, time, zone_of};
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::facts::facts;
use crate::components::field::{Choice, Field};
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Maximum number of entries on a page.
const PAGE_SIZE: u32 = 50;
/// Maximum size of the entries of a page, in bytes of markup.
const PAGE_BYTES: usize = 30_000;
/// Longest value and reason in the table, in characters.
const LENGTHS: (usize, usize) = (80, 60);
/// Number of digits of a blind index that the table shows.
const INDEX_DIGITS: usize = 12;

/// The place in the list that an address names.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListPlace {
    /// Only entries of this key.
    key: String,
    /// Only the entry with this value, as it is stored.
    value: String,
    /// Key of the entry after which the page begins.
    after_key: String,
    /// Value of that entry.
    after_value: String,
}

/// A refused form.
pub(super) struct RefusedEntry<'a> {
    /// The fields as they were sent.
    pub(super) sent: &'a Fields,
    /// True for the form of a new entry, false for the search.
    pub(super) is_new: bool,
    /// Name of the field at fault.
    pub(super) field: String,
    /// The message.
    pub(super) message: String,
}

/// A page of a list.
struct ListPage {
    entity: Arc<Entity>,
    list: RiskListKind,
    counts: EntryCounts,
    entries: Vec<RiskListEntry>,
    /// True if entries follow.
    has_more: bool,
    place: ListPlace,
}

/// Handles `GET /risk/{entity}/lists/{list}`.
pub(super) async fn show_list(
    office: Office,
    Path((id, list)): Path<(String, String)>,
    Query(place): Query<ListPlace>,
) -> Response {
    let entity = match office.find_entity(Permission::ViewRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    match RiskListKind::parse(&list) {
        Some(list) => show_page(&office, &entity, list, place, None).await,
        None => office.show_unknown(),
    }
}

/// Shows a list.
pub(super) async fn show_page(
    office: &Office,
    entity: &Arc<Entity>,
    list: RiskListKind,
    place: ListPlace,
    refused: Option<RefusedEntry<'_>>,
) -> Response {
    let page = match load_page(office, entity, list, place).await {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.fill("risk_lists.title_of", &[("list", list_name(texts, list))]);
    let link = |other: RiskListKind| FilterLink {
        text: format!("{} ({})", list_name(texts, other), texts.number(count_of(&page.counts, other))),
        address: format!("{BASE}{}/lists/{}", path_of(entity), other.as_str()),
        is_current: other == list,
    };
    let refused = refused.as_ref();
    let is_one = !page.place.value.is_empty();
    let main = html! {
        (page_title(office, entity, Area::Lists, &title, &html! {}))
        (tabs(texts.get("risk_lists.title"), &RiskListKind::ALL.map(link)))
        div.split {
            div.stack {
                (render_search(&page, texts, refused.filter(|refused| !refused.is_new)))
                @match page.entries.first().filter(|_| is_one) {
                    Some(entry) => { (render_entry(office, &page, entry)) }
                    None => { (render_entries(texts, &page)) }
                }
            }
            @if may_change(office, entity) { (render_form(texts, &page, refused.filter(|refused| refused.is_new))) }
        }
    };
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    office.show_with_status(status, Section::Rules, &title, main)
}

async fn load_page(
    office: &Office,
    entity: &Arc<Entity>,
    list: RiskListKind,
    place: ListPlace,
) -> Result<ListPage, tillgate_gateway::Failure> {
    let counts = load_counts(office, entity).await?;
    let key = find_list_key(&place.key).map(|(name, _)| name);
    let after =
        find_list_key(&place.after_key).map(|(key, _)| ListPosition { list, key, value: place.after_value.clone() });
    let value = Some(place.value.clone()).filter(|value| !value.is_empty());
    let selection = ListSelection { list: Some(list), key, value, after, limit: PAGE_SIZE + 1 };
    let id = entity.id.clone();
    let mut entries = office.read(move |app, _| Ok(app.gateway.store.load_list_entries(&id, &selection)?)).await?;
    let mut size = 0;
    let fits = |entry: &&RiskListEntry| {
        let shown = truncate_text(&entry.position.value, LENGTHS.0);
        size += 500 + 3 * entry.position.value.len() + markup_size(shown) + markup_size(&entry.author);
        size <= PAGE_BYTES
    };
    let room = entries.iter().take_while(fits).count().clamp(1, PAGE_SIZE as usize);
    let has_more = entries.len() > room;
    entries.truncate(room);
    Ok(ListPage { entity: Arc::clone(entity), list, counts, entries, has_more, place })
}

impl ListPage {
    /// Returns the path of the list below [`BASE`].
    fn path(&self) -> String {
        list_path(&self.entity, self.list)
    }

    /// Formats an address of the list with values.
    fn address(&self, values: &[(&str, &str)]) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(values).finish();
        format!("{BASE}{}?{query}", self.path())
    }
}

/// Returns the path of a list below [`BASE`].
pub(super) fn list_path(entity: &Entity, list: RiskListKind) -> String {
    format!("{}/lists/{}", path_of(entity), list.as_str())
}

/// Returns a value as people read it. Cards and accounts have a blind index, whose begin is enough to tell them apart.
fn shown_value(entry: &RiskListEntry) -> String {
    let value = &entry.position.value;
    let is_index = find_list_key(entry.position.key).is_some_and(|(_, key)| EntryValue::is_secret(&key));
    if is_index { format!("{}…", truncate_text(value, INDEX_DIGITS)) } else { mask_card_numbers(value).to_string() }
}

fn render_end(texts: &Texts, page: &ListPage, office_now: jiff::Timestamp, entry: &RiskListEntry) -> Markup {
    match entry.expires {
        None => html! { (texts.get("risk_lists.never")) },
        Some(end) => html! {
            @if end <= office_now { (badge(Tone::Calm, texts.get("risk_lists.expired"))) " " }
            (time(texts, &zone_of(&page.entity), end))
        },
    }
}

/// Renders the search. A number of a card is sent in a form, because an address would stay in logs.
fn render_search(page: &ListPage, texts: &Texts, refused: Option<&RefusedEntry<'_>>) -> Markup {
    let key = refused.map_or(&*page.place.key, |refused| refused.sent.get("key"));
    let field = Field {
        name: "value",
        label: texts.get("risk_lists.value"),
        value: refused.map_or("", |refused| kept_value(refused.sent, "key", "value")),
        error: refused.map(|refused| &*refused.message),
        max_length: Some(2048),
        ..Field::default()
    };
    html! {
        section.card aria-labelledby="search-title" {
            header { h2 id="search-title" { (texts.get("risk_lists.search")) } }
            form.fields method="post" action={ (BASE) (page.path()) "/search" } {
                (key_field(texts, "key", key, texts.get("risk_lists.all_keys")))
                (field.input("text"))
                button type="submit" { (texts.get("risk_lists.find")) }
            }
        }
    }
}

/// Returns what was typed as a value, unless it may be a number of a card or account.
fn kept_value<'a>(sent: &'a Fields, key: &str, value: &str) -> &'a str {
    let is_secret = find_list_key(sent.get(key)).is_none_or(|(_, key)| EntryValue::is_secret(&key));
    if is_secret { "" } else { kept_text(sent, value) }
}

/// Returns what was typed, unless it has the number of a card.
fn kept_text<'a>(sent: &'a Fields, name: &str) -> &'a str {
    let text = sent.get(name);
    if mask_card_numbers(text) == text { text } else { "" }
}

/// Renders the choice of a key. `none` is the text for no key, if there may be none.
fn key_field(texts: &Texts, name: &'static str, value: &str, none: &str) -> Markup {
    let names = VelocityKey::NAMED.map(|(key, _)| (key, key_name(texts, key)));
    let mut choices: Vec<Choice<'_>> = if none.is_empty() { Vec::new() } else { vec![("", none)] };
    choices.extend(names.iter().map(|(key, name)| (*key, &**name)));
    Field { name, label: texts.get("risk_lists.key"), value, ..Field::default() }.select(&choices)
}

fn render_entries(texts: &Texts, page: &ListPage) -> Markup {
    let now = jiff::Timestamp::now() + page.entity.ahead;
    let row = |entry: &RiskListEntry| {
        let position = &entry.position;
        let shown = shown_value(entry);
        vec![
            html! {
                a href=(page.address(&[("key", position.key), ("value", &position.value)])) {
                    span.wrap { (truncate_text(&shown, LENGTHS.0)) }
                }
            },
            html! { (key_name(texts, position.key)) },
            render_end(texts, page, now, entry),
            html! { span.cut { (truncate_text(&entry.reason, LENGTHS.1)) } },
        ]
    };
    let is_search = !page.place.value.is_empty();
    let last = page.entries.last().filter(|_| page.has_more);
    let is_later = !page.place.after_key.is_empty();
    html! {
        div.card {
            header { h2 id="entries" { (texts.get("risk_lists.entries")) } }
            @if page.entries.is_empty() && is_search {
                (empty(texts.get("risk_lists.not_found"), texts.get("risk_lists.not_found_advice")))
            } @else if page.entries.is_empty() {
                (empty(texts.get("risk_lists.none"), texts.get("risk_lists.none_advice")))
            } @else {
                (Table {
                    caption: texts.get("risk_lists.entries"),
                    hides_caption: true,
                    is_linked: true,
                    columns: vec![
                        Column::new(texts.get("risk_lists.value")),
                        Column::new(texts.get("risk_lists.key")),
                        Column::new(texts.get("risk_lists.ends")).from(Shown::Medium),
                        Column::new(texts.get("rules.reason")).from(Shown::Wide),
                    ],
                    rows: page.entries.iter().map(row).collect(),
                }.render())
            }
            @if is_later || is_search || last.is_some() {
                div.pages {
                    span {}
                    div {
                        @if is_later || is_search {
                            a.button href={ (BASE) (page.path()) } { (texts.get("risk_lists.whole")) }
                        }
                        @if let Some(last) = last {
                            a.button rel="next" href=(page.address(&[
                                ("key", &page.place.key),
                                ("after_key", last.position.key),
                                ("after_value", &last.position.value),
                            ])) { (texts.get("schedules.more")) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders one entry, and the form that removes it.
fn render_entry(office: &Office, page: &ListPage, entry: &RiskListEntry) -> Markup {
    let texts = office.texts;
    let zone = zone_of(&page.entity);
    let now = office.app().gateway.now_of(&page.entity);
    let reason = Some(&entry.reason).filter(|reason| !reason.is_empty());
    html! {
        section.card aria-labelledby="entry" {
            header {
                h2 id="entry" { (texts.get("risk_lists.entry")) }
                a href={ (BASE) (page.path()) } { (texts.get("risk_lists.whole")) }
            }
            div.body {
                (facts(&[
                    (texts.get("risk_lists.key"), Some(html! { (key_name(texts, entry.position.key)) })),
                    (texts.get("risk_lists.value"), Some(html! { span.wrap { (shown_value(entry)) } })),
                    (texts.get("risk_lists.source"), Some(html! { (source_name(texts, entry.source)) })),
                    (texts.get("risk_lists.ends"), Some(render_end(texts, page, now, entry))),
                    (texts.get("rules.reason"), reason.map(|reason| html! { span.wrap { (reason) } })),
                    (texts.get("rules.author"), Some(html! { span.wrap { (entry.author) } })),
                    (texts.get("rules.added"), Some(time(texts, &zone, entry.created))),
                ]))
            }
            @if may_change(office, &page.entity) {
                details {
                    summary.danger { (texts.get("risk_lists.remove")) }
                    form method="post" action={ (BASE) (page.path()) "/remove" } {
                        p { (texts.get("risk_lists.remove_text")) }
                        input type="hidden" name="key" value=(entry.position.key);
                        input type="hidden" name="value" value=(entry.position.value);
                        (Field {
                            name: "removal",
                            label: texts.get("rules.reason"),
                            max_length: Some(500),
                            ..Field::default()
                        }.input("text"))
                        button.danger type="submit" { (texts.get("risk_lists.remove")) }
                    }
                }
            }
        }
    }
}

/// Returns the name of a source.
fn source_name(texts: &Texts, source: ListSource) -> &str {
    match source {
        ListSource::Server => texts.get("risk_source.server"),
        ListSource::Any => texts.get("risk_source.any"),
    }
}

/// Renders the form of a new entry, with what was sent.
fn render_form(texts: &Texts, page: &ListPage, refused: Option<&RefusedEntry<'_>>) -> Markup {
    let sent = |name: &str| refused.map_or("", |refused| kept_text(refused.sent, name));
    let error = |name: &str| refused.filter(|refused| refused.field == name).map(|refused| &*refused.message);
    let default =
        format!("{} ({})", source_name(texts, ListSource::default_of(page.list)), texts.get("risk_lists.usual"));
    let mut sources: Vec<Choice<'_>> = vec![("", &default)];
    sources.extend(ListSource::ALL.map(|source| (source.as_str(), source_name(texts, source))));
    let field = |name, label, value, hint, max_length| Field {
        name,
        label: texts.get(label),
        value,
        hint: Some(texts.get(hint)),
        error: error(name),
        max_length: Some(max_length),
        ..Field::default()
    };
    let value = refused.map_or("", |refused| kept_value(refused.sent, "key_new", "value_new"));
    let fault = refused.filter(|refused| !["value_new", "expires", "reason"].contains(&&*refused.field));
    let reason_length = u16::try_from(MAX_REASON).unwrap_or(u16::MAX);
    html! {
        section.card aria-labelledby="new" {
            header { h2 id="new" { (texts.get("risk_lists.add_title")) } }
            form.wide method="post" action={ (BASE) (page.path()) "/add" } {
                @if let Some(fault) = fault { div.field { div.error role="alert" { (fault.message) } } }
                (key_field(texts, "key_new", sent("key_new"), ""))
                (field("value_new", "risk_lists.value", value, "risk_lists.value_hint", 2048).input("text"))
                (field("expires", "risk_lists.ends", sent("expires"), "risk_lists.ends_hint", 40).input("text"))
                (Field {
                    name: "source",
                    label: texts.get("risk_lists.source"),
                    value: sent("source"),
                    hint: Some(texts.get("risk_lists.source_hint")),
                    ..Field::default()
                }.select(&sources))
                (field("reason", "rules.reason", sent("reason"), "risk_lists.reason_hint", reason_length).input("text"))
                button.primary type="submit" { (texts.get("risk_lists.add")) }
            }
        }
    }
}
