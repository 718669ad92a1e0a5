//! Sandbox of an in-process connector: the gateway's pages that replace those of brands and wallets, and the test data
//! for the reference page.
//!
//! This module contains data only. `api` serves the pages and prints the tables of every connector in the
//! [`registry`](super::registry). The page that replaces an issuer's belongs to the
//! [`ThreeDsAuthenticator`](super::ThreeDsAuthenticator).

use tillgate_shared::result::ResultCode;

use super::ConnectorResult;

/// The pages and the test data of an in-process connector.
#[derive(Debug)]
pub struct Sandbox {
    /// The page that shoppers are redirected to instead of a brand's. `None` if the connector redirects to no page of
    /// the gateway.
    pub brand_page: Option<BrandPage>,
    /// The sheet that replaces a wallet's. `None` if this connector has none.
    pub wallet_sheet: Option<WalletSheet>,
    /// The test data.
    pub test_data: TestData,
}

/// The address of the gateway's pages: the path below the public address, with a trailing slash. The id of a page
/// follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageAddress(pub &'static str);

impl PageAddress {
    /// Returns the route of the pages, as the router and the documents write it: `/v1/bank/{id}`.
    pub fn route_pattern(self) -> String {
        format!("/{}{{id}}", self.0)
    }

    /// Returns the route of the pages' script, which lies next to the pages: `/v1/bank.js`.
    pub fn script_route(self) -> String {
        format!("/{}.js", self.0.trim_end_matches('/'))
    }

    /// Returns the address of the script relative to a page: `../bank.js`.
    pub fn script_source(self) -> String {
        let path = self.0.trim_end_matches('/');
        format!("../{}.js", path.rsplit('/').next().unwrap_or(path))
    }

    /// Returns the path from a page up to `/v1/`, relative to the page: one or more times `../`.
    pub fn relative_api_root(self) -> String {
        "../".repeat(self.0.matches('/').count().saturating_sub(1))
    }

    /// Returns true if a URL is the address of the page with this id. The public address before the path may be any.
    pub fn is_page_url(self, url: &str, id: &str) -> bool {
        url.strip_suffix(id).is_some_and(|address| address.ends_with(&["/", self.0].concat()))
    }
}

/// Description of a route for the documents.
#[derive(Debug)]
pub struct RouteDescription {
    /// The operation's name, unique among all routes.
    pub operation: &'static str,
    /// The summary, a line without a full stop.
    pub summary: &'static str,
    /// Further remarks. May be empty.
    pub note: &'static str,
}

/// A page that replaces the brand's. The shopper chooses the outcome of a pending payment there.
#[derive(Debug)]
pub struct BrandPage {
    /// The page's address, which is also that of the [`ShopperPage`](super::ShopperPage).
    pub address: PageAddress,
    /// Every answer, in the page's order.
    pub answers: &'static [BrandAnswer],
    /// Description of the route that shows the page.
    pub show: RouteDescription,
    /// Description of the route that receives an answer.
    pub answer: RouteDescription,
    /// Description of the route of the script.
    pub script: RouteDescription,
}

impl BrandPage {
    /// Finds an answer by the value that the page posts.
    pub fn find_answer(&self, posted_value: &str) -> Option<&'static BrandAnswer> {
        self.answers.iter().find(|answer| answer.posted_value == posted_value)
    }
}

/// An answer on the page that replaces a brand's, shown as a button.
#[derive(Debug)]
pub struct BrandAnswer {
    /// `answer`, as the page posts it.
    pub posted_value: &'static str,
    /// The text of the button.
    pub button: &'static str,
    /// The payment's `result.code` afterwards.
    pub result: ResultCode,
    /// The payment's `resultDetails.AcquirerResponse` afterwards, if it has one.
    pub acquirer_response: Option<&'static str>,
}

impl BrandAnswer {
    /// Returns the result of the payment after this answer.
    pub fn payment_result(&self) -> ConnectorResult {
        let result = ConnectorResult::from(self.result);
        match self.acquirer_response {
            Some(code) => result.with_acquirer_response(code),
            None => result,
        }
    }
}

/// A sheet that replaces a wallet's. The shopper chooses a card there.
#[derive(Debug)]
pub struct WalletSheet {
    /// The sheet's address. The id is that of a checkout.
    pub address: PageAddress,
    /// The cards, in the sheet's order. The first one is the default of tests.
    pub cards: &'static [SheetCard],
    /// Description of the route that shows the sheet.
    pub show: RouteDescription,
    /// Description of the route that receives an answer.
    pub answer: RouteDescription,
    /// Description of the route of the script.
    pub script: RouteDescription,
}

/// A card of a wallet's sheet.
#[derive(Debug)]
pub struct SheetCard {
    /// The name that the sheet shows for the card.
    pub name: &'static str,
    /// The card number, a documented test number.
    pub number: &'static str,
}

/// The test data of a connector, for the reference page.
#[derive(Debug)]
pub struct TestData {
    /// A sentence above the tables.
    pub introduction: &'static str,
    /// Makes the tables.
    pub tables: fn() -> Vec<TestTable>,
}

/// A heading with a remark, and the rows of a table.
#[derive(Debug)]
pub struct TestTable {
    /// The anchor, unique on the reference page.
    pub anchor: &'static str,
    /// The heading.
    pub title: &'static str,
    /// A remark about the rows. Text between backquotes is code.
    pub note: String,
    /// Headings of the columns.
    pub columns: &'static [&'static str],
    /// The rows. The first cell is the value to send.
    pub rows: Vec<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_known_by_its_whole_address() {
        let address = PageAddress("v1/bank/");
        assert_eq!(address.route_pattern(), "/v1/bank/{id}");
        assert_eq!(address.script_route(), "/v1/bank.js");
        assert_eq!(address.script_source(), "../bank.js");
        assert_eq!(
            (address.relative_api_root(), PageAddress("v1/bank/wallet/").relative_api_root()),
            ("../".to_owned(), "../../".to_owned())
        );
        assert!(address.is_page_url("https://pay.example/v1/bank/0a", "0a"));
        assert!(address.is_page_url("https://example/pay/v1/bank/0a", "0a"));
        for other in
            ["https://pay.example/v1/bank/0b", "https://pay.example/v1/other/0a", "https://pay.example/av1/bank/0a"]
        {
            assert!(!address.is_page_url(other, "0a"), "{other}");
        }
    }
}
