//! The list of disputes: the open ones by their deadline, and the others by their age.

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::dispute::Dispute;
use tillgate_gateway::dispute::user_act::DisputePage;
use tillgate_store::dispute::list::{DisputePlace, DisputeView};

use super::areas::render_areas;
use super::{money_text, render_list_end, render_turn, stage_badge};
use crate::BASE;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::result::result_text;
use crate::components::table::{Column, Shown, Table, empty};
use crate::components::time::time;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of disputes on a page.
const PAGE_SIZE: usize = 25;
/// Name of the part of the list in the address.
const VIEW: &str = "view";

/// Handles `GET /money/disputes`.
pub(super) async fn show_disputes(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read("/money/disputes", &[VIEW], query.as_deref().unwrap_or_default());
    let view = DisputeView::parse(address.get(VIEW)).unwrap_or(DisputeView::Open);
    let after = match address.find(BEFORE).map(DisputePlace::parse) {
        Some(None) => return office.show_unknown(),
        place => place.flatten(),
    };
    let entities = collect_ids(&office.entities_with(Permission::ViewMoney));
    let read = office.read(move |app, _| app.gateway.list_dispute_view(&entities, (view, after.as_ref()), PAGE_SIZE));
    let page = match read.await {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("disputes.title");
    let main = html! {
        div.title { h1 { (title) } }
        div.card {
            div.filter {
                div.line { (render_areas(texts, "/money/disputes")) (render_views(texts, &address, view)) }
            }
            @if page.disputes.is_empty() {
                @if view == DisputeView::Open {
                    (empty(texts.get("disputes.none_open"), texts.get("disputes.none_open_advice")))
                } @else {
                    (empty(texts.get("disputes.none"), texts.get("disputes.none_advice")))
                }
            } @else {
                (render_table(&office, &page))
            }
            (render_pages(texts, &address, &page))
        }
    };
    office.show_page(Section::Money, title, main)
}

/// Renders the links to the parts of the list.
fn render_views(texts: &Texts, address: &ListAddress, current: DisputeView) -> Markup {
    let link = |view: DisputeView| FilterLink {
        text: texts.get(&format!("disputes.{}", view.as_str())).to_owned(),
        address: address.with(&[(VIEW, view.as_str())]).format(),
        is_current: view == current,
    };
    tabs(texts.get("disputes.view"), &DisputeView::ALL.map(link))
}

fn render_table(office: &Office, page: &DisputePage) -> Markup {
    let texts = office.texts;
    let entities = office.entities_with(Permission::ViewMoney);
    let has_channels = entities.len() > 1;
    let mut columns = vec![
        Column::number(texts.get("payments.amount")),
        Column::new(texts.get("disputes.stage")),
        Column::new(texts.get("disputes.left")),
        Column::new(texts.get("dispute.reason")).from(Shown::Wide),
        Column::new(texts.get("payments.reference")).from(Shown::Medium),
    ];
    if has_channels {
        columns.push(Column::new(texts.get("payments.channel")).from(Shown::Wide));
    }
    columns.push(Column::new(texts.get("disputes.opened")).from(Shown::Medium));
    let rows = page.disputes.iter().map(|(dispute, now)| {
        let owner = entities.iter().find(|entity| entity.id == dispute.entity);
        let zone = find_zone("", owner.map_or(&[], std::slice::from_ref));
        let mut cells = render_cells(texts, dispute, &zone, *now);
        if has_channels {
            cells.push(html! { span.cut { (owner.map_or("", |owner| &owner.name)) } });
        }
        cells.push(html! { span.soft { (time(texts, &zone, dispute.opened)) } });
        cells
    });
    let rows = rows.collect();
    Table { caption: texts.get("disputes.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Renders the cells of a dispute that each list has.
fn render_cells(texts: &Texts, dispute: &Dispute, zone: &TimeZone, now: Timestamp) -> Vec<Markup> {
    vec![
        html! {
            a href={ (BASE) "/money/disputes/" (dispute.id) } { (money_text(texts, dispute.amount)) }
            span.under { (dispute.brand) }
        },
        stage_badge(texts, dispute.position.stage),
        html! {
            (render_turn(texts, dispute, now))
            @if let Some(deadline) = dispute.deadline {
                " " span.soft.small.less { (time(texts, zone, deadline)) }
            }
        },
        result_text(texts, dispute.reason),
        html! { span.cut { (dispute.merchant_transaction_id.as_deref().unwrap_or_default()) } },
    ]
}

/// Renders the end of the page: the number of disputes, and the way to more.
fn render_pages(texts: &Texts, address: &ListAddress, page: &DisputePage) -> Markup {
    let count = u64::try_from(page.disputes.len()).unwrap_or(u64::MAX);
    let next = page.next.as_ref().map(|next| address.with(&[(BEFORE, &next.to_string())]).format());
    let first = address.find(BEFORE).map(|_| address.with(&[]).format());
    render_list_end(texts, first.as_deref(), count, next.as_deref())
}
