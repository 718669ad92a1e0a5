//! Result of a cardholder authentication.

use tillgate_shared::brand::{Brand, EciFamily};
use tillgate_shared::parameter::{Parameters, has_external_three_ds};

use super::{AuthenticationResult, ThreeDsVersion, TransactionStatus, TransactionStatusReason};

/// Result of a cardholder authentication. It determines the liability shift and is sent with the authorization as
/// proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The protocol version. `None` if no authentication was possible.
    pub version: Option<ThreeDsVersion>,
    /// The answer of the directory server or issuer.
    pub result: AuthenticationResult,
    /// Electronic commerce indicator, two digits.
    pub eci: Option<String>,
    /// The authentication value (CAVV, AAV, AEVV): 28 characters of base64.
    pub cavv: Option<String>,
    /// The transaction id: the directory server's transaction id in version 2, the xid in version 1.
    pub transaction: Option<String>,
    /// The reason for the result.
    pub reason: Option<TransactionStatusReason>,
}

/// Returns the electronic commerce indicator (two digits) of a brand's scheme: Mastercard's 02, 01 and 06, or 05, 06
/// and 07 of all others, for an authenticated cardholder, an attempt or a card that is not enrolled, and an exemption.
/// Returns `None` for every other result.
pub fn scheme_eci(brand: &str, result: AuthenticationResult) -> Option<&'static str> {
    let is_mastercard = Brand::find(brand).is_some_and(|brand| brand.eci_family() == EciFamily::Mastercard);
    match result {
        AuthenticationResult::Issuer(TransactionStatus::Authenticated) => Some(if is_mastercard { "02" } else { "05" }),
        AuthenticationResult::Issuer(TransactionStatus::Attempted) | AuthenticationResult::NotEnrolled => {
            Some(if is_mastercard { "01" } else { "06" })
        }
        AuthenticationResult::Issuer(TransactionStatus::Exempted) => Some(if is_mastercard { "06" } else { "07" }),
        _ => None,
    }
}

impl Proof {
    /// Returns true if the cardholder is authenticated, or the issuer confirms the attempt.
    pub fn is_authenticated(&self) -> bool {
        matches!(
            self.result,
            AuthenticationResult::Issuer(TransactionStatus::Authenticated | TransactionStatus::Attempted)
        )
    }

    /// Reads the proof of an authentication that the merchant performed elsewhere and sent. The status comes from
    /// `authenticationStatus`, or without one from the ECI; an unknown one is [`TransactionStatus::Unavailable`].
    /// Returns `None` if the merchant sent no proof.
    pub fn from_parameters(parameters: &Parameters) -> Option<Self> {
        if !has_external_three_ds(parameters) {
            return None;
        }
        let text = |name: &str| parameters.get(&format!("threeDSecure.{name}")).map(str::to_owned);
        let status = match (text("authenticationStatus").as_deref(), text("eci").as_deref()) {
            (Some("Y"), _) | (None, Some("02" | "05")) => TransactionStatus::Authenticated,
            (Some("A"), _) | (None, Some("01" | "06")) => TransactionStatus::Attempted,
            (Some("N"), _) => TransactionStatus::Failed,
            _ => TransactionStatus::Unavailable,
        };
        Some(Self {
            version: ThreeDsVersion::parse(text("version").as_deref()),
            result: AuthenticationResult::Issuer(status),
            eci: text("eci"),
            cavv: text("verificationId"),
            transaction: text("dsTransactionId").or(text("xid")),
            reason: None,
        })
    }

    /// Names of the parameters that [`Proof::write_to`] writes, except the version.
    pub const PARAMETERS: [&str; 7] = [
        "threeDSecure.eci",
        "threeDSecure.verificationId",
        "threeDSecure.xid",
        "threeDSecure.enrollmentStatus",
        "threeDSecure.authenticationStatus",
        "threeDSecure.dsTransactionId",
        "threeDSecure.transactionStatusReason",
    ];

    /// Removes from the parameters of a payment what [`Proof::write_to`] writes, except the version.
    pub fn remove_from(parameters: &mut Parameters) {
        for name in Self::PARAMETERS {
            parameters.remove(name);
        }
    }

    /// Writes the proof to the parameters of the payment, under the specification's names (document 3,
    /// `threeDSecure.*`). It replaces the result of an earlier authentication: names without a value are removed,
    /// except the version.
    pub fn write_to(&self, parameters: &mut Parameters) {
        let enrolled = match self.result {
            AuthenticationResult::Issuer(_) => "Y",
            AuthenticationResult::NotEnrolled => "N",
            AuthenticationResult::NotParticipating | AuthenticationResult::NotSupported => "U",
        };
        let status = match self.result {
            AuthenticationResult::Issuer(status) => status.reported_code(),
            _ => None,
        };
        let transaction = self.transaction.as_deref();
        let (xid, ds_transaction) =
            if self.version == Some(ThreeDsVersion::V1) { (transaction, None) } else { (None, transaction) };
        for (name, value) in [
            ("eci", self.eci.as_deref()),
            ("verificationId", self.cavv.as_deref()),
            ("xid", xid),
            ("enrollmentStatus", Some(enrolled)),
            ("authenticationStatus", status),
            ("dsTransactionId", ds_transaction),
            ("transactionStatusReason", self.reason.map(TransactionStatusReason::as_str)),
        ] {
            let name = format!("threeDSecure.{name}");
            match value {
                Some(value) => parameters.set(name, value),
                None => drop(parameters.remove(&name)),
            }
        }
        // A version that the merchant requested is kept if no version was used.
        if let Some(version) = self.version {
            parameters.set("threeDSecure.version", version.as_str());
        }
    }
}
