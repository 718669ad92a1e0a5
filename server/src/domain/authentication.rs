//! 3D authentication of a cardholder (EMV 3-D Secure 2; version 1 as it was): the words of the protocol, what each answer
//! of directory and issuer means for the payment, and the steps of an authentication that needs the shopper.
//!
//! [`next`] is the one table of what happens. [`Authentication`] is kept with a pending payment and takes one step at a
//! time: the issuer's method page, then the request for authentication, then a challenge, which is answered once.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tillgate_shared::brand::{Brand, EciFamily};
use tillgate_shared::parameter::{Parameters, authenticated_elsewhere};
use tillgate_shared::result::{ResultCode, codes};

use super::channel::ThreeD;

/// How long the issuer's method page may take before it goes on without (EMV 3-D Secure, 5.8.1).
pub const METHOD_TIME: SignedDuration = SignedDuration::from_secs(10);

/// The version that is spoken with a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// 1.0.2: the shopper is always sent to the issuer.
    #[serde(rename = "1.0.2")]
    V1,
    /// 2.1.0.
    #[serde(rename = "2.1.0")]
    V21,
    /// 2.2.0, where the merchant wishes for no other.
    #[serde(rename = "2.2.0")]
    V22,
}

impl Version {
    /// `threeDSecure.version`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "1.0.2",
            Self::V21 => "2.1.0",
            Self::V22 => "2.2.0",
        }
    }
}

impl Version {
    /// The version that a merchant names, as far as it is spoken here.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        match text?.split('.').next()? {
            "1" => Some(Self::V1),
            _ if text == Some("2.1.0") => Some(Self::V21),
            _ => Some(Self::V22),
        }
    }
}

/// How an authentication ended, or goes on (EMV 3-D Secure: `transStatus`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// The cardholder is authenticated.
    #[serde(rename = "Y")]
    Authenticated,
    /// The issuer vouches that it was attempted.
    #[serde(rename = "A")]
    Attempted,
    /// The cardholder is not authenticated.
    #[serde(rename = "N")]
    Failed,
    /// It could not be performed.
    #[serde(rename = "U")]
    Unavailable,
    /// The issuer wants to challenge the cardholder.
    #[serde(rename = "C")]
    ChallengeRequired,
    /// The issuer rejects it and asks not to authorise.
    #[serde(rename = "R")]
    Rejected,
    /// The issuer grants an exemption: the cardholder is not authenticated, and the merchant bears the loss of a fraud.
    #[serde(rename = "I")]
    Exempted,
}

impl Status {
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

    /// The letter of the protocol.
    pub fn letter(self) -> &'static str {
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

    /// `threeDSecure.authenticationStatus` (specification, document 3: Y, A, U or N): a rejection is a no. Returns `None`
    /// if there was no authentication.
    fn reported(self) -> Option<&'static str> {
        match self {
            Self::ChallengeRequired | Self::Exempted => None,
            Self::Rejected => Some("N"),
            other => Some(other.letter()),
        }
    }
}

/// Why an authentication ended as it did, two digits (EMV 3-D Secure: `transStatusReason`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
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
    /// More challenges than the issuer allows.
    #[serde(rename = "19")]
    TooManyChallenges,
    /// A technical problem of the issuer's server.
    #[serde(rename = "22")]
    TechnicalProblem,
}

impl Reason {
    /// `threeDSecure.transactionStatusReason`.
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

/// Whether the issuer's method page has run in the shopper's browser (EMV 3-D Secure: `threeDSCompInd`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// It has.
    #[serde(rename = "Y")]
    Completed,
    /// It has not within its time, or not yet.
    #[serde(rename = "N")]
    NotCompleted,
    /// The issuer has none.
    #[serde(rename = "U")]
    Unavailable,
}

/// What is known of a card before a payment with it is authorised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Said {
    /// No directory knows the card.
    Outside,
    /// The card's issuer does not take part.
    NotParticipating,
    /// The issuer takes part, and the card is not enrolled.
    NotEnrolled,
    /// What the issuer answers.
    Issuer(Status),
}

/// What happens to a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It is sent on to be authorised.
    Authorise,
    /// The issuer asks the shopper first.
    Challenge,
    /// It ends with this code.
    Decline(ResultCode),
}

/// What becomes of a payment by a card, in a channel that authenticates so.
#[rustfmt::skip] // a rule reads as a line
pub fn next(said: Said, when: ThreeD) -> Next {
    use Next::{Authorise, Challenge, Decline};
    use Said::{Issuer, NotEnrolled, NotParticipating, Outside};
    use Status::{Attempted, Authenticated, ChallengeRequired, Exempted, Failed, Rejected, Unavailable};
    use ThreeD::{Never, Required, WhenEnrolled};

    match (said, when) {
        // what is said                        the channel's setting        what happens
        (_,                                    Never)                    => Authorise,
        (Issuer(Authenticated | Attempted),    WhenEnrolled | Required)  => Authorise,
        (Issuer(ChallengeRequired),            WhenEnrolled | Required)  => Challenge,
        (Issuer(Exempted),                     WhenEnrolled)             => Authorise,
        (Issuer(Exempted),                     Required)                 => Decline(codes::THREEDS_FAILED),
        (Issuer(Failed),                       WhenEnrolled | Required)  => Decline(codes::THREEDS_FAILED),
        (Issuer(Rejected),                     WhenEnrolled | Required)  => Decline(codes::THREEDS_REJECTED),
        (Issuer(Unavailable),                  WhenEnrolled)             => Authorise,
        (Issuer(Unavailable),                  Required)                 => Decline(codes::THREEDS_TECHNICAL_ERROR),
        (NotEnrolled,                          WhenEnrolled)             => Authorise,
        (NotEnrolled,                          Required)                 => Decline(codes::THREEDS_NOT_ENROLLED),
        (NotParticipating,                     WhenEnrolled)             => Authorise,
        (NotParticipating,                     Required)                 => Decline(codes::THREEDS_NOT_PARTICIPATING),
        (Outside,                              WhenEnrolled)             => Authorise,
        (Outside,                              Required)                 => Decline(codes::THREEDS_VERSION_NOT_SUPPORTED),
    }
}

/// What an authentication leaves behind: who bears the loss of a fraud, and the proof of it that goes along with the
/// authorisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The version it was made by; none where no authentication was possible.
    pub version: Option<Version>,
    /// What the directory or the issuer said.
    pub said: Said,
    /// Electronic commerce indicator, two digits.
    pub eci: Option<String>,
    /// The authentication value (CAVV, AAV, AEVV): 28 characters of base64.
    pub value: Option<String>,
    /// The transaction's id: the directory server's of version 2, the xid of version 1.
    pub transaction: Option<String>,
    /// Why it ended so.
    pub reason: Option<Reason>,
}

/// The electronic commerce indicator of a brand's scheme, two digits. Returns `None` if nobody vouches for anything and no
/// exemption was granted.
pub fn eci(brand: &str, said: Said) -> Option<&'static str> {
    let mastercard = Brand::find(brand).is_some_and(|brand| brand.eci_family() == EciFamily::Mastercard);
    match said {
        Said::Issuer(Status::Authenticated) => Some(if mastercard { "02" } else { "05" }),
        Said::Issuer(Status::Attempted) | Said::NotEnrolled => Some(if mastercard { "01" } else { "06" }),
        Said::Issuer(Status::Exempted) => Some(if mastercard { "06" } else { "07" }),
        _ => None,
    }
}

impl Proof {
    /// Whether the cardholder is authenticated, as far as an issuer asks for it.
    pub fn is_authenticated(&self) -> bool {
        matches!(self.said, Said::Issuer(Status::Authenticated | Status::Attempted))
    }

    /// The proof of an authentication that somebody else has made, as the merchant sends it; none where it sends none.
    pub fn sent(parameters: &Parameters) -> Option<Self> {
        if !authenticated_elsewhere(parameters) {
            return None;
        }
        let text = |name: &str| parameters.get(&format!("threeDSecure.{name}")).map(str::to_owned);
        let status = match (text("authenticationStatus").as_deref(), text("eci").as_deref()) {
            (Some("Y"), _) | (None, Some("02" | "05")) => Status::Authenticated,
            (Some("A"), _) | (None, Some("01" | "06")) => Status::Attempted,
            (Some("N"), _) => Status::Failed,
            _ => Status::Unavailable,
        };
        Some(Self {
            version: Version::parse(text("version").as_deref()),
            said: Said::Issuer(status),
            eci: text("eci"),
            value: text("verificationId"),
            transaction: text("dsTransactionId").or(text("xid")),
            reason: None,
        })
    }

    /// Tells it with the payment, in the specification's names (document 3, `threeDSecure.*`), in place of the result of an
    /// earlier authentication.
    pub fn tell(&self, parameters: &mut Parameters) {
        let enrolled = match self.said {
            Said::Issuer(_) => "Y",
            Said::NotEnrolled => "N",
            Said::NotParticipating | Said::Outside => "U",
        };
        let status = match self.said {
            Said::Issuer(status) => status.reported(),
            _ => None,
        };
        let transaction = self.transaction.as_deref();
        let (xid, directory) =
            if self.version == Some(Version::V1) { (transaction, None) } else { (None, transaction) };
        for (name, value) in [
            ("eci", self.eci.as_deref()),
            ("verificationId", self.value.as_deref()),
            ("xid", xid),
            ("enrollmentStatus", Some(enrolled)),
            ("authenticationStatus", status),
            ("dsTransactionId", directory),
            ("transactionStatusReason", self.reason.map(Reason::as_str)),
        ] {
            let name = format!("threeDSecure.{name}");
            match value {
                Some(value) => parameters.set(name, value),
                None => drop(parameters.remove(&name)),
            }
        }
        // A version that the merchant wishes for stays where none was spoken.
        if let Some(version) = self.version {
            parameters.set("threeDSecure.version", version.as_str());
        }
    }
}

/// Where an authentication that needs the shopper's browser stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// The issuer has not been asked yet: its method page comes first.
    Method(Method),
    /// The issuer waits for the shopper's answer.
    Challenge,
}

/// An authentication under way, kept with its pending payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authentication {
    /// The version it is made by.
    pub version: Version,
    /// The transaction's id, which its challenge is bound to: the directory server's of version 2, the xid of version 1.
    pub transaction: String,
    /// Where it stands.
    pub stage: Stage,
}

/// Why an answer to a challenge is not taken. Nothing changes then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// Nobody has been asked, or it has been answered already.
    NoChallenge,
    /// It belongs to another transaction.
    OtherTransaction,
    /// It comes too late.
    TooLate,
}

impl Authentication {
    /// An authentication that begins with the issuer's method page.
    pub fn with_method(version: Version, transaction: String) -> Self {
        Self { version, transaction, stage: Stage::Method(Method::NotCompleted) }
    }

    /// An authentication that begins with a challenge.
    pub fn with_challenge(version: Version, transaction: String) -> Self {
        Self { version, transaction, stage: Stage::Challenge }
    }

    /// Notes that the method page has run. Later it changes nothing.
    pub fn method_completed(&mut self) -> bool {
        let runs = self.stage == Stage::Method(Method::NotCompleted);
        if runs {
            self.stage = Stage::Method(Method::Completed);
        }
        runs
    }

    /// Whether the issuer has been asked, and waits for the shopper.
    pub fn waits_for_answer(&self) -> bool {
        self.stage == Stage::Challenge
    }

    /// Whether the issuer can be asked now: its method page has run, or its time is over.
    pub fn may_ask(&self, began: Timestamp, now: Timestamp) -> bool {
        match self.stage {
            Stage::Method(Method::NotCompleted) => now.duration_since(began) >= METHOD_TIME,
            Stage::Method(Method::Completed | Method::Unavailable) => true,
            Stage::Challenge => false,
        }
    }

    /// The issuer wants a challenge.
    pub fn challenged(&mut self) -> bool {
        let asked = matches!(self.stage, Stage::Method(_));
        self.stage = Stage::Challenge;
        asked
    }

    /// Judges an answer to the challenge of a transaction, for a payment that waits until a moment.
    ///
    /// # Errors
    /// Why it is not taken.
    pub fn answered(&self, transaction: &str, until: Timestamp, now: Timestamp) -> Result<(), NotTaken> {
        if now >= until {
            Err(NotTaken::TooLate)
        } else if transaction != self.transaction {
            Err(NotTaken::OtherTransaction)
        } else if self.stage != Stage::Challenge {
            Err(NotTaken::NoChallenge)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
