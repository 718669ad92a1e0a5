//! 3D authentication: what every card of the directory and every answer of an issuer comes to, server to server and in the
//! form.

mod cards;
mod challenge;
mod exemptions;
mod form;
mod wishes;

use reqwest::{Method, Response};
use tillgate_tests::{Answer, Merchant, form};

use crate::support::*;

/// What version 2 has to know of browser and address.
pub const KNOWN: [(&str, &str); 11] = [
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

/// The code that a card of a brand has.
pub fn code(brand: &str) -> (&'static str, &'static str) {
    ("card.cvv", if brand == "AMEX" { "1234" } else { "123" })
}

/// Pays server to server with everything that an authentication needs, and `fields` added or in place.
pub async fn pay(shop: &Merchant, brand: &str, number: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let card = [("paymentBrand", brand), ("card.number", number), code(brand), BACK];
    let usual = card.iter().chain(&KNOWN).filter(|(name, _)| !fields.iter().any(|(other, _)| name == other));
    let all: Vec<_> = usual.chain(fields).copied().collect();
    shop.pay(&all).await
}

/// A text of `redirect` in an answer.
pub fn redirect<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.json["redirect"][name].as_str().unwrap_or_default()
}

pub async fn visit(shop: &Merchant, page: &str) -> anyhow::Result<(u16, String)> {
    read(shop.client.request(Method::GET, page).send().await?).await
}

/// Posts fields to a page.
pub async fn post(shop: &Merchant, page: &str, fields: &[(&str, &str)]) -> anyhow::Result<(u16, String)> {
    let request = shop.client.post(page).header("content-type", "application/x-www-form-urlencoded");
    read(request.body(form(fields.iter().copied())).send().await?).await
}

async fn read(response: Response) -> anyhow::Result<(u16, String)> {
    Ok((response.status().as_u16(), response.text().await?))
}

/// The transaction that a page binds its answer to.
pub fn transaction(page: &str) -> &str {
    let field = page.split_once(r#"name="transaction" value=""#).map_or("", |(_, rest)| rest);
    field.split('"').next().unwrap_or_default()
}

/// What the merchant reads of a payment.
pub async fn status(shop: &Merchant, payment: &str) -> anyhow::Result<Answer> {
    shop.get(&format!("v1/payments/{payment}")).await
}

/// The `threeDSecure` of an answer, as `name=value` in the order of names; identifiers by their shape.
pub fn told(answer: &Answer) -> String {
    let mut told: Vec<String> = answer.json["threeDSecure"]
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
    told.sort_unstable();
    told.join(" ")
}
