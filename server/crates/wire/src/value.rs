//! Formats of single values, with their schemas.

use std::borrow::Cow;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use tillgate_shared::money::Amount;

/// Time in UTC: `yyyy-MM-dd HH:mm:ss+0000`.
#[derive(Debug, Clone, Copy)]
pub struct WireTime(pub Timestamp);

/// Time in a time zone: `yyyy-MM-dd HH:mm:ss+0100`.
#[derive(Debug, Clone)]
pub struct LocalTime(Zoned);

/// Amount without its currency: `92.00`.
#[derive(Debug, Clone, Copy)]
pub struct AmountText(pub Amount);

/// Sum of amounts without its currency, which may be negative: `-92.00`.
#[derive(Debug, Clone, Serialize)]
pub struct SumText(pub String);

/// Day: `yyyy-MM-dd`.
#[derive(Debug, Clone, Copy)]
pub struct DayText(pub Date);

impl Serialize for DayText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Serialize for WireTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.strftime("%Y-%m-%d %H:%M:%S+0000"))
    }
}

impl LocalTime {
    /// Creates a time in a time zone.
    pub fn new(time: Timestamp, zone: &TimeZone) -> Self {
        Self(time.to_zoned(zone.clone()))
    }
}

impl Serialize for LocalTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.strftime("%Y-%m-%d %H:%M:%S%z"))
    }
}

impl Serialize for AmountText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Implements `JsonSchema` for types that are texts of a format. The schema is written in each place, because a name
/// of its own would give generated clients a type for each format.
macro_rules! text_schema {
    ($($type:ty => $schema:tt;)*) => { $(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )* };
}

text_schema! {
    WireTime => { "type": "string", "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$" };
    LocalTime => { "type": "string", "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{4,6}$" };
    AmountText => { "type": "string", "pattern": r"^[0-9]{1,10}\.[0-9]{2}$" };
    SumText => { "type": "string", "pattern": r"^-?\d+\.\d\d$" };
    DayText => { "type": "string", "format": "date" };
}
