//! Redirects: the page that a shopper visits before a payment has an outcome, and the account for a transfer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::PageId;
use crate::three_ds::ThreeDsSession;

/// A page that the shopper's browser is sent to (specification, document 3, asynchronous payments).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirect {
    /// The page's address.
    pub url: String,
    /// `GET` or `POST`.
    pub method: String,
    /// Parameters for the page: names and values, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
    /// Pages to load in the browser first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<Precondition>,
    /// The merchant's page that the shopper returns to. Empty if none was sent.
    pub result_url: String,
    /// Origin of the page that contained the form, as reported by the form's frame. Only that page may show ours in a
    /// frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shop_origin: Option<String>,
    /// The id of our page: the one in place of the brand's page, or the one to which the shopper returns from a page
    /// of the connector's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<PageId>,
    /// True if the shopper has chosen another brand since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abandoned: bool,
    /// The cardholder authentication that the page is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<ThreeDsSession>,
    /// The time of the request to the payment's connector, while it is in progress: the shopper has no page to visit
    /// until the connector answers. `None` while the shopper has to act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Timestamp>,
}

impl Redirect {
    /// Returns true if the shopper visits a page of the gateway: the address ends with the id of our page. False for a
    /// page of the connector's, from which the shopper returns to ours.
    pub fn is_gateway_page(&self) -> bool {
        self.page.as_ref().is_some_and(|page| self.url.ends_with(page.as_str()))
    }
}

/// A page that the browser loads in a hidden frame before the redirect (contract, 3.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// The page's address, requested with GET.
    pub url: String,
    /// The purpose of the page.
    pub description: String,
}

/// The merchant's account that the shopper transfers the money to (`merchant.bankAccount`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferAccount {
    /// The account holder, 4 to 128 characters.
    pub holder: String,
    /// The account number; for SEPA the IBAN.
    pub number: String,
    /// The bank's BIC.
    pub bic: String,
    /// The bank's country, two letters.
    pub country: String,
}
