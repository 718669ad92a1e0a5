//! Simulated issuers: their responses to authentication requests, and the answers on the page of a challenge.
//!
//! Responses depend on the request alone, so the same request always has the same response.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tillgate_connector::three_ds::request::{AuthType, ChallengePreference, ThreeDsMessage};
use tillgate_connector::three_ds::{ChallengeAnswer, ChallengePage, ChallengeResult, PasskeyChallenge};
use tillgate_domain::three_ds::{
    AuthenticationResult, Proof, ThreeDsVersion, TransactionStatus, TransactionStatusReason, scheme_eci,
};
use tillgate_shared::result::{ResultCode, codes};

use crate::test_data::three_ds::ThreeDsFlow;

/// The wishes of a merchant in a request that change the response of a simulated issuer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IssuerWishes {
    /// A challenge is demanded, or needed for the merchant to become a trusted beneficiary.
    pub challenge: bool,
    /// An exemption is requested.
    pub exemption: bool,
}

impl IssuerWishes {
    /// Reads the wishes in a request. A new trusted beneficiary needs the cardholder's consent, and so a challenge.
    pub fn of_message(request: &ThreeDsMessage) -> Self {
        let needs_consent = request.challenge_preference == Some(ChallengePreference::TrustPrompt);
        Self { challenge: request.challenge_demanded || needs_consent, exemption: request.requests_exemption() }
    }
}

/// Returns the response of the directory or the issuer to a request, for a card with this flow. A request to trust the
/// merchant, or a challenge that risk rules demand, turns an authentication or an attempt into a challenge. An issuer
/// that would authenticate without a challenge grants every exemption, any other none.
pub fn authenticate_cardholder(flow: ThreeDsFlow, wishes: IssuerWishes) -> AuthenticationResult {
    match flow.authentication_result() {
        AuthenticationResult::Issuer(TransactionStatus::Authenticated | TransactionStatus::Attempted)
            if wishes.challenge =>
        {
            AuthenticationResult::Issuer(TransactionStatus::ChallengeRequired)
        }
        AuthenticationResult::Issuer(TransactionStatus::Authenticated) if wishes.exemption => {
            AuthenticationResult::Issuer(TransactionStatus::Exempted)
        }
        result => result,
    }
}

/// Makes the proof of an authentication from its result. An authentication or an attempt with a transaction has an
/// authentication value, which is the same for the same transaction. A missing `reason` is filled in for a result that
/// is unavailable, rejected or failed; version 1 has none.
pub fn build_proof(
    brand: &str,
    version: Option<ThreeDsVersion>,
    transaction: Option<&str>,
    result: AuthenticationResult,
    reason: Option<TransactionStatusReason>,
) -> Proof {
    let has_value =
        matches!(result, AuthenticationResult::Issuer(TransactionStatus::Authenticated | TransactionStatus::Attempted));
    let value = transaction.filter(|_| has_value).map(|id| digest_base64(&["authentication value", brand, id]));
    let reason = reason.or(match result {
        AuthenticationResult::Issuer(TransactionStatus::Unavailable) => Some(TransactionStatusReason::TechnicalProblem),
        AuthenticationResult::Issuer(TransactionStatus::Rejected) => Some(TransactionStatusReason::SuspectedFraud),
        AuthenticationResult::Issuer(TransactionStatus::Failed) => {
            Some(TransactionStatusReason::CardAuthenticationFailed)
        }
        _ => None,
    });
    Proof {
        version,
        result,
        eci: scheme_eci(brand, result).map(str::to_owned),
        cavv: value,
        transaction: transaction.map(str::to_owned),
        // Version 1 has no reason codes.
        reason: reason.filter(|_| version != Some(ThreeDsVersion::V1)),
    }
}

/// Returns 20 bytes derived from some texts, in base64: 28 characters, the length of an authentication value.
fn digest_base64(texts: &[&str]) -> String {
    STANDARD.encode(&Sha256::digest(texts.join("\n"))[..20])
}

/// Every answer on the page of a challenge, in the page's order. The first one authenticates the cardholder: the
/// payment is then authorized as it would be without a challenge.
pub static CHALLENGE_ANSWERS: [ChallengeAnswer; 9] = [
    challenge_answer(codes::TEST_INTERNAL, "The cardholder is authenticated", TransactionStatus::Authenticated, None),
    challenge_answer(
        codes::THREEDS_FAILED,
        "The cardholder is not authenticated",
        TransactionStatus::Failed,
        Some(TransactionStatusReason::CardAuthenticationFailed),
    ),
    challenge_answer(
        codes::CANCELLED_BY_USER,
        "The cardholder cancels",
        TransactionStatus::Failed,
        Some(TransactionStatusReason::CardAuthenticationFailed),
    ),
    challenge_answer(
        codes::THREEDS_REJECTED,
        "The issuer rejects the authentication",
        TransactionStatus::Rejected,
        Some(TransactionStatusReason::NotPermitted),
    ),
    challenge_answer(
        codes::THREEDS_SUSPECTED_FRAUD,
        "The issuer suspects fraud",
        TransactionStatus::Rejected,
        Some(TransactionStatusReason::SuspectedFraud),
    ),
    challenge_answer(
        codes::THREEDS_TOO_MANY_ATTEMPTS,
        "The cardholder has tried too often",
        TransactionStatus::Failed,
        Some(TransactionStatusReason::TooManyChallenges),
    ),
    challenge_answer(
        codes::THREEDS_UNAVAILABLE,
        "The authentication is not available",
        TransactionStatus::Unavailable,
        Some(TransactionStatusReason::TechnicalProblem),
    ),
    challenge_answer(
        codes::THREEDS_TECHNICAL,
        "The issuer's system is out of order",
        TransactionStatus::Unavailable,
        Some(TransactionStatusReason::TechnicalProblem),
    ),
    challenge_answer(
        codes::THREEDS_ABANDONED,
        "The cardholder does not answer in time",
        TransactionStatus::Failed,
        Some(TransactionStatusReason::TimedOut),
    ),
];

/// Makes an answer. `code` is the result code of the payment, unless the cardholder is authenticated.
const fn challenge_answer(
    code: ResultCode,
    label: &'static str,
    status: TransactionStatus,
    reason: Option<TransactionStatusReason>,
) -> ChallengeAnswer {
    ChallengeAnswer { label, result: ChallengeResult { status, reason, code } }
}

/// Returns the page of a challenge, with texts for the authentication type. The answers are always the same.
pub fn challenge_page(auth_type: Option<AuthType>) -> ChallengePage {
    let [title, text] = match auth_type {
        None => ["Confirm your payment", ""],
        Some(AuthType::Static) => ["Enter your password", "The issuer asks for the password that you chose."],
        Some(AuthType::Dynamic) => ["Enter your one-time code", "The issuer has sent you a code for this payment."],
        Some(AuthType::OutOfBand) => ["Confirm in your bank's app", "The issuer waits for your answer in its app."],
        Some(AuthType::Decoupled) => [
            "Confirm later, on another device",
            "The issuer asks you outside of this page. This page stands in for the other device.",
        ],
    };
    ChallengePage { title, text, answers: &CHALLENGE_ANSWERS, passkey: None }
}

/// Returns the page that asks for a passkey in the first place. A browser without passkeys answers as on other pages.
pub fn with_passkey(page: ChallengePage, challenge: PasskeyChallenge) -> ChallengePage {
    ChallengePage {
        title: "Confirm with a passkey",
        text: "The issuer asks for a passkey of this device. It is made for this payment, and used at once.",
        passkey: Some(challenge),
        ..page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_vouches_for_what_was_authenticated_or_attempted_and_for_nothing_else() {
        for status in TransactionStatus::ALL {
            let proof =
                build_proof("VISA", Some(ThreeDsVersion::V22), Some("x"), AuthenticationResult::Issuer(status), None);
            let has_value = matches!(status, TransactionStatus::Authenticated | TransactionStatus::Attempted);
            let has_eci = has_value || status == TransactionStatus::Exempted;
            assert_eq!((proof.cavv.is_some(), proof.eci.is_some()), (has_value, has_eci), "{status:?}");
            assert!(proof.cavv.is_none_or(|value| value.len() == 28));
        }
    }

    #[test]
    fn answers_are_told_apart_by_their_codes_and_every_success_passes() {
        let page = challenge_page(None);
        for answer in page.answers {
            assert_eq!(page.find_result(answer.result.code.code()), Some(answer.result));
            assert_eq!(answer.result.code.is_success(), answer.result.status == TransactionStatus::Authenticated);
        }
        assert_eq!(page.find_result("000.000.000").map(|result| result.status), Some(TransactionStatus::Authenticated));
        assert!(page.find_result("").is_none() && page.find_result("000.200.000").is_none());
    }
}
