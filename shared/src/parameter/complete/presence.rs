//! Checks the proofs that the shopper is present and agrees: the security code, 3-D Secure data, and the standing
//! instruction under which later charges need neither.

use super::CompletenessCheck;
use crate::brand::AccountType;
use crate::parameter::{ParameterError, Parameters};

/// Parameters with the result of an external 3-D Secure authentication.
const THREE_DS_RESULTS: [&str; 6] = [
    "threeDSecure.eci",
    "threeDSecure.verificationId",
    "threeDSecure.xid",
    "threeDSecure.enrollmentStatus",
    "threeDSecure.authenticationStatus",
    "threeDSecure.dsTransactionId",
];
/// Parameters that 3-D Secure version 2 needs.
const THREE_DS_DATA: [&str; 11] = [
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

/// Presence of the cardholder in a payment. It is decided once, where the request arrives, by its sender: in a checkout
/// the cardholder is always present (contract, 0.14). Later code never derives the presence from parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Presence {
    /// The cardholder is present (CIT): the security code and 3-D Secure can be required.
    #[default]
    Cardholder,
    /// The merchant charges alone (MIT), without either.
    Merchant,
}

impl Presence {
    /// Decides for a request of a merchant's server outside of a checkout. A repeated payment of a standing instruction
    /// is merchant-initiated if its source is the merchant or missing (contract, 0.3).
    pub fn from_server_request(parameters: &Parameters) -> Self {
        let repeated = parameters.get("standingInstruction.mode") == Some("REPEATED");
        if repeated && parameters.get("standingInstruction.source") != Some("CIT") {
            Self::Merchant
        } else {
            Self::Cardholder
        }
    }
}

/// Returns true if the parameters contain ECI and CAVV of an external 3-D Secure authentication. Other
/// `threeDSecure.*` parameters prove nothing (contract, 0.15).
pub fn has_eci_and_cavv(parameters: &Parameters) -> bool {
    ["threeDSecure.eci", "threeDSecure.verificationId"].iter().all(|name| parameters.contains(name))
}

/// Returns true if the parameters contain any part of the result of an external 3-D Secure authentication.
pub fn has_external_three_ds(parameters: &Parameters) -> bool {
    parameters.with_prefix("threeDSecure.").any(|(name, _)| THREE_DS_RESULTS.contains(&name))
}

impl CompletenessCheck<'_> {
    /// Checks all proofs of a payment: without the cardholder they are forbidden, otherwise some are required.
    pub(super) fn check_presence(&mut self) {
        if self.requirements.presence == Presence::Merchant {
            return self.refuse_code_and_three_ds();
        }
        self.check_initial_payment();
        self.check_external_three_ds();
        self.check_three_ds_version();
        self.require_three_ds_data();
        self.require_instruction_terms();
    }

    /// Reports the security code and all 3-D Secure data, because the cardholder is not present.
    pub(super) fn refuse_code_and_three_ds(&mut self) {
        let proofs = self.parameters.iter().map(|(name, _)| name);
        let proofs: Vec<&str> =
            proofs.filter(|name| *name == "card.cvv" || name.starts_with("threeDSecure.")).collect();
        for name in proofs {
            self.refuse(name, "may not be sent when the shopper is absent (standingInstruction.mode=REPEATED)");
        }
    }

    /// Requires the security code for the first payment of a series by card, unless an ECI and a CAVV are sent or the
    /// gateway runs 3-D Secure.
    pub(super) fn check_initial_payment(&mut self) {
        let by_card = self.account_type() == AccountType::Card || self.has_parameter("card.number");
        if by_card
            && self.has_value("standingInstruction.mode", "INITIAL")
            && !self.has_parameter("card.cvv")
            && !has_eci_and_cavv(self.parameters)
            && !self.requirements.runs_three_ds
        {
            self.errors.push(ParameterError::missing("card.cvv"));
        }
    }

    /// Requires both statuses of an external authentication, and its ECI and CAVV unless a status is N or U: otherwise
    /// the issuer does not trust it. A decrypted wallet token has its own rules.
    pub(super) fn check_external_three_ds(&mut self) {
        if !has_external_three_ds(self.parameters) || self.is_decrypted_wallet() {
            return;
        }
        let without_end = ["threeDSecure.enrollmentStatus", "threeDSecure.authenticationStatus"]
            .iter()
            .any(|name| self.has_value(name, "N") || self.has_value(name, "U"));
        self.require("threeDSecure.enrollmentStatus");
        self.require("threeDSecure.authenticationStatus");
        if !without_end {
            self.require("threeDSecure.eci");
            self.require("threeDSecure.verificationId");
        }
    }

    /// Checks that values which exist since 3-D Secure 2.2 are not sent with an earlier version. Without a version,
    /// everything passes.
    fn check_three_ds_version(&mut self) {
        // Versions have three single digits, so their texts sort correctly.
        if self.parameters.get("threeDSecure.version").is_none_or(|version| version >= "2.2") {
            return;
        }
        let late = |indicator: &str| matches!(indicator, "05" | "06" | "07" | "08" | "09");
        if self.parameters.get("threeDSecure.challengeIndicator").is_some_and(late) {
            self.refuse("threeDSecure.challengeIndicator", "05 to 09 need threeDSecure.version 2.2.0 or higher");
        }
        if self.has_parameter("threeDSecure.exemptionFlag") {
            self.refuse("threeDSecure.exemptionFlag", "needs threeDSecure.version 2.2.0 or higher");
        }
    }

    /// Requires the browser's data and the billing address if the gateway runs 3-D Secure, unless the form collected
    /// them.
    pub(super) fn require_three_ds_data(&mut self) {
        if self.requirements.runs_three_ds && !self.requirements.collected_by_form {
            THREE_DS_DATA.into_iter().for_each(|name| self.require(name));
        }
    }

    /// Requires the expiry and the frequency of a recurring or installment instruction if 3-D Secure is used, and the
    /// number of installments: the issuer shows them to the shopper.
    pub(super) fn require_instruction_terms(&mut self) {
        if !self.requirements.runs_three_ds && !has_external_three_ds(self.parameters) {
            return;
        }
        let installments = self.has_value("standingInstruction.type", "INSTALLMENT");
        if installments || self.has_value("standingInstruction.type", "RECURRING") {
            self.require("standingInstruction.expiry");
            self.require("standingInstruction.frequency");
        }
        if installments {
            self.require("standingInstruction.numberOfInstallments");
        }
    }
}
