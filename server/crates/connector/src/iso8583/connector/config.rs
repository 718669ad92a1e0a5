//! The configuration of a connector, from a TOML file:
//!
//! ```toml
//! dialect = "iso87-ascii-4a"      # a dialect of the program, or a file
//! acquirer = "12345"              # identifier of the acquirer
//! terminal = "TILL0001"           # terminal identifier
//! answer_timeout_ms = 25000       # optional, at most 29000
//! time_zone = "Europe/Oslo"       # optional, UTC: zone of the local time in messages
//! merchant_category = "5999"      # optional, as the next two: for payments without merchant.mcc
//! merchant_city = "Oslo"
//! merchant_country = "NO"
//! trace_numbers = "1-499999"      # optional, all: nodes that share a terminal need numbers of their own
//! captures = "parts"              # optional: "parts", "one-part" or "whole"
//! overcapture = true              # optional, false: captures can exceed the authorized amount
//! cut_off = "22:00"               # optional: end of the day for reversals of debits, UTC
//!
//! [[lines]]
//! name = "acquirer/1"
//! address = "host.example:8583"
//! priority = 0                    # optional: 0 is used first
//! system = "acquirer"             # optional: lines to hosts that do not know each other's payments have other names
//! entities = "live"               # optional: "live", "sandbox" or "all"
//! security = "tls"                # or "plain"
//! ca_file = "/etc/ca.pem"         # optional, with "tls": trusted instead of the system's certificates
//! brands = ["VISA"]               # rules, all optional: the line takes a payment that all of them admit
//! bins = ["4", "222100-272099"]   # ranges of the first digits, up to six
//! currencies = ["EUR"]
//! min_amount = "0.01"             # in the currency of the payment
//! max_amount = "1000.00"
//! countries = ["NO"]              # of the merchant
//! limits = { max_in_flight = 64 } # optional: LineLimits, times end in _ms
//! ```
//!
//! The name of its system is stored with each payment, and its captures, refunds and reversals take any line of that
//! system, whatever the rules say.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::config_lines::{LineTable, RoutedLineConfig};
use super::numbering::TRACE_NUMBERS;
use crate::iso8583::{DIALECTS, Datum, Dialect, IsoRequestKind, MacKey};
use crate::{CaptureSupport, iso8583};

/// Maximum time for an answer. The gateway waits a minute for an outcome, and may ask for two: of a reversed capture
/// and of its preauthorization.
const MAX_ANSWER_TIMEOUT: u64 = 29_000;

/// Minimum count of trace numbers. A number must not come again while its request may be in flight, or in its second.
const MIN_TRACES: u32 = 10_000;

/// The reason why a configuration cannot be used. Its text names the key.
#[derive(Debug, thiserror::Error)]
pub enum Iso8583ConfigError {
    /// The text is no TOML, has an unknown key or value, or lacks a key. The text has line and column.
    #[error("{0}")]
    Syntax(String),
    /// A value cannot be used.
    #[error("{key}: {fault}")]
    Value {
        /// The key.
        key: String,
        /// The fault, and the allowed values.
        fault: String,
    },
    /// The dialect cannot be used.
    #[error("dialect: {0}")]
    Dialect(#[from] iso8583::DialectError),
    /// A line cannot be started.
    #[error("lines, {name:?}: {error}")]
    Line {
        /// Name of the line.
        name: String,
        /// The reason.
        error: crate::line::LineConfigError,
    },
}

impl Iso8583ConfigError {
    /// Makes the error of a key.
    pub(super) fn new(key: impl Into<String>, fault: impl Into<String>) -> Self {
        Self::Value { key: key.into(), fault: fault.into() }
    }
}

/// Ways in which a preauthorization can be captured.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CaptureEntry {
    #[default]
    Parts,
    OnePart,
    Whole,
}

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    dialect: String,
    acquirer: String,
    terminal: String,
    #[serde(default = "default_answer_timeout")]
    answer_timeout_ms: u64,
    time_zone: Option<String>,
    merchant_category: Option<String>,
    merchant_city: Option<String>,
    merchant_country: Option<String>,
    trace_numbers: Option<String>,
    #[serde(default)]
    captures: CaptureEntry,
    #[serde(default)]
    overcapture: bool,
    cut_off: Option<String>,
    lines: Vec<LineTable>,
}

fn default_answer_timeout() -> u64 {
    25_000
}

/// The configuration of a connector.
#[derive(Debug, Clone)]
pub struct Iso8583Config {
    pub(super) dialect: Arc<Dialect>,
    pub(super) acquirer: String,
    pub(super) terminal: String,
    pub(super) answer_timeout: Duration,
    pub(super) time_zone: TimeZone,
    pub(super) merchant_category: Option<String>,
    pub(super) merchant_city: Option<String>,
    pub(super) merchant_country: Option<String>,
    pub(super) trace_numbers: RangeInclusive<u32>,
    pub(super) captures: CaptureSupport,
    pub(super) overcapture: bool,
    pub(super) cut_off: Option<Time>,
    pub(super) lines: Vec<RoutedLineConfig>,
}

impl Iso8583Config {
    /// Reads a configuration. `dialect_text` is the text of the file that the key `dialect` names; `None` if it is the
    /// name of a dialect of the program.
    ///
    /// # Errors
    /// The text is no TOML, or a key is unknown, missing or has a wrong value. The error names the key.
    pub fn parse(text: &str, dialect_text: Option<&str>) -> Result<Self, Iso8583ConfigError> {
        let file: ConfigFile = toml::from_str(text)
            .map_err(|error| Iso8583ConfigError::Syntax(error.to_string().trim_end().to_owned()))?;
        let dialect = Arc::new(read_dialect(&file.dialect, dialect_text)?);
        for (key, datum, value) in
            [("acquirer", Datum::Acquirer, &file.acquirer), ("terminal", Datum::Terminal, &file.terminal)]
        {
            check_datum(&dialect, key, datum, value)?;
        }
        if let Some(category) = &file.merchant_category {
            check_datum(&dialect, "merchant_category", Datum::MerchantCategory, category)?;
        }
        if !(1..=MAX_ANSWER_TIMEOUT).contains(&file.answer_timeout_ms) {
            let fault = format!("has to be 1 to {MAX_ANSWER_TIMEOUT}: the gateway gives up after a minute");
            return Err(Iso8583ConfigError::new("answer_timeout_ms", fault));
        }
        let answer_timeout = Duration::from_millis(file.answer_timeout_ms);
        Ok(Self {
            dialect,
            acquirer: file.acquirer,
            terminal: file.terminal,
            answer_timeout,
            time_zone: read_time_zone(file.time_zone.as_deref())?,
            merchant_category: file.merchant_category,
            merchant_city: file.merchant_city,
            merchant_country: file.merchant_country,
            trace_numbers: read_trace_numbers(file.trace_numbers.as_deref())?,
            captures: match file.captures {
                CaptureEntry::Parts => CaptureSupport::Parts,
                CaptureEntry::OnePart => CaptureSupport::OnePart,
                CaptureEntry::Whole => CaptureSupport::Whole,
            },
            overcapture: file.overcapture,
            cut_off: read_cut_off(file.cut_off.as_deref())?,
            lines: RoutedLineConfig::read_all(file.lines, answer_timeout)?,
        })
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Reads the key of the MACs from hexadecimal digits.
    ///
    /// # Errors
    /// The text is no key of the dialect's algorithm; or the dialect has MACs and there is no key, or the reverse.
    pub(super) fn read_mac_key(&self, text: Option<&str>) -> Result<Option<MacKey>, Iso8583ConfigError> {
        let refuse = |fault: &str| Err(Iso8583ConfigError::new("MAC key", fault));
        match (self.dialect.mac(), text) {
            (None, None) => Ok(None),
            // Messages without the MAC that an operator expects would be open to changes.
            (None, Some(_)) => refuse("the dialect has no MAC"),
            (Some(_), None) => refuse("missing: the messages of the dialect have a MAC"),
            (Some(rule), Some(text)) => match MacKey::parse(rule.algorithm, text.trim()) {
                Some(key) => Ok(Some(key)),
                None => refuse("has to be 32 hexadecimal digits, or for cmac-aes 32, 48 or 64"),
            },
        }
    }
}

/// Finds or reads the dialect, and checks that it has the messages of payments.
fn read_dialect(name: &str, text: Option<&str>) -> Result<Dialect, Iso8583ConfigError> {
    let shipped = || DIALECTS.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| *text);
    let Some(text) = text.or_else(shipped) else {
        let names = DIALECTS.map(|(name, _)| name).join(", ");
        return Err(Iso8583ConfigError::new("dialect", format!("{name:?} is no file and none of {names}")));
    };
    let dialect = Dialect::parse(text)?;
    if dialect.data().is_empty() {
        return Err(Iso8583ConfigError::new("dialect", "has no table [data], and its messages no payments"));
    }
    let secrets = [Datum::Pan, Datum::SecurityCode, Datum::Expiry].map(|datum| dialect.data().field_of(datum));
    if dialect.correlation_fields().iter().any(|number| secrets.contains(&Some(*number))) {
        // The values of the correlation are logged.
        return Err(Iso8583ConfigError::new("dialect", "[correlation] has a field with data of the card"));
    }
    // Without a reversal, a payment without an answer would stay open for ever.
    let needed = [IsoRequestKind::Authorize, IsoRequestKind::Reverse];
    if let Some(kind) = needed.into_iter().find(|kind| dialect.request(*kind).is_none()) {
        return Err(Iso8583ConfigError::new("dialect", format!("has no request {kind:?} in [requests]")));
    }
    if dialect.network_approval().is_none() {
        return Err(Iso8583ConfigError::new("dialect", "has no response code of an approval in [responses.codes]"));
    }
    Ok(dialect)
}

/// Checks that a value fits into the field of its datum.
fn check_datum(dialect: &Dialect, key: &str, datum: Datum, value: &str) -> Result<(), Iso8583ConfigError> {
    let Some(mut message) = dialect.begin_request(IsoRequestKind::Authorize) else { return Ok(()) };
    check_text(key, value)?;
    dialect.data().set(&mut message, datum, value).map_err(|error| Iso8583ConfigError::new(key, error.to_string()))
}

fn check_text(key: &str, value: &str) -> Result<(), Iso8583ConfigError> {
    if value.is_empty() { Err(Iso8583ConfigError::new(key, "is empty")) } else { Ok(()) }
}

fn read_time_zone(name: Option<&str>) -> Result<TimeZone, Iso8583ConfigError> {
    let refuse = |name: &str| Iso8583ConfigError::new("time_zone", format!("{name:?} is no zone such as Europe/Oslo"));
    name.map_or(Ok(TimeZone::UTC), |name| TimeZone::get(name).map_err(|_| refuse(name)))
}

fn read_trace_numbers(text: Option<&str>) -> Result<RangeInclusive<u32>, Iso8583ConfigError> {
    let Some(text) = text else { return Ok(TRACE_NUMBERS) };
    let range = text.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let is_inside = |(first, last): &(u32, u32)| {
        TRACE_NUMBERS.contains(first) && TRACE_NUMBERS.contains(last) && last.saturating_sub(*first) + 1 >= MIN_TRACES
    };
    range.filter(is_inside).map(|(first, last)| first..=last).ok_or_else(|| {
        let fault = format!("{text:?} is no range such as 1-499999, of {MIN_TRACES} numbers up to 999999 at least");
        Iso8583ConfigError::new("trace_numbers", fault)
    })
}

fn read_cut_off(text: Option<&str>) -> Result<Option<Time>, Iso8583ConfigError> {
    let refuse = |text: &str| Iso8583ConfigError::new("cut_off", format!("{text:?} is no time of day such as 22:00"));
    text.map(|text| text.parse().map_err(|_| refuse(text))).transpose()
}
