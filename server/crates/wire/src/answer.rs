//! The envelope of every response.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use tillgate_domain::ndc::Ndc;

use crate::value::WireTime;

/// Names of fields that are never a part of another response. Their schemas have had these names from the beginning,
/// and clients are generated with them.
const WHOLE_NAMES: [&str; 3] = ["DryRunReportLine", "Health", "Refusal"];

/// A response: its own fields, and after them the envelope that all responses have.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer<'a, T> {
    #[serde(flatten)]
    fields: T,
    build_number: &'a str,
    timestamp: WireTime,
    ndc: &'a str,
}

impl<'a, T> Answer<'a, T> {
    /// Creates a response with this build number, timestamp and identifier of the request.
    pub fn new(fields: T, build_number: &'a str, timestamp: Timestamp, ndc: &'a Ndc) -> Self {
        Self { fields, build_number, timestamp: WireTime(timestamp), ndc: ndc.as_str() }
    }
}

/// Fields of the envelope, only for its schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[allow(dead_code)]
struct Envelope {
    /// Commit and time of the build that has answered.
    #[schemars(length(max = 255))]
    build_number: String,
    /// Time of the response, or of what it is about.
    timestamp: WireTime,
    /// Identifier of the request.
    #[schemars(regex(pattern = r"^[A-Za-z0-9._-]{1,69}$"))]
    ndc: String,
}

/// Written by hand, so that the schema has the description of its fields and not of the envelope.
impl<T: JsonSchema> JsonSchema for Answer<'_, T> {
    fn schema_name() -> Cow<'static, str> {
        let name = T::schema_name();
        if WHOLE_NAMES.contains(&&*name) { name } else { format!("{name}Answer").into() }
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // A reference would let two components share properties, which some generators of clients cannot read.
        let mut schema = T::json_schema(generator);
        let envelope = Envelope::json_schema(generator);
        for member in ["properties", "required"] {
            let more = envelope.get(member).cloned().unwrap_or_default();
            match (schema.ensure_object().entry(member).or_insert_with(|| more.clone()), more) {
                (serde_json::Value::Object(all), serde_json::Value::Object(more)) => all.extend(more),
                (serde_json::Value::Array(all), serde_json::Value::Array(more)) => {
                    all.extend(more.into_iter().filter(|name| !all.contains(name)).collect::<Vec<_>>());
                }
                _ => {}
            }
        }
        schema
    }
}
