//! Checkouts: their creation, their submit by the form, and their status; scripts of the form and reports about them.

mod policy_reports;
mod scripts;
mod status;

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::checkout::Checkout;
use tillgate_shared::result::ResultCode;

use crate::ResultFields;
use crate::payment::{RedirectFields, ShopperAccountFields};

pub use policy_reports::{NotedFields, PolicyReportFields, PolicyReportsFields};
pub use scripts::{DocumentFields, DocumentHeaderFields, ScriptFields, ScriptsFields};
pub use status::{CheckoutStateFields, PaymentAttemptFields, RegistrationAttemptFields, UnpaidCheckoutFields};

/// A checkout that was created or updated.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Checkout")]
pub struct CheckoutFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// Id of the checkout.
    #[schemars(regex(pattern = r"^[0-9A-Za-z.-]{32,48}$"))]
    id: &'a str,
    /// Hash of the form's loader, if the request has asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^sha384-"))]
    integrity: Option<&'a str>,
}

/// Response to the submit of the form. It is the same for approved and declined payments.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Submitted")]
pub struct SubmittedFields<'a> {
    /// Result of the submit.
    pub result: ResultFields<'a>,
    /// Id of the checkout.
    pub id: &'a str,
    /// Path of the status. Absent if the form was only saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_path: Option<&'a str>,
    /// The page that `redirect` leads to, and the window for it.
    #[schemars(extend("enum" = ["now", "redirect", "popup", "inline", "saved", "retry"]))]
    pub flow: &'a str,
    /// Present if the page is for 3-D Secure.
    #[serde(rename = "threeDSecure", skip_serializing_if = "Option::is_none")]
    pub three_ds: Option<ThreeDsPageFields<'a>>,
    /// Advice for the next attempt after a decline. Only if the form has asked to stay (`retryInPlace=true`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Funds", "Data", "Authentication", "Later", "Other"]))]
    pub advice: Option<&'static str>,
    /// The page that the shopper visits. Absent if the form was only saved, or stays for another attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<RedirectFields<'a>>,
    /// The saved account, for a summary page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<ShopperAccountFields<'a>>,
    /// Parameters that a browser may not set and that had no effect. Only in a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<Vec<&'static str>>,
}

/// The authentication that a page of 3-D Secure is for.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ThreeDSecurePage")]
pub struct ThreeDsPageFields<'a> {
    /// Version of the protocol.
    pub version: &'a str,
}

impl<'a> CheckoutFields<'a> {
    /// Creates the response about a checkout with this result, and the hash of the form's loader if there is one.
    pub fn new(checkout: &'a Checkout, code: ResultCode, integrity: Option<&'a str>) -> Self {
        Self { result: code.into(), id: checkout.id.as_str(), integrity }
    }
}
