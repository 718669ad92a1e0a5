//! Where a shopper has to go before a payment has an outcome, and where money is transferred to.

use serde::{Deserialize, Serialize};

use crate::domain::authentication::Authentication;
use crate::domain::id::PageId;

/// A page that the shopper's browser is sent to (specification, document 3, asynchronous payments).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirect {
    /// The page's address.
    pub url: String,
    /// `GET` or `POST`.
    pub method: String,
    /// What the page is given: names and values, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
    /// What the browser has to do first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<Precondition>,
    /// The merchant's page that the shopper comes back to; empty where nobody said which.
    pub result_url: String,
    /// Origin of the page that the form was in, as the form's frame told it; only that page may show ours in a frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shop_origin: Option<String>,
    /// The page, where it is one of ours that stands in for the brand's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<PageId>,
    /// Whether the shopper has gone on with another brand since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abandoned: bool,
    /// The authentication of the cardholder that the page is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
}

/// A page that the browser loads in a hidden frame before it goes to the other one (contract, 3.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// The page's address, asked for with GET.
    pub url: String,
    /// What it is for.
    pub description: String,
}

/// The merchant's account that the shopper transfers the money to (`merchant.bankAccount`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferAccount {
    /// Whose it is, 4 to 128 characters.
    pub holder: String,
    /// Its number; for SEPA the IBAN.
    pub number: String,
    /// The bank's BIC.
    pub bic: String,
    /// The bank's country, two letters.
    pub country: String,
}
