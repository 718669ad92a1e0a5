//! Configuration files of callbacks, in TOML. Every fault has its line and column.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use axum::http::{HeaderName, HeaderValue};
use serde::Deserialize;
use toml::Spanned;

use super::config::{CallbackConfig, CallbackKey, ReceivingConfig, ReceivingCredential, SecretValue, ValueSource};
use super::destination::check_destination;
use super::field::CallbackField;
use tillgate_domain::delivery::review_callback_retry::{DEFAULT_RETRIES, DEFAULT_RETRY_MINUTES};

/// Maximum number of destinations.
const MAX_URLS: usize = 3;
/// Maximum number of pairs of a body.
const MAX_KEYS: usize = 100;
/// Maximum number of additional headers, and of credentials.
const MAX_HEADERS: usize = 20;
/// Maximum length of the name of a key or header, in bytes.
const MAX_NAME: usize = 100;
/// Maximum length of a constant or secret, in bytes.
const MAX_VALUE: usize = 1024;
/// Minimum length of a received credential, in bytes.
const MIN_CREDENTIAL: usize = 12;
/// Headers that every callback has, or that change the form of a request.
const STANDARD_HEADERS: [&str; 14] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// A fault of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The line; the first is 1.
    pub line: usize,
    /// The column in characters; the first is 1.
    pub column: usize,
    /// The message.
    pub message: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawConfig {
    #[serde(default)]
    urls: Vec<Spanned<String>>,
    active: Option<Spanned<i64>>,
    retry_minutes: Option<Spanned<i64>>,
    retries: Option<Spanned<i64>>,
    accepted: Option<Vec<Spanned<i64>>>,
    keys: Spanned<Vec<Spanned<RawKey>>>,
    #[serde(default)]
    headers: Vec<Spanned<RawKey>>,
    receiving: Option<Spanned<RawReceiving>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKey {
    name: String,
    field: Option<String>,
    constant: Option<String>,
    secret: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReceiving {
    credentials: Vec<Spanned<RawCredential>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCredential {
    header: Option<String>,
    key: Option<String>,
    secret: String,
}

/// Reads a configuration file of an entity that is live or a sandbox.
///
/// # Errors
/// All faults in the order of the file, or the first one if it is not TOML of the right shape.
pub fn parse_config(text: &str, is_live: bool) -> Result<CallbackConfig, Vec<ConfigFault>> {
    let mut reader = ConfigReader { text, faults: Vec::new() };
    let raw: RawConfig = match toml::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            reader.add_fault(&error.span().unwrap_or_default(), error.message());
            return Err(reader.faults);
        }
    };
    let config = reader.read_config(raw, is_live);
    if reader.faults.is_empty() {
        return Ok(config);
    }
    reader.faults.sort_by_key(|fault| (fault.line, fault.column));
    Err(reader.faults)
}

/// Reads a file and collects its faults.
struct ConfigReader<'a> {
    text: &'a str,
    faults: Vec<ConfigFault>,
}

impl ConfigReader<'_> {
    fn add_fault(&mut self, span: &Range<usize>, message: impl Into<String>) {
        let before = self.text.get(..self.text.floor_char_boundary(span.start)).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        self.faults.push(ConfigFault {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            message: message.into(),
        });
    }

    fn read_config(&mut self, raw: RawConfig, is_live: bool) -> CallbackConfig {
        let has_receiving = raw.receiving.is_some();
        let urls = self.read_urls(raw.urls, is_live, has_receiving);
        let choices = i64::try_from(urls.len().max(1)).unwrap_or(1);
        let keys_span = raw.keys.span();
        let keys: Vec<CallbackKey> = self.read_keys(raw.keys.into_inner());
        let config = CallbackConfig {
            active: self.read_number(raw.active, "active", choices, 1),
            urls,
            retry_minutes: self.read_number(raw.retry_minutes, "retry-minutes", 5, DEFAULT_RETRY_MINUTES),
            retries: self.read_number(raw.retries, "retries", 5, DEFAULT_RETRIES),
            accepted: self.read_accepted(raw.accepted),
            keys,
            headers: self.read_headers(raw.headers),
            receiving: raw.receiving.map(|receiving| self.read_receiving(receiving.into_inner())),
        };
        let mut required = vec![CallbackField::TransactionId];
        required.extend(has_receiving.then_some(CallbackField::Decision));
        for field in required.iter().filter(|field| config.key_name(field).is_none()) {
            let message = format!(
                "`keys` lacks the field {field}: add {{ name = \"{}\", field = \"{field}\" }}",
                field.name().to_lowercase()
            );
            self.add_fault(&keys_span, message);
        }
        config
    }

    fn read_urls(&mut self, urls: Vec<Spanned<String>>, is_live: bool, has_receiving: bool) -> Vec<String> {
        if urls.is_empty() && !has_receiving {
            self.add_fault(&(0..0), "`urls` lacks the destination: write urls = [\"https://shop.example/decisions\"]");
        }
        let mut found = Vec::new();
        for (place, url) in urls.into_iter().enumerate() {
            let span = url.span();
            let url = url.into_inner();
            if place == MAX_URLS {
                self.add_fault(&span, format!("`urls` has at most {MAX_URLS} destinations"));
            }
            if let Err(message) = check_destination(&url, is_live) {
                self.add_fault(&span, format!("{url} {message}"));
            } else if found.contains(&url) {
                self.add_fault(&span, format!("{url} is in `urls` already"));
            }
            found.push(url);
        }
        found
    }

    /// Reads a number between 1 and `most`.
    fn read_number<T: TryFrom<i64>>(&mut self, number: Option<Spanned<i64>>, name: &str, most: i64, default: T) -> T {
        let Some(number) = number else { return default };
        let span = number.span();
        match Some(number.into_inner()).filter(|number| (1..=most).contains(number)).map(T::try_from) {
            Some(Ok(number)) => number,
            _ => {
                self.add_fault(&span, format!("`{name}` is a number from 1 to {most}"));
                default
            }
        }
    }

    fn read_accepted(&mut self, statuses: Option<Vec<Spanned<i64>>>) -> Vec<u16> {
        let mut found = BTreeSet::new();
        for status in statuses.into_iter().flatten() {
            let span = status.span();
            match u16::try_from(status.into_inner()).ok().filter(|status| (200..=299).contains(status)) {
                Some(status) => _ = found.insert(status),
                None => self.add_fault(&span, "`accepted` lists statuses of success, from 200 to 299"),
            }
        }
        if found.is_empty() { vec![200] } else { found.into_iter().collect() }
    }

    fn read_keys(&mut self, keys: Vec<Spanned<RawKey>>) -> Vec<CallbackKey> {
        let mut found: Vec<CallbackKey> = Vec::new();
        for (place, key) in keys.into_iter().enumerate() {
            let span = key.span();
            let raw = key.into_inner();
            if place == MAX_KEYS {
                self.add_fault(&span, format!("`keys` has at most {MAX_KEYS} pairs"));
            }
            if found.iter().any(|earlier| earlier.name == raw.name) {
                self.add_fault(&span, format!("there is a key `{}` already", raw.name));
            }
            if let Some(message) = find_name_fault(&raw.name) {
                self.add_fault(&span, message);
            }
            found.extend(self.read_source(&span, raw));
        }
        found
    }

    fn read_headers(&mut self, headers: Vec<Spanned<RawKey>>) -> Vec<CallbackKey> {
        let mut found: Vec<CallbackKey> = Vec::new();
        for (place, header) in headers.into_iter().enumerate() {
            let span = header.span();
            let raw = header.into_inner();
            let name = raw.name.clone();
            if place == MAX_HEADERS {
                self.add_fault(&span, format!("`headers` has at most {MAX_HEADERS} headers"));
            }
            if found.iter().any(|earlier| earlier.name.eq_ignore_ascii_case(&name)) {
                self.add_fault(&span, format!("there is a header `{name}` already"));
            }
            self.check_header_name(&span, &name);
            if STANDARD_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                self.add_fault(&span, format!("`{name}` is a standard header, which the gateway sets itself"));
            }
            if raw.field.is_some() {
                self.add_fault(&span, format!("the header `{name}` is fixed: write `constant` or `secret`"));
                continue;
            }
            let key = self.read_source(&span, raw);
            if key.as_ref().and_then(CallbackKey::fixed_value).is_some_and(|text| HeaderValue::from_str(text).is_err())
            {
                self.add_fault(&span, format!("the value of `{name}` has characters that no header may have"));
            }
            found.extend(key);
        }
        found
    }

    /// Reads the only one of `field`, `constant` and `secret`.
    fn read_source(&mut self, span: &Range<usize>, raw: RawKey) -> Option<CallbackKey> {
        let RawKey { name, field, constant, secret } = raw;
        if let Some(text) = constant.as_ref().or(secret.as_ref())
            && !(1..=MAX_VALUE).contains(&text.len())
        {
            self.add_fault(span, format!("the value of `{name}` has 1 to {MAX_VALUE} bytes"));
        }
        let source = match (field, constant, secret) {
            (Some(field), None, None) => match CallbackField::parse(&field) {
                Ok(field) => ValueSource::Field(field),
                Err(fault) => {
                    self.add_fault(span, fault.to_string());
                    return None;
                }
            },
            (None, Some(text), None) => ValueSource::Constant(text),
            (None, None, Some(text)) => ValueSource::Secret(SecretValue::new(&text)),
            _ => {
                self.add_fault(span, format!("`{name}` has exactly one of `field`, `constant` and `secret`"));
                return None;
            }
        };
        Some(CallbackKey { name, source })
    }

    fn read_receiving(&mut self, raw: RawReceiving) -> ReceivingConfig {
        let mut credentials = Vec::new();
        if raw.credentials.is_empty() || raw.credentials.len() > MAX_HEADERS {
            self.add_fault(&(0..0), format!("`receiving` has 1 to {MAX_HEADERS} credentials"));
        }
        for credential in raw.credentials {
            let span = credential.span();
            let RawCredential { header, key, secret } = credential.into_inner();
            if !(MIN_CREDENTIAL..=MAX_VALUE).contains(&secret.len()) || secret.trim() != secret {
                let message = format!(
                    "a received secret has {MIN_CREDENTIAL} to {MAX_VALUE} bytes, without blanks at its ends: others may guess it"
                );
                self.add_fault(&span, message);
            }
            let secret = SecretValue::new(&secret);
            match (header, key) {
                (Some(name), None) => {
                    self.check_header_name(&span, &name);
                    credentials.push(ReceivingCredential::Header(name, secret));
                }
                (None, Some(name)) => {
                    if let Some(message) = find_name_fault(&name) {
                        self.add_fault(&span, message);
                    }
                    credentials.push(ReceivingCredential::Key(name, secret));
                }
                _ => self.add_fault(&span, "a credential has exactly one of `header` and `key`"),
            }
        }
        ReceivingConfig { credentials }
    }

    fn check_header_name(&mut self, span: &Range<usize>, name: &str) {
        if name.len() > MAX_NAME || HeaderName::from_bytes(name.as_bytes()).is_err() {
            self.add_fault(
                span,
                format!("`{name}` is no name of a header: letters, digits and hyphens, at most {MAX_NAME}"),
            );
        }
    }
}

/// Returns the fault of the name of a pair, or `None` if it is good.
fn find_name_fault(name: &str) -> Option<String> {
    let is_good = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    (!is_good).then(|| format!("the name of a key has 1 to {MAX_NAME} bytes and no control characters"))
}
