//! A merchant's server: an entity, its token, and the calls that merchants make.

use reqwest::{Client, Method, RequestBuilder};

use crate::answer::{Answer, form};

const FORM: &str = "application/x-www-form-urlencoded; charset=UTF-8";

/// A merchant of a gateway. Make one in each test: its connections belong to the test's runtime.
#[derive(Clone, Debug)]
pub struct Merchant {
    /// Base address of the gateway, with a slash at the end.
    pub base: String,
    /// The entity.
    pub entity_id: String,
    /// Its access token.
    pub token: String,
    /// For calls that are none of the below.
    pub client: Client,
}

impl Merchant {
    /// The merchant with this entity and token.
    pub fn new(base: String, entity_id: String, token: String) -> Self {
        Self { base, entity_id, token, client: Client::new() }
    }

    /// The same merchant as behind a proxy that terminates TLS; the gateway has to trust this machine (`--trusted-proxy`).
    #[must_use]
    pub fn behind_proxy(self) -> Self {
        let mut headers = reqwest::header::HeaderMap::new();
        headers.insert("x-forwarded-proto", reqwest::header::HeaderValue::from_static("https"));
        // Nothing of the options can fail.
        let client = Client::builder().default_headers(headers).build().unwrap_or_default();
        Self { client, ..self }
    }

    /// A request to `path` (without a slash in front) that nothing was put into: no header, no entity.
    pub fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// Posts `fields` with the bearer token and, unless they name one, the entity.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let entity = ("entityId", self.entity_id.as_str());
        let named = fields.iter().any(|(name, _)| *name == "entityId");
        let body = form(Some(entity).filter(|_| !named).iter().chain(fields).copied());
        let request = self.bare(Method::POST, path).bearer_auth(&self.token);
        Answer::read(request.header("content-type", FORM).body(body).send().await?).await
    }

    /// Posts `fields` as the hosted form does: with nothing but what is given.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn post_as_browser(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let request = self.bare(Method::POST, path).header("content-type", FORM);
        Answer::read(request.body(form(fields.iter().copied())).send().await?).await
    }

    /// Gets `path` (which may have a query) with the bearer token and the entity.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{separator}entityId={}", self.entity_id);
        Answer::read(self.bare(Method::GET, &path).bearer_auth(&self.token).send().await?).await
    }

    /// Opens a checkout: a debit of 92.00 EUR, with `fields` added or put in place of these.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn checkout(&self, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        self.post("v1/checkouts", &over(&[("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")], fields))
            .await
    }

    /// Submits a card to the checkout `id` as the hosted form does, with `fields` added or put in place.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn submit(&self, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        self.post_as_browser(&format!("v1/checkouts/{id}/payment"), &over(&CARD, fields)).await
    }

    /// Pays 92.00 EUR with a card, server to server, with `fields` added or put in place.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn pay(&self, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let mut all = vec![("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        all.extend(CARD);
        self.post("v1/payments", &over(&all, fields)).await
    }

    /// Moves the clock of this sandbox merchant forward, by a duration such as `30m`.
    ///
    /// # Errors
    /// When the gateway refuses.
    pub async fn advance(&self, by: &str) -> anyhow::Result<()> {
        let answer = self.post(&format!("v1/clock/{by}"), &[]).await?;
        anyhow::ensure!(answer.status == 200, "the clock stands still: {}", answer.text);
        Ok(())
    }

    /// Asks how the checkout `id` went.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn status(&self, id: &str) -> anyhow::Result<Answer> {
        self.get(&format!("v1/checkouts/{id}/payment")).await
    }
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

/// `usual` with `fields` in place of those with the same name, and the rest of them after.
fn over<'a>(usual: &[(&'a str, &'a str)], fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let kept = usual.iter().filter(|(name, _)| !fields.iter().any(|(other, _)| name == other));
    kept.chain(fields).copied().collect()
}
