//! The client of the other gateway.

use std::fmt;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderValue, Method, Request, header};
use form_urlencoded::Serializer;
use http_body_util::Full;
use jiff::Timestamp;
use tillgate_os::clock::Clock;
use tillgate_shared::parameter::Parameters;
use zeroize::Zeroizing;

use super::call::{ApiCall, CallFailure};
use super::token::AccessToken;
use crate::web::{Deadlines, HostAddress, WebClient, WebFault, WebResponse};

/// Maximum size of the body of a response, in bytes. A query by reference returns a payment with its follow-up
/// payments, of some kilobytes each.
const BODY_LIMIT: usize = 256 * 1024;
/// Header with the idempotency key of a request.
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Type of the body of a request.
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded; charset=UTF-8");

/// A client of one other gateway. Its clones share connections and limits.
#[derive(Clone)]
pub struct GatewayClient {
    client: WebClient,
    address: HostAddress,
    token: AccessToken,
    /// The machine's clock, for the times of recorded messages.
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for GatewayClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayClient").field("address", &self.address).field("client", &self.client).finish()
    }
}

impl GatewayClient {
    /// Creates a client of the gateway at a base address, such as `https://pay.example`. Its connections belong to the
    /// current runtime.
    ///
    /// # Errors
    /// If the system's certificates cannot be used, or outside of a runtime.
    pub fn new(
        address: HostAddress,
        token: AccessToken,
        deadlines: Deadlines,
        clock: Arc<dyn Clock>,
    ) -> std::io::Result<Self> {
        Ok(Self { client: WebClient::new(deadlines, BODY_LIMIT)?, address, token, clock })
    }

    /// Returns the current time by the machine's clock.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the token, to keep it out of messages.
    pub(super) fn token(&self) -> &AccessToken {
        &self.token
    }

    /// Sends a request once, and reads its response to the end.
    pub(super) async fn send(&self, call: &ApiCall<'_>) -> Result<WebResponse, CallFailure> {
        let not_sent = |fault: WebFault| CallFailure::NotExecuted(fault.into());
        let place = self.client.take_place(call.entity).await.map_err(not_sent)?;
        let request = self.build_request(call).map_err(not_sent)?;
        Ok(self.client.send(place, request).await?)
    }

    /// Builds a request: the parameters of a `GET` are its query, those of a `POST` its body.
    fn build_request(&self, call: &ApiCall<'_>) -> Result<Request<Full<Bytes>>, WebFault> {
        let fault = |text: &str| WebFault::Request(text.to_owned());
        let form = encode_form(call.entity, &call.parameters);
        let is_read = call.method == Method::GET;
        let path = self.address.route_path(&call.path);
        let path = if is_read { format!("{path}?{}", form.as_str()) } else { path };
        let uri = self.address.build_uri(&path).ok_or_else(|| fault("the address"))?;
        let authorization = self.token.authorization().ok_or_else(|| fault("the access token"))?;
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(uri)
            .header(header::AUTHORIZATION, authorization)
            .header(header::ACCEPT, HeaderValue::from_static("application/json"))
            .header(header::USER_AGENT, HeaderValue::from_static("Tillgate"));
        if let Some(key) = call.key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        let body = if is_read { Bytes::new() } else { Bytes::copy_from_slice(form.as_bytes()) };
        if !is_read {
            request = request.header(header::CONTENT_TYPE, FORM);
        }
        request.body(Full::new(body)).map_err(|error| WebFault::Request(error.to_string()))
    }
}

/// Encodes the entity and the parameters as a form.
fn encode_form(entity: &str, parameters: &Parameters) -> Zeroizing<String> {
    // The largest possible size, so that the buffer never grows and leaves card data in freed memory.
    let size = parameters.iter().map(|(name, value)| 3 * (name.len() + value.len()) + 2).sum::<usize>();
    let mut form = Serializer::new(String::with_capacity(size + 3 * entity.len() + 16));
    form.append_pair("entityId", entity);
    form.extend_pairs(parameters.iter());
    Zeroizing::new(form.finish())
}
