//! Simulated directories of the schemes. They know the cards of `test_data/three_ds.rs` and no others.
//!
//! A merchant may request a flow for any card: by `customParameters[3DS2_enrolled]` and `customParameters[3DS2_flow]`,
//! or by the single digit `threeDSecure.challengeIndicator=4`. The flow `passkey` is a challenge with a passkey.

use tillgate_domain::three_ds::ThreeDsVersion;
use tillgate_shared::parameter::Parameters;

use crate::test_data::three_ds::CARDS;
use crate::test_data::three_ds::ThreeDsFlow::{
    self, Attempt, AttemptMethod, Challenge, ChallengeMethod, Frictionless, FrictionlessMethod,
};

// Parameters by which a merchant requests a flow. Their values are compared without case.
const ENROLLED: &str = "customParameters[3DS2_enrolled]";
const FLOW: &str = "customParameters[3DS2_flow]";
const INDICATOR: &str = "threeDSecure.challengeIndicator";
const MANDATED: &str = "threeDSecure.challengeMandatedIndicator";

/// Returns the 3-D Secure flow of a card: the one that the merchant requests, otherwise that of the test data. If the
/// merchant mandates a challenge, a frictionless or attempted flow of version 2.2 becomes one. `None` if no directory
/// knows the card, or the merchant requests that.
pub fn find_flow(number: &str, parameters: &Parameters) -> Option<ThreeDsFlow> {
    let is = |name: &str, value: &str| parameters.get(name).is_some_and(|sent| sent.eq_ignore_ascii_case(value));
    if is(ENROLLED, "false") {
        return None;
    }
    let known = CARDS.iter().find(|card| card.number == number).map(|card| card.flow);
    // `04` of the protocol is a request to the issuer. The single digit `4` requests a simulated challenge, with any
    // card.
    if is(FLOW, "challenge") || is(INDICATOR, "4") || wants_passkey(parameters) {
        return Some(if known.is_some_and(ThreeDsFlow::has_method) { ChallengeMethod } else { Challenge });
    }
    if is(FLOW, "frictionless") {
        return Some(if known.is_some_and(ThreeDsFlow::has_method) { FrictionlessMethod } else { Frictionless });
    }
    let is_enrolled_by_request = is(ENROLLED, "true") && known.is_none_or(|flow| flow.version().is_none());
    let flow = if is_enrolled_by_request { Frictionless } else { known? };
    let mandated = flow.version() == Some(ThreeDsVersion::V22) && (is(INDICATOR, "04") || is(MANDATED, "Y"));
    Some(match flow {
        FrictionlessMethod | AttemptMethod if mandated => ChallengeMethod,
        Frictionless | Attempt if mandated => Challenge,
        flow => flow,
    })
}

/// Returns true if the merchant requests a challenge whose page asks for a passkey.
pub fn wants_passkey(parameters: &Parameters) -> bool {
    parameters.get(FLOW).is_some_and(|sent| sent.eq_ignore_ascii_case("passkey"))
}

#[cfg(test)]
mod tests {
    use super::ThreeDsFlow::Version1;
    use super::*;

    #[test]
    fn a_merchant_may_ask_for_an_outcome_with_any_card() {
        const PLAIN: &str = "4200000000000000";
        const METHOD: &str = "4200000000000091";
        const OLD: &str = "4711100000000000";
        type Sent = &'static [(&'static str, &'static str)];
        let cases: [(&str, Sent, Option<ThreeDsFlow>); 22] = [
            (PLAIN, &[(FLOW, "passkey")], Some(Challenge)),
            (METHOD, &[(FLOW, "Passkey")], Some(ChallengeMethod)),
            (PLAIN, &[], None),
            (PLAIN, &[(ENROLLED, "true")], Some(Frictionless)),
            (PLAIN, &[(ENROLLED, "true"), (FLOW, "challenge")], Some(Challenge)),
            (PLAIN, &[(ENROLLED, "true"), (INDICATOR, "04")], Some(Challenge)),
            (PLAIN, &[(FLOW, "challenge")], Some(Challenge)),
            (PLAIN, &[(FLOW, "frictionless")], Some(Frictionless)),
            (PLAIN, &[(INDICATOR, "4")], Some(Challenge)),
            (PLAIN, &[(INDICATOR, "04")], None),
            (PLAIN, &[(MANDATED, "Y")], None),
            (PLAIN, &[(ENROLLED, "true"), (MANDATED, "Y")], Some(Challenge)),
            (METHOD, &[(MANDATED, "Y")], Some(ChallengeMethod)),
            (METHOD, &[(MANDATED, "N")], Some(FrictionlessMethod)),
            (OLD, &[(MANDATED, "Y")], Some(Version1)),
            (METHOD, &[], Some(FrictionlessMethod)),
            (METHOD, &[(FLOW, "challenge")], Some(ChallengeMethod)),
            (METHOD, &[(INDICATOR, "04")], Some(ChallengeMethod)),
            (METHOD, &[(ENROLLED, "false"), (FLOW, "challenge")], None),
            (OLD, &[(INDICATOR, "04")], Some(Version1)),
            (OLD, &[(FLOW, "frictionless")], Some(Frictionless)),
            ("4012001037141112", &[(ENROLLED, "true")], Some(Frictionless)),
        ];
        for (number, sent, flow) in cases {
            let parameters: Parameters = sent.iter().copied().collect();
            assert_eq!(find_flow(number, &parameters), flow, "{number} {sent:?}");
        }
    }
}
