//! The outcome of a request to a connector.

use std::collections::BTreeMap;

use tillgate_shared::result::ResultCode;

use crate::domain::payment::TransferAccount;

/// The outcome of an authorization, a credit, a verification or a modification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The connector has carried it out.
    Approved(ConnectorResult),
    /// The connector has not carried it out, and never will.
    Declined(ConnectorResult),
    /// The connector waits for something other than the shopper's visit, such as a transfer: nobody is sent anywhere.
    Pending(ConnectorResult),
    /// The shopper has to visit a page before there is an outcome. Only for connectors inside this process so far: a payment at
    /// another one stays pending, and is inquired about, until the outcome is an approval or a decline.
    Redirect(ConnectorResult, ShopperPage),
    /// Nobody knows whether the connector has carried it out: it did not answer in time, or not in a form that can be read.
    Unknown,
}

/// The data of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorResult {
    /// `result.code`.
    pub code: ResultCode,
    /// `result.avsResponse`, if the address was checked.
    pub avs: Option<char>,
    /// `result.cvvResponse`, if the security code was checked.
    pub cvv: Option<char>,
    /// `resultDetails`: the acquirer's data beyond the result code.
    pub details: BTreeMap<String, String>,
    /// `merchant.bankAccount`: the account to which the shopper transfers the money.
    pub transfer_account: Option<TransferAccount>,
    /// The connector's ids of the transaction (`connectorTxId1` to `connectorTxId3`), three at most.
    pub connector_tx_ids: Vec<String>,
}

/// The page that a shopper has to visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShopperPage {
    /// A page of this gateway that stands in for the brand's. The path below the public address, with a slash at its end;
    /// the id of the page follows.
    Own(&'static str),
    /// A page of the brand's or the acquirer's.
    Foreign {
        /// Its address.
        url: String,
        /// `GET` or `POST`.
        method: String,
        /// Names and values that the browser sends there, in order.
        parameters: Vec<(String, String)>,
    },
}

impl From<ResultCode> for ConnectorResult {
    fn from(code: ResultCode) -> Self {
        Self {
            code,
            avs: None,
            cvv: None,
            details: BTreeMap::new(),
            transfer_account: None,
            connector_tx_ids: Vec::new(),
        }
    }
}

impl ConnectorResult {
    /// Adds the acquirer's own response code (`resultDetails.AcquirerResponse`).
    #[must_use]
    pub fn with_acquirer_response(mut self, code: &str) -> Self {
        self.details.insert("AcquirerResponse".to_owned(), code.to_owned());
        self
    }
}

impl Outcome {
    /// Returns the outcome that a result code stands for, without a redirect.
    pub fn of(result: ConnectorResult) -> Self {
        if result.code.is_success() {
            Self::Approved(result)
        } else if result.code.is_pending() {
            Self::Pending(result)
        } else {
            Self::Declined(result)
        }
    }

    /// Returns the data of the outcome. `None` if it is unknown.
    pub fn result(&self) -> Option<&ConnectorResult> {
        match self {
            Self::Approved(result) | Self::Declined(result) | Self::Pending(result) | Self::Redirect(result, _) => {
                Some(result)
            }
            Self::Unknown => None,
        }
    }
}

impl From<ResultCode> for Outcome {
    fn from(code: ResultCode) -> Self {
        Self::of(code.into())
    }
}
