//! 3-D Secure (EMV 3-D Secure 2, and version 1): the protocol's values, the meaning of each answer of
//! directory server and issuer for the payment, and the steps of an authentication that needs the shopper.
//!
//! [`apply_policy`] is the only table of these decisions. [`ThreeDsSession`] is stored with a pending payment and
//! advances one step at a time: the issuer's method page, then the authentication request, then a challenge, which is
//! answered once.

mod proof;
mod protocol;
mod server_transaction;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tillgate_shared::result::{ResultCode, codes};

pub use proof::{Proof, scheme_eci};
pub use protocol::{MethodCompletion, ThreeDsVersion, TransactionStatus, TransactionStatusReason};
pub use server_transaction::{IssuerChallenge, ReceivedResult, ServerTransaction};

/// Time limit of the issuer's method page. Afterwards authentication continues without it (EMV 3-D Secure, 5.8.1).
pub const METHOD_TIME_LIMIT: SignedDuration = SignedDuration::from_secs(10);

/// 3-D Secure policy of a channel for cards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreeDsPolicy {
    /// Authenticate always, and decline cards that are not enrolled.
    Required,
    /// Authenticate if the card is enrolled.
    #[default]
    WhenEnrolled,
    /// Never authenticate.
    Never,
}

/// Result of the enrolment check or of the authentication of a card, before the payment is authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuthenticationResult {
    /// No directory server knows the card.
    NotSupported,
    /// The card's issuer does not participate.
    NotParticipating,
    /// The issuer participates, and the card is not enrolled.
    NotEnrolled,
    /// The issuer's answer.
    Issuer(TransactionStatus),
}

/// Decision about a payment after authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthenticationDecision {
    /// Send the payment to be authorized.
    Authorize,
    /// Let the issuer challenge the shopper first.
    Challenge,
    /// Decline the payment with this code.
    Decline(ResultCode),
}

/// Decides how a card payment continues, from the authentication result and the 3-D Secure policy of the channel. With
/// [`ThreeDsPolicy::Never`] it is always authorized. A required challenge is made, and a failed or rejected
/// authentication declines. Every other result without authentication declines only if it is required.
#[rustfmt::skip] // keeps each rule on one line
pub fn apply_policy(result: AuthenticationResult, policy: ThreeDsPolicy) -> AuthenticationDecision {
    use AuthenticationDecision::{Authorize, Challenge, Decline};
    use AuthenticationResult::{Issuer, NotEnrolled, NotParticipating, NotSupported};
    use TransactionStatus::{Attempted, Authenticated, ChallengeRequired, Exempted, Failed, Rejected, Unavailable};
    use ThreeDsPolicy::{Never, Required, WhenEnrolled};

    match (result, policy) {
        // authentication result               channel's policy             decision
        (_,                                    Never)                    => Authorize,
        (Issuer(Authenticated | Attempted),    WhenEnrolled | Required)  => Authorize,
        (Issuer(ChallengeRequired),            WhenEnrolled | Required)  => Challenge,
        (Issuer(Exempted),                     WhenEnrolled)             => Authorize,
        (Issuer(Exempted),                     Required)                 => Decline(codes::THREEDS_FAILED),
        (Issuer(Failed),                       WhenEnrolled | Required)  => Decline(codes::THREEDS_FAILED),
        (Issuer(Rejected),                     WhenEnrolled | Required)  => Decline(codes::THREEDS_REJECTED),
        (Issuer(Unavailable),                  WhenEnrolled)             => Authorize,
        (Issuer(Unavailable),                  Required)                 => Decline(codes::THREEDS_TECHNICAL_ERROR),
        (NotEnrolled,                          WhenEnrolled)             => Authorize,
        (NotEnrolled,                          Required)                 => Decline(codes::THREEDS_NOT_ENROLLED),
        (NotParticipating,                     WhenEnrolled)             => Authorize,
        (NotParticipating,                     Required)                 => Decline(codes::THREEDS_NOT_PARTICIPATING),
        (NotSupported,                         WhenEnrolled)             => Authorize,
        (NotSupported,                         Required)                 => Decline(codes::THREEDS_VERSION_NOT_SUPPORTED),
    }
}

/// Stage of an authentication that needs the shopper's browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ThreeDsStage {
    /// The issuer's method page comes first. The authentication request has not been sent yet.
    Method(MethodCompletion),
    /// The issuer waits for the shopper to complete the challenge.
    Challenge,
}

/// An authentication in progress, stored with its pending payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreeDsSession {
    /// The protocol version in use.
    pub version: ThreeDsVersion,
    /// The id of the transaction, to which the challenge is bound: the directory server's transaction id in version 2,
    /// the xid in version 1. With a 3DS server it is that server's transaction id.
    pub transaction: String,
    /// The current stage.
    pub stage: ThreeDsStage,
    /// True if risk rules demand a challenge, so that the issuer is asked for one after its method page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub challenge_demanded: bool,
    /// The transaction at a 3DS server. `None` if the gateway's own pages stand in for the issuer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerTransaction>,
}

/// Reason for not accepting the answer to a challenge. The authentication does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChallengeRejection {
    /// There is no open challenge: none was requested, or it has been answered already.
    NoChallenge,
    /// The answer belongs to another transaction.
    OtherTransaction,
    /// The answer arrives too late.
    TooLate,
}

impl ThreeDsSession {
    /// Creates an authentication that begins with the issuer's method page.
    pub fn with_method(version: ThreeDsVersion, transaction: String) -> Self {
        let stage = ThreeDsStage::Method(MethodCompletion::NotCompleted);
        Self { version, transaction, stage, challenge_demanded: false, server: None }
    }

    /// Creates an authentication that begins with a challenge.
    pub fn with_challenge(version: ThreeDsVersion, transaction: String) -> Self {
        Self { version, transaction, stage: ThreeDsStage::Challenge, challenge_demanded: false, server: None }
    }

    /// Records that the method page has completed. Returns false, and changes nothing, if that was recorded before or
    /// the challenge has begun.
    pub fn record_method_completion(&mut self) -> bool {
        let is_awaited = self.stage == ThreeDsStage::Method(MethodCompletion::NotCompleted);
        if is_awaited {
            self.stage = ThreeDsStage::Method(MethodCompletion::Completed);
        }
        is_awaited
    }

    /// Returns the completion of the method page: unavailable in the challenge stage.
    pub fn method_completion(&self) -> MethodCompletion {
        match self.stage {
            ThreeDsStage::Method(completion) => completion,
            ThreeDsStage::Challenge => MethodCompletion::Unavailable,
        }
    }

    /// Returns the issuer's challenge at a 3DS server. `None` in any other stage, and without a server.
    pub fn issuer_challenge(&self) -> Option<&IssuerChallenge> {
        self.server.as_ref()?.challenge.as_ref().filter(|_| self.awaits_challenge())
    }

    /// Returns true if the issuer has requested a challenge and waits for the shopper.
    pub fn awaits_challenge(&self) -> bool {
        self.stage == ThreeDsStage::Challenge
    }

    /// Returns true if the authentication request can be sent now: the method page has completed or is unavailable, or
    /// 10 seconds have passed since `began`. Returns false in the challenge stage.
    pub fn can_send_request(&self, began: Timestamp, now: Timestamp) -> bool {
        match self.stage {
            ThreeDsStage::Method(MethodCompletion::NotCompleted) => now.duration_since(began) >= METHOD_TIME_LIMIT,
            ThreeDsStage::Method(MethodCompletion::Completed | MethodCompletion::Unavailable) => true,
            ThreeDsStage::Challenge => false,
        }
    }

    /// Moves to the challenge stage. Returns false if the session was in it already.
    pub fn begin_challenge(&mut self) -> bool {
        let begins = matches!(self.stage, ThreeDsStage::Method(_));
        self.stage = ThreeDsStage::Challenge;
        begins
    }

    /// Checks an answer to a challenge: it arrives before `until`, names this transaction, and a challenge is open.
    ///
    /// # Errors
    /// The first of these conditions, in that order, that is not met.
    pub fn check_challenge_answer(
        &self,
        transaction: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), ChallengeRejection> {
        if now >= until {
            Err(ChallengeRejection::TooLate)
        } else if transaction != self.transaction {
            Err(ChallengeRejection::OtherTransaction)
        } else if self.stage != ThreeDsStage::Challenge {
            Err(ChallengeRejection::NoChallenge)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
