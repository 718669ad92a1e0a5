//! The shop's addresses and their handlers.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::ShopConfig;
use crate::catalogue::Item;
use crate::customer;
use crate::gateway::{CallFields, GatewayClient, GatewayError, StatusResponse};
use crate::order::{Orders, ShopOrder, new_reference};
use crate::outcome::{self, OrderOutcome};
use crate::pages::{self, ErrorPage};
use crate::playground;
use crate::policy;
use crate::resource_path;
use crate::view::{View, ViewQuery};

/// The shop's style sheet.
pub const STYLE_SHEET: &str = include_str!("shop.css");
/// The shop's icon.
pub const ICON: &str = include_str!("icon.svg");

/// Maximum number of pieces in an order.
pub const MAX_PIECES: u32 = 9;

/// The simulator's usual result code; sent to cancel a forced outcome.
const APPROVED: &str = "000.100.110";

/// The state of the shop, shared by its handlers.
pub struct ShopState {
    /// The addresses of the shop and of its gateway.
    pub shop: ShopConfig,
    /// The client of the gateway.
    pub gateway: GatewayClient,
    /// The orders of all shoppers, with a lock of their own.
    orders: Orders,
    /// Ids of the playground's cards. The first checkout that needs the cards stores them; the cell makes others wait.
    pub stored_card_ids: OnceCell<Vec<String>>,
}

/// The state as a handler's argument.
pub type SharedState = State<Arc<ShopState>>;

/// Builds the routes of the shop, and adds its headers to every response. If the gateway's addresses do not fit into
/// the policy's header, the policy forbids everything.
pub fn build_router(shop: ShopConfig) -> Router {
    let policy = HeaderValue::from_str(&crate::policy::content_security_policy(
        &shop.gateway_public,
        shop.gateway_fields.as_deref(),
    ))
    .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    let app = Arc::new(ShopState {
        gateway: GatewayClient::new(&shop),
        shop,
        orders: Orders::default(),
        stored_card_ids: OnceCell::new(),
    });
    Router::new()
        .route("/", get(show_product))
        .route("/checkout", post(place_order))
        .route("/checkout/{order}", get(show_checkout))
        .route("/checkout/{order}/again", post(retry_checkout))
        .route("/result/{order}", get(show_result))
        .route("/playground", get(playground::show_page))
        .route("/playground/{file}", get(playground::serve_file))
        .route("/dev/checkout", post(playground::create_checkout))
        .route("/dev/status", get(playground::show_status))
        .route("/options.js", get(serve_options))
        .route("/shop.css", get(async || with_content_type("text/css; charset=utf-8", STYLE_SHEET)))
        .route("/icon.svg", get(async || with_content_type("image/svg+xml", ICON)))
        .fallback(async |Query(query): Query<ViewQuery>| pages::render_error(query.into(), ErrorPage::NotFound, None))
        .layer(middleware::from_fn(move |request, next: Next| {
            let policy = policy.clone();
            async move { add_headers(next.run(request).await, policy) }
        }))
        .with_state(app)
}

/// Adds the headers of every response of the shop: no sniffing, no caching, no paths to other sites, and policies
/// unless the response has its own: `policy`, and one by which every script needs its hash.
fn add_headers(mut response: Response, policy: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let scripts_with_hash = HeaderValue::from_static("blocked-destinations=(script)");
    headers.entry(policy::INTEGRITY_POLICY).or_insert(scripts_with_hash);
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin"));
    // Orders change behind their addresses, and the assets are small.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Makes a response with status 200.
pub fn with_content_type(content_type: &'static str, body: impl Into<String>) -> Response {
    let headers: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, content_type)];
    (headers, body.into()).into_response()
}

async fn show_product(Query(query): Query<ViewQuery>) -> Response {
    pages::render_product(query.into()).into_response()
}

/// Serves the script with the options of the form.
async fn serve_options(Query(query): Query<ViewQuery>) -> Response {
    with_content_type("text/javascript; charset=utf-8", View::from(query).options_script())
}

/// Form data of the product page.
#[derive(Debug, Deserialize)]
struct OrderForm {
    item: String,
    quantity: String,
    #[serde(default)]
    outcome: String,
    #[serde(default)]
    suspicious: String,
    #[serde(flatten)]
    view: ViewQuery,
}

/// Places an order: prepares its checkout, stores it, and redirects to its checkout page. An unknown piece or a
/// quantity that is not 1 to 9 leads back to the product page; an error of the gateway gives its page.
async fn place_order(State(app): SharedState, Form(form): Form<OrderForm>) -> Response {
    let view = View::from(form.view);
    let quantity = form.quantity.trim().parse().ok().filter(|quantity| (1..=MAX_PIECES).contains(quantity));
    let (Some(item), Some(quantity)) = (Item::find(&form.item), quantity) else {
        return Redirect::to(&format!("/{}", view.to_query())).into_response();
    };
    let forced = match form.outcome.as_str() {
        "decline" => Some("800.100.151"),
        "pending" => Some("000.200.000"),
        _ => None,
    };
    let Ok(reference) = new_reference() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let suspicious = form.suspicious == "1";
    let mut order = ShopOrder { reference, item, quantity, forced, suspicious, checkouts: Vec::new(), paid: false };
    match app.gateway.prepare_checkout(&checkout_fields(&app.shop, &order, view)).await {
        Ok(checkout) => order.checkouts.push(checkout),
        Err(error) => return gateway_error_page(view, &error),
    }
    let address = format!("/checkout/{}{}", order.reference, view.to_query());
    app.orders.add(order);
    Redirect::to(&address).into_response()
}

/// Returns the parameters of a checkout for `order`, without `entityId`. The server sends the address to return to: the
/// gateway does not redirect by itself to an address that only a browser has sent.
fn checkout_fields(shop: &ShopConfig, order: &ShopOrder, view: View) -> CallFields<'static> {
    let mut fields: CallFields = vec![
        ("shopperResultUrl", order.result_url(shop, view)),
        ("amount", order.total_price().to_amount_text()),
        ("currency", "EUR".into()),
        ("paymentType", "DB".into()),
        ("integrity", "true".into()),
        ("merchantTransactionId", order.reference.clone()),
        // The form of a direct debit shows a mandate with this reference, which has only letters and digits.
        ("bankAccount.mandate.id", order.reference.replace('-', "")),
        ("customer.givenName", customer::GIVEN_NAME.into()),
        ("customer.surname", customer::SURNAME.into()),
        ("billing.street1", customer::HOME.street.into()),
        ("billing.city", customer::HOME.city.into()),
        ("billing.postcode", customer::HOME.postcode.into()),
        ("billing.country", customer::HOME.country.into()),
    ];
    fields.extend(delivery_fields(order.suspicious));
    if let Some(code) = order.forced {
        fields.push(("customParameters[forceResultCode]", code.into()));
    }
    fields
}

/// Returns the parameters that the demo's risk rules look at: e-mail address and delivery.
fn delivery_fields(suspicious: bool) -> CallFields<'static> {
    let address = customer::delivery(suspicious);
    vec![
        ("customer.email", customer::email(suspicious).into()),
        ("shipping.street1", address.street.into()),
        ("shipping.city", address.city.into()),
        ("shipping.postcode", address.postcode.into()),
        ("shipping.country", address.country.into()),
    ]
}

/// Shows the checkout page of an order. A paid order redirects to its result; an unknown one, or one without a
/// checkout, is 404.
async fn show_checkout(
    State(app): SharedState,
    Path(reference): Path<String>,
    Query(query): Query<ViewQuery>,
) -> Response {
    let view = View::from(query);
    let Some(order) = app.orders.find(&reference) else {
        return pages::render_error(view, ErrorPage::NotFound, None);
    };
    match order.current_checkout() {
        Some(_) if order.paid => Redirect::to(&format!("/result/{reference}{}", view.to_query())).into_response(),
        Some(current) => pages::render_checkout(view, &app.shop, &order, current).into_response(),
        None => pages::render_error(view, ErrorPage::NotFound, None),
    }
}

/// Handles another try: with the same checkout while the gateway keeps it open, otherwise with a new one. A forced
/// outcome and suspicious data are dropped. Redirects to the checkout page; does nothing else for a paid order.
async fn retry_checkout(
    State(app): SharedState,
    Path(reference): Path<String>,
    Query(query): Query<ViewQuery>,
) -> Response {
    let view = View::from(query);
    let Some(mut order) = app.orders.find(&reference) else {
        return pages::render_error(view, ErrorPage::NotFound, None);
    };
    let back = Redirect::to(&format!("/checkout/{reference}{}", view.to_query())).into_response();
    let Some(current) = order.current_checkout().filter(|_| !order.paid).map(|checkout| checkout.id.clone()) else {
        return back;
    };
    // A decline that the visitor asked for happens once; the second try is an ordinary one.
    let mut changes: CallFields = vec![("merchantTransactionId", reference.clone())];
    if order.forced.take().is_some() {
        changes.push(("customParameters[forceResultCode]", APPROVED.to_owned()));
    }
    if std::mem::take(&mut order.suspicious) {
        changes.extend(delivery_fields(false));
    }
    let new_checkout = match app.gateway.update_if_open(&current, &changes).await {
        Ok(true) => None,
        Ok(false) => match app.gateway.prepare_checkout(&checkout_fields(&app.shop, &order, view)).await {
            Ok(checkout) => Some(checkout),
            Err(error) => return gateway_error_page(view, &error),
        },
        Err(error) => return gateway_error_page(view, &error),
    };
    app.orders.update(&reference, |order| {
        order.forced = None;
        order.suspicious = false;
        order.checkouts.extend(new_checkout);
    });
    back
}

/// Query parameters that the browser brings back from the form.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReturnQuery {
    id: Option<String>,
    resource_path: Option<String>,
    #[serde(flatten)]
    view: ViewQuery,
}

/// Shows the result of an order: reads the status at the path that the browser brings back, or that of the current
/// checkout. A path or id of another order is 400, and nothing is read then. A paid status that does not match the
/// order is 502; one that does marks it as paid.
async fn show_result(
    State(app): SharedState,
    Path(reference): Path<String>,
    Query(query): Query<ReturnQuery>,
) -> Response {
    let view = View::from(query.view);
    let Some(order) = app.orders.find(&reference) else {
        return pages::render_error(view, ErrorPage::NotFound, None);
    };
    let current_path = order.current_checkout().map(|checkout| format!("/v1/checkouts/{}/payment", checkout.id));
    let Some(path) = query.resource_path.or(current_path) else {
        return pages::render_error(view, ErrorPage::NotFound, None);
    };
    let Some(checkout) = resource_path::checkout_id(&path).filter(|id| order.has_checkout(id)) else {
        return pages::render_error(view, ErrorPage::ForeignPath, None);
    };
    if query.id.is_some_and(|id| id != checkout) {
        return pages::render_error(view, ErrorPage::ForeignPath, None);
    }
    let status = match app.gateway.read_status(&path).await {
        Ok(status) => status,
        Err(error) => return gateway_error_page(view, &error),
    };
    let outcome = outcome::classify_code(&status.result.code);
    if outcome == OrderOutcome::Paid {
        if let Err(difference) = check_payment(&order, checkout, &status) {
            return pages::render_error(view, ErrorPage::Mismatch, Some(&difference));
        }
        app.orders.update(&reference, |order| order.paid = true);
    }
    pages::render_result(view, &app.shop, &order, &status, outcome).into_response()
}

/// Checks that the payment in a status is the ordered one. A missing `merchantTransactionId` passes.
///
/// # Errors
/// The first difference, for people.
fn check_payment(order: &ShopOrder, checkout: &str, status: &StatusResponse) -> Result<(), String> {
    let amount = order.total_price().to_amount_text();
    let comparisons = [
        ("ndc", checkout, &status.ndc, true),
        ("amount", amount.as_str(), &status.amount, true),
        ("currency", "EUR", &status.currency, true),
        ("paymentType", "DB", &status.payment_type, true),
        // This gateway returns it, so a different value is a mismatch, while a missing one is not.
        ("merchantTransactionId", order.reference.as_str(), &status.merchant_transaction_id, false),
    ];
    for (name, expected, actual, is_required) in comparisons {
        match actual.as_deref() {
            Some(actual) if actual == expected => {}
            None if !is_required => {}
            actual => {
                return Err(format!("{name}: expected {expected}, got {}", actual.unwrap_or("nothing")));
            }
        }
    }
    Ok(())
}

/// Makes the page for an error of the gateway, with the error in small print.
fn gateway_error_page(view: View, error: &GatewayError) -> Response {
    pages::render_error(view, ErrorPage::Gateway, Some(&error.to_string()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
