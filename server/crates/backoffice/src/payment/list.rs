//! The list of payments, newest first.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::payment::PaymentType;
use tillgate_domain::risk::RiskOutcome;
use tillgate_gateway::payment::listing::{ListPage, ListRow, ListedState};
use tillgate_gateway::{App, Failure};
use tillgate_shared::brand::Brand;
use tillgate_store::Cancellation;
use tillgate_store::access::saved_view::SavedView;

use super::columns::render_choice;
use super::filter::{FORM, ListQuery, period_tabs};
use super::labels::{state_text, type_text};
use super::{collect_ids, views};
use crate::BASE;
use crate::components::badge::Tone;
use crate::components::field::Field;
use crate::components::filter_bar::{FilterForm, FilterLink, tabs};
use crate::components::notice::notice;
use crate::components::table::{Column, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of payments on a page.
const PAGE_SIZE: usize = 50;

/// Handles `GET /payments`.
pub(super) async fn show_payments(office: Office, RawQuery(query): RawQuery) -> Response {
    let texts = office.texts;
    let entities = office.entities_with(Permission::ViewPayments);
    let query = ListQuery::read(query.as_deref().unwrap_or_default(), entities, Timestamp::now());
    let page = match load_page(&office, &query).await {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let title = texts.get("payments.title");
    let views = match views::load(&office).await {
        Ok(views) => views,
        Err(failure) => return office.show_failure(&failure),
    };
    let main = render(&office, &query, &page, &views);
    office.show_page(Section::Payments, title, main)
}

/// Loads a page on a thread for long reads, so that it delays no payment.
async fn load_page(office: &Office, query: &ListQuery) -> Result<ListPage, Failure> {
    if query.entities.is_empty() || !query.mistakes.is_empty() {
        return Ok(ListPage::default());
    }
    let (ids, filter, range) = (collect_ids(&query.entities), query.filter.clone(), query.range.clone());
    let read = move |app: &App, cancelled: &Cancellation<'_>| {
        let mut page = app.gateway.list_payments(&ids, &filter, &range, PAGE_SIZE, cancelled)?;
        app.gateway.add_follow_ups(&mut page)?;
        Ok(page)
    };
    office.read(read).await
}

/// Renders the content.
fn render(office: &Office, query: &ListQuery, page: &ListPage, views: &[SavedView]) -> Markup {
    let texts = office.texts;
    html! {
        div.title {
            h1 { (texts.get("payments.title")) }
            div.actions {
                @if office.may_approve_something() {
                    a.button href={ (BASE) "/approvals" } { (texts.get("approvals.title")) }
                }
                a.button href=(query.address.with(&[]).format_at("/payments.csv")) download="payments.csv" {
                    (texts.get("payments.csv"))
                }
            }
        }
        div.card {
            (render_filters(texts, query, views))
            @if page.rows.is_empty() && page.before.is_none() {
                (empty(texts.get("payments.none"), texts.get("payments.none_advice")))
            } @else {
                (render_table(texts, query, &page.rows))
            }
            (render_pages(texts, query, page))
        }
    }
}

/// Renders the links and the form of the filters.
fn render_filters(texts: &Texts, query: &ListQuery, views: &[SavedView]) -> Markup {
    let address = &query.address;
    let link = |text: &str, name: &str, value: &str| FilterLink {
        text: text.to_owned(),
        address: address.with(&[(name, value)]).format(),
        is_current: address.get(name) == value,
    };
    let all = link(texts.get("payments.all"), "state", "");
    let states = ListedState::ALL.map(|state| link(state_text(texts, state), "state", state.as_str()));
    let form = FilterForm {
        title: texts.get("payments.filters"),
        active: query.count_filters(),
        chips: filter_chips(texts, query),
        has_error: !query.mistakes.is_empty(),
        action: &format!("{BASE}/payments"),
        fields: render_fields(texts, query),
        apply: texts.get("payments.apply"),
        clear: texts.get("payments.clear"),
    };
    html! {
        div.filter {
            (views::render_links(texts, query, views))
            div.line {
                (tabs(texts.get("payments.state"), &std::iter::once(all).chain(states).collect::<Vec<_>>()))
                (period_tabs(texts, address))
            }
            (form.render())
            @if ["state", "type", "channel", "risk", "columns"].iter().any(|name| query.has_mistake(name)) {
                (notice(Tone::Bad, &html! { (texts.get("payments.mistake")) }))
            }
        }
    }
}

/// Returns the filters of the form that are in effect, each with the address of the list without it.
fn filter_chips(texts: &Texts, query: &ListQuery) -> Vec<FilterLink> {
    let chip = |name: &'static str| {
        let value = query.address.find(name).filter(|_| !query.has_mistake(name))?;
        let shown = match name {
            "type" => type_text(texts, value),
            "risk" => texts.get(&format!("risk.{value}")).to_owned(),
            "channel" => query.entities.first().map_or_else(String::new, |entity| entity.name.clone()),
            _ => value.to_owned(),
        };
        let text = format!("{}: {shown}", texts.get(filter_label(name)));
        Some(FilterLink { text, address: query.address.with(&[(name, "")]).format(), is_current: false })
    };
    FORM.into_iter().filter_map(chip).collect()
}

/// Returns the key of the label of a filter.
fn filter_label(name: &str) -> &'static str {
    match name {
        "from" => "payments.from",
        "to" => "payments.to",
        "type" => "payments.type",
        "brand" => "payments.brand",
        "channel" => "payments.channel",
        "last4" => "payments.last4",
        "reference" => "payments.reference",
        "registration" => "payment.registration",
        "mail" => "payments.mail",
        "min" => "payments.min",
        "max" => "payments.max",
        "risk" => "step.risk",
        "zone" => "payments.zone",
        _ => "payment.schedule",
    }
}

/// Renders the rows of the form.
fn render_fields(texts: &Texts, query: &ListQuery) -> Markup {
    let address = &query.address;
    let field = |name: &'static str| Field {
        name,
        label: texts.get(filter_label(name)),
        value: address.get(name),
        error: query.has_mistake(name).then(|| texts.get("payments.invalid")),
        max_length: Some(255),
        ..Field::default()
    };
    let types: Vec<(&str, String)> =
        PaymentType::ALL.iter().map(|it| (it.code(), type_text(texts, it.code()))).collect();
    let any = texts.get("payments.any");
    let types: Vec<_> =
        std::iter::once(("", any)).chain(types.iter().map(|(code, text)| (*code, text.as_str()))).collect();
    let brands = list_brands(&query.entities);
    let brands: Vec<_> =
        std::iter::once(("", any)).chain(brands.iter().map(|(code, name)| (*code, name.as_str()))).collect();
    let risks: Vec<(&str, String)> = RiskOutcome::ALL
        .iter()
        .map(|it| (it.as_str(), texts.get(&format!("risk.{}", it.as_str())).to_owned()))
        .collect();
    let risks: Vec<_> =
        std::iter::once(("", any)).chain(risks.iter().map(|(name, text)| (*name, text.as_str()))).collect();
    let zone = query.zone.iana_name().unwrap_or("UTC");
    html! {
        @for name in ["state"] { @if !address.get(name).is_empty() { input type="hidden" name=(name) value=(address.get(name)); } }
        (field("last4").input("text"))
        (field("reference").input("text"))
        (field("registration").input("text"))
        (field("mail").input("text"))
        (Field { input_mode: Some("decimal"), ..field("min") }.input("text"))
        (Field { input_mode: Some("decimal"), ..field("max") }.input("text"))
        (field("brand").select(&brands))
        (field("type").select(&types))
        (field("risk").select(&risks))
        (field("schedule").input("text"))
        (field("from").input("date"))
        (field("to").input("date"))
        (Field { value: zone, ..field("zone") }.input("text"))
        (field("channel").input("text"))
        (render_choice(texts, query))
    }
}

/// Lists all brands with their names: first those that the channels name as theirs, and cards before other brands.
/// Brands with the same name have their codes as well.
fn list_brands(entities: &[Arc<Entity>]) -> Vec<(&'static str, String)> {
    let used: HashSet<&str> =
        entities.iter().flat_map(|entity| &entity.settings.channel.brands).map(String::as_str).collect();
    let mut brands: Vec<&Brand> = Brand::all().iter().collect();
    let is_card = |brand: &Brand| Brand::find_card(brand.code).is_some();
    brands.sort_by_key(|brand| (!used.contains(brand.code), !is_card(brand), brand.name.to_lowercase()));
    let is_unique = |name: &str| Brand::all().iter().filter(|brand| brand.name == name).count() == 1;
    let name = |brand: &Brand| match is_unique(brand.name) {
        true => brand.name.to_owned(),
        false => format!("{} ({})", brand.name, brand.code),
    };
    brands.iter().map(|brand| (brand.code, name(brand))).collect()
}

/// Renders the table. On narrow screens the time is below the amount.
fn render_table(texts: &Texts, query: &ListQuery, rows: &[ListRow]) -> Markup {
    let chosen = query.shown_columns();
    let columns = std::iter::once(Column::number(texts.get("payments.amount")));
    let columns = columns.chain(chosen.iter().map(|column| column.header(texts))).collect();
    let cells = |row: &ListRow| {
        let time = texts.date_time(&row.created.to_zoned(query.zone.clone()));
        let amount = html! {
            a href={ (BASE) "/payments/" (row.id) } { (texts.amount(&row.amount)) " " (row.currency) }
            span.under { (time) }
        };
        std::iter::once(amount).chain(chosen.iter().map(|column| column.render_cell(texts, query, row))).collect()
    };
    let rows = rows.iter().map(cells).collect();
    Table { caption: texts.get("payments.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Renders the end of the page: what it shows, and the way to older payments.
fn render_pages(texts: &Texts, query: &ListQuery, page: &ListPage) -> Markup {
    let count = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
    let oldest = page.before.as_ref().and_then(|id| id.creation_time());
    html! {
        div.pages {
            span {
                @if page.is_cut {
                    @let day = oldest.map(|time| texts.date_time(&time.to_zoned(query.zone.clone()))).unwrap_or_default();
                    (texts.fill("payments.cut", &[("count", &texts.number(count)), ("time", &day)]))
                } @else {
                    (texts.fill("payments.count", &[("count", &texts.number(count))]))
                }
                " · " (query.zone.iana_name().unwrap_or("UTC"))
            }
            div {
                @if query.is_continued() {
                    a.button href=(query.address.with(&[]).format()) { (texts.get("payments.newest")) }
                }
                @if let Some(before) = &page.before {
                    a.button href=(query.older(before)) rel="next" {
                        (texts.get(if page.is_cut { "payments.search_on" } else { "payments.older" }))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brands_have_different_names_and_cards_come_first() {
        let brands = list_brands(&[]);
        let names: HashSet<&str> = brands.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names.len(), brands.len());
        let card = |(code, _): &(&str, String)| Brand::find_card(code).is_some();
        assert!(brands.is_sorted_by_key(|brand| !card(brand)) && brands.len() == Brand::all().len());
    }
}
