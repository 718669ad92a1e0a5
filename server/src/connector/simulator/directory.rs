//! The schemes' directories, simulated: which cards are enrolled, and what their issuers will say.
//!
//! Cards that are not here are not enrolled. A merchant may ask for an outcome with any card: `customParameters[3DS2_enrolled]`
//! and `customParameters[3DS2_flow]`, or the single digit `threeDSecure.challengeIndicator=4`.

use tillgate_shared::parameter::Parameters;

use crate::domain::authentication::{Said, Status, Version};

/// What a card is there to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Authenticated without a challenge, after the issuer's method page.
    FrictionlessMethod,
    /// Attempted, after the issuer's method page.
    AttemptMethod,
    /// Authenticated without a challenge.
    Frictionless,
    /// Attempted.
    Attempt,
    /// The issuer's system is out of order.
    TechnicalError,
    /// The card is not enrolled.
    NotEnrolled,
    /// The issuer does not take part.
    NotParticipating,
    /// A challenge, after the issuer's method page.
    ChallengeMethod,
    /// A challenge.
    Challenge,
    /// The issuer rejects the authentication.
    Rejected,
    /// Enrolled in version 1.
    Version1,
}

impl Flow {
    /// Every flow, in the order of the documents.
    pub const ALL: [Self; 11] = [
        Self::FrictionlessMethod,
        Self::AttemptMethod,
        Self::Frictionless,
        Self::Attempt,
        Self::TechnicalError,
        Self::NotEnrolled,
        Self::NotParticipating,
        Self::ChallengeMethod,
        Self::Challenge,
        Self::Rejected,
        Self::Version1,
    ];

    /// What it shows, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::FrictionlessMethod => "frictionless, with method data",
            Self::AttemptMethod => "attempt, with method data",
            Self::Frictionless => "frictionless",
            Self::Attempt => "attempt",
            Self::TechnicalError => "technical error",
            Self::NotEnrolled => "not enrolled",
            Self::NotParticipating => "issuer does not take part",
            Self::ChallengeMethod => "challenge, with method data",
            Self::Challenge => "challenge",
            Self::Rejected => "rejected by the issuer",
            Self::Version1 => "version 1, with a redirect",
        }
    }

    /// What directory or issuer answer.
    pub fn said(self) -> Said {
        match self {
            Self::FrictionlessMethod | Self::Frictionless => Said::Issuer(Status::Authenticated),
            Self::AttemptMethod | Self::Attempt => Said::Issuer(Status::Attempted),
            Self::TechnicalError => Said::Issuer(Status::Unavailable),
            Self::NotEnrolled => Said::NotEnrolled,
            Self::NotParticipating => Said::NotParticipating,
            Self::ChallengeMethod | Self::Challenge | Self::Version1 => Said::Issuer(Status::ChallengeRequired),
            Self::Rejected => Said::Issuer(Status::Rejected),
        }
    }

    /// Whether the issuer wants its method page to run first.
    pub fn has_method(self) -> bool {
        matches!(self, Self::FrictionlessMethod | Self::AttemptMethod | Self::ChallengeMethod)
    }

    /// The version that the card is enrolled in; none where it is not enrolled, so that nothing needs to be known of the
    /// shopper's browser.
    pub fn version(self) -> Option<Version> {
        match self {
            Self::NotEnrolled | Self::NotParticipating => None,
            Self::Version1 => Some(Version::V1),
            _ => Some(Version::V22),
        }
    }
}

/// A card of the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Card {
    /// `paymentBrand`.
    pub brand: &'static str,
    /// What it is there to show.
    pub flow: Flow,
    /// The number.
    pub number: &'static str,
}

const fn card(brand: &'static str, flow: Flow, number: &'static str) -> Card {
    Card { brand, flow, number }
}

use Flow::{
    Attempt, AttemptMethod, Challenge, ChallengeMethod, Frictionless, FrictionlessMethod, NotEnrolled,
    NotParticipating, Rejected, TechnicalError, Version1,
};

/// The cards, by brand.
pub static CARDS: [Card; 90] = [
    card("VISA", FrictionlessMethod, "4200000000000091"),
    card("VISA", AttemptMethod, "4200000000000109"),
    card("VISA", Frictionless, "4200000000000026"),
    card("VISA", Attempt, "4200000000000059"),
    card("VISA", TechnicalError, "4012001037461114"),
    card("VISA", NotEnrolled, "4012001037141112"),
    card("VISA", NotParticipating, "4532497088771651"),
    card("VISA", ChallengeMethod, "4200000000000042"),
    card("VISA", ChallengeMethod, "4200000000000067"),
    card("VISA", Challenge, "4200000000000018"),
    card("VISA", Challenge, "4200000000000075"),
    card("VISA", Rejected, "4200000000000034"),
    card("VISA", Version1, "4711100000000000"),
    card("VISA", Version1, "4012888888881881"),
    card("MASTER", FrictionlessMethod, "5200000000000007"),
    card("MASTER", AttemptMethod, "5200000000000023"),
    card("MASTER", Frictionless, "5200000000000056"),
    card("MASTER", Attempt, "5200000000000106"),
    card("MASTER", TechnicalError, "5434580000000006"),
    card("MASTER", NotEnrolled, "5457350076543210"),
    card("MASTER", NotParticipating, "5497260847316287"),
    card("MASTER", ChallengeMethod, "5200000000000015"),
    card("MASTER", ChallengeMethod, "5200000000000049"),
    card("MASTER", Challenge, "5200000000000064"),
    card("MASTER", Challenge, "5200000000000072"),
    card("MASTER", Rejected, "5200000000000031"),
    card("MASTER", Version1, "5212345678901234"),
    card("AMEX", FrictionlessMethod, "374500262001008"),
    card("AMEX", AttemptMethod, "377277081382243"),
    card("AMEX", Frictionless, "375987000000062"),
    card("AMEX", Attempt, "373953192351004"),
    card("AMEX", TechnicalError, "375987000169875"),
    card("AMEX", NotEnrolled, "375987000169883"),
    card("AMEX", NotParticipating, "343923092050144"),
    card("AMEX", ChallengeMethod, "343434343434343"),
    card("AMEX", ChallengeMethod, "375987000000021"),
    card("AMEX", Challenge, "375987000169867"),
    card("AMEX", Challenge, "371449635398431"),
    card("AMEX", Rejected, "375987000000039"),
    card("AMEX", Version1, "375987000000005"),
    card("JCB", FrictionlessMethod, "3528000000000015"),
    card("JCB", AttemptMethod, "3528000000000023"),
    card("JCB", Frictionless, "3528000000000031"),
    card("JCB", Attempt, "3528000000000049"),
    card("JCB", TechnicalError, "3528000000000056"),
    card("JCB", NotEnrolled, "3528000000000064"),
    card("JCB", NotParticipating, "3528000000000072"),
    card("JCB", ChallengeMethod, "3528000000000080"),
    card("JCB", Challenge, "3528000000000098"),
    card("JCB", Rejected, "3528000000000106"),
    card("DINERS", FrictionlessMethod, "36000000000016"),
    card("DINERS", AttemptMethod, "36000000000024"),
    card("DINERS", Frictionless, "36000000000032"),
    card("DINERS", Attempt, "36000000000040"),
    card("DINERS", TechnicalError, "36000000000057"),
    card("DINERS", NotEnrolled, "36000000000065"),
    card("DINERS", NotParticipating, "36000000000073"),
    card("DINERS", ChallengeMethod, "36000000000081"),
    card("DINERS", Challenge, "36000000000099"),
    card("DINERS", Rejected, "36000000000107"),
    card("DISCOVER", FrictionlessMethod, "6011000000000012"),
    card("DISCOVER", AttemptMethod, "6011000000000020"),
    card("DISCOVER", Frictionless, "6011000000000038"),
    card("DISCOVER", Attempt, "6011000000000046"),
    card("DISCOVER", TechnicalError, "6011000000000053"),
    card("DISCOVER", NotEnrolled, "6011000000000061"),
    card("DISCOVER", NotParticipating, "6011000000000079"),
    card("DISCOVER", ChallengeMethod, "6011000000000087"),
    card("DISCOVER", Challenge, "6011000000000095"),
    card("DISCOVER", Rejected, "6011000000000103"),
    card("MAESTRO", FrictionlessMethod, "6799000000000010"),
    card("MAESTRO", AttemptMethod, "6799000000000028"),
    card("MAESTRO", Frictionless, "6799000000000036"),
    card("MAESTRO", Attempt, "6799000000000044"),
    card("MAESTRO", TechnicalError, "6799000000000051"),
    card("MAESTRO", NotEnrolled, "6799000000000069"),
    card("MAESTRO", NotParticipating, "6799000000000077"),
    card("MAESTRO", ChallengeMethod, "6799000000000085"),
    card("MAESTRO", Challenge, "6799000000000093"),
    card("MAESTRO", Rejected, "6799000000000101"),
    card("UNIONPAY", FrictionlessMethod, "6201000000000012"),
    card("UNIONPAY", AttemptMethod, "6201000000000020"),
    card("UNIONPAY", Frictionless, "6201000000000038"),
    card("UNIONPAY", Attempt, "6201000000000046"),
    card("UNIONPAY", TechnicalError, "6201000000000053"),
    card("UNIONPAY", NotEnrolled, "6201000000000061"),
    card("UNIONPAY", NotParticipating, "6201000000000079"),
    card("UNIONPAY", ChallengeMethod, "6201000000000087"),
    card("UNIONPAY", Challenge, "6201000000000095"),
    card("UNIONPAY", Rejected, "6201000000000103"),
];

/// What the merchant asks the simulation for.
const ENROLLED: &str = "customParameters[3DS2_enrolled]";
const FLOW: &str = "customParameters[3DS2_flow]";
const INDICATOR: &str = "threeDSecure.challengeIndicator";
const MANDATED: &str = "threeDSecure.challengeMandatedIndicator";

/// What a card will come to; none for one that no directory knows.
pub fn look_up(number: &str, parameters: &Parameters) -> Option<Flow> {
    let is = |name: &str, value: &str| parameters.get(name).is_some_and(|sent| sent.eq_ignore_ascii_case(value));
    if is(ENROLLED, "false") {
        return None;
    }
    let known = CARDS.iter().find(|card| card.number == number).map(|card| card.flow);
    // The protocol's own 04 is a wish to the issuer; the single digit is one to the simulation, with any card.
    if is(FLOW, "challenge") || is(INDICATOR, "4") {
        return Some(if known.is_some_and(Flow::has_method) { ChallengeMethod } else { Challenge });
    }
    if is(FLOW, "frictionless") {
        return Some(if known.is_some_and(Flow::has_method) { FrictionlessMethod } else { Frictionless });
    }
    let enrolled = is(ENROLLED, "true") && known.is_none_or(|flow| flow.version().is_none());
    let flow = if enrolled { Frictionless } else { known? };
    let mandated = flow.version() == Some(Version::V22) && (is(INDICATOR, "04") || is(MANDATED, "Y"));
    Some(match flow {
        FrictionlessMethod | AttemptMethod if mandated => ChallengeMethod,
        Frictionless | Attempt if mandated => Challenge,
        flow => flow,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tillgate_shared::brand::Brand;
    use tillgate_shared::format::card_number::CardNumber;

    use super::*;

    #[test]
    fn every_card_is_a_good_number_of_its_brand_and_stands_here_once() {
        let mut seen = HashSet::new();
        for card in &CARDS {
            let good = CardNumber::parse(card.number).is_ok_and(|number| number.luhn_valid());
            assert!(good && seen.insert(card.number), "{card:?}");
            assert!(Brand::find(card.brand).is_some_and(|brand| brand.accepts(card.number)), "{card:?}");
        }
        for brand in ["VISA", "MASTER", "AMEX", "JCB", "DINERS", "DISCOVER", "MAESTRO", "UNIONPAY"] {
            for flow in Flow::ALL.into_iter().filter(|flow| *flow != Version1) {
                assert!(CARDS.iter().any(|card| (card.brand, card.flow) == (brand, flow)), "{brand} {flow:?}");
            }
        }
    }

    #[test]
    fn a_merchant_may_ask_for_an_outcome_with_any_card() {
        const PLAIN: &str = "4200000000000000";
        const METHOD: &str = "4200000000000091";
        const OLD: &str = "4711100000000000";
        type Sent = &'static [(&'static str, &'static str)];
        let cases: [(&str, Sent, Option<Flow>); 20] = [
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
            assert_eq!(look_up(number, &parameters), flow, "{number} {sent:?}");
        }
    }
}
