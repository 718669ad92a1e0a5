//! The page that stands in for a brand's: what the shopper can answer there, and what comes of it.

use tillgate_shared::result::{ResultCode, codes};

use super::super::ConnectorResult;
use super::test_data::GOOD;

/// An answer, which is a button of the page.
#[derive(Debug)]
pub struct PageAnswer {
    /// `answer`, as the page posts it.
    pub word: &'static str,
    /// What the button says.
    pub button: &'static str,
    /// The payment's `result.code` afterwards.
    pub result: ResultCode,
}

/// Every answer, in the page's order.
pub static PAGE: [PageAnswer; 4] = [
    answer("success", "Pay", codes::TEST_INTERNAL),
    answer("cancel", "Cancel", codes::CANCELLED_BY_USER),
    answer("later", "Decide later", codes::PENDING),
    answer("close", "Leave without an answer", codes::PROBABLY_CANCELLED),
];

const fn answer(word: &'static str, button: &'static str, result: ResultCode) -> PageAnswer {
    PageAnswer { word, button, result }
}

impl PageAnswer {
    /// An answer by its word.
    pub fn find(word: &str) -> Option<&'static Self> {
        PAGE.iter().find(|answer| answer.word == word)
    }

    /// What the brand then says.
    pub fn outcome(&self) -> ConnectorResult {
        if self.result.is_success() { GOOD.result() } else { self.result.into() }
    }
}
