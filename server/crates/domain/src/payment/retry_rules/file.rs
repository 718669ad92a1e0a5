//! The file of retry rules, in TOML. Every fault names its key, or its line and column.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use jiff::SignedDuration;
use serde::Deserialize;
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::result::ResultCode;

use super::{AttemptLimit, RetryAction, RetryRules, SchemeRules};
use crate::wait_text::parse_wait;

/// The rules that apply unless the operator has others.
pub(super) const DEFAULT: &str = include_str!("default.toml");

/// Longest wait and longest time within which attempts are counted.
const MAX_WAIT: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Maximum of a limit. Every attempt is stored, so that the borders of a time are exact.
const MAX_ATTEMPTS: usize = 100;
/// Time for which a card is remembered that must not be tried again, unless the file has another one.
const DEFAULT_STOP: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Longest time for which it is remembered.
const MAX_STOP: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    schedules: ScheduleSection,
    schemes: BTreeMap<String, SchemeSection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScheduleSection {
    stop: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SchemeSection {
    brands: Vec<String>,
    #[serde(default)]
    limits: Vec<LimitEntry>,
    stop_for: Option<String>,
    #[serde(default)]
    response_codes: BTreeMap<String, ActionEntry>,
    #[serde(default)]
    advice_codes: BTreeMap<String, ActionEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitEntry {
    attempts: usize,
    within: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ActionEntry {
    Stop,
    StopCard,
    RetryLater(String),
    #[serde(rename = "retry-with-3ds")]
    RetryWithThreeDs,
}

impl FromStr for RetryRules {
    type Err = String;

    /// Reads a file of rules. The first fault ends the reading.
    fn from_str(text: &str) -> Result<Self, String> {
        let file: RulesFile = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        for (place, code) in file.schedules.stop.iter().enumerate() {
            let is_decline = |found: &ResultCode| !found.is_success() && !found.is_pending();
            let mut found = ResultCode::all().filter(|found| found.code().starts_with(code.as_str())).peekable();
            if code.len() < 3 || found.peek().is_none() || !found.all(|found| is_decline(&found)) {
                return Err(format!(
                    "schedules.stop[{place}]: {code} is no result code of a decline, nor its beginning"
                ));
            }
        }
        let mut schemes: Vec<Arc<SchemeRules>> = Vec::new();
        for (name, section) in file.schemes {
            let key = format!("schemes.{name}");
            let scheme = read_scheme(&key, section)?;
            let is_known = |brand: &&String| schemes.iter().any(|earlier| earlier.brands.contains(brand));
            if let Some(brand) = scheme.brands.iter().find(is_known) {
                return Err(format!("{key}.brands: {brand} is a brand of another scheme already"));
            }
            schemes.push(Arc::new(scheme));
        }
        Ok(Self { schemes, schedule_stops: file.schedules.stop })
    }
}

fn read_scheme(key: &str, section: SchemeSection) -> Result<SchemeRules, String> {
    let SchemeSection { brands, limits, stop_for, response_codes, advice_codes } = section;
    if brands.is_empty() {
        return Err(format!("{key}.brands: names no brand, so the scheme has no effect"));
    }
    for (place, brand) in brands.iter().enumerate() {
        if Brand::find(brand).is_none_or(|brand| brand.kind != AccountType::Card) {
            return Err(format!("{key}.brands[{place}]: {brand} is no brand of cards"));
        }
    }
    if limits.is_empty() && response_codes.is_empty() && advice_codes.is_empty() {
        return Err(format!("{key}: has neither limits nor codes, so the scheme has no effect"));
    }
    let limits = limits.into_iter().enumerate();
    let limits = limits.map(|(place, limit)| read_limit(&format!("{key}.limits[{place}]"), &limit));
    let stop_for = match &stop_for {
        Some(text) => read_wait(&format!("{key}.stop-for"), text, MAX_STOP)?,
        None => DEFAULT_STOP,
    };
    Ok(SchemeRules {
        brands,
        limits: limits.collect::<Result<_, _>>()?,
        stop_for,
        response_codes: read_codes(&format!("{key}.response-codes"), response_codes, 1..=4)?,
        advice_codes: read_codes(&format!("{key}.advice-codes"), advice_codes, 2..=2)?,
    })
}

fn read_limit(key: &str, limit: &LimitEntry) -> Result<AttemptLimit, String> {
    let within = read_wait(&format!("{key}.within"), &limit.within, MAX_WAIT)?;
    if !(1..=MAX_ATTEMPTS).contains(&limit.attempts) {
        return Err(format!("{key}.attempts: has to be 1 to {MAX_ATTEMPTS}"));
    }
    Ok(AttemptLimit { attempts: limit.attempts, within })
}

/// Reads the actions of codes whose length is in a range.
fn read_codes(
    key: &str,
    entries: BTreeMap<String, ActionEntry>,
    lengths: std::ops::RangeInclusive<usize>,
) -> Result<BTreeMap<String, RetryAction>, String> {
    let read = |(code, action): (String, ActionEntry)| {
        let is_code = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        if !lengths.contains(&code.len()) || !code.bytes().all(is_code) {
            let (shortest, longest) = (lengths.start(), lengths.end());
            return Err(format!("{key}.{code}: a code has {shortest} to {longest} digits or capital letters"));
        }
        let action = match action {
            ActionEntry::Stop => RetryAction::Stop,
            ActionEntry::StopCard => RetryAction::StopCard,
            ActionEntry::RetryWithThreeDs => RetryAction::RetryWithThreeDs,
            ActionEntry::RetryLater(wait) => {
                RetryAction::RetryLater(read_wait(&format!("{key}.{code}.retry-later"), &wait, MAX_WAIT)?)
            }
        };
        Ok((code, action))
    };
    entries.into_iter().map(read).collect()
}

fn read_wait(key: &str, text: &str, longest: SignedDuration) -> Result<SignedDuration, String> {
    let wait = parse_wait(text).filter(|wait| wait.is_positive() && *wait <= longest);
    wait.ok_or_else(|| format!("{key}: {text} is no time such as 30m, 24h or 30d, up to {}d", longest.as_hours() / 24))
}
