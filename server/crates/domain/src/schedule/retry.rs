//! Retries of a declined run, by its result code.
//!
//! A plan has one rule for each group of codes, with the wait before each retry. Codes of hard declines cannot be in a
//! plan: the card is lost, blocked or closed, or its holder has revoked the order. They are in the table of the
//! schemes' rules ([`RetryRules`]), which decides before the plan ([`RetryAdvice`]).

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::result::ResultCode;

use crate::payment::retry_rules::{RetryAdvice, RetryRules};
use crate::wait_text::{format_wait, parse_wait};

/// The plan of an entity that has none of its own: too little money after days, a fault in between after hours.
const DEFAULT: &str = "800.100.155=1d,3d,7d;800.100.203=1d,3d,7d;800.100.162=1d,3d;800.100.163=1d;800.100.176=6h,1d;\
                       800.100.179=1d;800.800=1h,6h;900=1h,6h,1d";
/// Maximum number of retries of a run.
const MAX_RETRIES: usize = 10;
/// Longest wait.
const MAX_WAIT: SignedDuration = SignedDuration::from_hours(60 * 24);

/// Plan of the retries. Its clones share the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPlan(Arc<[RetryRule]>);

/// Retries of the codes with a beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RetryRule {
    codes: String,
    waits: Vec<SignedDuration>,
}

impl RetryPlan {
    /// Returns the time of the next retry of a run that has ended with `code` at `now`, after a number of earlier
    /// retries. The rule with the longest matching beginning decides about the wait, and `advice` about the earliest
    /// time. An attempt that the rules of the scheme refused is repeated when they allow it, unless the plan has no
    /// retries at all. `None` if the run is not retried.
    pub fn next_retry(
        &self,
        code: ResultCode,
        advice: RetryAdvice,
        retries: usize,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let planned = || now.checked_add(self.wait_after(code, retries)?).ok();
        match advice {
            RetryAdvice::Never => None,
            RetryAdvice::ByPlan => planned(),
            RetryAdvice::NotBefore(earliest) => planned().map(|planned| planned.max(earliest)),
            RetryAdvice::RefusedUntil(allowed) => Some(allowed).filter(|_| !self.0.is_empty() && retries < MAX_RETRIES),
        }
    }

    fn wait_after(&self, code: ResultCode, retries: usize) -> Option<SignedDuration> {
        let matching = self.0.iter().filter(|rule| code.code().starts_with(&rule.codes));
        matching.max_by_key(|rule| rule.codes.len())?.waits.get(retries).copied()
    }
}

impl Default for RetryPlan {
    fn default() -> Self {
        // A test parses it.
        static PARSED: LazyLock<RetryPlan> =
            LazyLock::new(|| DEFAULT.parse().unwrap_or_else(|_| RetryPlan(Arc::default())));
        PARSED.clone()
    }
}

impl FromStr for RetryPlan {
    type Err = String;

    /// Parses a plan such as `800.100.155=1d,3d;900=1h`. The word `none` is a plan without retries.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(Arc::default()));
        }
        Ok(Self(text.split(';').map(parse_rule).collect::<Result<_, _>>()?))
    }
}

/// Parses a rule such as `800.100.155=1d,3d`.
fn parse_rule(text: &str) -> Result<RetryRule, String> {
    let shape = "a rule looks like 800.100.155=1d,3d: a result code or its beginning, and the wait before each retry";
    let (codes, waits) = text.trim().split_once('=').ok_or(shape)?;
    let known = ResultCode::all().any(|code| code.code().starts_with(codes)) && codes.len() >= 3;
    if !known {
        return Err(format!("no result code begins with {codes}: {shape}"));
    }
    if RetryRules::default().stops_schedule(codes) {
        return Err(format!("{codes} is a hard decline, which is never retried"));
    }
    let waits: Vec<SignedDuration> = waits
        .split(',')
        .map(|wait| parse_wait(wait).filter(|wait| wait.is_positive() && *wait <= MAX_WAIT).ok_or(shape))
        .collect::<Result<_, _>>()?;
    if waits.len() > MAX_RETRIES {
        return Err(format!("a run has at most {MAX_RETRIES} retries"));
    }
    Ok(RetryRule { codes: codes.to_owned(), waits })
}

impl fmt::Display for RetryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (place, rule) in self.0.iter().enumerate() {
            let waits: Vec<String> = rule.waits.iter().map(|wait| format_wait(*wait)).collect();
            write!(f, "{}{}={}", if place == 0 { "" } else { ";" }, rule.codes, waits.join(","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn code(text: &str) -> ResultCode {
        ResultCode::find(text).unwrap()
    }

    #[test]
    fn the_longest_beginning_of_a_code_decides_and_its_waits_come_in_order() {
        let plan: RetryPlan = "800.100=30m;800.100.155=1d,3d;900=6h".parse().unwrap();
        let hours = |number| Some(SignedDuration::from_hours(number));
        assert_eq!(plan.wait_after(code("800.100.155"), 0), hours(24));
        assert_eq!(plan.wait_after(code("800.100.155"), 1), hours(72));
        assert_eq!(plan.wait_after(code("800.100.155"), 2), None);
        assert_eq!(plan.wait_after(code("800.100.152"), 0), Some(SignedDuration::from_mins(30)));
        assert_eq!(plan.wait_after(code("900.100.300"), 0), hours(6));
        assert_eq!(plan.wait_after(code("100.100.303"), 0), None);
        assert_eq!(plan.to_string(), "800.100=30m;800.100.155=1d,3d;900=6h");
    }

    #[test]
    fn the_default_plan_retries_too_little_money_and_no_hard_decline() {
        let plan = RetryPlan::default();
        assert_eq!(plan, DEFAULT.parse().unwrap());
        assert!(plan.wait_after(code("800.100.203"), 2).is_some());
        let rules = RetryRules::default();
        for hard in ResultCode::all().filter(|code| rules.stops_schedule(code.code())) {
            assert_eq!(plan.wait_after(hard, 0), None, "{hard:?}");
        }
        assert_eq!("none".parse::<RetryPlan>().unwrap().wait_after(code("800.100.203"), 0), None);
    }

    #[test]
    fn the_advice_after_a_decline_forbids_a_retry_or_puts_it_off() {
        let plan: RetryPlan = "800.100=1d,3d".parse().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let hours = |hours| now + SignedDuration::from_hours(hours);
        let funds = code("800.100.155");
        let retry = |advice, retries| plan.next_retry(funds, advice, retries, now);
        assert_eq!(retry(RetryAdvice::ByPlan, 0), Some(hours(24)));
        assert_eq!(retry(RetryAdvice::NotBefore(hours(24)), 0), Some(hours(24)));
        assert_eq!(retry(RetryAdvice::NotBefore(hours(25)), 0), Some(hours(25)));
        assert_eq!(retry(RetryAdvice::NotBefore(hours(25)), 1), Some(hours(72)));
        assert_eq!(retry(RetryAdvice::NotBefore(hours(25)), 2), None, "the plan has no third retry");
        assert_eq!(retry(RetryAdvice::Never, 0), None);
        let refused = code("700.600.025");
        let retry =
            |plan: &RetryPlan, retries| plan.next_retry(refused, RetryAdvice::RefusedUntil(hours(5)), retries, now);
        assert_eq!((retry(&plan, 0), retry(&plan, 9), retry(&plan, 10)), (Some(hours(5)), Some(hours(5)), None));
        assert_eq!(retry(&"none".parse().unwrap(), 0), None);
    }

    #[test]
    fn plans_that_are_wrong_or_retry_hard_declines_are_refused() {
        for (text, reason) in [
            ("", "a rule looks like"),
            ("800.100.155", "a rule looks like"),
            ("800.100.155=", "a rule looks like"),
            ("800.100.155=1w", "a rule looks like"),
            ("800.100.155=0d", "a rule looks like"),
            ("800.100.155=-1d", "a rule looks like"),
            ("800.100.155=61d", "a rule looks like"),
            ("800.100.155=9999999999999999d", "a rule looks like"),
            ("123.456=1d", "no result code"),
            ("8=1d", "no result code"),
            ("800.100.159=1d", "hard decline"),
            ("800.100.501=1d", "hard decline"),
            ("900=1h,1h,1h,1h,1h,1h,1h,1h,1h,1h,1h", "at most 10"),
        ] {
            let message = text.parse::<RetryPlan>().unwrap_err();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }
}
