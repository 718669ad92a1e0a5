//! What a connector answers.

use std::collections::BTreeMap;

use tillgate_shared::result::ResultCode;

use crate::domain::payment::TransferAccount;

/// The answer to an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The outcome.
    pub result: ResultCode,
    /// `result.avsResponse`, where the address was checked.
    pub avs: Option<char>,
    /// `result.cvvResponse`, where the security code was checked.
    pub cvv: Option<char>,
    /// `resultDetails`: what the acquirer says beyond the result.
    pub details: BTreeMap<String, String>,
    /// `merchant.bankAccount`: where the shopper has to transfer the money.
    pub pay_to: Option<TransferAccount>,
    /// Whether the shopper has to visit the brand's own page before there is an outcome.
    pub elsewhere: bool,
}

impl From<ResultCode> for Answer {
    fn from(result: ResultCode) -> Self {
        Self { result, avs: None, cvv: None, details: BTreeMap::new(), pay_to: None, elsewhere: false }
    }
}

impl Answer {
    /// The same answer with the acquirer's own code (`resultDetails.AcquirerResponse`).
    #[must_use]
    pub fn acquirer(mut self, code: &str) -> Self {
        self.details.insert("AcquirerResponse".to_owned(), code.to_owned());
        self
    }
}
