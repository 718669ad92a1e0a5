//! The first page: the work that waits today, and the figures of the week.

mod figures;
mod work;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use maud::html;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::Failure;

use crate::OfficeState;
use crate::access::SignedIn;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::layout::page::{Page, Section};
use crate::layout::refusal;
use crate::layout::response::UserLanguage;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of days in the charts.
const DAYS: i64 = 14;
/// Time after which a payment without an outcome needs somebody's attention.
const UNKNOWN_AFTER: SignedDuration = SignedDuration::from_mins(2);

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[row("GET", "/", Need::SignedIn)];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new().route("/", get(show_home))
}

/// Handles `GET /`.
async fn show_home(
    State(state): State<Arc<OfficeState>>,
    UserLanguage(texts): UserLanguage,
    signed_in: SignedIn,
) -> Response {
    let entities = signed_in.entities_with(&state, Permission::ViewPayments);
    if entities.is_empty() {
        return refusal::show_missing_permission(texts, &signed_in, Permission::ViewPayments);
    }
    let zone = find_zone("", &entities);
    let today = Timestamp::now().to_zoned(zone.clone()).date();
    let first = today.checked_sub((DAYS - 1).days()).unwrap_or(today);
    let (app, ids, days_zone) = (Arc::clone(&state.app), collect_ids(&entities), zone.clone());
    let scope = work::WorkScope::new(&state, &signed_in);
    let read = move |cancelled: &tillgate_store::Cancellation<'_>| {
        let figures = app.gateway.count_daily_figures(&ids, (first, today), &days_zone, cancelled)?;
        let work = scope.load(&app, Timestamp::now() - UNKNOWN_AFTER)?;
        Ok::<_, Failure>((figures, work))
    };
    let loaded = match state.app.gateway.store.long_reads.run_read(&signed_in.user.id, read).await {
        Ok(loaded) => loaded,
        Err(error) => Err(error.into()),
    };
    let (figures, work) = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => return refusal::show_failure(texts, &signed_in, &failure),
    };
    let title = texts.get("home.title");
    let main = html! {
        div.title { h1 { (title) } p { (texts.date(&Timestamp::now().to_zoned(zone.clone()))) } }
        (work::render(texts, &zone, &work))
        (figures::render(texts, today, &figures))
    };
    Page { texts, title, section: Section::Home, user: Some(&signed_in.user.mail), search: "", main }
        .into_response(StatusCode::OK)
}
