//! Tests of every authentication result with every policy, and of random histories of a session.

use proptest::prelude::*;
use tillgate_shared::parameter::Parameters;

use super::*;

const POLICIES: [ThreeDsPolicy; 3] = [ThreeDsPolicy::Required, ThreeDsPolicy::WhenEnrolled, ThreeDsPolicy::Never];

/// Returns every authentication result, with every status of the issuer.
fn all_results() -> Vec<AuthenticationResult> {
    let without_issuer =
        [AuthenticationResult::NotSupported, AuthenticationResult::NotParticipating, AuthenticationResult::NotEnrolled];
    without_issuer.into_iter().chain(TransactionStatus::ALL.map(AuthenticationResult::Issuer)).collect()
}

fn at_second(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

#[test]
fn who_requires_authentication_takes_nothing_that_no_issuer_vouches_for() {
    for result in all_results() {
        let is_authenticated = matches!(
            result,
            AuthenticationResult::Issuer(TransactionStatus::Authenticated | TransactionStatus::Attempted)
        );
        let is_challenge = result == AuthenticationResult::Issuer(TransactionStatus::ChallengeRequired);
        assert_eq!(
            apply_policy(result, ThreeDsPolicy::Required) == AuthenticationDecision::Authorize,
            is_authenticated,
            "{result:?}"
        );
        assert_eq!(
            apply_policy(result, ThreeDsPolicy::Required) == AuthenticationDecision::Challenge,
            is_challenge,
            "{result:?}"
        );
        assert_eq!(apply_policy(result, ThreeDsPolicy::Never), AuthenticationDecision::Authorize, "{result:?}");
    }
}

#[test]
fn what_an_issuer_refuses_is_declined_and_what_cannot_be_authenticated_pays_without() {
    for result in all_results() {
        let is_refused =
            matches!(result, AuthenticationResult::Issuer(TransactionStatus::Failed | TransactionStatus::Rejected));
        assert_eq!(
            matches!(apply_policy(result, ThreeDsPolicy::WhenEnrolled), AuthenticationDecision::Decline(_)),
            is_refused,
            "{result:?}"
        );
    }
}

#[test]
fn every_decline_has_a_code_of_3d_authentication() {
    for (result, policy) in all_results().into_iter().flat_map(|result| POLICIES.map(|policy| (result, policy))) {
        if let AuthenticationDecision::Decline(code) = apply_policy(result, policy) {
            assert!(code.code().starts_with("000.400.1") || code.code().starts_with("100.390."), "{code:?}");
        }
    }
}

#[test]
fn indicators_are_the_schemes_own() {
    for (brand, full, attempted) in [
        ("VISA", "05", "06"),
        ("AMEX", "05", "06"),
        ("JCB", "05", "06"),
        ("MASTER", "02", "01"),
        ("MAESTRO", "02", "01"),
    ] {
        assert_eq!(
            scheme_eci(brand, AuthenticationResult::Issuer(TransactionStatus::Authenticated)),
            Some(full),
            "{brand}"
        );
        assert_eq!(
            scheme_eci(brand, AuthenticationResult::Issuer(TransactionStatus::Attempted)),
            Some(attempted),
            "{brand}"
        );
        assert_eq!(scheme_eci(brand, AuthenticationResult::NotEnrolled), Some(attempted), "{brand}");
        let exempted = if full == "02" { "06" } else { "07" };
        assert_eq!(
            scheme_eci(brand, AuthenticationResult::Issuer(TransactionStatus::Exempted)),
            Some(exempted),
            "{brand}"
        );
        for none in [
            TransactionStatus::Failed,
            TransactionStatus::Unavailable,
            TransactionStatus::Rejected,
            TransactionStatus::ChallengeRequired,
        ] {
            assert_eq!(scheme_eci(brand, AuthenticationResult::Issuer(none)), None, "{brand} {none:?}");
        }
    }
}

#[test]
fn a_merchants_own_proof_is_read_as_it_is_sent() {
    let sent = |fields: &[(&str, &str)]| Proof::from_parameters(&fields.iter().copied().collect());
    assert_eq!(sent(&[("threeDSecure.challengeIndicator", "04"), ("threeDSecure.version", "2.2.0")]), None);
    for (fields, authenticated) in [
        (&[("threeDSecure.eci", "05")][..], true),
        (&[("threeDSecure.eci", "07")], false),
        (&[("threeDSecure.eci", "06"), ("threeDSecure.authenticationStatus", "A")], true),
        (&[("threeDSecure.eci", "05"), ("threeDSecure.authenticationStatus", "N")], false),
        (&[("threeDSecure.xid", "x")], false),
    ] {
        assert_eq!(sent(fields).unwrap().is_authenticated(), authenticated, "{fields:?}");
    }
}

#[test]
fn what_is_told_is_named_as_its_version_names_it() {
    let proof = |version| Proof {
        version: Some(version),
        result: AuthenticationResult::Issuer(TransactionStatus::Rejected),
        eci: None,
        cavv: None,
        transaction: Some("t".to_owned()),
        reason: None,
    };
    for (version, has, has_not) in
        [(ThreeDsVersion::V1, "xid", "dsTransactionId"), (ThreeDsVersion::V22, "dsTransactionId", "xid")]
    {
        let mut parameters = Parameters::default();
        proof(version).write_to(&mut parameters);
        assert_eq!(parameters.get(&format!("threeDSecure.{has}")), Some("t"));
        assert!(!parameters.contains(&format!("threeDSecure.{has_not}")));
        assert_eq!(parameters.get("threeDSecure.authenticationStatus"), Some("N"), "a rejection is a no");
    }
}

/// An event on the page of a session.
#[derive(Debug, Clone)]
enum PageEvent {
    Method,
    ChallengeBegan,
    /// An answer for this transaction (true) or another one, this many seconds after the beginning.
    Answer(bool, i64),
}

/// Generates an event; an answer arrives within an hour.
fn random_event() -> impl Strategy<Value = PageEvent> {
    prop_oneof![
        Just(PageEvent::Method),
        Just(PageEvent::ChallengeBegan),
        (any::<bool>(), 0..3600i64).prop_map(|(own, seconds)| PageEvent::Answer(own, seconds)),
    ]
}

proptest! {
    #[test]
    fn an_answer_counts_only_for_a_challenge_of_its_own_and_in_time(
        method in any::<bool>(),
        events in prop::collection::vec(random_event(), 0..12),
    ) {
        let create = if method { ThreeDsSession::with_method } else { ThreeDsSession::with_challenge };
        let mut session = create(ThreeDsVersion::V22, "own".to_owned());
        let mut challenged = !method;
        for event in events {
            let before = session.clone();
            match event {
                // A challenge never goes back to the method stage.
                PageEvent::Method => {
                    let recorded = session.record_method_completion();
                    prop_assert_eq!(recorded, session != before);
                    prop_assert!(!recorded || !challenged);
                }
                PageEvent::ChallengeBegan => {
                    prop_assert_eq!(session.begin_challenge(), !challenged);
                    challenged = true;
                }
                PageEvent::Answer(own, seconds) => {
                    let transaction = if own { "own" } else { "other" };
                    let accepted = session.check_challenge_answer(transaction, at_second(1800), at_second(seconds)).is_ok();
                    prop_assert_eq!(accepted, own && challenged && seconds < 1800);
                }
            }
            prop_assert_eq!(session.awaits_challenge(), challenged);
            prop_assert!(!(challenged && session.can_send_request(at_second(0), at_second(60))));
        }
    }
}

#[test]
fn the_issuer_is_asked_when_its_method_page_has_run_or_has_had_ten_seconds() {
    let mut session = ThreeDsSession::with_method(ThreeDsVersion::V22, "own".to_owned());
    assert!(
        !session.can_send_request(at_second(0), at_second(9)) && session.can_send_request(at_second(0), at_second(10))
    );
    assert!(session.record_method_completion() && !session.record_method_completion());
    assert!(session.can_send_request(at_second(0), at_second(0)));
}
