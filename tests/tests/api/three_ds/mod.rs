//! 3-D Secure: the outcome of every card of the directory and of every answer of an issuer, server to server and in the
//! form.

mod cards;
mod challenge;
mod exemptions;
mod form;
mod parameters;
mod passkey;
mod server;
mod server_attacks;

use reqwest::{Method, Response};
use tillgate_connector::three_ds::ChallengeAnswer;
use tillgate_domain::access::channel::Channel;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_gateway::registry::Registry;
use tillgate_shared::parameter::Parameters;
use tillgate_tests::{ApiResponse, MerchantClient, encode_form};

use crate::support::*;

/// The result of an authentication that the merchant has done elsewhere.
pub const DONE_ELSEWHERE: [(&str, &str); 6] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.dsTransactionId", "c75f23af-9454-43f6-ba17-130ed529507e"),
    ("threeDSecure.version", "2.1.0"),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
];
/// The browser and address data that version 2 requires.
pub const CARDHOLDER_DATA: [(&str, &str); 11] = [
    ("customer.browser.acceptHeader", "text/html"),
    ("customer.browser.language", "de-AT"),
    ("customer.browser.screenHeight", "1080"),
    ("customer.browser.screenWidth", "1920"),
    ("customer.browser.timezone", "-60"),
    ("customer.browser.userAgent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    ("customer.browser.javaEnabled", "false"),
    ("billing.street1", "Töpfergasse 7"),
    ("billing.city", "Linz"),
    ("billing.postcode", "4020"),
    ("billing.country", "AT"),
];
pub const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/back?basket=7#top");

/// Returns the answers on the page of a sandbox challenge.
pub fn challenge_answers() -> &'static [ChallengeAnswer] {
    let route = Registry::default().select_route(&Channel::default(), ProcessingMode::Internal);
    route
        .authenticator
        .map(|authenticator| authenticator.challenge_page(None, &Parameters::default(), "").answers)
        .unwrap_or_default()
}

/// Returns the parameter with a valid security code for a card of this brand.
pub fn security_code(brand: &str) -> (&'static str, &'static str) {
    ("card.cvv", if brand == "AMEX" { "1234" } else { "123" })
}

/// Pays server to server with all data that 3-D Secure needs. `fields` are added or replace the defaults. Returns any
/// response.
pub async fn pay_by_card(
    shop: &MerchantClient,
    brand: &str,
    number: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let card = [("paymentBrand", brand), ("card.number", number), security_code(brand), BACK];
    let defaults =
        card.iter().chain(&CARDHOLDER_DATA).filter(|(name, _)| !fields.iter().any(|(other, _)| name == other));
    let all: Vec<_> = defaults.chain(fields).copied().collect();
    shop.pay_by_card(&all).await
}

/// Returns a text of `redirect` in a response, or an empty string.
pub fn redirect_field<'a>(answer: &'a ApiResponse, name: &str) -> &'a str {
    answer.json["redirect"][name].as_str().unwrap_or_default()
}

/// Gets a page. Returns status and text.
pub async fn visit_page(shop: &MerchantClient, page: &str) -> anyhow::Result<(u16, String)> {
    read_page(shop.client.request(Method::GET, page).send().await?).await
}

/// Posts fields to a page. Returns status and text.
pub async fn post_to_page(shop: &MerchantClient, page: &str, fields: &[(&str, &str)]) -> anyhow::Result<(u16, String)> {
    let request = shop.client.post(page).header("content-type", "application/x-www-form-urlencoded");
    read_page(request.body(encode_form(fields.iter().copied())).send().await?).await
}

async fn read_page(response: Response) -> anyhow::Result<(u16, String)> {
    Ok((response.status().as_u16(), response.text().await?))
}

/// Returns the transaction that a challenge page binds its answer to, or an empty string.
pub fn challenge_transaction(page: &str) -> &str {
    let field = page.split_once(r#"name="transaction" value=""#).map_or("", |(_, rest)| rest);
    field.split('"').next().unwrap_or_default()
}

/// Reads a payment as its merchant.
pub async fn read_payment(shop: &MerchantClient, payment: &str) -> anyhow::Result<ApiResponse> {
    shop.get(&format!("v1/payments/{payment}")).await
}

/// Returns the `threeDSecure` object of a response as `name=value`, sorted by name, with blanks between. Valid
/// identifiers are replaced by their kind: `cavv`, `xid`, `uuid`.
pub fn three_ds_fields(answer: &ApiResponse) -> String {
    let mut fields: Vec<String> = answer.json["threeDSecure"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let value = value.as_str().unwrap_or_default();
            let shown = match name.as_str() {
                "verificationId" if value.len() == 28 && value.ends_with('=') => "cavv",
                "xid" if value.len() == 28 && value.ends_with('=') => "xid",
                "dsTransactionId" if has_shape(value, "xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx") => "uuid",
                _ => value,
            };
            format!("{name}={shown}")
        })
        .collect();
    fields.sort_unstable();
    fields.join(" ")
}
