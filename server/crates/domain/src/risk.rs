//! Risk checks of payments: the decision of a check, the settings of a channel, and what follows from both.
//!
//! A check assesses a payment once: before its connector is asked, or after the connector's approval. Its decision
//! is stored with the payment.

pub mod dry_run;
pub mod list;
pub mod rules;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::review::PaymentReview;
use crate::payment::debit_step::DebitStep;
use crate::payment::optional_result_code;

/// Beginning of the codes of payments that their check, or the review after it, refused or holds.
const CHECK_CODES: &str = "100.400.";

/// Outcome of a risk check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RiskOutcome {
    /// The payment goes on.
    Accept,
    /// The cardholder has to be authenticated by 3-D Secure.
    Challenge,
    /// An analyst has to decide.
    Review,
    /// The payment is declined.
    Deny,
    /// The check failed.
    Error,
}

impl RiskOutcome {
    /// Every outcome.
    pub const ALL: [Self; 5] = [Self::Accept, Self::Challenge, Self::Review, Self::Deny, Self::Error];

    /// Parses the name. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }

    /// Returns the name in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Challenge => "challenge",
            Self::Review => "review",
            Self::Deny => "deny",
            Self::Error => "error",
        }
    }
}

/// Time of the check in the pipeline of a payment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScreeningPoint {
    /// Before the connector is asked. A payment that is not accepted is not executed.
    #[default]
    Before,
    /// After the connector's approval. A payment that is not accepted is reversed.
    After,
}

/// Treatment of payments that an analyst should review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewPolicy {
    /// They are declined.
    #[default]
    Decline,
    /// They are held until an analyst has decided, and nothing is executed before.
    Hold,
    /// They are authorized and held. An approved debit is captured, and a cancelled payment is reversed.
    Authorize,
}

/// Treatment of payments whose check fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RiskErrorPolicy {
    /// They are declined.
    #[default]
    Deny,
    /// They are accepted. The failure is stored with them.
    Accept,
}

/// Settings of a channel for its risk check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RiskSettings {
    /// Time of the check.
    pub screen: ScreeningPoint,
    /// Treatment of payments to review.
    pub review: ReviewPolicy,
    /// Treatment of payments whose check fails.
    pub error: RiskErrorPolicy,
}

/// Data about a payment that its check needs and that no other field has. Never card data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RiskContext {
    /// Index of the account (card, bank account or account with a provider) under the mask of this payment. It reveals
    /// neither the number nor another payment with the same account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked_index: Option<String>,
    /// The first six digits of a card number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<String>,
    /// Country of the card's issuer, two letters, by the operator's table when the payment was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_country: Option<String>,
    /// Funding of the card, by that table or by its brand: `credit`, `debit`, `prepaid` or `charge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_funding: Option<String>,
    /// Address of the shopper's client, as the gateway saw it. `None` for a request of the merchant's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Names of the parameters that the shopper's browser set, sorted, also when the account was registered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from_browser: Vec<String>,
    /// Names of the parameters that the gateway set, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from_gateway: Vec<String>,
    /// Data about the shopper that the registration has and the request has not. They are not shown with the payment.
    #[serde(skip_serializing_if = "Parameters::is_empty")]
    pub registered: Parameters,
    /// Age of the registration in seconds, if the payment uses one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registration_age: Option<i64>,
    /// Age of the account in seconds at the check, if a rule read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_age: Option<i64>,
}

/// Decision of a risk check. It names what it used and contains no values of facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RiskDecision {
    /// The outcome.
    pub outcome: RiskOutcome,
    /// Sum of the scores of the rules that fired, −99,999 to 99,999.
    pub score: i32,
    /// Result code that a rule with this outcome names.
    #[serde(default, with = "optional_result_code", skip_serializing_if = "Option::is_none")]
    pub code: Option<ResultCode>,
    /// Version of the rules. `None` if the channel has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// True if the cardholder of a payment to review has to be authenticated first, if that is possible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub challenge: bool,
    /// Names of the rules that fired, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fired: Vec<String>,
    /// Names of the facts and counters in these rules, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// True if the outcome is to be applied after the connector's approval, whatever the channel's setting is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub applies_after: bool,
}

/// Decision of the version of rules that only records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShadowDecision {
    /// The outcome that it would have had.
    pub outcome: RiskOutcome,
    /// Sum of the scores of its rules that fired.
    pub score: i32,
    /// The version.
    pub version: String,
    /// Names of its rules that fired, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fired: Vec<String>,
}

/// The risk check of a payment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PaymentRisk {
    /// Data for the check.
    pub context: RiskContext,
    /// The decision. `None` until the payment was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<RiskDecision>,
    /// Decision of the shadow version, if the channel has one. It has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<ShadowDecision>,
    /// The review by an analyst, if the decision demands one and the channel has reviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<PaymentReview>,
    /// The step of a debit in two steps (`PA.CP`) whose check comes between them. `None` for other payments, and if the
    /// connector takes both steps in one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debit_step: Option<DebitStep>,
}

/// Consequence of a risk check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiskRuling {
    /// The payment goes on.
    Proceed,
    /// The payment is declined with this code, without a request to its connector.
    Decline(ResultCode),
    /// The approved payment is reversed and declined with this code.
    Void(ResultCode),
    /// The payment is held until an analyst has decided.
    Review,
}

impl RiskRuling {
    /// Returns the code with which the payment ends. `None` if it goes on or is held.
    pub fn refusal_code(self) -> Option<ResultCode> {
        match self {
            Self::Proceed | Self::Review => None,
            Self::Decline(code) | Self::Void(code) => Some(code),
        }
    }
}

impl RiskDecision {
    /// Makes the decision of a check that failed.
    pub fn failed() -> Self {
        Self::of_outcome(RiskOutcome::Error)
    }

    /// Makes a decision that no rule has led to.
    pub fn of_outcome(outcome: RiskOutcome) -> Self {
        Self {
            outcome,
            score: 0,
            code: None,
            version: None,
            challenge: false,
            fired: Vec::new(),
            inputs: Vec::new(),
            applies_after: false,
        }
    }

    /// Returns true if the issuer has to be asked for a challenge: the outcome is one, or the payment will be held for
    /// review with an authenticated cardholder.
    pub fn demands_challenge(&self, settings: RiskSettings) -> bool {
        match self.outcome {
            RiskOutcome::Challenge => true,
            // A payment that is declined for its review needs no authentication.
            RiskOutcome::Review => self.challenge && settings.review != ReviewPolicy::Decline,
            RiskOutcome::Accept | RiskOutcome::Deny | RiskOutcome::Error => false,
        }
    }

    /// Returns what follows from the decision. `is_authenticated` is true if the cardholder is, or is about to be,
    /// authenticated by 3-D Secure. That fulfils a challenge, except one that test data demand after the approval.
    /// `is_approved` is true if the connector has approved the payment; it is then reversed, not just declined.
    pub fn rule_on(&self, settings: RiskSettings, is_authenticated: bool, is_approved: bool) -> RiskRuling {
        let RiskSettings { review, error, .. } = settings;
        let codes = match self.outcome {
            RiskOutcome::Accept => return RiskRuling::Proceed,
            RiskOutcome::Review if review != ReviewPolicy::Decline => return RiskRuling::Review,
            RiskOutcome::Challenge if is_authenticated && !self.applies_after => return RiskRuling::Proceed,
            RiskOutcome::Error if error == RiskErrorPolicy::Accept => return RiskRuling::Proceed,
            RiskOutcome::Challenge | RiskOutcome::Review => (codes::RISK_CHALLENGE, codes::RISK_CHALLENGE_VOID),
            RiskOutcome::Deny => (codes::RISK_DENY, codes::RISK_DENY_VOID),
            RiskOutcome::Error => (codes::RISK_ERROR, codes::RISK_ERROR_VOID),
        };
        match is_approved {
            true => RiskRuling::Void(self.code.unwrap_or(codes.1)),
            false => RiskRuling::Decline(self.code.unwrap_or(codes.0)),
        }
    }

    /// Returns the result code of the check of a payment with this result: the same code if the check, or the review
    /// after it, refused or holds the payment, otherwise `accepted`. A payment to review that awaits its shopper or its
    /// connector will be held. A check that failed has its own code also if the channel accepts such payments.
    pub fn check_code(&self, result: ResultCode, accepted: ResultCode) -> ResultCode {
        let is_of_check = self.outcome != RiskOutcome::Accept && result.code().starts_with(CHECK_CODES);
        match self.outcome {
            _ if is_of_check => result,
            RiskOutcome::Error => codes::RISK_ERROR,
            RiskOutcome::Review if result.is_pending() => codes::RISK_HELD,
            _ => accepted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_on(outcome: RiskOutcome, error: RiskErrorPolicy, authenticated: bool, approved: bool) -> RiskRuling {
        let settings = RiskSettings { error, ..RiskSettings::default() };
        RiskDecision::of_outcome(outcome).rule_on(settings, authenticated, approved)
    }

    #[test]
    fn each_outcome_has_a_code_of_its_own_before_and_after_the_approval() {
        for (outcome, before, after) in [
            (RiskOutcome::Challenge, "100.400.141", "100.400.148"),
            (RiskOutcome::Review, "100.400.141", "100.400.148"),
            (RiskOutcome::Deny, "100.400.142", "100.400.147"),
            (RiskOutcome::Error, "100.400.145", "100.400.150"),
        ] {
            let ruling = |approved| rule_on(outcome, RiskErrorPolicy::Deny, false, approved);
            assert!(matches!(ruling(false), RiskRuling::Decline(code) if code.code() == before), "{outcome:?}");
            assert!(matches!(ruling(true), RiskRuling::Void(code) if code.code() == after), "{outcome:?}");
        }
    }

    #[test]
    fn a_review_holds_the_payment_unless_the_channel_declines_it() {
        for policy in [ReviewPolicy::Hold, ReviewPolicy::Authorize] {
            let settings = RiskSettings { review: policy, ..RiskSettings::default() };
            let ruling = |outcome| RiskDecision::of_outcome(outcome).rule_on(settings, false, false);
            assert_eq!(ruling(RiskOutcome::Review), RiskRuling::Review);
            assert!(ruling(RiskOutcome::Challenge).refusal_code().is_some(), "an analyst cannot authenticate anybody");
        }
    }

    #[test]
    fn a_check_has_the_code_of_a_payment_that_it_refused_or_holds() {
        let code_of = |outcome, result| RiskDecision::of_outcome(outcome).check_code(result, codes::TEST_INTERNAL);
        for (outcome, result, expected) in [
            (RiskOutcome::Accept, codes::TEST_INTERNAL, codes::TEST_INTERNAL),
            (RiskOutcome::Accept, codes::CARD_EXPIRED, codes::TEST_INTERNAL),
            (RiskOutcome::Accept, codes::RISK_DENY, codes::TEST_INTERNAL),
            (RiskOutcome::Challenge, codes::PENDING, codes::TEST_INTERNAL),
            (RiskOutcome::Deny, codes::RISK_DENY_VOID, codes::RISK_DENY_VOID),
            (RiskOutcome::Review, codes::RISK_HELD, codes::RISK_HELD),
            (RiskOutcome::Review, codes::CARD_EXPIRED, codes::TEST_INTERNAL),
            (RiskOutcome::Review, codes::PENDING, codes::RISK_HELD),
            (RiskOutcome::Error, codes::RISK_ERROR_VOID, codes::RISK_ERROR_VOID),
            (RiskOutcome::Error, codes::TEST_INTERNAL, codes::RISK_ERROR),
        ] {
            assert_eq!(code_of(outcome, result), expected, "{outcome:?} {result:?}");
        }
    }

    #[test]
    fn a_challenge_of_test_data_after_the_approval_is_not_fulfilled_by_3d_secure() {
        let decision = RiskDecision { applies_after: true, ..RiskDecision::of_outcome(RiskOutcome::Challenge) };
        let ruling = decision.rule_on(RiskSettings::default(), true, true);
        assert_eq!(ruling, RiskRuling::Void(codes::RISK_CHALLENGE_VOID));
    }

    #[test]
    fn a_review_demands_a_challenge_only_if_somebody_reviews_the_payment() {
        let decision = RiskDecision { challenge: true, ..RiskDecision::of_outcome(RiskOutcome::Review) };
        for (review, expected) in
            [(ReviewPolicy::Decline, false), (ReviewPolicy::Hold, true), (ReviewPolicy::Authorize, true)]
        {
            let settings = RiskSettings { review, ..RiskSettings::default() };
            assert_eq!(decision.demands_challenge(settings), expected);
            assert!(!RiskDecision::of_outcome(RiskOutcome::Review).demands_challenge(settings));
            assert!(RiskDecision::of_outcome(RiskOutcome::Challenge).demands_challenge(settings));
        }
    }

    #[test]
    fn a_challenge_is_fulfilled_by_3d_secure_and_a_denial_is_not() {
        let ruling = |outcome| rule_on(outcome, RiskErrorPolicy::Deny, true, false);
        assert_eq!(ruling(RiskOutcome::Challenge), RiskRuling::Proceed);
        assert_eq!(ruling(RiskOutcome::Accept), RiskRuling::Proceed);
        assert_ne!(ruling(RiskOutcome::Deny), RiskRuling::Proceed);
    }

    #[test]
    fn a_failed_check_is_a_denial_unless_the_channel_accepts_it() {
        let ruling = |policy| rule_on(RiskOutcome::Error, policy, true, false);
        assert_ne!(ruling(RiskErrorPolicy::Deny), RiskRuling::Proceed);
        assert_eq!(ruling(RiskErrorPolicy::Accept), RiskRuling::Proceed);
    }
}
