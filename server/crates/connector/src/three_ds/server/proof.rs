//! The meaning of the issuer's answers for the payment. Liability only shifts with a status, an indicator and an
//! authentication value that fit together; anything else counts as not available.

use tillgate_domain::three_ds::{
    AuthenticationResult, IssuerChallenge, Proof, ReceivedResult, ThreeDsSession, ThreeDsVersion, TransactionStatus,
    TransactionStatusReason, scheme_eci,
};
use tillgate_shared::result::{ResultCode, codes};

use super::super::message::{ARes, RReq};
use super::super::{ChallengeResult, ThreeDsAnswer};

/// `challengeCancel` of a cardholder who has cancelled.
const CANCELLED_BY_CARDHOLDER: &str = "01";
/// `challengeCancel` of challenges that have timed out: at the issuer, before the first answer, or at the 3DS server.
const TIMED_OUT: [&str; 3] = ["04", "05", "06"];

/// Builds the answer from an authentication response whose transaction has been checked.
pub(super) fn read_answer(brand: &str, version: ThreeDsVersion, response: &ARes) -> ThreeDsAnswer {
    let reason = response.status_reason.as_deref().and_then(TransactionStatusReason::find);
    let values = IssuerValues { eci: response.eci.clone(), cavv: response.authentication_value.clone() };
    let proof = build_issuer_proof(brand, version, &response.ds_transaction_id, (response.status(), reason), values);
    // The message has been checked: with this status it has an address.
    let is_challenged = response.status() == TransactionStatus::ChallengeRequired;
    let challenge = response.acs_url.as_ref().filter(|_| is_challenged).map(|url| IssuerChallenge {
        url: url.clone(),
        acs_transaction: response.acs_transaction_id.clone(),
        ds_transaction: response.ds_transaction_id.clone(),
    });
    ThreeDsAnswer { proof, challenge }
}

/// Returns the answer if the issuer cannot be asked, or has not answered in time.
pub(super) fn unavailable_answer(version: ThreeDsVersion, reason: TransactionStatusReason) -> ThreeDsAnswer {
    Proof {
        version: Some(version),
        result: AuthenticationResult::Issuer(TransactionStatus::Unavailable),
        eci: None,
        cavv: None,
        transaction: None,
        reason: Some(reason),
    }
    .into()
}

/// Reads the parts of a verified result that are stored with the payment.
pub fn read_result(result: &RReq) -> ReceivedResult {
    ReceivedResult {
        status: result.status(),
        reason: result.status_reason.as_deref().and_then(TransactionStatusReason::find),
        eci: result.eci.clone(),
        cavv: result.authentication_value.clone(),
        cancel: result.challenge_cancel.clone(),
    }
}

/// Returns the proof of an ended challenge, and its result for the payment.
pub fn read_challenge_result(
    brand: &str,
    session: &ThreeDsSession,
    challenge: &IssuerChallenge,
    result: &ReceivedResult,
) -> (Proof, ChallengeResult) {
    let values = IssuerValues { eci: result.eci.clone(), cavv: result.cavv.clone() };
    let outcome = (result.status, result.reason);
    let proof = build_issuer_proof(brand, session.version, &challenge.ds_transaction, outcome, values);
    let status = match proof.result {
        AuthenticationResult::Issuer(status) => status,
        _ => TransactionStatus::Unavailable,
    };
    let code = result_code(status, result);
    let ended = ChallengeResult { status, reason: proof.reason, code };
    (proof, ended)
}

/// Returns the code of a payment whose cardholder is not authenticated.
fn result_code(status: TransactionStatus, result: &ReceivedResult) -> ResultCode {
    let cancel = result.cancel.as_deref();
    match (status, result.reason) {
        _ if cancel == Some(CANCELLED_BY_CARDHOLDER) => codes::CANCELLED_BY_USER,
        _ if cancel.is_some_and(|code| TIMED_OUT.contains(&code)) => codes::THREEDS_ABANDONED,
        (TransactionStatus::Rejected, Some(TransactionStatusReason::SuspectedFraud)) => codes::THREEDS_SUSPECTED_FRAUD,
        (TransactionStatus::Rejected, _) => codes::THREEDS_REJECTED,
        (TransactionStatus::Failed, Some(TransactionStatusReason::TimedOut)) => codes::THREEDS_ABANDONED,
        (TransactionStatus::Failed, Some(TransactionStatusReason::TooManyChallenges)) => {
            codes::THREEDS_TOO_MANY_ATTEMPTS
        }
        (TransactionStatus::Failed, _) => codes::THREEDS_FAILED,
        _ => codes::THREEDS_UNAVAILABLE,
    }
}

/// The values of an issuer that are sent with the authorization.
struct IssuerValues {
    eci: Option<String>,
    cavv: Option<String>,
}

/// Builds a proof. An authentication or an attempt without an authentication value, or with another indicator than its
/// scheme has for it, counts as not available: the issuer would not accept the liability. A missing indicator is the
/// scheme's.
fn build_issuer_proof(
    brand: &str,
    version: ThreeDsVersion,
    transaction: &str,
    (status, reason): (TransactionStatus, Option<TransactionStatusReason>),
    values: IssuerValues,
) -> Proof {
    let shifts_liability = matches!(status, TransactionStatus::Authenticated | TransactionStatus::Attempted);
    let expected = scheme_eci(brand, AuthenticationResult::Issuer(status));
    let is_consistent = values.cavv.is_some() && (values.eci.is_none() || values.eci.as_deref() == expected);
    let status = if shifts_liability && !is_consistent { TransactionStatus::Unavailable } else { status };
    let result = AuthenticationResult::Issuer(status);
    let is_proven = shifts_liability && is_consistent;
    let reason = reason.or((shifts_liability && !is_consistent).then_some(TransactionStatusReason::TechnicalProblem));
    Proof {
        version: Some(version),
        result,
        eci: scheme_eci(brand, result).map(str::to_owned),
        cavv: values.cavv.filter(|_| is_proven),
        transaction: Some(transaction.to_owned()),
        reason,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const CAVV: &str = "AAACAgSRBklmQCFgMpEGAAAAAAA=";

    fn build(brand: &str, status: TransactionStatus, eci: Option<&str>, cavv: Option<&str>) -> Proof {
        let values = IssuerValues { eci: eci.map(str::to_owned), cavv: cavv.map(str::to_owned) };
        build_issuer_proof(brand, ThreeDsVersion::V22, "ds", (status, None), values)
    }

    #[test]
    fn liability_shifts_only_with_values_that_fit_together() {
        use TransactionStatus::{Attempted, Authenticated, Exempted, Failed};
        for (brand, status, eci, cavv, kept) in [
            ("VISA", Authenticated, Some("05"), Some(CAVV), Some("05")),
            ("VISA", Authenticated, None, Some(CAVV), Some("05")),
            ("VISA", Attempted, Some("06"), Some(CAVV), Some("06")),
            ("MASTER", Authenticated, Some("02"), Some(CAVV), Some("02")),
            ("VISA", Authenticated, Some("05"), None, None),
            ("VISA", Authenticated, Some("06"), Some(CAVV), None),
            ("VISA", Attempted, Some("05"), Some(CAVV), None),
            ("VISA", Authenticated, Some("07"), Some(CAVV), None),
            ("MASTER", Authenticated, Some("05"), Some(CAVV), None),
        ] {
            let proof = build(brand, status, eci, cavv);
            assert_eq!((proof.is_authenticated(), proof.eci.as_deref()), (kept.is_some(), kept), "{status:?} {eci:?}");
            assert_eq!(proof.cavv.is_some(), kept.is_some());
        }
        for status in [Failed, Exempted] {
            let proof = build("VISA", status, Some("05"), Some(CAVV));
            assert!(!proof.is_authenticated() && proof.cavv.is_none() && proof.eci.as_deref() != Some("05"));
        }
    }

    #[test]
    fn an_ended_challenge_has_a_code_for_its_payment() {
        use TransactionStatus::{Authenticated, Failed, Rejected, Unavailable};
        let session = ThreeDsSession::with_challenge(ThreeDsVersion::V22, "t".to_owned());
        let challenge =
            IssuerChallenge { url: String::new(), acs_transaction: "a".to_owned(), ds_transaction: "d".to_owned() };
        let code = |status, reason: Option<&str>, cancel: Option<&str>| {
            let result = ReceivedResult {
                status,
                reason: reason.and_then(TransactionStatusReason::find),
                eci: None,
                cavv: None,
                cancel: cancel.map(str::to_owned),
            };
            let (proof, ended) = read_challenge_result("VISA", &session, &challenge, &result);
            assert_eq!(proof.transaction.as_deref(), Some("d"));
            ended.code
        };
        for (status, reason, cancel, expected) in [
            (Failed, Some("01"), None, codes::THREEDS_FAILED),
            (Failed, Some("01"), Some("01"), codes::CANCELLED_BY_USER),
            (Failed, Some("14"), None, codes::THREEDS_ABANDONED),
            (Unavailable, Some("14"), Some("04"), codes::THREEDS_ABANDONED),
            (Failed, Some("19"), None, codes::THREEDS_TOO_MANY_ATTEMPTS),
            (Rejected, Some("11"), None, codes::THREEDS_SUSPECTED_FRAUD),
            (Rejected, Some("12"), None, codes::THREEDS_REJECTED),
            (Unavailable, None, None, codes::THREEDS_UNAVAILABLE),
            // An authentication without a value is none.
            (Authenticated, None, None, codes::THREEDS_UNAVAILABLE),
        ] {
            assert_eq!(code(status, reason, cancel), expected, "{status:?} {reason:?} {cancel:?}");
        }
    }
}
