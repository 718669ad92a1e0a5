//! A response of the gateway, and the encoding of form bodies.

use form_urlencoded::Serializer;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// Status, headers and JSON body of a response.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, unparsed.
    pub text: String,
    /// Body as JSON, or null if the body is not JSON.
    pub json: Value,
}

impl ApiResponse {
    /// Reads `response` completely, whatever its status.
    pub async fn read_from(response: reqwest::Response) -> anyhow::Result<Self> {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await?;
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Self { status, headers, text, json })
    }

    /// Returns `result.code`, or an empty string.
    pub fn result_code(&self) -> &str {
        self.json["result"]["code"].as_str().unwrap_or_default()
    }

    /// Returns `id`, or an empty string.
    pub fn id(&self) -> &str {
        self.json["id"].as_str().unwrap_or_default()
    }

    /// Returns the names in `result.parameterErrors`, in the gateway's order.
    pub fn invalid_parameters(&self) -> Vec<&str> {
        let errors = self.json["result"]["parameterErrors"].as_array();
        errors.into_iter().flatten().filter_map(|error| error["name"].as_str()).collect()
    }
}

/// Encodes `fields` as `application/x-www-form-urlencoded`, in order, including duplicates.
pub fn encode_form<N: AsRef<str>, V: AsRef<str>>(fields: impl IntoIterator<Item = (N, V)>) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}
