//! The shop's addresses and what happens at each of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::Shop;
use crate::catalogue::Item;
use crate::gateway::{Fields, Gateway, GatewayError, Status};
use crate::order::{Order, Orders, new_reference};
use crate::outcome::{self, Outcome};
use crate::pages::{self, Trouble};
use crate::playground;
use crate::resource_path;
use crate::view::{View, ViewQuery};

/// The one customer of the demo: she is signed in, and her address is known.
pub mod customer {
    pub const GIVEN_NAME: &str = "Jane";
    pub const SURNAME: &str = "Jones";
    pub const EMAIL: &str = "jane.jones@example.com";
    pub const STREET: &str = "Lange Reihe 12";
    pub const CITY: &str = "Hamburg";
    pub const POSTCODE: &str = "20099";
    pub const COUNTRY: &str = "DE";
}

/// The shop's one style sheet.
pub const SHEET: &str = include_str!("shop.css");
/// The shop's sign.
pub const ICON: &str = include_str!("icon.svg");

/// Most pieces in one order.
pub const MOST: u32 = 9;

/// What the simulator answers when nothing was forced; sent to take a forced outcome back.
const APPROVED: &str = "000.100.110";

pub struct App {
    pub shop: Shop,
    pub gateway: Gateway,
    orders: Orders,
    /// The stored cards of the playground, once they were asked for.
    pub stored: OnceCell<Vec<String>>,
}

pub type Shared = State<Arc<App>>;

pub fn router(shop: Shop) -> Router {
    let policy = HeaderValue::from_str(&crate::policy::content_security_policy(
        &shop.gateway_public,
        shop.gateway_fields.as_deref(),
    ))
    .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    let app = Arc::new(App { gateway: Gateway::new(&shop), shop, orders: Orders::default(), stored: OnceCell::new() });
    Router::new()
        .route("/", get(product))
        .route("/checkout", post(order))
        .route("/checkout/{order}", get(checkout))
        .route("/checkout/{order}/again", post(again))
        .route("/result/{order}", get(result))
        .route("/playground", get(playground::page))
        .route("/playground/{file}", get(playground::file))
        .route("/dev/checkout", post(playground::checkout))
        .route("/dev/status", get(playground::status))
        .route("/options.js", get(options))
        .route("/shop.css", get(async || typed("text/css; charset=utf-8", SHEET)))
        .route("/icon.svg", get(async || typed("image/svg+xml", ICON)))
        .fallback(async |Query(query): Query<ViewQuery>| pages::trouble(query.into(), Trouble::NotFound, None))
        .layer(middleware::from_fn(move |request, next: Next| {
            let policy = policy.clone();
            async move { guarded(next.run(request).await, policy) }
        }))
        .with_state(app)
}

/// Adds what every answer of the shop carries.
fn guarded(mut response: Response, policy: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin"));
    // Orders change behind their addresses, and the assets are small.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub fn typed(kind: &'static str, body: impl Into<String>) -> Response {
    let kind: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, kind)];
    (kind, body.into()).into_response()
}

async fn product(Query(query): Query<ViewQuery>) -> Response {
    pages::product(query.into()).into_response()
}

async fn options(Query(query): Query<ViewQuery>) -> Response {
    typed("text/javascript; charset=utf-8", View::from(query).options_script())
}

/// What the product page sends.
#[derive(Debug, Deserialize)]
struct Choice {
    item: String,
    quantity: String,
    #[serde(default)]
    outcome: String,
    #[serde(flatten)]
    view: ViewQuery,
}

async fn order(State(app): Shared, Form(choice): Form<Choice>) -> Response {
    let view = View::from(choice.view);
    let quantity = choice.quantity.trim().parse().ok().filter(|quantity| (1..=MOST).contains(quantity));
    let (Some(item), Some(quantity)) = (Item::find(&choice.item), quantity) else {
        return Redirect::to(&format!("/{}", view.query())).into_response();
    };
    let forced = match choice.outcome.as_str() {
        "decline" => Some("800.100.151"),
        "pending" => Some("000.200.000"),
        _ => None,
    };
    let Ok(reference) = new_reference() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let mut order = Order { reference, item, quantity, forced, checkouts: Vec::new(), paid: false };
    match app.gateway.prepare(&fields(&app.shop, &order, view)).await {
        Ok(checkout) => order.checkouts.push(checkout),
        Err(error) => return gateway_trouble(view, &error),
    }
    let address = format!("/checkout/{}{}", order.reference, view.query());
    app.orders.add(order);
    Redirect::to(&address).into_response()
}

/// Fields of a checkout for `order`. The server names the page to come back to: the gateway leads nobody by itself to an
/// address that only a browser has named.
fn fields(shop: &Shop, order: &Order, view: View) -> Fields<'static> {
    let mut fields: Fields = vec![
        ("shopperResultUrl", order.result_url(shop, view)),
        ("amount", order.total().wire()),
        ("currency", "EUR".into()),
        ("paymentType", "DB".into()),
        ("integrity", "true".into()),
        ("merchantTransactionId", order.reference.clone()),
        ("customer.givenName", customer::GIVEN_NAME.into()),
        ("customer.surname", customer::SURNAME.into()),
        ("customer.email", customer::EMAIL.into()),
        ("billing.street1", customer::STREET.into()),
        ("billing.city", customer::CITY.into()),
        ("billing.postcode", customer::POSTCODE.into()),
        ("billing.country", customer::COUNTRY.into()),
    ];
    if let Some(code) = order.forced {
        fields.push(("customParameters[forceResultCode]", code.into()));
    }
    fields
}

async fn checkout(State(app): Shared, Path(reference): Path<String>, Query(query): Query<ViewQuery>) -> Response {
    let view = View::from(query);
    let Some(order) = app.orders.find(&reference) else {
        return pages::trouble(view, Trouble::NotFound, None);
    };
    match order.current() {
        Some(_) if order.paid => Redirect::to(&format!("/result/{reference}{}", view.query())).into_response(),
        Some(current) => pages::checkout(view, &app.shop, &order, current).into_response(),
        None => pages::trouble(view, Trouble::NotFound, None),
    }
}

/// Another try: with the same checkout while the gateway keeps it open, with a new one otherwise.
async fn again(State(app): Shared, Path(reference): Path<String>, Query(query): Query<ViewQuery>) -> Response {
    let view = View::from(query);
    let Some(mut order) = app.orders.find(&reference) else {
        return pages::trouble(view, Trouble::NotFound, None);
    };
    let back = Redirect::to(&format!("/checkout/{reference}{}", view.query())).into_response();
    let Some(current) = order.current().filter(|_| !order.paid).map(|checkout| checkout.id.clone()) else {
        return back;
    };
    // A decline that the visitor asked for is over after one time: the second try is an ordinary one.
    let change = match order.forced.take() {
        Some(_) => ("customParameters[forceResultCode]", APPROVED.to_owned()),
        None => ("merchantTransactionId", reference.clone()),
    };
    let fresh = match app.gateway.reopen(&current, &vec![change]).await {
        Ok(true) => None,
        Ok(false) => match app.gateway.prepare(&fields(&app.shop, &order, view)).await {
            Ok(fresh) => Some(fresh),
            Err(error) => return gateway_trouble(view, &error),
        },
        Err(error) => return gateway_trouble(view, &error),
    };
    app.orders.change(&reference, |order| {
        order.forced = None;
        order.checkouts.extend(fresh);
    });
    back
}

/// What the browser brings back from the form.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Returned {
    id: Option<String>,
    resource_path: Option<String>,
    #[serde(flatten)]
    view: ViewQuery,
}

async fn result(State(app): Shared, Path(reference): Path<String>, Query(returned): Query<Returned>) -> Response {
    let view = View::from(returned.view);
    let Some(order) = app.orders.find(&reference) else {
        return pages::trouble(view, Trouble::NotFound, None);
    };
    let own = order.current().map(|checkout| format!("/v1/checkouts/{}/payment", checkout.id));
    let Some(path) = returned.resource_path.or(own) else {
        return pages::trouble(view, Trouble::NotFound, None);
    };
    let Some(checkout) = resource_path::checkout_id(&path).filter(|id| order.owns(id)) else {
        return pages::trouble(view, Trouble::ForeignPath, None);
    };
    if returned.id.is_some_and(|id| id != checkout) {
        return pages::trouble(view, Trouble::ForeignPath, None);
    }
    let status = match app.gateway.status(&path).await {
        Ok(status) => status,
        Err(error) => return gateway_trouble(view, &error),
    };
    let outcome = outcome::of(&status.result.code);
    if outcome == Outcome::Paid {
        if let Err(difference) = matches(&order, checkout, &status) {
            return pages::trouble(view, Trouble::Mismatch, Some(&difference));
        }
        app.orders.change(&reference, |order| order.paid = true);
    }
    pages::result(view, &order, &status, outcome).into_response()
}

/// Whether the payment that the gateway tells of is the one that was ordered; otherwise what differs.
fn matches(order: &Order, checkout: &str, status: &Status) -> Result<(), String> {
    let amount = order.total().wire();
    let comparisons = [
        ("ndc", checkout, &status.ndc, true),
        ("amount", amount.as_str(), &status.amount, true),
        ("currency", "EUR", &status.currency, true),
        ("paymentType", "DB", &status.payment_type, true),
        // Echoed by this gateway; a missing one says nothing, a different one does.
        ("merchantTransactionId", order.reference.as_str(), &status.merchant_transaction_id, false),
    ];
    for (name, wanted, got, required) in comparisons {
        match got.as_deref() {
            Some(got) if got == wanted => {}
            None if !required => {}
            got => {
                return Err(format!("{name}: expected {wanted}, got {}", got.unwrap_or("nothing")));
            }
        }
    }
    Ok(())
}

fn gateway_trouble(view: View, error: &GatewayError) -> Response {
    pages::trouble(view, Trouble::Gateway, Some(&error.to_string()))
}

#[cfg(test)]
#[path = "routes_test.rs"]
mod tests;
