//! The queue of held payments, the most urgent first.

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::PaymentId;
use tillgate_gateway::Failure;
use tillgate_gateway::review::analyst_queue::{QueueItem, QueuePage, QueueView};

use super::bulk::{PATH as BULK, PAYMENT};
use super::callback::PATH as CALLBACKS;
use super::statistics::PATH as STATISTICS;
use super::{analyst_of, describe_review_state, scope_of};
use crate::BASE;
use crate::components::badge::badge;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::table::{Column, Shown, Table, empty};
use crate::components::time::time_left_badge;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;
use crate::payment::labels::{account_end, amount_text};

/// Number of payments on a page.
const PAGE_SIZE: usize = 25;

/// Part of the queue that an address names.
struct QueueAddress {
    view: QueueView,
    after: Option<PaymentId>,
}

impl QueueAddress {
    /// Reads the query of an address. Without a known part it is the one of open payments.
    fn read(query: &str) -> Self {
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        let find = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_ref());
        Self {
            view: find("view").and_then(QueueView::parse).unwrap_or(QueueView::Open),
            after: find("after").and_then(PaymentId::parse),
        }
    }
}

/// Handles `GET /reviews`.
pub(super) async fn show_queue(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = QueueAddress::read(query.as_deref().unwrap_or_default());
    let page = match load_page(&office, &address).await {
        Ok(Some(page)) => page,
        // The payment after which the page should begin is no payment of this user.
        Ok(None) => return office.show_unknown(),
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("reviews.title");
    let main = html! {
        div.title {
            h1 { (title) }
            div.actions {
                a.button href={ (BASE) (STATISTICS) } { (texts.get("statistics.title")) }
                @if office.signed_in.permissions.allows_somewhere(Permission::ViewDeliveries) {
                    a.button href={ (BASE) (CALLBACKS) } { (texts.get("callback.title")) }
                }
            }
        }
        div.card id="queue" data-live {
            div.filter { (render_views(texts, address.view)) }
            @if page.items.is_empty() && page.cursor.is_none() {
                @if address.view == QueueView::Mine {
                    (empty(texts.get("reviews.none_mine"), texts.get("reviews.none_mine_advice")))
                } @else {
                    (empty(texts.get("reviews.none"), texts.get("reviews.none_advice")))
                }
            } @else {
                (render_chosen(&office, address.view, &page.items))
            }
            (render_pages(texts, &address, &page))
        }
    };
    office.show_page(Section::Reviews, title, main)
}

async fn load_page(office: &Office, address: &QueueAddress) -> Result<Option<QueuePage>, Failure> {
    let (scope, analyst) = (scope_of(office), analyst_of(&office.signed_in.user));
    let (view, after) = (address.view, address.after.clone());
    office.read(move |app, _| app.gateway.list_queue(&scope, (view, &analyst), after, PAGE_SIZE)).await
}

/// Renders the links to the parts of the queue.
fn render_views(texts: &Texts, current: QueueView) -> Markup {
    let link = |view: QueueView| FilterLink {
        text: texts.get(&format!("reviews.{}", view.as_str())).to_owned(),
        address: queue_address(view, None),
        is_current: view == current,
    };
    tabs(texts.get("reviews.view"), &QueueView::ALL.map(link))
}

/// Returns the address of a part of the queue.
fn queue_address(view: QueueView, after: Option<&PaymentId>) -> String {
    let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
    format!("{BASE}/reviews?view={}{after}", view.as_str())
}

/// Renders the table. Of open payments several can be chosen by somebody who may decide about them.
fn render_chosen(office: &Office, view: QueueView, items: &[QueueItem]) -> Markup {
    let can_decide = items.iter().any(|item| office.allows_on(Permission::DecideReviews, &item.review.entity));
    if view == QueueView::All || !can_decide {
        return render_table(office, items, false);
    }
    html! {
        form.choice method="get" action={ (BASE) (BULK) } {
            (render_table(office, items, true))
            div.acts { button type="submit" { (office.texts.get("bulk.choose")) } }
        }
    }
}

/// Renders the checkbox that chooses a payment, for somebody who may decide about it.
fn render_checkbox(office: &Office, item: &QueueItem) -> Markup {
    let (texts, payment) = (office.texts, &item.payment);
    let label = texts.fill("bulk.label", &[("amount", &amount_text(texts, payment))]);
    html! {
        @if office.allows_on(Permission::DecideReviews, &item.review.entity) {
            input.pick type="checkbox" name=(PAYMENT) value=(payment.id) aria-label=(label);
        }
    }
}

fn render_table(office: &Office, items: &[QueueItem], has_choice: bool) -> Markup {
    let texts = office.texts;
    let entities = office.entities_with(Permission::ViewReviews);
    let has_channels = entities.len() > 1;
    let mut columns = vec![
        Column::number(texts.get("payments.amount")),
        Column::new(texts.get("reviews.left")),
        Column::new(texts.get("reviews.analyst")),
        Column::new(texts.get("payments.method")).from(Shown::Medium),
        Column::new(texts.get("reviews.rules")).from(Shown::Wide),
        Column::new(texts.get("payments.reference")).from(Shown::Wide),
        Column::new(texts.get("reviews.held_since")).from(Shown::Wide),
    ];
    if has_channels {
        columns.push(Column::new(texts.get("payments.channel")).from(Shown::Wide));
    }
    if has_choice {
        columns.push(Column::new(texts.get("bulk.column")));
    }
    let rows = items.iter().map(|item| {
        let owner = entities.iter().find(|entity| entity.id == item.review.entity);
        let mut cells = render_cells(texts, item, owner);
        if has_channels {
            cells.push(html! { span.cut { (owner.map_or("", |owner| &owner.name)) } });
        }
        if has_choice {
            cells.push(render_checkbox(office, item));
        }
        cells
    });
    let rows = rows.collect();
    Table { caption: texts.get("reviews.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Renders the cells of a review that each list has.
fn render_cells(texts: &Texts, item: &QueueItem, owner: Option<&Arc<Entity>>) -> Vec<Markup> {
    let zone = find_zone("", owner.map_or(&[], std::slice::from_ref));
    let QueueItem { review, payment, clock, .. } = item;
    let since = payment.review().and_then(|review| review.since).unwrap_or(review.since);
    let since = texts.date_time(&since.to_zoned(zone.clone()));
    let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
    let claim = review.active_claim(clock.now);
    let analyst = claim.map(|claim| &claim.analyst).or(review.decision.as_ref().map(|action| &action.analyst));
    let until = claim.map(|claim| texts.date_time(&clock.to_entity_time(claim.end()).to_zoned(zone)));
    vec![
        html! {
            a href={ (BASE) "/reviews/" (payment.id) } { (amount_text(texts, payment)) }
            span.under { (payment.brand) }
        },
        render_urgency(texts, item),
        html! {
            @if let Some(analyst) = analyst { span.cut { (analyst) } } @else if !review.has_ended {
                span.soft { (texts.get("reviews.nobody")) }
            }
            @if let Some(until) = until { span.soft.small.less { (texts.fill("reviews.claimed_until", &[("time", &until)])) } }
        },
        html! { span.nowrap { (payment.brand) @if let Some(end) = account_end(payment) { " •• " (end) } } },
        html! {
            @if let Some(decision) = decision.filter(|decision| !decision.fired.is_empty()) {
                span.cut { span.soft { (texts.get("risk.score")) " " (decision.score) " · " } (decision.fired.join(", ")) }
            }
        },
        html! { span.cut { (payment.merchant_transaction_id().unwrap_or_default()) } },
        html! { span.soft.nowrap { (since) } },
    ]
}

/// Renders the time that is left for a decision, or the state of a review that has ended.
pub(super) fn render_urgency(texts: &Texts, item: &QueueItem) -> Markup {
    let Some(deadline) = item.deadline else {
        let (tone, text) = describe_review_state(texts, item.review.state());
        return badge(tone, text);
    };
    let (since, now) = (item.clock.to_entity_time(item.review.since), item.clock.entity_now());
    time_left_badge(texts, (since, deadline), now)
}

/// Renders the end of the page: the number of payments, and the way to more.
fn render_pages(texts: &Texts, address: &QueueAddress, page: &QueuePage) -> Markup {
    let count = u64::try_from(page.items.len()).unwrap_or(u64::MAX);
    html! {
        div.pages {
            span { (texts.fill("reviews.count", &[("count", &texts.number(count))])) }
            div {
                @if address.after.is_some() {
                    a.button href=(queue_address(address.view, None)) { (texts.get("reviews.first")) }
                }
                @if let Some(cursor) = &page.cursor {
                    a.button href=(queue_address(address.view, Some(cursor))) rel="next" { (texts.get("reviews.more")) }
                }
            }
        }
    }
}
