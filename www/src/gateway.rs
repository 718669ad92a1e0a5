//! The three calls that this merchant makes from its server: prepare a checkout, ask whether it is still open, ask
//! how it went.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, Request, StatusCode, header};
use form_urlencoded::Serializer;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Shop;
use crate::order::Checkout;

/// How long the shop waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest answer that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// Form fields of a call, in order.
pub type Fields<'a> = Vec<(&'a str, String)>;

/// A gateway and this merchant's account with it.
#[derive(Clone)]
pub struct Gateway {
    base: String,
    entity_id: String,
    token: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// Why a call gave nothing usable.
#[derive(Debug, PartialEq, Eq)]
pub enum GatewayError {
    /// No answer: refused, broken off, or too slow.
    Silent(String),
    /// An answer that is not this contract's.
    Unreadable(StatusCode),
    /// The gateway says no.
    Refused {
        /// Its result code.
        code: String,
        /// Its words, with the names of the parameters it points at.
        description: String,
    },
}

impl std::fmt::Display for GatewayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Silent(why) => write!(f, "no answer from the gateway: {why}"),
            Self::Unreadable(status) => write!(f, "unreadable answer from the gateway, HTTP {}", status.as_u16()),
            Self::Refused { code, description } => write!(f, "{code} {description}"),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResultPart {
    code: String,
    description: String,
    #[serde(rename = "parameterErrors")]
    parameter_errors: Vec<ParameterError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ParameterError {
    name: String,
    message: String,
}

#[derive(Debug, Deserialize)]
struct Prepared {
    #[serde(default)]
    id: String,
    integrity: Option<String>,
    result: ResultPart,
}

/// What the gateway knows about the payment of a checkout. New fields may appear in an answer at any time, and a
/// decline has no amount: so everything but the result is optional.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Of the payment, where one was made.
    pub id: Option<String>,
    /// The checkout's id again.
    pub ndc: Option<String>,
    /// The shop's own order reference.
    pub merchant_transaction_id: Option<String>,
    /// `DB` for what this shop does.
    pub payment_type: Option<String>,
    /// Brand code such as `VISA`.
    pub payment_brand: Option<String>,
    /// Amount as `92.00`.
    pub amount: Option<String>,
    /// Currency code.
    pub currency: Option<String>,
    /// What is known about the card.
    pub card: Option<CardPart>,
    /// How it went.
    pub result: StatusResult,
}

/// The card part of a [`Status`].
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardPart {
    /// The four digits that a shopper recognises the card by.
    #[serde(rename = "last4Digits")]
    pub last_four: Option<String>,
}

/// The result part of a [`Status`].
#[derive(Clone, Debug, Deserialize)]
pub struct StatusResult {
    /// Result code such as `000.100.110`.
    pub code: String,
    /// The code in words.
    #[serde(default)]
    pub description: String,
}

impl Gateway {
    /// The gateway of `shop`.
    pub fn new(shop: &Shop) -> Self {
        Self {
            base: shop.gateway.clone(),
            entity_id: shop.entity_id.clone(),
            token: shop.token.clone(),
            client: Client::builder(TokioExecutor::new()).build_http(),
        }
    }

    /// Opens a checkout.
    ///
    /// # Errors
    /// When the gateway refuses the parameters, or does not answer.
    pub async fn prepare(&self, fields: &Fields<'_>) -> Result<Checkout, GatewayError> {
        let (status, body) = self.post("v1/checkouts", fields).await?;
        let answer: Prepared = read(status, &body)?;
        if status.is_success() && !answer.id.is_empty() {
            return Ok(Checkout { id: answer.id, integrity: answer.integrity });
        }
        Err(refused(answer.result))
    }

    /// Stores what `fields` describe; the answer is the registration's id.
    ///
    /// # Errors
    /// When the gateway refuses it, or does not answer.
    pub async fn register(&self, fields: &Fields<'_>) -> Result<String, GatewayError> {
        let (status, body) = self.post("v1/registrations", fields).await?;
        let answer: Prepared = read(status, &body)?;
        if status.is_success() && !answer.id.is_empty() { Ok(answer.id) } else { Err(refused(answer.result)) }
    }

    /// Whether the checkout `id` can still be paid, with `fields` set on it. The gateway is asked by an update, which
    /// it accepts for an open checkout only.
    ///
    /// # Errors
    /// When the gateway does not answer.
    pub async fn reopen(&self, id: &str, fields: &Fields<'_>) -> Result<bool, GatewayError> {
        let (status, _) = self.post(&format!("v1/checkouts/{id}"), fields).await?;
        Ok(status.is_success())
    }

    /// What the gateway says about the payment, word for word. See [`Self::status`].
    ///
    /// # Errors
    /// When the gateway does not answer in JSON.
    pub async fn status_as_it_is(&self, path: &str) -> Result<serde_json::Value, GatewayError> {
        let (status, body) = self.ask(path).await?;
        read(status, &body)
    }

    /// How the payment went. `path` begins with a slash and the base ends with one: `//v1/…` is how it goes out.
    ///
    /// # Errors
    /// When the gateway does not answer in its contract's shape. A decline is an answer, whatever its HTTP status.
    pub async fn status(&self, path: &str) -> Result<Status, GatewayError> {
        let (status, body) = self.ask(path).await?;
        if matches!(status.as_u16(), 401 | 403 | 404) {
            return Err(refused(read::<Prepared>(status, &body)?.result));
        }
        read(status, &body)
    }

    async fn ask(&self, path: &str) -> Result<(StatusCode, Bytes), GatewayError> {
        let query = Serializer::new(String::new()).append_pair("entityId", &self.entity_id).finish();
        self.call(Method::GET, format!("{}{path}?{query}", self.base), String::new()).await
    }

    async fn post(&self, path: &str, fields: &Fields<'_>) -> Result<(StatusCode, Bytes), GatewayError> {
        let body =
            Serializer::new(String::new()).append_pair("entityId", &self.entity_id).extend_pairs(fields).finish();
        self.call(Method::POST, format!("{}{path}", self.base), body).await
    }

    async fn call(&self, method: Method, address: String, body: String) -> Result<(StatusCode, Bytes), GatewayError> {
        let silent = |why: &dyn std::fmt::Display| GatewayError::Silent(why.to_string());
        let request = Request::builder()
            .method(method)
            .uri(address)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded; charset=UTF-8")
            .body(Full::from(body))
            .map_err(|error| silent(&error))?;
        let exchange = async {
            let response = self.client.request(request).await.map_err(|error| silent(&error))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), LONGEST).collect().await.map_err(|error| silent(&error))?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(PATIENCE, exchange).await.map_err(|_| silent(&"it took too long"))?
    }
}

fn read<T: DeserializeOwned>(status: StatusCode, body: &[u8]) -> Result<T, GatewayError> {
    serde_json::from_slice(body).map_err(|_| GatewayError::Unreadable(status))
}

fn refused(result: ResultPart) -> GatewayError {
    let mut description = result.description;
    for error in result.parameter_errors {
        description.push_str(&format!("; {} {}", error.name, error.message));
    }
    GatewayError::Refused { code: result.code, description }
}
