//! A merchant's server: an entity, its token, and the API calls that merchants make.

use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder};

use crate::api_response::{ApiResponse, encode_form};
use crate::wait::poll_until;

const FORM: &str = "application/x-www-form-urlencoded; charset=UTF-8";

/// A merchant of a gateway. Create one in each test, because its connections belong to the test's runtime.
#[derive(Clone, Debug)]
pub struct MerchantClient {
    /// Base address of the gateway, with a trailing slash.
    pub base: String,
    /// Id of the entity.
    pub entity_id: String,
    /// Its access token.
    pub token: String,
    /// HTTP client, for calls that have no method here.
    pub client: Client,
    /// HTTP client of a shopper's browser. It does not follow redirects, because they lead to other hosts.
    pub browser: Client,
}

impl MerchantClient {
    /// Creates a client for this entity and token.
    pub fn new(base: String, entity_id: String, token: String) -> Self {
        Self { base, entity_id, token, client: Client::new(), browser: build_browser(HeaderMap::new()) }
    }

    /// Returns the same merchant behind a proxy that terminates TLS. The gateway has to trust this machine
    /// (`--trusted-proxy`).
    #[must_use]
    pub fn behind_proxy(self) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-proto", reqwest::header::HeaderValue::from_static("https"));
        // These options cannot fail.
        let client = Client::builder().default_headers(headers.clone()).build().unwrap_or_default();
        Self { client, browser: build_browser(headers), ..self }
    }

    /// Returns a request to `path` (without a leading slash) without any headers or entity.
    pub fn bare_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// Posts `fields` with the bearer token, and with the entity unless `fields` contains one.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        let entity = ("entityId", self.entity_id.as_str());
        let has_entity = fields.iter().any(|(name, _)| *name == "entityId");
        let body = encode_form(Some(entity).filter(|_| !has_entity).iter().chain(fields).copied());
        let request = self.bare_request(Method::POST, path).bearer_auth(&self.token);
        ApiResponse::read_from(request.header("content-type", FORM).body(body).send().await?).await
    }

    /// Posts `fields` as the hosted form does: without token and entity.
    pub async fn post_as_browser(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        let request = self.bare_request(Method::POST, path).header("content-type", FORM);
        ApiResponse::read_from(request.body(encode_form(fields.iter().copied())).send().await?).await
    }

    /// Gets `path` (which may have a query) with the bearer token and the entity.
    pub async fn get(&self, path: &str) -> anyhow::Result<ApiResponse> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{separator}entityId={}", self.entity_id);
        ApiResponse::read_from(self.bare_request(Method::GET, &path).bearer_auth(&self.token).send().await?).await
    }

    /// Creates a checkout: a debit of 92.00 EUR. `fields` are added or replace the defaults.
    pub async fn create_checkout(&self, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        self.post(
            "v1/checkouts",
            &merge_fields(&[("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")], fields),
        )
        .await
    }

    /// Submits a card to the checkout `id` as the hosted form does. `fields` are added or replace the defaults.
    pub async fn submit_card(&self, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        self.post_as_browser(&format!("v1/checkouts/{id}/payment"), &merge_fields(&CARD, fields)).await
    }

    /// Pays 92.00 EUR with a card, server to server. `fields` are added or replace the defaults.
    pub async fn pay_by_card(&self, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        let mut all = vec![("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        all.extend(CARD);
        self.post("v1/payments", &merge_fields(&all, fields)).await
    }

    /// Advances the clock of this sandbox merchant by a duration such as `30m`, and waits until everything that becomes
    /// due by it is done: a response waits for five seconds at most, which a busy machine exceeds.
    ///
    /// # Errors
    /// If the gateway rejects the request, or something is still due after two minutes.
    pub async fn advance_clock(&self, by: &str) -> anyhow::Result<()> {
        let mut by = by;
        poll_until("everything that the clock makes due is done", async || {
            let response = self.post(&format!("v1/clock/{by}"), &[]).await?;
            let is_moved = (response.status, response.result_code()) == (200, "000.000.100");
            anyhow::ensure!(is_moved, "the clock stands still: {}", response.text);
            by = "0s";
            Ok(response.json.get("stillDue").is_none().then_some(()))
        })
        .await
    }

    /// Reads the payment status of the checkout `id`.
    pub async fn read_status(&self, id: &str) -> anyhow::Result<ApiResponse> {
        self.get(&format!("v1/checkouts/{id}/payment")).await
    }
}

/// Builds a client that sends these headers with each request and does not follow redirects.
fn build_browser(headers: HeaderMap) -> Client {
    // These options cannot fail.
    Client::builder().default_headers(headers).redirect(Policy::none()).build().unwrap_or_default()
}

/// A card that the simulator approves.
pub const CARD: [(&str, &str); 6] = [
    ("paymentBrand", "VISA"),
    ("card.number", "4200000000000000"),
    ("card.holder", "Jane Jones"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
    ("card.cvv", "123"),
];

/// Returns `defaults` with entries replaced by those of the same name in `fields`, followed by the rest of `fields`.
fn merge_fields<'a>(defaults: &[(&'a str, &'a str)], fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let remaining = defaults.iter().filter(|(name, _)| !fields.iter().any(|(other, _)| name == other));
    remaining.chain(fields).copied().collect()
}
