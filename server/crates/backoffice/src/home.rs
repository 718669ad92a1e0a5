//! The first page: the work that waits today, and the figures of the week.

mod figures;
mod work;

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use maud::html;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::App;
use tillgate_store::Cancellation;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::layout::page::Section;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of days in the charts.
const DAYS: i64 = 14;
/// Time after which a payment without an outcome needs somebody's attention.
const UNKNOWN_AFTER: SignedDuration = SignedDuration::from_mins(2);

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[row("GET", "/", Need::Permission(Permission::ViewPayments))];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new().route("/", get(show_home))
}

/// Handles `GET /`.
async fn show_home(office: Office) -> Response {
    let texts = office.texts;
    let entities = office.entities_with(Permission::ViewPayments);
    let zone = find_zone("", &entities);
    let today = Timestamp::now().to_zoned(zone.clone()).date();
    let first = today.checked_sub((DAYS - 1).days()).unwrap_or(today);
    let (ids, days_zone, scope) = (collect_ids(&entities), zone.clone(), work::WorkScope::new(&office));
    // A page that reads itself again takes the open work alone, and the figures count two weeks of payments.
    let has_figures = !office.client.is_automatic;
    let read = move |app: &App, cancelled: &Cancellation<'_>| {
        let count = || app.gateway.count_daily_figures(&ids, (first, today), &days_zone, cancelled);
        let figures = has_figures.then(count).transpose()?;
        let work = scope.load(app, Timestamp::now() - UNKNOWN_AFTER)?;
        Ok((figures, work))
    };
    let (figures, work) = match office.read(read).await {
        Ok(loaded) => loaded,
        Err(failure) => return office.show_failure(&failure),
    };
    let title = texts.get("home.title");
    let main = html! {
        div.title { h1 { (title) } p { (texts.date(&Timestamp::now().to_zoned(zone.clone()))) } }
        (work::render(texts, &zone, &work))
        @if let Some(figures) = &figures { (figures::render(texts, today, figures)) }
    };
    office.show_page(Section::Home, title, main)
}
