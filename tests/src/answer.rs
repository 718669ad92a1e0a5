//! An answer of the gateway, and how a form body is written.

use form_urlencoded::Serializer;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// Status, headers and JSON body of an answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// The body as it came.
    pub text: String,
    /// The body as JSON; null when it is something else.
    pub json: Value,
}

impl Answer {
    /// Reads `response` to its end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn read(response: reqwest::Response) -> anyhow::Result<Self> {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await?;
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Self { status, headers, text, json })
    }

    /// `result.code`, or an empty text.
    pub fn code(&self) -> &str {
        self.json["result"]["code"].as_str().unwrap_or_default()
    }

    /// `id`, or an empty text.
    pub fn id(&self) -> &str {
        self.json["id"].as_str().unwrap_or_default()
    }

    /// Names of the parameters that the gateway points at, in its order.
    pub fn errors(&self) -> Vec<&str> {
        let errors = self.json["result"]["parameterErrors"].as_array();
        errors.into_iter().flatten().filter_map(|error| error["name"].as_str()).collect()
    }
}

/// `fields` as an `application/x-www-form-urlencoded` body, in order, duplicates and all.
pub fn form<N: AsRef<str>, V: AsRef<str>>(fields: impl IntoIterator<Item = (N, V)>) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}
