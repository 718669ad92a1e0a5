//! The calls that this merchant makes from its server: prepare a checkout, update it, read the status of the payment,
//! and store a card.

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

use crate::ShopConfig;
use crate::order::PreparedCheckout;

/// Maximum time that the shop waits for a response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response in bytes.
const MAX_RESPONSE: usize = 1 << 20;

/// Result code of a request that is not valid. Without parameters at fault, its checkout is not open.
const INVALID_REQUEST: &str = "200.300.404";

/// Form fields of a call, in order.
pub type CallFields<'a> = Vec<(&'a str, String)>;

/// A gateway, and this merchant's access to it.
#[derive(Clone)]
pub struct GatewayClient {
    base: String,
    entity_id: String,
    token: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// Reason for a call without a usable response.
#[derive(Debug, PartialEq, Eq)]
pub enum GatewayError {
    /// No response: refused, interrupted, or too slow.
    NoResponse(String),
    /// A response that does not follow the contract.
    Unreadable(StatusCode),
    /// A refusal of the gateway.
    Refused {
        /// Its result code.
        code: String,
        /// Its text, with the names of the parameters at fault.
        description: String,
    },
}

impl std::fmt::Display for GatewayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoResponse(reason) => write!(f, "no answer from the gateway: {reason}"),
            Self::Unreadable(status) => write!(f, "unreadable answer from the gateway, HTTP {}", status.as_u16()),
            Self::Refused { code, description } => write!(f, "{code} {description}"),
        }
    }
}

/// The result part of a refusal or a [`CreateResponse`].
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResultPart {
    code: String,
    description: String,
    #[serde(rename = "parameterErrors")]
    parameter_errors: Vec<ParameterErrorPart>,
}

/// A parameter at fault.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ParameterErrorPart {
    name: String,
    message: String,
}

/// Response to a new checkout or registration. A refusal has a result only.
#[derive(Debug, Deserialize)]
struct CreateResponse {
    #[serde(default)]
    id: String,
    integrity: Option<String>,
    result: ResultPart,
}

/// Status of the payment of a checkout. New fields may be added at any time, and a decline has no amount, so everything
/// except the result is optional.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusResponse {
    /// Id of the payment, if there is one.
    pub id: Option<String>,
    /// Id of the checkout, again.
    pub ndc: Option<String>,
    /// The shop's own order reference.
    pub merchant_transaction_id: Option<String>,
    /// `DB` for the payments of this shop.
    pub payment_type: Option<String>,
    /// Brand code such as `VISA`.
    pub payment_brand: Option<String>,
    /// Amount as `92.00`.
    pub amount: Option<String>,
    /// Currency code.
    pub currency: Option<String>,
    /// Data of the card.
    pub card: Option<CardPart>,
    /// Result of the payment.
    pub result: StatusResult,
}

/// The card part of a [`StatusResponse`].
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardPart {
    /// The digits by which a shopper recognises the card.
    #[serde(rename = "last4Digits")]
    pub last_four: Option<String>,
}

/// The result part of a [`StatusResponse`].
#[derive(Clone, Debug, Deserialize)]
pub struct StatusResult {
    /// Result code such as `000.100.110`.
    pub code: String,
    /// Description of the code.
    #[serde(default)]
    pub description: String,
}

impl GatewayClient {
    /// Creates a client for the gateway of `shop`.
    pub fn new(shop: &ShopConfig) -> Self {
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
    /// If the gateway refuses the parameters, does not respond, or responds with something else than JSON.
    pub async fn prepare_checkout(&self, fields: &CallFields<'_>) -> Result<PreparedCheckout, GatewayError> {
        let (status, body) = self.send_post("v1/checkouts", fields).await?;
        let response: CreateResponse = parse_body(status, &body)?;
        if status.is_success() && !response.id.is_empty() {
            return Ok(PreparedCheckout { id: response.id, integrity: response.integrity });
        }
        Err(refusal_error(response.result))
    }

    /// Stores an account. Returns the id of the registration.
    ///
    /// # Errors
    /// Same as [`Self::prepare_checkout`].
    pub async fn register_account(&self, fields: &CallFields<'_>) -> Result<String, GatewayError> {
        let (status, body) = self.send_post("v1/registrations", fields).await?;
        let response: CreateResponse = parse_body(status, &body)?;
        if status.is_success() && !response.id.is_empty() {
            Ok(response.id)
        } else {
            Err(refusal_error(response.result))
        }
    }

    /// Sets `fields` on the checkout `id`. Returns true if the gateway accepts the update, and false if the checkout is
    /// paid, expired or unknown: the gateway then refuses the request without naming a parameter at fault.
    ///
    /// # Errors
    /// If the gateway does not respond, or refuses the update for any other reason.
    pub async fn update_if_open(&self, id: &str, fields: &CallFields<'_>) -> Result<bool, GatewayError> {
        let (status, body) = self.send_post(&format!("v1/checkouts/{id}"), fields).await?;
        let result = parse_body::<CreateResponse>(status, &body)?.result;
        let is_about_checkout = result.code == INVALID_REQUEST && result.parameter_errors.is_empty();
        match status {
            status if status.is_success() => Ok(true),
            StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND if is_about_checkout => Ok(false),
            _ => Err(refusal_error(result)),
        }
    }

    /// Reads the status of a payment unchanged, whatever its HTTP status. `path` is that of [`Self::read_status`].
    ///
    /// # Errors
    /// If the response is missing or not JSON.
    pub async fn read_raw_status(&self, path: &str) -> Result<serde_json::Value, GatewayError> {
        let (status, body) = self.send_get(path).await?;
        parse_body(status, &body)
    }

    /// Reads the status of a payment. `path` begins with a slash and the base ends with one, so the request goes to
    /// `//v1/…`.
    ///
    /// # Errors
    /// If the response does not follow the contract, or has the HTTP status 401, 403 or 404. A decline is a valid
    /// response, whatever its HTTP status.
    pub async fn read_status(&self, path: &str) -> Result<StatusResponse, GatewayError> {
        let (status, body) = self.send_get(path).await?;
        if matches!(status.as_u16(), 401 | 403 | 404) {
            return Err(refusal_error(parse_body::<CreateResponse>(status, &body)?.result));
        }
        parse_body(status, &body)
    }

    /// Sends a `GET` to a path below the base, with `entityId` as the only query parameter.
    async fn send_get(&self, path: &str) -> Result<(StatusCode, Bytes), GatewayError> {
        let query = Serializer::new(String::new()).append_pair("entityId", &self.entity_id).finish();
        self.send_request(Method::GET, format!("{}{path}?{query}", self.base), String::new()).await
    }

    /// Sends a form to a path below the base, with `entityId` before `fields`.
    async fn send_post(&self, path: &str, fields: &CallFields<'_>) -> Result<(StatusCode, Bytes), GatewayError> {
        let body =
            Serializer::new(String::new()).append_pair("entityId", &self.entity_id).extend_pairs(fields).finish();
        self.send_request(Method::POST, format!("{}{path}", self.base), body).await
    }

    /// Sends a request with the access token, and reads the response. Returns any status, and does not repeat the
    /// request.
    ///
    /// # Errors
    /// [`GatewayError::NoResponse`] if the connection fails, the response is longer than 1 MiB, or all of it takes over
    /// 10 seconds.
    async fn send_request(
        &self,
        method: Method,
        address: String,
        body: String,
    ) -> Result<(StatusCode, Bytes), GatewayError> {
        let no_response = |reason: &dyn std::fmt::Display| GatewayError::NoResponse(reason.to_string());
        let request = Request::builder()
            .method(method)
            .uri(address)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded; charset=UTF-8")
            .body(Full::from(body))
            .map_err(|error| no_response(&error))?;
        let exchange = async {
            let response = self.client.request(request).await.map_err(|error| no_response(&error))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), MAX_RESPONSE)
                .collect()
                .await
                .map_err(|error| no_response(&error))?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(TIMEOUT, exchange).await.map_err(|_| no_response(&"it took too long"))?
    }
}

fn parse_body<T: DeserializeOwned>(status: StatusCode, body: &[u8]) -> Result<T, GatewayError> {
    serde_json::from_slice(body).map_err(|_| GatewayError::Unreadable(status))
}

/// Makes the error of a refusal. Its description also lists the parameters at fault.
fn refusal_error(result: ResultPart) -> GatewayError {
    let mut description = result.description;
    for error in result.parameter_errors {
        description.push_str(&format!("; {} {}", error.name, error.message));
    }
    GatewayError::Refused { code: result.code, description }
}
