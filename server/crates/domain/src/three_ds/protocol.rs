//! Protocol values of EMV 3-D Secure.

use serde::{Deserialize, Serialize};

/// Protocol version used for a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreeDsVersion {
    /// 1.0.2: the shopper is always redirected to the issuer.
    #[serde(rename = "1.0.2")]
    V1,
    /// 2.1.0.
    #[serde(rename = "2.1.0")]
    V21,
    /// 2.2.0, unless the merchant requests another version.
    #[serde(rename = "2.2.0")]
    V22,
}

impl ThreeDsVersion {
    /// Returns the value of `threeDSecure.version`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "1.0.2",
            Self::V21 => "2.1.0",
            Self::V22 => "2.2.0",
        }
    }

    /// Parses the version that a merchant sends: a text that begins with `1.` or is `1` is version 1, and `2.1.0` is
    /// itself. Any other becomes 2.2.0. Returns `None` if there is none.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        match text?.split('.').next()? {
            "1" => Some(Self::V1),
            _ if text == Some("2.1.0") => Some(Self::V21),
            _ => Some(Self::V22),
        }
    }
}

/// Status of an authentication (EMV 3-D Secure: `transStatus`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TransactionStatus {
    /// The cardholder is authenticated.
    #[serde(rename = "Y")]
    Authenticated,
    /// The issuer confirms that authentication was attempted.
    #[serde(rename = "A")]
    Attempted,
    /// The cardholder is not authenticated.
    #[serde(rename = "N")]
    Failed,
    /// The authentication could not be performed.
    #[serde(rename = "U")]
    Unavailable,
    /// The issuer requires a challenge.
    #[serde(rename = "C")]
    ChallengeRequired,
    /// The issuer rejects the authentication and requests not to authorize.
    #[serde(rename = "R")]
    Rejected,
    /// The issuer grants an exemption: the cardholder is not authenticated, and the liability stays with the merchant.
    #[serde(rename = "I")]
    Exempted,
}

impl TransactionStatus {
    /// Every status.
    pub const ALL: [Self; 7] = [
        Self::Authenticated,
        Self::Attempted,
        Self::Failed,
        Self::Unavailable,
        Self::ChallengeRequired,
        Self::Rejected,
        Self::Exempted,
    ];

    /// Returns the letter of the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authenticated => "Y",
            Self::Attempted => "A",
            Self::Failed => "N",
            Self::Unavailable => "U",
            Self::ChallengeRequired => "C",
            Self::Rejected => "R",
            Self::Exempted => "I",
        }
    }

    /// Returns the value of `threeDSecure.authenticationStatus` (specification, document 3: Y, A, U or N). A rejection
    /// is reported as N. Returns `None` for a required challenge and an exemption, without an authentication.
    pub(super) fn reported_code(self) -> Option<&'static str> {
        match self {
            Self::ChallengeRequired | Self::Exempted => None,
            Self::Rejected => Some("N"),
            other => Some(other.as_str()),
        }
    }
}

/// Reason for the result of an authentication, two digits (EMV 3-D Secure: `transStatusReason`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransactionStatusReason {
    /// Card authentication failed.
    #[serde(rename = "01")]
    CardAuthenticationFailed,
    /// Suspected fraud.
    #[serde(rename = "11")]
    SuspectedFraud,
    /// Transaction not permitted to the cardholder.
    #[serde(rename = "12")]
    NotPermitted,
    /// The issuer's server timed out.
    #[serde(rename = "14")]
    TimedOut,
    /// More challenges than the issuer allows were made.
    #[serde(rename = "19")]
    TooManyChallenges,
    /// A technical problem of the issuer's server.
    #[serde(rename = "22")]
    TechnicalProblem,
}

impl TransactionStatusReason {
    /// Returns the value of `threeDSecure.transactionStatusReason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CardAuthenticationFailed => "01",
            Self::SuspectedFraud => "11",
            Self::NotPermitted => "12",
            Self::TimedOut => "14",
            Self::TooManyChallenges => "19",
            Self::TechnicalProblem => "22",
        }
    }
}

/// Completion of the issuer's method page in the shopper's browser (EMV 3-D Secure: `threeDSCompInd`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MethodCompletion {
    /// The method page completed.
    #[serde(rename = "Y")]
    Completed,
    /// The method page has not completed within its time limit, or not yet.
    #[serde(rename = "N")]
    NotCompleted,
    /// The issuer has no method page.
    #[serde(rename = "U")]
    Unavailable,
}
