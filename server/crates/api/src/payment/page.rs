//! Helpers shared by the pages about a pending payment: the sandbox page of a brand, and the 3-D Secure page.

use tillgate_domain::address::add_parameters;
use tillgate_domain::payment::Payment;
use tillgate_shared::result::codes;

use crate::app_state::AppState;
use crate::checkout::form::ANY_ORIGIN;
use crate::checkout::form::entity_ancestors;
use crate::html_page::NO_FRAME;

/// The parameter that requests the page for a frame of the form.
pub(crate) const INLINE: &str = "inline";

/// Returns the pages that may show a page of a payment in a frame (`frame-ancestors`): those of the merchant's origins.
/// If the merchant has configured none: the page whose form created the payment, no page if that is unknown, and any
/// page if the payment has no checkout.
pub(crate) fn payment_ancestors(state: &AppState, payment: &Payment) -> String {
    let checkout = payment.checkout.as_ref().and_then(|id| state.gateway.load_checkout(id.as_str()).ok());
    let entity = checkout.as_ref().map_or(&payment.entity, |checkout| &checkout.entity);
    let shop = payment.redirect.as_ref().and_then(|redirect| redirect.shop_origin.clone());
    match (entity_ancestors(state, entity), &payment.checkout) {
        (origins, Some(_)) if origins == ANY_ORIGIN => shop.unwrap_or_else(|| NO_FRAME.to_owned()),
        (origins, _) => origins,
    }
}

/// Returns true if a page may redirect to the shop without a click: the merchant's server must have sent the address,
/// or its operator must have configured the origin. Otherwise a link to our page could redirect anywhere. True for a
/// payment without a checkout or without a page; false if the checkout cannot be read.
pub(crate) fn allows_auto_redirect(state: &AppState, payment: &Payment) -> bool {
    let (Some(id), Some(redirect)) = (&payment.checkout, &payment.redirect) else { return true };
    let checkout = state.gateway.load_checkout(id.as_str());
    checkout.is_ok_and(|checkout| state.gateway.is_named_by_merchant(&checkout, &redirect.result_url))
}

/// Returns the address of the merchant's page with `id` and `resourcePath` for reading the outcome: of the checkout, or
/// of the payment without one. Returns `None` if the payment has no such address.
pub(crate) fn shop_return_url(payment: &Payment) -> Option<String> {
    let (id, path) = match &payment.checkout {
        Some(checkout) => (checkout.as_str(), format!("/v1/checkouts/{}/payment", checkout.as_str())),
        None => (payment.id.as_str(), format!("/v1/payments/{}", payment.id)),
    };
    let address = Some(&payment.redirect.as_ref()?.result_url).filter(|address| !address.is_empty())?;
    Some(add_parameters(address, &[("id", id), ("resourcePath", &path)]))
}

/// Returns a sentence about the state of a payment: made, given back (approved after the shopper had chosen another
/// brand), cancelled, pending, or declined.
pub(crate) fn outcome_sentence(payment: &Payment) -> &'static str {
    match payment.result {
        _ if payment.is_approved() && payment.is_abandoned() => "This payment is given back",
        _ if payment.is_approved() => "This payment is made",
        codes::CANCELLED_BY_USER => "This payment is cancelled",
        _ if payment.result.is_pending() => "This payment is being processed",
        _ => "This payment has ended without being made",
    }
}
