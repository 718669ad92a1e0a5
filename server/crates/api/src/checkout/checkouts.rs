//! `/v1/checkouts`: the merchant creates a checkout, the shopper's browser submits it, and the merchant reads its
//! status.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use tillgate_domain::address::add_parameters;
use tillgate_domain::checkout::{Checkout, CheckoutStatus};
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::decline_advice::DeclineAdvice;
use tillgate_domain::payment::{Payment, Redirect};
use tillgate_gateway::Failure;
use tillgate_gateway::checkout::StatusReport;
use tillgate_gateway::checkout::submit::SubmitResult;
use tillgate_gateway::payment::response_recorder::ResponseRecorder;
use tillgate_shared::brand::{Brand, Flow};
use tillgate_shared::result::{ResultCode, codes};
use tillgate_store::CacheStamp;
use tillgate_wire::ResultFields;
use tillgate_wire::checkout::{
    CheckoutFields, CheckoutStateFields, PaymentAttemptFields, RegistrationAttemptFields, SubmittedFields,
    ThreeDsPageFields, UnpaidCheckoutFields,
};
use tillgate_wire::payment::{RedirectFields, ShopperAccountFields};

use crate::app_state::AppState;
use crate::client;
use crate::extract::{MerchantRequest, PathId, PublicUrl};
use crate::merchant_response::{ApiResult, respond_to_shopper};
use crate::payment::page::INLINE;
use crate::payment::response_cache::cache_key;
use crate::received::read_form_parameters;
use crate::response::{build_response, build_response_at, encode_response, http_status, into_http_response};

/// Handles `POST /v1/checkouts`: creates a checkout that is pinned to the current build of the form. With
/// `integrity=true` the response has the hash of that build's loader.
pub(crate) async fn create(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    let integrity = merchant.parameters.get("integrity") == Some("true");
    let encode = {
        let state = Arc::clone(&state);
        move |checkout: &Checkout, _: &Ndc| {
            let integrity = integrity.then(|| state.builds.current_build().loader_integrity.as_str());
            encode_checkout(checkout, codes::CHECKOUT_CREATED, integrity, checkout.created)
        }
    };
    merchant
        .respond_recorded(encode, async |MerchantRequest { entity, parameters, scopes, .. }, recorder| {
            let build = &state.builds.current_build().id;
            state.gateway.create_checkout(&entity, parameters, build, scopes, recorder).await
        })
        .await
}

/// Handles `POST /v1/checkouts/{id}`: replaces and adds parameters of an open checkout.
pub(crate) async fn update(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    let now = state.gateway.now_of(&merchant.entity);
    let encode = move |checkout: &Checkout, _: &Ndc| encode_checkout(checkout, codes::CHECKOUT_UPDATED, None, now);
    merchant
        .respond_recorded(encode, async |MerchantRequest { entity, parameters, scopes, .. }, recorder| {
            state.gateway.update_checkout(&entity, &id, parameters, scopes, recorder).await
        })
        .await
}

/// Builds the response about a created or updated checkout: its id, `code` as the result, and `integrity` if there is
/// one. The timestamp is `time`.
fn encode_checkout(checkout: &Checkout, code: ResultCode, integrity: Option<&str>, time: Timestamp) -> EncodedResponse {
    let fields = CheckoutFields::new(checkout, code, integrity);
    encode_response(StatusCode::OK, fields, &Ndc::from_checkout(&checkout.id), time)
}

/// Handles `GET /v1/checkouts/{id}/payment`: responds with the status of a checkout for its merchant.
pub(crate) async fn read_status(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant.respond(async |merchant| build_payment_status(&state, &merchant, &id)).await
}

/// Handles `POST /v1/checkouts/{id}/confirm`: pays with the data that the shopper entered before the merchant's summary
/// page, and responds with the checkout's status. A paid checkout is not charged again.
pub(crate) async fn confirm_payment(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    PublicUrl(public): PublicUrl,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let create_recorder = || {
                merchant.response_recorder(|payment: &Payment, ndc| {
                    encode_attempt(payment, CheckoutStatus::from_payment(payment), ndc)
                })
            };
            let MerchantRequest { entity, scopes, .. } = &merchant;
            state.gateway.confirm_checkout(entity, &id, *scopes, &public, &create_recorder).await?;
            build_payment_status(&state, &merchant, &id)
        })
        .await
}

/// Builds the response with a checkout's last payment attempt.
fn encode_attempt(payment: &Payment, checkout_status: CheckoutStatus, ndc: &Ndc) -> EncodedResponse {
    let fields = PaymentAttemptFields::new(payment, checkout_status);
    encode_response(http_status(payment.result), fields, ndc, payment.created)
}

/// Builds the response with the status of a checkout, from the cache if possible. Only the status of a paid checkout is
/// cached, because it is final.
fn build_payment_status(state: &AppState, merchant: &MerchantRequest, id: &str) -> Result<Response, Failure> {
    let key = cache_key(&state.gateway.directory, &merchant.entity.id, id, std::iter::empty());
    if let Some(response) = state.response_cache.get(&key, &state.gateway.store.change_log) {
        return Ok(response);
    }
    match state.gateway.checkout_status(&merchant.entity, id)? {
        StatusReport::Attempted(payment, status @ CheckoutStatus::Paid) => {
            let response = encode_attempt(&payment, status, &merchant.ndc);
            Ok(state.response_cache.store_and_respond(key, response, CacheStamp::for_final_data()))
        }
        other => Ok(build_status_response(&other, id, &merchant.ndc)),
    }
}

/// Handles `GET /v1/checkouts/{id}/registration`: the status of a tokenisation checkout. 404 if the checkout is for a
/// payment.
pub(crate) async fn read_registration_status(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let report = state.gateway.registration_status(&merchant.entity, &id)?;
            Ok(build_status_response(&report, &id, &merchant.ndc))
        })
        .await
}

/// Builds the response of a status: the last payment attempt, the registration, or without either, that the checkout is
/// open or has expired.
fn build_status_response(report: &StatusReport, id: &str, ndc: &Ndc) -> Response {
    match report {
        StatusReport::Attempted(payment, status) => into_http_response(encode_attempt(payment, *status, ndc)),
        StatusReport::Registered(registration, status) => {
            let fields = RegistrationAttemptFields::new(registration, *status);
            build_response_at(http_status(registration.result), fields, ndc, registration.created)
        }
        StatusReport::Pending => {
            unpaid_response(id, codes::PENDING, codes::PENDING.description(), CheckoutStatus::Open, ndc)
        }
        StatusReport::Expired => {
            let description = "The checkout expired after 30 minutes without a payment";
            unpaid_response(id, codes::SESSION_TIMEOUT, description, CheckoutStatus::Expired, ndc)
        }
    }
}

/// Builds the status of a checkout without a payment attempt: either it may still be paid, or its 30 minutes have
/// passed, which is final. The timestamp is the current time.
fn unpaid_response(
    id: &str,
    code: ResultCode,
    description: &str,
    checkout_status: CheckoutStatus,
    ndc: &Ndc,
) -> Response {
    let result = ResultFields::with_description(code, description);
    build_response(http_status(code), UnpaidCheckoutFields::new(result, id, checkout_status), ndc)
}

/// Returns the state of a checkout to the form, or 404 for an unknown one. The form polls it while its shopper is on a
/// brand's page in another window. A popup cannot report the outcome to the form: the brand's page may sever its link
/// to its opener (`Cross-Origin-Opener-Policy`), and then looks closed. So the form polls this address every second or
/// two, from a frame of our origin:
///
/// `{"id": "<checkout id>", "checkoutState": "PENDING", "buildNumber": …, "timestamp": …, "ndc": …}`
///
/// | `checkoutState` | Meaning | Action of the form |
/// |---|---|---|
/// | `PENDING` | the payment is not decided | polls again; stays usable for another brand |
/// | `LEFT` | as `PENDING`, and the shopper has left a simulated page | as `OPEN` if the window looks closed |
/// | `OPEN` | no payment is pending; the last attempt ended without one | stays, and accepts the next submit |
/// | `PAID`, `REGISTERED` | the checkout has been paid, the account stored | redirects, as for `flow` `now` |
/// | `EXPIRED` | 30 minutes have passed | redirects to the shop's page too; its server reads the reason |
///
/// `OPEN` is also the state of a checkout without any attempt. A payment that is held for review is `PAID` here: the
/// shopper goes on, and does not learn of the review.
///
/// The checkout's id is the capability, as it is for the submit. The response contains no brand, result or account.
pub(crate) async fn read_state(State(state): State<Arc<AppState>>, PathId(id): PathId) -> ApiResult {
    respond_to_shopper(&id, async |ndc| {
        let checkout_status = state.gateway.status_for_shopper(&id)?;
        Ok(build_response(StatusCode::OK, CheckoutStateFields::new(&id, checkout_status), &ndc))
    })
    .await
}

/// Handles the submit of the hosted form. The response is the same for approved and declined payments, so that card
/// numbers cannot be tested here, unless the form asks to stay after a decline (`retryInPlace=true`) and the merchant
/// does not forbid it (`entity set --hide-declines`). The limits of attempts hold for both. A brand with a page of its
/// own redirects the shopper first.
///
/// The response to the browser, without the envelope:
///
/// `{"result": …, "id": "<checkout id>", "resourcePath": "/v1/checkouts/<checkout id>/payment", "flow": "popup",
/// "redirect": {"url": …, "method": "GET", "parameters": [{"name": …, "value": …}], "preconditions": []}}`
///
/// - `flow` says where `redirect` leads, and in which window. `now`: to the shop's page, because the attempt has ended,
///   successfully or not; `url` is null if the merchant has not set `shopperResultUrl`, and the form then uses its own.
///   `redirect`: to the brand's page, in place of the shop's. `popup`: to the brand's page, in its own window; the
///   shop's page stays, polls [`read_state`], and continues from there. `inline`: as `popup`, in a frame of the form;
///   only if the form has requested it (`inlineFlow=true`) and the page allows framing.
/// - `method` is `GET` (the parameters are added to the address's query) or `POST` (a form with the parameters as its
///   fields is sent there).
/// - The `flow` of a brand is also in the frame document's configuration (`brands.PAYPAL.flow`). The form reads it
///   there before it submits, because a popup has to be opened in the click itself.
/// - `flow` is `retry`, without `redirect`, if the form has asked to stay and the payment was declined. `advice` names
///   the next step that may help the shopper ([`DeclineAdvice`]). Before a challenge it only says that the form may
///   stay.
/// - `saved` is present if a form with `useSummaryPage=true` was saved and nobody was charged. There is no `redirect`
///   then. `saved` holds what a summary page shows: `{"paymentBrand": "VISA", "card": {"last4Digits": "0000", …}}`.
/// - `threeDSecure` is present if the page is for 3-D Secure: `{"version": "2.2.0"}`. Its `flow` is `inline` if the
///   form has requested it, else `redirect`. Each of `preconditions` is loaded in a hidden frame first.
/// - `ignored` is present in a sandbox only: the names of parameters that a browser may not set and that had no effect.
///   The form writes them on the console.
/// - A second submit with the same brand while its payment is pending returns the same page.
pub(crate) async fn submit_payment(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    request: Request,
) -> ApiResult {
    respond_to_shopper(&id, async |ndc| handle_submit(&state, &id, false, request, &ndc).await).await
}

/// Handles the submit of a tokenisation form, which stores an account and charges nobody. The response is that of
/// [`submit_payment`].
pub(crate) async fn submit_registration(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    request: Request,
) -> ApiResult {
    respond_to_shopper(&id, async |ndc| handle_submit(&state, &id, true, request, &ndc).await).await
}

/// Saves the form if it is for a summary page, otherwise pays or registers with it, and responds as [`submit_payment`]
/// describes. A refusal, such as a wrong parameter, is an error; a declined payment is not.
async fn handle_submit(
    state: &Arc<AppState>,
    id: &str,
    registration: bool,
    request: Request,
    ndc: &Ndc,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let (shopper, public_url) = (client::resolve_address(state, &parts), client::public_url(state, &parts));
    let headers = parts.headers.clone();
    let mut form = read_form_parameters(Request::from_parts(parts, body)).await?;
    let ignored = state.gateway.list_ignored_names(id, &form);
    client::add_browser_fields(&headers, &mut form);
    let inline = form.get("inlineFlow") == Some("true");
    let stays = form.get("retryInPlace") == Some("true");
    if !registration && form.get("useSummaryPage") == Some("true") {
        let summary = state.gateway.save_form(id, form, shopper)?;
        let fields = SubmittedFields {
            result: ResultFields::success(),
            id,
            resource_path: None,
            flow: "saved",
            three_ds: None,
            advice: None,
            redirect: None,
            saved: Some(ShopperAccountFields::new(summary.brand, &summary.account)),
            ignored,
        };
        return Ok(build_response(StatusCode::OK, fields, ndc));
    }
    let disabled = &ResponseRecorder::disabled;
    let SubmitResult { checkout, pending } =
        state.gateway.submit_form(id, registration, form, shopper, &public_url, disabled).await?;
    let path = checkout.resource_path();
    let decline = if stays { state.gateway.decline_advice(id)? } else { None };
    let page = pending.as_ref().and_then(|payment| Some((payment.page_to_visit()?, redirect_flow(payment))));
    let inline_page = page.filter(|(page, _)| inline && page.is_gateway_page()).map(|(page, _)| to_inline_page(page));
    let (code, flow, redirect) = match (&inline_page, page) {
        (Some(page), _) => (codes::PENDING, "inline", Some(RedirectFields::from(page))),
        (None, Some((page, flow))) => (codes::PENDING, flow.as_str(), Some(RedirectFields::from(page))),
        (None, None) if decline.is_some() && pending.is_none() => (codes::REQUEST_SUCCEEDED, "retry", None),
        (None, None) => (codes::REQUEST_SUCCEEDED, Flow::Now.as_str(), Some(RedirectFields::to_shop(&checkout, &path))),
    };
    let authentication = page.and_then(|(page, _)| page.authentication.as_ref());
    let fields = SubmittedFields {
        result: code.into(),
        id: checkout.id.as_str(),
        resource_path: Some(&path),
        flow,
        three_ds: authentication.map(|authentication| ThreeDsPageFields { version: authentication.version.as_str() }),
        advice: decline.filter(|_| flow == "retry" || authentication.is_some()).map(DeclineAdvice::as_str),
        redirect,
        saved: None,
        ignored,
    };
    Ok(build_response(StatusCode::OK, fields, ndc))
}

/// Returns one of our pages as it is shown in a frame of the form. The parameter for that is in the query of a page
/// that is posted to, because our pages do not read the fields that a page of another origin posts.
fn to_inline_page(page: &Redirect) -> Redirect {
    if page.method == "POST" {
        return Redirect { url: add_parameters(&page.url, &[(INLINE, "true")]), ..page.clone() };
    }
    let parameters = [&page.parameters[..], &[(INLINE.to_owned(), "true".to_owned())]].concat();
    Redirect { parameters, ..page.clone() }
}

/// Returns the window in which the shopper visits the page of a pending payment: that of its brand, and a redirect for
/// 3-D Secure and for an unknown brand.
fn redirect_flow(payment: &Payment) -> Flow {
    match Brand::find(&payment.brand) {
        // A card's own flow needs no page; only its issuer's 3-D Secure page is a redirect.
        Some(brand) if payment.three_ds_session().is_none() => brand.flow,
        _ => Flow::Redirect,
    }
}
