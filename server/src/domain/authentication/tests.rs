//! Every answer of directory and issuer in every setting, and histories of an authentication by chance.

use proptest::prelude::*;

use super::*;

const WHEN: [ThreeD; 3] = [ThreeD::Required, ThreeD::WhenEnrolled, ThreeD::Never];

fn everything_said() -> Vec<Said> {
    let card = [Said::Outside, Said::NotParticipating, Said::NotEnrolled];
    card.into_iter().chain(Status::ALL.map(Said::Issuer)).collect()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

#[test]
fn who_requires_authentication_takes_nothing_that_no_issuer_vouches_for() {
    for said in everything_said() {
        let vouches = matches!(said, Said::Issuer(Status::Authenticated | Status::Attempted));
        let asks = said == Said::Issuer(Status::ChallengeRequired);
        assert_eq!(next(said, ThreeD::Required) == Next::Authorise, vouches, "{said:?}");
        assert_eq!(next(said, ThreeD::Required) == Next::Challenge, asks, "{said:?}");
        assert_eq!(next(said, ThreeD::Never), Next::Authorise, "{said:?}");
    }
}

#[test]
fn what_an_issuer_refuses_is_declined_and_what_cannot_be_authenticated_pays_without() {
    for said in everything_said() {
        let refuses = matches!(said, Said::Issuer(Status::Failed | Status::Rejected));
        assert_eq!(matches!(next(said, ThreeD::WhenEnrolled), Next::Decline(_)), refuses, "{said:?}");
    }
}

#[test]
fn every_decline_has_a_code_of_3d_authentication() {
    for (said, when) in everything_said().into_iter().flat_map(|said| WHEN.map(|when| (said, when))) {
        if let Next::Decline(code) = next(said, when) {
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
        assert_eq!(eci(brand, Said::Issuer(Status::Authenticated)), Some(full), "{brand}");
        assert_eq!(eci(brand, Said::Issuer(Status::Attempted)), Some(attempted), "{brand}");
        assert_eq!(eci(brand, Said::NotEnrolled), Some(attempted), "{brand}");
        let exempted = if full == "02" { "06" } else { "07" };
        assert_eq!(eci(brand, Said::Issuer(Status::Exempted)), Some(exempted), "{brand}");
        for none in [Status::Failed, Status::Unavailable, Status::Rejected, Status::ChallengeRequired] {
            assert_eq!(eci(brand, Said::Issuer(none)), None, "{brand} {none:?}");
        }
    }
}

#[test]
fn a_merchants_own_proof_is_read_as_it_is_sent() {
    let sent = |fields: &[(&str, &str)]| Proof::sent(&fields.iter().copied().collect());
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
        said: Said::Issuer(Status::Rejected),
        eci: None,
        value: None,
        transaction: Some("t".to_owned()),
        reason: None,
    };
    for (version, has, has_not) in [(Version::V1, "xid", "dsTransactionId"), (Version::V22, "dsTransactionId", "xid")] {
        let mut told = Parameters::default();
        proof(version).tell(&mut told);
        assert_eq!(told.get(&format!("threeDSecure.{has}")), Some("t"));
        assert!(!told.contains(&format!("threeDSecure.{has_not}")));
        assert_eq!(told.get("threeDSecure.authenticationStatus"), Some("N"), "a rejection is a no");
    }
}

/// What can happen on the page of an authentication.
#[derive(Debug, Clone)]
enum Step {
    Method,
    Challenged,
    /// An answer, of this transaction or another one, so many seconds after the beginning.
    Answer(bool, i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Method),
        Just(Step::Challenged),
        (any::<bool>(), 0..3600i64).prop_map(|(own, seconds)| Step::Answer(own, seconds)),
    ]
}

proptest! {
    #[test]
    fn an_answer_counts_only_for_a_challenge_of_its_own_and_in_time(
        method in any::<bool>(),
        steps in prop::collection::vec(step(), 0..12),
    ) {
        let begin = if method { Authentication::with_method } else { Authentication::with_challenge };
        let mut authentication = begin(Version::V22, "own".to_owned());
        let mut challenged = !method;
        for step in steps {
            let before = authentication.clone();
            match step {
                // Nothing leads back from a challenge.
                Step::Method => {
                    let noted = authentication.method_completed();
                    prop_assert_eq!(noted, authentication != before);
                    prop_assert!(!noted || !challenged);
                }
                Step::Challenged => {
                    prop_assert_eq!(authentication.challenged(), !challenged);
                    challenged = true;
                }
                Step::Answer(own, seconds) => {
                    let transaction = if own { "own" } else { "other" };
                    let taken = authentication.answered(transaction, at(1800), at(seconds)).is_ok();
                    prop_assert_eq!(taken, own && challenged && seconds < 1800);
                }
            }
            prop_assert_eq!(authentication.waits_for_answer(), challenged);
            prop_assert!(!(challenged && authentication.may_ask(at(0), at(60))));
        }
    }
}

#[test]
fn the_issuer_is_asked_when_its_method_page_has_run_or_has_had_ten_seconds() {
    let mut authentication = Authentication::with_method(Version::V22, "own".to_owned());
    assert!(!authentication.may_ask(at(0), at(9)) && authentication.may_ask(at(0), at(10)));
    assert!(authentication.method_completed() && !authentication.method_completed());
    assert!(authentication.may_ask(at(0), at(0)));
}
