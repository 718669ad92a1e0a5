//! The issuers' servers, simulated: what they answer to a request for authentication, and what can be answered on the page
//! of a challenge.
//!
//! Everything follows from the request, so that the same one is answered in the same way, always.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tillgate_shared::result::{ResultCode, codes};

use super::directory::Flow;
use crate::connector::three_ds::ChallengeResult;
use crate::connector::three_ds::request::{AuthType, AuthenticationMessage, Wish};
use crate::domain::authentication::{Proof, Reason, Said, Status, Version, eci};

/// Returns the answer of the directory, or of the issuer of a card with this flow, to a request. The issuer of a
/// frictionless card grants every exemption, that of a challenge card none.
pub fn authenticate(flow: Flow, request: &AuthenticationMessage) -> Said {
    match flow.said() {
        // Who is to become a trusted merchant needs the cardholder's word.
        Said::Issuer(Status::Authenticated | Status::Attempted) if request.wish == Some(Wish::TrustPrompt) => {
            Said::Issuer(Status::ChallengeRequired)
        }
        Said::Issuer(Status::Authenticated) if request.asks_for_exemption() => Said::Issuer(Status::Exempted),
        said => said,
    }
}

/// The proof of what was said in a transaction about a card of a brand.
pub fn proof(
    brand: &str,
    version: Option<Version>,
    transaction: Option<&str>,
    said: Said,
    reason: Option<Reason>,
) -> Proof {
    let vouches = matches!(said, Said::Issuer(Status::Authenticated | Status::Attempted));
    let value = transaction.filter(|_| vouches).map(|id| base64_of(&["authentication value", brand, id]));
    let reason = reason.or(match said {
        Said::Issuer(Status::Unavailable) => Some(Reason::TechnicalProblem),
        Said::Issuer(Status::Rejected) => Some(Reason::SuspectedFraud),
        Said::Issuer(Status::Failed) => Some(Reason::CardAuthenticationFailed),
        _ => None,
    });
    Proof {
        version,
        said,
        eci: eci(brand, said).map(str::to_owned),
        value,
        transaction: transaction.map(str::to_owned),
        // Version 1 gave no reasons.
        reason: reason.filter(|_| version != Some(Version::V1)),
    }
}

/// 20 bytes that follow from some texts, in base64: 28 characters, as authentication values have.
fn base64_of(texts: &[&str]) -> String {
    STANDARD.encode(&Sha256::digest(texts.join("\n"))[..20])
}

/// An answer on the page of a challenge.
#[derive(Debug)]
pub struct Answer {
    /// `returnCode`, as the page posts it: the payment's `result.code` where the challenge is not passed.
    pub code: ResultCode,
    /// What the page says.
    pub words: &'static str,
    /// How the authentication ends.
    pub status: Status,
    /// And why.
    pub reason: Option<Reason>,
}

/// The answer that passes the challenge; the payment is then authorised, and ends as it would have without one.
static PASSED: Answer = answer(codes::TEST_INTERNAL, "The cardholder is authenticated", Status::Authenticated, None);

/// Every answer, in the page's order.
pub static ANSWERS: [Answer; 9] = [
    answer(codes::TEST_INTERNAL, "The cardholder is authenticated", Status::Authenticated, None),
    answer(
        codes::THREEDS_FAILED,
        "The cardholder is not authenticated",
        Status::Failed,
        Some(Reason::CardAuthenticationFailed),
    ),
    answer(codes::CANCELLED_BY_USER, "The cardholder cancels", Status::Failed, Some(Reason::CardAuthenticationFailed)),
    answer(
        codes::THREEDS_REJECTED,
        "The issuer rejects the authentication",
        Status::Rejected,
        Some(Reason::NotPermitted),
    ),
    answer(codes::THREEDS_SUSPECTED_FRAUD, "The issuer suspects fraud", Status::Rejected, Some(Reason::SuspectedFraud)),
    answer(
        codes::THREEDS_TOO_MANY_ATTEMPTS,
        "The cardholder has tried too often",
        Status::Failed,
        Some(Reason::TooManyChallenges),
    ),
    answer(
        codes::THREEDS_UNAVAILABLE,
        "The authentication is not available",
        Status::Unavailable,
        Some(Reason::TechnicalProblem),
    ),
    answer(
        codes::THREEDS_TECHNICAL,
        "The issuer's system is out of order",
        Status::Unavailable,
        Some(Reason::TechnicalProblem),
    ),
    answer(codes::THREEDS_ABANDONED, "The cardholder does not answer in time", Status::Failed, Some(Reason::TimedOut)),
];

const fn answer(code: ResultCode, words: &'static str, status: Status, reason: Option<Reason>) -> Answer {
    Answer { code, words, status, reason }
}

impl Answer {
    /// Returns the end of the challenge that the answer stands for.
    pub fn result(&self) -> ChallengeResult {
        ChallengeResult { status: self.status, reason: self.reason, code: self.code }
    }

    /// An answer by what was posted. Any code of a success passes the challenge.
    pub fn find(code: &str) -> Option<&'static Self> {
        let passes = || ResultCode::find(code).filter(|code| code.is_success()).map(|_| &PASSED);
        ANSWERS.iter().find(|answer| answer.code.code() == code).or_else(passes)
    }
}

/// Returns heading and text of the page of a challenge.
pub fn page_texts(auth_type: AuthType) -> [&'static str; 2] {
    match auth_type {
        AuthType::Static => ["Enter your password", "The issuer asks for the password that you chose."],
        AuthType::Dynamic => ["Enter your one-time code", "The issuer has sent you a code for this payment."],
        AuthType::OutOfBand => ["Confirm in your bank's app", "The issuer waits for your answer in its app."],
        AuthType::Decoupled => [
            "Confirm later, on another device",
            "The issuer asks you outside of this page. This page stands in for the other device.",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_vouches_for_what_was_authenticated_or_attempted_and_for_nothing_else() {
        for status in Status::ALL {
            let proof = proof("VISA", Some(Version::V22), Some("x"), Said::Issuer(status), None);
            let vouches = matches!(status, Status::Authenticated | Status::Attempted);
            let has_eci = vouches || status == Status::Exempted;
            assert_eq!((proof.value.is_some(), proof.eci.is_some()), (vouches, has_eci), "{status:?}");
            assert!(proof.value.is_none_or(|value| value.len() == 28));
        }
    }

    #[test]
    fn answers_are_told_apart_by_their_codes_and_every_success_passes() {
        for answer in &ANSWERS {
            assert_eq!(Answer::find(answer.code.code()).map(|found| found.words), Some(answer.words));
            assert_eq!(answer.code.is_success(), answer.status == Status::Authenticated);
        }
        assert_eq!(Answer::find("000.000.000").map(|found| found.status), Some(Status::Authenticated));
        assert!(Answer::find("").is_none() && Answer::find("000.200.000").is_none());
    }
}
