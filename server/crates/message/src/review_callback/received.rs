//! Decisions from outside review systems: their credentials, and the pairs of their bodies.

use std::borrow::Cow;

use axum::http::HeaderMap;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use tillgate_domain::review::decision::{DecisionType, RequestedDecision};
use tillgate_shared::format::mask::{Strictness, has_card_number};

use super::config::{CallbackConfig, ReceivingConfig, ReceivingCredential};
use super::field::CallbackField;

/// Maximum number of pairs in a body.
const MAX_PAIRS: usize = 200;
/// Maximum length of a transaction id and of a user's id, in characters.
const MAX_ID: usize = 255;
/// Maximum length of a note, in characters.
const MAX_NOTE: usize = 2048;
/// User of a decision that names none.
const UNNAMED_USER: &str = "review-system";

/// Reason why a request may not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialFault {
    /// A credential is missing: 401.
    Missing,
    /// A credential is wrong: 403.
    Wrong,
}

/// The pairs of a received body, in order.
#[derive(Debug)]
pub struct ReceivedPairs<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> ReceivedPairs<'a> {
    /// Reads a form-encoded body.
    ///
    /// # Errors
    /// The fault for the log, if the body is not UTF-8, badly encoded, or has too many pairs.
    pub fn parse(body: &'a [u8]) -> Result<Self, &'static str> {
        let is_escape = |rest: &[u8]| rest.iter().take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2;
        let mut bytes = body;
        while let Some(at) = bytes.iter().position(|byte| *byte == b'%') {
            bytes = bytes.get(at + 1..).unwrap_or_default();
            if !is_escape(bytes) {
                return Err("a percent sign is not followed by two hexadecimal digits");
            }
        }
        let pairs: Vec<_> = form_urlencoded::parse(body).take(MAX_PAIRS + 1).collect();
        if pairs.len() > MAX_PAIRS {
            return Err("the body has too many pairs");
        }
        if pairs.iter().any(|(name, value)| name.contains(['\u{fffd}', '\0']) || value.contains(['\u{fffd}', '\0'])) {
            return Err("the body is not UTF-8");
        }
        Ok(Self(pairs))
    }

    /// Returns the value of a name, or `None` if there is none or an empty one.
    ///
    /// # Errors
    /// The fault for the log, if the name comes more than once.
    fn find_value(&self, name: &str) -> Result<Option<&str>, &'static str> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_ref());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err("a key comes more than once"),
            (value, None) => Ok(value.filter(|value| !value.is_empty())),
        }
    }
}

impl ReceivingConfig {
    /// Checks the credentials of a request. All are compared in constant time, whichever is wrong. A value that comes
    /// more than once is wrong.
    ///
    /// # Errors
    /// If a credential is missing, or else if one is wrong.
    pub fn check_credentials(&self, headers: &HeaderMap, pairs: &ReceivedPairs<'_>) -> Result<(), CredentialFault> {
        let (mut is_missing, mut is_right) = (false, Choice::from(u8::from(!self.credentials.is_empty())));
        for credential in &self.credentials {
            let presented = match credential {
                ReceivingCredential::Header(name, _) => {
                    let mut values = headers.get_all(name).iter();
                    match (values.next(), values.next()) {
                        (Some(value), None) => Ok(Some(value.as_bytes())),
                        (None, _) => Ok(None),
                        (Some(_), Some(_)) => Err(()),
                    }
                }
                ReceivingCredential::Key(name, _) => {
                    pairs.find_value(name).map(|value| value.map(str::as_bytes)).map_err(drop)
                }
            };
            is_missing |= presented == Ok(None);
            // Digests have one length, so the comparison does not reveal that of the secret.
            let digest = Sha256::digest(presented.ok().flatten().unwrap_or_default());
            is_right &= digest.ct_eq(&Sha256::digest(credential.secret().expose()));
        }
        match (is_missing, bool::from(is_right)) {
            (true, _) => Err(CredentialFault::Missing),
            (false, false) => Err(CredentialFault::Wrong),
            (false, true) => Ok(()),
        }
    }
}

/// Reads a decision under the configured names. Other pairs are ignored.
///
/// # Errors
/// The fault for the log, without a value: a value is missing, repeated or not valid, or contains a card number.
pub fn read_decision(config: &CallbackConfig, pairs: &ReceivedPairs<'_>) -> Result<RequestedDecision, &'static str> {
    let read = |field: CallbackField, most: usize| -> Result<Option<&str>, &'static str> {
        let Some(name) = config.key_name(&field) else { return Ok(None) };
        let (value, is_note) = (pairs.find_value(name)?, field == CallbackField::Note);
        match value {
            Some(value) if value.chars().count() > most => Err("a value is too long"),
            Some(value) if has_card_number(value, Strictness::InUse) => Err("a value contains a card number"),
            // A note may have several lines.
            Some(value) if value.chars().any(|c| c.is_control() && !(is_note && matches!(c, '\n' | '\r' | '\t'))) => {
                Err("a value contains control characters")
            }
            value => Ok(value),
        }
    };
    let transaction_id = read(CallbackField::TransactionId, MAX_ID)?.ok_or("the transaction id is missing")?;
    let decision = read(CallbackField::Decision, MAX_ID)?.ok_or("the decision is missing")?;
    let decision = DecisionType::parse(decision).ok_or("the decision is not APPROVE, CANCEL or PENDING")?;
    let reason = read(CallbackField::CancelReason, MAX_ID)?.map(parse_reason).transpose()?;
    if reason.is_some() && decision != DecisionType::Cancel {
        return Err("a cancel reason comes with another decision than CANCEL");
    }
    let processed = read(CallbackField::ProcessDate, MAX_ID)?.map(parse_process_date).transpose()?;
    Ok(RequestedDecision {
        transaction_id: transaction_id.to_owned(),
        decision,
        user_id: read(CallbackField::UserId, MAX_ID)?.unwrap_or(UNNAMED_USER).to_owned(),
        cancel_reason: reason,
        note: read(CallbackField::Note, MAX_NOTE)?.map(str::to_owned),
        processed,
        actor: None,
    })
}

/// Parses the reason of a cancellation: digits only.
fn parse_reason(text: &str) -> Result<u32, &'static str> {
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok());
    number.flatten().ok_or("the cancel reason is no number")
}

/// Parses `yyyy-MM-dd HH:mm:ss.SSS`, in UTC.
fn parse_process_date(text: &str) -> Result<Timestamp, &'static str> {
    const FAULT: &str = "the process date is not yyyy-MM-dd HH:mm:ss.SSS";
    let has_shape = text.len() == 23 && text.as_bytes().get(19) == Some(&b'.');
    let parsed = DateTime::strptime("%Y-%m-%d %H:%M:%S%.f", text).ok().filter(|_| has_shape);
    let parsed = parsed.and_then(|time| time.to_zoned(TimeZone::UTC).ok());
    parsed.map(|time| time.timestamp()).ok_or(FAULT)
}
