//! Test cards for 3-D Secure: the enrolment of each, and its issuer's response.

use tillgate_domain::three_ds::{AuthenticationResult, ThreeDsVersion, TransactionStatus};

/// The 3-D Secure flow of a test card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreeDsFlow {
    /// Frictionless, after the issuer's method page.
    FrictionlessMethod,
    /// Attempt, after the issuer's method page.
    AttemptMethod,
    /// Frictionless.
    Frictionless,
    /// Attempt.
    Attempt,
    /// The issuer's system has a technical error.
    TechnicalError,
    /// The card is not enrolled.
    NotEnrolled,
    /// The issuer does not support 3-D Secure.
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

impl ThreeDsFlow {
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

    /// Returns the description for the documents.
    pub fn description(self) -> &'static str {
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

    /// Returns the first response of the directory or the issuer. For flows with a challenge it is that a challenge is
    /// required.
    pub fn authentication_result(self) -> AuthenticationResult {
        match self {
            Self::FrictionlessMethod | Self::Frictionless => {
                AuthenticationResult::Issuer(TransactionStatus::Authenticated)
            }
            Self::AttemptMethod | Self::Attempt => AuthenticationResult::Issuer(TransactionStatus::Attempted),
            Self::TechnicalError => AuthenticationResult::Issuer(TransactionStatus::Unavailable),
            Self::NotEnrolled => AuthenticationResult::NotEnrolled,
            Self::NotParticipating => AuthenticationResult::NotParticipating,
            Self::ChallengeMethod | Self::Challenge | Self::Version1 => {
                AuthenticationResult::Issuer(TransactionStatus::ChallengeRequired)
            }
            Self::Rejected => AuthenticationResult::Issuer(TransactionStatus::Rejected),
        }
    }

    /// Returns true if the issuer's method page has to run first.
    pub fn has_method(self) -> bool {
        matches!(self, Self::FrictionlessMethod | Self::AttemptMethod | Self::ChallengeMethod)
    }

    /// Returns the version that the card is enrolled in. `None` if it is not enrolled; the browser's data are not
    /// needed then.
    pub fn version(self) -> Option<ThreeDsVersion> {
        match self {
            Self::NotEnrolled | Self::NotParticipating => None,
            Self::Version1 => Some(ThreeDsVersion::V1),
            _ => Some(ThreeDsVersion::V22),
        }
    }
}

/// A test card that is known to a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreeDsCard {
    /// `paymentBrand`.
    pub brand: &'static str,
    /// The flow of the card.
    pub flow: ThreeDsFlow,
    /// The number.
    pub number: &'static str,
}

const fn three_ds_card(brand: &'static str, flow: ThreeDsFlow, number: &'static str) -> ThreeDsCard {
    ThreeDsCard { brand, flow, number }
}

use ThreeDsFlow::{
    Attempt, AttemptMethod, Challenge, ChallengeMethod, Frictionless, FrictionlessMethod, NotEnrolled,
    NotParticipating, Rejected, TechnicalError, Version1,
};

/// The cards, by brand.
pub static CARDS: [ThreeDsCard; 90] = [
    three_ds_card("VISA", FrictionlessMethod, "4200000000000091"),
    three_ds_card("VISA", AttemptMethod, "4200000000000109"),
    three_ds_card("VISA", Frictionless, "4200000000000026"),
    three_ds_card("VISA", Attempt, "4200000000000059"),
    three_ds_card("VISA", TechnicalError, "4012001037461114"),
    three_ds_card("VISA", NotEnrolled, "4012001037141112"),
    three_ds_card("VISA", NotParticipating, "4532497088771651"),
    three_ds_card("VISA", ChallengeMethod, "4200000000000042"),
    three_ds_card("VISA", ChallengeMethod, "4200000000000067"),
    three_ds_card("VISA", Challenge, "4200000000000018"),
    three_ds_card("VISA", Challenge, "4200000000000075"),
    three_ds_card("VISA", Rejected, "4200000000000034"),
    three_ds_card("VISA", Version1, "4711100000000000"),
    three_ds_card("VISA", Version1, "4012888888881881"),
    three_ds_card("MASTER", FrictionlessMethod, "5200000000000007"),
    three_ds_card("MASTER", AttemptMethod, "5200000000000023"),
    three_ds_card("MASTER", Frictionless, "5200000000000056"),
    three_ds_card("MASTER", Attempt, "5200000000000106"),
    three_ds_card("MASTER", TechnicalError, "5434580000000006"),
    three_ds_card("MASTER", NotEnrolled, "5457350076543210"),
    three_ds_card("MASTER", NotParticipating, "5497260847316287"),
    three_ds_card("MASTER", ChallengeMethod, "5200000000000015"),
    three_ds_card("MASTER", ChallengeMethod, "5200000000000049"),
    three_ds_card("MASTER", Challenge, "5200000000000064"),
    three_ds_card("MASTER", Challenge, "5200000000000072"),
    three_ds_card("MASTER", Rejected, "5200000000000031"),
    three_ds_card("MASTER", Version1, "5212345678901234"),
    three_ds_card("AMEX", FrictionlessMethod, "374500262001008"),
    three_ds_card("AMEX", AttemptMethod, "377277081382243"),
    three_ds_card("AMEX", Frictionless, "375987000000062"),
    three_ds_card("AMEX", Attempt, "373953192351004"),
    three_ds_card("AMEX", TechnicalError, "375987000169875"),
    three_ds_card("AMEX", NotEnrolled, "375987000169883"),
    three_ds_card("AMEX", NotParticipating, "343923092050144"),
    three_ds_card("AMEX", ChallengeMethod, "343434343434343"),
    three_ds_card("AMEX", ChallengeMethod, "375987000000021"),
    three_ds_card("AMEX", Challenge, "375987000169867"),
    three_ds_card("AMEX", Challenge, "371449635398431"),
    three_ds_card("AMEX", Rejected, "375987000000039"),
    three_ds_card("AMEX", Version1, "375987000000005"),
    three_ds_card("JCB", FrictionlessMethod, "3528000000000015"),
    three_ds_card("JCB", AttemptMethod, "3528000000000023"),
    three_ds_card("JCB", Frictionless, "3528000000000031"),
    three_ds_card("JCB", Attempt, "3528000000000049"),
    three_ds_card("JCB", TechnicalError, "3528000000000056"),
    three_ds_card("JCB", NotEnrolled, "3528000000000064"),
    three_ds_card("JCB", NotParticipating, "3528000000000072"),
    three_ds_card("JCB", ChallengeMethod, "3528000000000080"),
    three_ds_card("JCB", Challenge, "3528000000000098"),
    three_ds_card("JCB", Rejected, "3528000000000106"),
    three_ds_card("DINERS", FrictionlessMethod, "36000000000016"),
    three_ds_card("DINERS", AttemptMethod, "36000000000024"),
    three_ds_card("DINERS", Frictionless, "36000000000032"),
    three_ds_card("DINERS", Attempt, "36000000000040"),
    three_ds_card("DINERS", TechnicalError, "36000000000057"),
    three_ds_card("DINERS", NotEnrolled, "36000000000065"),
    three_ds_card("DINERS", NotParticipating, "36000000000073"),
    three_ds_card("DINERS", ChallengeMethod, "36000000000081"),
    three_ds_card("DINERS", Challenge, "36000000000099"),
    three_ds_card("DINERS", Rejected, "36000000000107"),
    three_ds_card("DISCOVER", FrictionlessMethod, "6011000000000012"),
    three_ds_card("DISCOVER", AttemptMethod, "6011000000000020"),
    three_ds_card("DISCOVER", Frictionless, "6011000000000038"),
    three_ds_card("DISCOVER", Attempt, "6011000000000046"),
    three_ds_card("DISCOVER", TechnicalError, "6011000000000053"),
    three_ds_card("DISCOVER", NotEnrolled, "6011000000000061"),
    three_ds_card("DISCOVER", NotParticipating, "6011000000000079"),
    three_ds_card("DISCOVER", ChallengeMethod, "6011000000000087"),
    three_ds_card("DISCOVER", Challenge, "6011000000000095"),
    three_ds_card("DISCOVER", Rejected, "6011000000000103"),
    three_ds_card("MAESTRO", FrictionlessMethod, "6799000000000010"),
    three_ds_card("MAESTRO", AttemptMethod, "6799000000000028"),
    three_ds_card("MAESTRO", Frictionless, "6799000000000036"),
    three_ds_card("MAESTRO", Attempt, "6799000000000044"),
    three_ds_card("MAESTRO", TechnicalError, "6799000000000051"),
    three_ds_card("MAESTRO", NotEnrolled, "6799000000000069"),
    three_ds_card("MAESTRO", NotParticipating, "6799000000000077"),
    three_ds_card("MAESTRO", ChallengeMethod, "6799000000000085"),
    three_ds_card("MAESTRO", Challenge, "6799000000000093"),
    three_ds_card("MAESTRO", Rejected, "6799000000000101"),
    three_ds_card("UNIONPAY", FrictionlessMethod, "6201000000000012"),
    three_ds_card("UNIONPAY", AttemptMethod, "6201000000000020"),
    three_ds_card("UNIONPAY", Frictionless, "6201000000000038"),
    three_ds_card("UNIONPAY", Attempt, "6201000000000046"),
    three_ds_card("UNIONPAY", TechnicalError, "6201000000000053"),
    three_ds_card("UNIONPAY", NotEnrolled, "6201000000000061"),
    three_ds_card("UNIONPAY", NotParticipating, "6201000000000079"),
    three_ds_card("UNIONPAY", ChallengeMethod, "6201000000000087"),
    three_ds_card("UNIONPAY", Challenge, "6201000000000095"),
    three_ds_card("UNIONPAY", Rejected, "6201000000000103"),
];

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
            let good = CardNumber::parse(card.number).is_ok_and(|number| number.is_luhn_valid());
            assert!(good && seen.insert(card.number), "{card:?}");
            assert!(Brand::find(card.brand).is_some_and(|brand| brand.allows_number(card.number)), "{card:?}");
        }
        for brand in ["VISA", "MASTER", "AMEX", "JCB", "DINERS", "DISCOVER", "MAESTRO", "UNIONPAY"] {
            for flow in ThreeDsFlow::ALL.into_iter().filter(|flow| *flow != Version1) {
                assert!(CARDS.iter().any(|card| (card.brand, card.flow) == (brand, flow)), "{brand} {flow:?}");
            }
        }
    }
}
