//! `/v1/checkouts`: prepared by the merchant, submitted by the shopper's browser, read by the merchant.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use tillgate_shared::brand::{Brand, Flow};
use tillgate_shared::result::{ResultCode, codes};

use super::error::ApiError;
use super::extract::{Id, Merchant, PublicUrl};
use super::fields::Fields;
use super::kept::question;
use super::received::form_parameters;
use super::reply::{answer_at, described, ndc_of_checkout, reply, result, send};
use super::{Edge, client, registrations, simulator, view};
use crate::domain::checkout::{Checkout, Standing};
use crate::domain::idempotency::Answer;
use crate::domain::ndc::Ndc;
use crate::domain::payment::{Payment, Redirect};
use crate::gateway::Failure;
use crate::gateway::checkout::Status;
use crate::gateway::once::Once;
use crate::gateway::submit::Submitted;
use crate::store::Watched;

pub(super) async fn create(State(edge): State<Arc<Edge>>, merchant: Merchant) -> Result<Response, ApiError> {
    let integrity = merchant.parameters.get("integrity") == Some("true");
    let answer = {
        let edge = Arc::clone(&edge);
        move |checkout: &Checkout| {
            let integrity = integrity.then(|| edge.builds.current().loader_integrity.as_str());
            about(checkout, codes::CHECKOUT_CREATED, integrity, checkout.created)
        }
    };
    let once = merchant.once(answer.clone());
    let ndc = merchant.ndc;
    let checkout = edge
        .gateway
        .create_checkout(&merchant.entity, merchant.parameters, &edge.builds.current().id, once)
        .await
        .map_err(|failure| ApiError::new(failure, ndc))?;
    Ok(send(answer(&checkout)))
}

pub(super) async fn update(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let now = edge.gateway.now_of(&merchant.entity);
    let answer = move |checkout: &Checkout| about(checkout, codes::CHECKOUT_UPDATED, None, now);
    let once = merchant.once(answer);
    let checkout = edge
        .gateway
        .update_checkout(&merchant.entity, &id, merchant.parameters, once)
        .await
        .map_err(|failure| ApiError::new(failure, merchant.ndc))?;
    Ok(send(answer(&checkout)))
}

fn about(checkout: &Checkout, code: ResultCode, integrity: Option<&str>, time: Timestamp) -> Answer {
    let mut fields = Fields::default().with("result", result(code)).with("id", checkout.id.as_str());
    if let Some(integrity) = integrity {
        fields.set("integrity", integrity);
    }
    answer_at(StatusCode::OK, fields, &Ndc::of_checkout(&checkout.id), time)
}

pub(super) async fn status(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    outcome(&edge, &merchant, &id)
}

/// Pays with what the shopper has filled in before a summary page of the merchant's; the answer is the status.
pub(super) async fn confirm(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    PublicUrl(public): PublicUrl,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let once = || {
        let ndc = merchant.ndc.clone();
        merchant.once(move |payment: &Payment| {
            let standing = Standing::of_payment(payment);
            let fields = view::payment(payment).with(STANDING, standing.word());
            answer_at(view::status(payment.result), fields, &ndc, payment.created)
        })
    };
    let confirmed = edge.gateway.confirm(&merchant.entity, &id, &public, &once).await;
    confirmed.map_err(|failure| ApiError::new(failure, merchant.ndc.clone()))?;
    outcome(&edge, &merchant, &id)
}

/// What became of a checkout that is for a payment.
fn outcome(edge: &Edge, merchant: &Merchant, id: &str) -> Result<Response, ApiError> {
    let question = question(&edge.gateway.directory, &merchant.entity.id, id, std::iter::empty());
    if let Some(answer) = edge.kept.get(&question, &edge.gateway.store.changed) {
        return Ok(answer);
    }
    let ndc = merchant.ndc.clone();
    match edge.gateway.checkout_status(&merchant.entity, id) {
        Ok(Status::Attempted(payment, standing)) => {
            let fields = view::payment(&payment).with(STANDING, standing.word());
            let answer = answer_at(view::status(payment.result), fields, &ndc, payment.created);
            Ok(if standing == Standing::Paid {
                edge.kept.keep(question, answer, Watched::settled())
            } else {
                send(answer)
            })
        }
        other => without_payment(other, id, ndc),
    }
}

pub(super) async fn registration_status(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    without_payment(edge.gateway.registration_status(&merchant.entity, &id), &id, merchant.ndc)
}

/// The status of a checkout in which nobody was charged.
fn without_payment(status: Result<Status, Failure>, id: &str, ndc: Ndc) -> Result<Response, ApiError> {
    match status {
        Ok(Status::Attempted(payment, standing)) => {
            let fields = view::payment(&payment).with(STANDING, standing.word());
            Ok(send(answer_at(view::status(payment.result), fields, &ndc, payment.created)))
        }
        Ok(Status::Registered(registration, standing)) => {
            let fields = registrations::fields(&registration).with(STANDING, standing.word());
            Ok(send(answer_at(view::status(registration.result), fields, &ndc, registration.created)))
        }
        Ok(Status::Pending) => Ok(unpaid(id, codes::PENDING, codes::PENDING.description(), Standing::Open, &ndc)),
        Ok(Status::Expired) => {
            let words = "The checkout expired after 30 minutes without a payment";
            Ok(unpaid(id, codes::SESSION_TIMEOUT, words, Standing::Expired, &ndc))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// The field that tells the cases of a status apart: a decline that may be tried again from one that may not, and a
/// checkout that still waits for its shopper from one whose payment is on its way.
const STANDING: &str = "checkoutState";

/// No payment was attempted: either it may still come, or the half hour is over, which is final.
fn unpaid(id: &str, code: ResultCode, description: &str, standing: Standing, ndc: &Ndc) -> Response {
    let fields = Fields::default().with("result", described(code, description)).with("id", id);
    reply(view::status(code), fields.with(STANDING, standing.word()), ndc)
}

/// Where a checkout stands, for the form that waits while its shopper is on a brand's page in another window. A popup cannot
/// tell the form how it went: the brand's page may cut itself off from its opener (`Cross-Origin-Opener-Policy`), and then
/// looks closed. So the form asks here, every second or two, from a frame of our origin:
///
/// `{"id": "<checkout id>", "checkoutState": "PENDING", "buildNumber": …, "timestamp": …, "ndc": …}`
///
/// | `checkoutState` | Means | The form |
/// |---|---|---|
/// | `PENDING` | the payment is not decided | asks again; stays usable for another brand |
/// | `OPEN` | nothing is under way: the last attempt ended without a payment, or there was none | stays, and takes the next submit |
/// | `PAID`, `REGISTERED` | the checkout has been paid, the account stored | goes to the shop's page, as after a submit with `flow` `now` |
/// | `EXPIRED` | the half hour is over | goes to the shop's page as well; its server reads why |
///
/// The checkout's id is the capability, as it is for the submit. Nothing else is told: no brand, no result, no account.
pub(super) async fn state(State(edge): State<Arc<Edge>>, Id(id): Id) -> Result<Response, ApiError> {
    let ndc = ndc_of_checkout(&id);
    match edge.gateway.standing_for_shopper(&id) {
        Ok(standing) => {
            let fields = Fields::default().with("id", id.as_str()).with(STANDING, standing.word());
            Ok(reply(StatusCode::OK, fields, &ndc))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// The hosted form's submit. Approved and declined answer alike: the outcome is the merchant's to tell, and a stranger
/// who tries numbers learns nothing here. A brand that has a page of its own gets the shopper first.
///
/// The answer to the browser, beside the envelope:
///
/// `{"result": …, "id": "<checkout id>", "resourcePath": "/v1/checkouts/<checkout id>/payment", "flow": "popup",
/// "redirect": {"url": …, "method": "GET", "parameters": [{"name": …, "value": …}], "preconditions": []}}`
///
/// - `flow` says where `redirect` leads, and in which window. `now`: to the shop's page, for the attempt has ended, well or
///   not; `url` is null where the merchant has not set `shopperResultUrl`, and the form then takes its own. `redirect`: to the
///   brand's page, in place of the shop's. `popup`: to the brand's page, in a window of its own; the shop's page stays, asks
///   [`state`], and goes on from there. `inline`: as `popup`, in a frame of the form; only where the form has asked for it
///   (`inlineFlow=true`) and the page lets itself be framed.
/// - `method` is `GET` (the parameters are added to the address's query) or `POST` (a form with the parameters as its fields
///   is sent there).
/// - The `flow` of a brand stands in the frame document's configuration too (`brands.PAYPAL.flow`), where the form looks before
///   it sends anything: a popup has to be opened in the click itself.
/// - `saved` stands where a form with `useSummaryPage=true` was kept and nobody charged: there is no `redirect` then, and
///   `saved` tells the page what a summary shows, `{"paymentBrand": "VISA", "card": {"last4Digits": "0000", …}}`.
/// - `threeDSecure` stands where the page is for the authentication of a cardholder: `{"version": "2.2.0"}`. Its `flow` is
///   `inline` where the form has asked for it, else `redirect`; each of `preconditions` is loaded in a hidden frame first.
/// - The same brand again while its payment is pending gets the same page again.
pub(super) async fn submit(State(edge): State<Arc<Edge>>, Id(id): Id, request: Request) -> Result<Response, ApiError> {
    submitted(&edge, &id, false, request).await
}

/// The submit of a tokenisation form.
pub(super) async fn register(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    request: Request,
) -> Result<Response, ApiError> {
    submitted(&edge, &id, true, request).await
}

async fn submitted(edge: &Arc<Edge>, id: &str, registration: bool, request: Request) -> Result<Response, ApiError> {
    let ndc = ndc_of_checkout(id);
    let (parts, body) = request.into_parts();
    let (shopper, public_url) = (client::address(edge, &parts), client::public_url(edge, &parts));
    let headers = parts.headers.clone();
    let mut form = match form_parameters(Request::from_parts(parts, body)).await {
        Ok(form) => form,
        Err(failure) => return Err(ApiError::new(failure, ndc)),
    };
    client::tell_browser(&headers, &mut form);
    let inline = form.get("inlineFlow") == Some("true");
    if !registration && form.get("useSummaryPage") == Some("true") {
        let summary = edge.gateway.save(id, form, shopper).map_err(|failure| ApiError::new(failure, ndc.clone()))?;
        let mut saved = Fields::default().with("paymentBrand", summary.brand);
        view::recognised(&mut saved, &summary.account);
        let fields = Fields::default().with("result", result(codes::REQUEST_SUCCEEDED)).with("id", id);
        return Ok(reply(StatusCode::OK, fields.with("flow", "saved").with("saved", saved), &ndc));
    }
    let outcome = edge.gateway.submit(id, registration, form, shopper, &public_url, &Once::unnamed).await;
    let Submitted { checkout, pending } = match outcome {
        Ok(submitted) => submitted,
        Err(failure) => return Err(ApiError::new(failure, ndc)),
    };
    let path = checkout.resource_path();
    let page = pending.as_ref().and_then(|payment| Some((payment.redirect.as_ref()?, flow(payment))));
    let inside = page.filter(|(page, _)| inline && page.page.is_some()).map(|(page, _)| {
        let parameters = [&page.parameters[..], &[(simulator::INLINE.to_owned(), "true".to_owned())]].concat();
        Redirect { parameters, ..page.clone() }
    });
    let (code, flow, redirect) = match (&inside, page) {
        (Some(page), _) => (codes::PENDING, "inline", view::redirect(page)),
        (None, Some((page, flow))) => (codes::PENDING, flow.as_str(), view::redirect(page)),
        (None, None) => (codes::REQUEST_SUCCEEDED, Flow::Now.as_str(), view::way_back(&checkout, &path)),
    };
    let mut fields = Fields::default()
        .with("result", result(code))
        .with("id", checkout.id.as_str())
        .with("resourcePath", path.as_str())
        .with("flow", flow);
    if let Some(authentication) = pending.as_ref().and_then(Payment::authentication) {
        fields.set("threeDSecure", Fields::default().with("version", authentication.version.as_str()));
    }
    Ok(reply(StatusCode::OK, fields.with("redirect", redirect), &ndc))
}

/// In which window the shopper visits the page of a pending payment.
fn flow(payment: &Payment) -> Flow {
    match Brand::find(&payment.brand) {
        // A card itself answers at once; its issuer asks the shopper on a page.
        Some(brand) if payment.authentication().is_none() => brand.flow,
        _ => Flow::Redirect,
    }
}
