//! What proves that the shopper is there and agrees: the security code, 3D data, and the standing instruction under
//! which later charges need neither.

use super::Check;
use crate::brand::Kind;
use crate::parameter::{ParameterError, Parameters};

/// What tells of an authentication that somebody else has made.
const RESULTS: [&str; 6] = [
    "threeDSecure.eci",
    "threeDSecure.verificationId",
    "threeDSecure.xid",
    "threeDSecure.enrollmentStatus",
    "threeDSecure.authenticationStatus",
    "threeDSecure.dsTransactionId",
];
/// What an authentication of version 2 needs to know.
const FOR_AUTHENTICATION: [&str; 11] = [
    "customer.browser.acceptHeader",
    "customer.browser.language",
    "customer.browser.screenHeight",
    "customer.browser.screenWidth",
    "customer.browser.timezone",
    "customer.browser.userAgent",
    "customer.browser.javaEnabled",
    "billing.street1",
    "billing.city",
    "billing.postcode",
    "billing.country",
];

/// Part of the cardholder in a payment. Decided once, where the request comes in, by its sender: in a checkout the
/// cardholder is always present (contract, 0.14). Nothing after that point reads the presence from parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Presence {
    /// The cardholder takes part (CIT): the security code and 3-D Secure can be asked for.
    #[default]
    Cardholder,
    /// The merchant charges alone (MIT): there is neither.
    Merchant,
}

impl Presence {
    /// Decides for a payment that a merchant's server sends outside of a checkout. The merchant charges alone with a
    /// repeated payment of a standing instruction whose source is the merchant, or that names none (contract, 0.3).
    pub fn of_server_request(parameters: &Parameters) -> Self {
        let repeated = parameters.get("standingInstruction.mode") == Some("REPEATED");
        if repeated && parameters.get("standingInstruction.source") != Some("CIT") {
            Self::Merchant
        } else {
            Self::Cardholder
        }
    }
}

/// Returns true if the parameters hold the result of an authentication that the merchant made: ECI and CAVV. Other
/// `threeDSecure.*` parameters prove nothing (contract, 0.15).
pub fn has_authentication_result(parameters: &Parameters) -> bool {
    ["threeDSecure.eci", "threeDSecure.verificationId"].iter().all(|name| parameters.contains(name))
}

/// Whether the merchant tells of an authentication that somebody else has made.
pub fn authenticated_elsewhere(parameters: &Parameters) -> bool {
    RESULTS.iter().any(|name| parameters.contains(name))
}

impl Check<'_> {
    /// Everything that a payment must prove, or may not pretend to.
    pub(super) fn proofs(&mut self) {
        if self.requirements.presence == Presence::Merchant {
            return self.without_shopper();
        }
        self.first_of_series();
        self.third_party();
        self.wishes();
        self.authentication();
        self.agreement();
    }

    /// Whoever is absent cannot be asked for a code.
    pub(super) fn without_shopper(&mut self) {
        let proofs = self.parameters.iter().map(|(name, _)| name);
        let proofs: Vec<&str> =
            proofs.filter(|name| *name == "card.cvv" || name.starts_with("threeDSecure.")).collect();
        for name in proofs {
            self.refuse(name, "may not be sent when the shopper is absent (standingInstruction.mode=REPEATED)");
        }
    }

    /// The first payment of a series by card proves that the card is there.
    pub(super) fn first_of_series(&mut self) {
        let by_card = self.kind() == Kind::Card || self.has("card.number");
        if by_card
            && self.is("standingInstruction.mode", "INITIAL")
            && !self.has("card.cvv")
            && !has_authentication_result(self.parameters)
            && !self.requirements.authenticates
        {
            self.errors.push(ParameterError::missing("card.cvv"));
        }
    }

    /// An authentication that somebody else made is told in full: without its results the issuer trusts nothing of it.
    /// What an authentication that came to no end does not have is not asked for, nor what a wallet's token lacks.
    pub(super) fn third_party(&mut self) {
        if !authenticated_elsewhere(self.parameters) || self.is_decrypted_wallet() {
            return;
        }
        let without_end = ["threeDSecure.enrollmentStatus", "threeDSecure.authenticationStatus"]
            .iter()
            .any(|name| self.is(name, "N") || self.is(name, "U"));
        self.require("threeDSecure.enrollmentStatus");
        self.require("threeDSecure.authenticationStatus");
        if !without_end {
            self.require("threeDSecure.eci");
            self.require("threeDSecure.verificationId");
        }
    }

    /// Some wishes came with version 2.2.
    fn wishes(&mut self) {
        // Versions have three single digits, so that their texts are in order when they are.
        if self.parameters.get("threeDSecure.version").is_none_or(|version| version >= "2.2") {
            return;
        }
        let late = |indicator: &str| matches!(indicator, "05" | "06" | "07" | "08" | "09");
        if self.parameters.get("threeDSecure.challengeIndicator").is_some_and(late) {
            self.refuse("threeDSecure.challengeIndicator", "05 to 09 need threeDSecure.version 2.2.0 or higher");
        }
        if self.has("threeDSecure.exemptionFlag") {
            self.refuse("threeDSecure.exemptionFlag", "needs threeDSecure.version 2.2.0 or higher");
        }
    }

    /// What the directory server and the issuer will ask for.
    pub(super) fn authentication(&mut self) {
        if self.requirements.authenticates && !self.requirements.collected_by_form {
            FOR_AUTHENTICATION.into_iter().for_each(|name| self.require(name));
        }
    }

    /// A shopper who authenticates for a series is told how long it lasts and how often it charges.
    pub(super) fn agreement(&mut self) {
        if !self.requirements.authenticates && !authenticated_elsewhere(self.parameters) {
            return;
        }
        let installments = self.is("standingInstruction.type", "INSTALLMENT");
        if installments || self.is("standingInstruction.type", "RECURRING") {
            self.require("standingInstruction.expiry");
            self.require("standingInstruction.frequency");
        }
        if installments {
            self.require("standingInstruction.numberOfInstallments");
        }
    }
}
