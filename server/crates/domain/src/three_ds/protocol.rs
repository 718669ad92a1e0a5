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
    /// 2.3.1.
    #[serde(rename = "2.3.1")]
    V231,
}

impl ThreeDsVersion {
    /// Returns the value of `threeDSecure.version`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "1.0.2",
            Self::V21 => "2.1.0",
            Self::V22 => "2.2.0",
            Self::V231 => "2.3.1",
        }
    }

    /// Parses the version that a merchant sends: a text that begins with `1.` or is `1` is version 1, and `2.1.0` and
    /// `2.3.1` are themselves. Any other becomes 2.2.0. Returns `None` if there is none.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        match text?.split('.').next()? {
            "1" => Some(Self::V1),
            _ if text == Some("2.1.0") => Some(Self::V21),
            _ if text == Some("2.3.1") => Some(Self::V231),
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

/// Reason for the result of an authentication, two digits (EMV 3-D Secure: `transStatusReason`). Reasons that only a
/// scheme defines are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransactionStatusReason {
    /// Card authentication failed.
    #[serde(rename = "01")]
    CardAuthenticationFailed,
    /// The device is unknown.
    #[serde(rename = "02")]
    UnknownDevice,
    /// The device is not supported.
    #[serde(rename = "03")]
    UnsupportedDevice,
    /// Authentications are more frequent than the issuer allows.
    #[serde(rename = "04")]
    TooFrequent,
    /// The card has expired.
    #[serde(rename = "05")]
    ExpiredCard,
    /// The card number is not valid.
    #[serde(rename = "06")]
    InvalidCardNumber,
    /// The transaction is not valid.
    #[serde(rename = "07")]
    InvalidTransaction,
    /// There is no record of the card.
    #[serde(rename = "08")]
    NoCardRecord,
    /// A failure of security.
    #[serde(rename = "09")]
    SecurityFailure,
    /// The card is stolen.
    #[serde(rename = "10")]
    StolenCard,
    /// Suspected fraud.
    #[serde(rename = "11")]
    SuspectedFraud,
    /// Transaction not permitted to the cardholder.
    #[serde(rename = "12")]
    NotPermitted,
    /// The cardholder is not enrolled.
    #[serde(rename = "13")]
    NotEnrolledCardholder,
    /// The issuer's server timed out.
    #[serde(rename = "14")]
    TimedOut,
    /// Low confidence.
    #[serde(rename = "15")]
    LowConfidence,
    /// Medium confidence.
    #[serde(rename = "16")]
    MediumConfidence,
    /// High confidence.
    #[serde(rename = "17")]
    HighConfidence,
    /// Very high confidence.
    #[serde(rename = "18")]
    VeryHighConfidence,
    /// More challenges than the issuer allows were made.
    #[serde(rename = "19")]
    TooManyChallenges,
    /// Transactions without payment are not supported.
    #[serde(rename = "20")]
    NotSupportedPayment,
    /// Transactions that merchants start are not supported.
    #[serde(rename = "21")]
    NotSupportedRequestor,
    /// A technical problem of the issuer's server.
    #[serde(rename = "22")]
    TechnicalProblem,
    /// The issuer requires a decoupled authentication, which was not requested.
    #[serde(rename = "23")]
    DecoupledRequired,
    /// The time for a decoupled authentication has passed.
    #[serde(rename = "24")]
    DecoupledExpired,
    /// The time for a decoupled authentication is too short.
    #[serde(rename = "25")]
    DecoupledTooShort,
    /// Authentication was attempted, but not performed by the cardholder.
    #[serde(rename = "26")]
    NotAuthenticatedBySystem,
}

impl TransactionStatusReason {
    /// Every reason.
    pub const ALL: [Self; 26] = [
        Self::CardAuthenticationFailed,
        Self::UnknownDevice,
        Self::UnsupportedDevice,
        Self::TooFrequent,
        Self::ExpiredCard,
        Self::InvalidCardNumber,
        Self::InvalidTransaction,
        Self::NoCardRecord,
        Self::SecurityFailure,
        Self::StolenCard,
        Self::SuspectedFraud,
        Self::NotPermitted,
        Self::NotEnrolledCardholder,
        Self::TimedOut,
        Self::LowConfidence,
        Self::MediumConfidence,
        Self::HighConfidence,
        Self::VeryHighConfidence,
        Self::TooManyChallenges,
        Self::NotSupportedPayment,
        Self::NotSupportedRequestor,
        Self::TechnicalProblem,
        Self::DecoupledRequired,
        Self::DecoupledExpired,
        Self::DecoupledTooShort,
        Self::NotAuthenticatedBySystem,
    ];

    /// Returns the value of `threeDSecure.transactionStatusReason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CardAuthenticationFailed => "01",
            Self::UnknownDevice => "02",
            Self::UnsupportedDevice => "03",
            Self::TooFrequent => "04",
            Self::ExpiredCard => "05",
            Self::InvalidCardNumber => "06",
            Self::InvalidTransaction => "07",
            Self::NoCardRecord => "08",
            Self::SecurityFailure => "09",
            Self::StolenCard => "10",
            Self::SuspectedFraud => "11",
            Self::NotPermitted => "12",
            Self::NotEnrolledCardholder => "13",
            Self::TimedOut => "14",
            Self::LowConfidence => "15",
            Self::MediumConfidence => "16",
            Self::HighConfidence => "17",
            Self::VeryHighConfidence => "18",
            Self::TooManyChallenges => "19",
            Self::NotSupportedPayment => "20",
            Self::NotSupportedRequestor => "21",
            Self::TechnicalProblem => "22",
            Self::DecoupledRequired => "23",
            Self::DecoupledExpired => "24",
            Self::DecoupledTooShort => "25",
            Self::NotAuthenticatedBySystem => "26",
        }
    }

    /// Finds a reason by its two digits.
    pub fn find(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == code)
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

impl MethodCompletion {
    /// Returns the letter of the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "Y",
            Self::NotCompleted => "N",
            Self::Unavailable => "U",
        }
    }
}
