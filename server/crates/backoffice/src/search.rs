//! Search in the head of every page: one field for an id, a reference, the last four digits of a card, an e-mail
//! address, an amount or a day. An id, or the short one of a statement, opens its page; everything else leads to the
//! list with the filter.

use std::sync::Arc;

use axum::Router;
use axum::extract::Query;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use jiff::civil::Date;
use serde::Deserialize;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::{PaymentId, RegistrationId, ScheduleId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_gateway::{App, Failure};
use tillgate_store::Cancellation;

use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::list_address::ListAddress;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::{begin_address, parse_amount};
use crate::{BASE, OfficeState};

/// The searched text.
#[derive(Deserialize)]
struct SearchText {
    #[serde(default)]
    q: String,
}

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[row("GET", "/search", Need::Permission(Permission::ViewPayments))];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new().route("/search", get(find))
}

/// Handles `GET /search`.
async fn find(office: Office, Query(text): Query<SearchText>) -> Response {
    let text = text.q.trim();
    if let Some(id) = PaymentId::parse(text) {
        match is_known(&office, id.clone()).await {
            Ok(true) => return Redirect::to(&format!("{BASE}/payments/{}", id.as_str())).into_response(),
            Ok(false) => {}
            Err(failure) => return office.show_failure(&failure),
        }
    }
    if let (Some(registration), Some(schedule)) = (RegistrationId::parse(text), ScheduleId::parse(text)) {
        match find_of_customer(&office, registration, schedule).await {
            Ok(Some(path)) => return Redirect::to(&format!("{BASE}/customers/{path}")).into_response(),
            // It may still be a reference of the merchant.
            Ok(None) => {}
            Err(failure) => return office.show_failure(&failure),
        }
    }
    match find_short_id(&office, text).await {
        Ok(Some(id)) => Redirect::to(&format!("{BASE}/payments/{id}")).into_response(),
        Ok(None) => Redirect::to(&choose_filter(text).format()).into_response(),
        Err(failure) => office.show_failure(&failure),
    }
}

/// Returns the only payment of the user's entities with a short id, as statements of shoppers and titles of pages have
/// it. `None` if there is none or several.
async fn find_short_id(office: &Office, text: &str) -> Result<Option<PaymentId>, Failure> {
    let (entities, text) = (collect_ids(&office.entities_with(Permission::ViewPayments)), text.to_owned());
    let range = PaymentRange::all_time();
    let read = move |app: &App, cancelled: &Cancellation<'_>| {
        app.gateway.find_by_short_id(&entities, &text, &range, cancelled)
    };
    Ok(<[Payment; 1]>::try_from(office.read(read).await?).ok().map(|[payment]| payment.id))
}

/// Returns true if one of the entities has the payment. The read is a query for each entity, so it runs on a thread for
/// long reads and delays no payment.
async fn is_known(office: &Office, id: PaymentId) -> Result<bool, Failure> {
    let entities = collect_ids(&office.entities_with(Permission::ViewPayments));
    office.read(move |app, _| Ok(app.gateway.store.load_payment_of_any(&entities, &id)?.is_some())).await
}

/// Returns the path of the registration or schedule of one of the user's entities. The id of a schedule may be that of
/// any request of its chain.
async fn find_of_customer(
    office: &Office,
    registration: RegistrationId,
    schedule: ScheduleId,
) -> Result<Option<String>, Failure> {
    let entities = collect_ids(&office.entities_with(Permission::ViewCustomers));
    let read = move |app: &App, _: &Cancellation<'_>| {
        let store = &app.gateway.store;
        if store.load_registration_with_account(&entities, &registration)?.is_some() {
            return Ok(Some(format!("registrations/{registration}")));
        }
        let found = store.load_schedule_of_step(&schedule)?.filter(|found| entities.contains(&found.entity));
        Ok(found.map(|found| format!("schedules/{}", found.id)))
    };
    office.read(read).await
}

/// Chooses the filter for a text by its form.
fn choose_filter(text: &str) -> ListAddress {
    let list = begin_address();
    if text.is_empty() {
        list
    } else if text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        list.with(&[("last4", text)])
    } else if text.contains('@') {
        list.with(&[("mail", text)])
    } else if text.parse::<Date>().is_ok() {
        list.with(&[("from", text), ("to", text)])
    } else if text.contains(['.', ',']) && parse_amount(text).is_some() {
        list.with(&[("min", text), ("max", text)])
    } else {
        list.with(&[("reference", text)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_text_decides_the_filter() {
        for (text, address) in [
            ("0000", "/backoffice/payments?last4=0000"),
            ("Jane@x.example", "/backoffice/payments?mail=Jane%40x.example"),
            ("2026-11-27", "/backoffice/payments?from=2026-11-27&to=2026-11-27"),
            ("92,50", "/backoffice/payments?min=92%2C50&max=92%2C50"),
            ("Order 1&2", "/backoffice/payments?reference=Order+1%262"),
            ("12345", "/backoffice/payments?reference=12345"),
            ("", "/backoffice/payments"),
        ] {
            assert_eq!(choose_filter(text).format(), address, "{text}");
        }
    }
}
