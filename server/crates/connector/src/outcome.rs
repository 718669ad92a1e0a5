//! Outcomes of requests to a connector.

use std::collections::BTreeMap;

use tillgate_domain::payment::retry_rules::{ACQUIRER_RESPONSE, ADVICE_CODE};
use tillgate_domain::payment::{ConnectorTxIds, TransferAccount};
use tillgate_shared::money::Amount;
use tillgate_shared::result::ResultCode;

/// The outcome of an authorization, a credit, a verification or a modification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectorOutcome {
    /// The connector has executed the request.
    Approved(ConnectorResult),
    /// The connector has not executed the request, and never will.
    Declined(ConnectorResult),
    /// The connector awaits an event other than the shopper's visit, such as a transfer. The shopper is not redirected.
    Pending(ConnectorResult),
    /// The shopper has to visit a page before there is an outcome. The outcome at an external connector is determined
    /// by inquiries, whatever the shopper's browser reports.
    Redirect(ConnectorResult, ShopperPage),
    /// It is unknown whether the connector has executed the request: it did not respond in time, or its response cannot
    /// be read.
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
    /// `merchant.bankAccount`: the account that the shopper transfers the money to.
    pub transfer_account: Option<TransferAccount>,
    /// The connector's ids of the transaction.
    pub connector_tx_ids: ConnectorTxIds,
    /// The approved amount, if it is less than the requested one. `None` if the whole amount is approved or none is.
    pub approved_amount: Option<Amount>,
}

/// The page that a shopper has to visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShopperPage {
    /// A page of this gateway that replaces the brand's: the path below the public address, with a trailing slash. The
    /// id of the page follows.
    Own(&'static str),
    /// A page of the brand or the acquirer.
    Foreign {
        /// The address.
        url: String,
        /// `GET` or `POST`.
        method: String,
        /// Names and values that the browser sends to the page, in order.
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
            connector_tx_ids: ConnectorTxIds::default(),
            approved_amount: None,
        }
    }
}

impl ConnectorResult {
    /// Adds the acquirer's own response code (`resultDetails.AcquirerResponse`).
    #[must_use]
    pub fn with_acquirer_response(mut self, code: &str) -> Self {
        self.details.insert(ACQUIRER_RESPONSE.to_owned(), code.to_owned());
        self
    }

    /// Adds the scheme's advice code about another attempt (`resultDetails.MerchantAdviceCode`).
    #[must_use]
    pub fn with_advice_code(mut self, code: &str) -> Self {
        self.details.insert(ADVICE_CODE.to_owned(), code.to_owned());
        self
    }
}

impl ConnectorOutcome {
    /// Returns the outcome for a result by its code: approved for a success, pending, or declined for any other code.
    /// Never a redirect.
    pub fn from_result(result: ConnectorResult) -> Self {
        if result.code.is_success() {
            Self::Approved(result)
        } else if result.code.is_pending() {
            Self::Pending(result)
        } else {
            Self::Declined(result)
        }
    }

    /// Returns the data of the outcome. `None` if the outcome is unknown.
    pub fn result(&self) -> Option<&ConnectorResult> {
        match self {
            Self::Approved(result) | Self::Declined(result) | Self::Pending(result) | Self::Redirect(result, _) => {
                Some(result)
            }
            Self::Unknown => None,
        }
    }
}

impl From<ResultCode> for ConnectorOutcome {
    fn from(code: ResultCode) -> Self {
        Self::from_result(code.into())
    }
}
