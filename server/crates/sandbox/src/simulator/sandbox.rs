//! Pages that replace those of brands and wallets, and their descriptions for the documents.

use tillgate_connector::sandbox::{
    BrandAnswer, BrandPage, PageAddress, RouteDescription, Sandbox, SheetCard, TestData, WalletSheet,
};
use tillgate_shared::result::{ResultCode, codes};

use super::test_tables::build_tables;
use crate::test_data::GOOD;

/// The sandbox of the simulator.
pub static SANDBOX: Sandbox = Sandbox {
    brand_page: Some(BRAND_PAGE),
    wallet_sheet: Some(WALLET_SHEET),
    test_data: TestData { introduction: "The simulator answers by these tables.", tables: build_tables },
};

/// The address of the page that replaces a brand's, relative to the public address.
pub(super) const BRAND_PAGE_ADDRESS: &str = "v1/simulator/";

const BRAND_PAGE: BrandPage = BrandPage {
    address: PageAddress(BRAND_PAGE_ADDRESS),
    answers: &BRAND_ANSWERS,
    show: RouteDescription {
        operation: "showSimulator",
        summary: "Show the simulated page of a bank or provider",
        note: "Page at redirect.url of a pending payment while the simulator processes it. The id is the capability. With \
               inline=true the merchant's pages may show it in a frame, and it does not redirect at the end.",
    },
    answer: RouteDescription {
        operation: "answerSimulator",
        summary: "Respond on the simulated page of a bank or provider",
        note: "answer=success approves the payment (000.100.110), cancel cancels it (100.396.101), close ends it without a \
               decision (100.396.104), and later leaves it pending. Afterwards the page redirects to shopperResultUrl with id and \
               resourcePath. A payment ends once, so another answer gets 409.",
    },
    script: RouteDescription {
        operation: "loadSimulatorScript",
        summary: "Load the script of the simulated page of a bank or provider",
        note: "The script closes a page in a popup at the end.",
    },
};

/// The answers on the page that replaces a brand's.
pub(super) static BRAND_ANSWERS: [BrandAnswer; 4] = [
    brand_answer("success", "Pay", codes::TEST_INTERNAL, Some(GOOD.acquirer)),
    brand_answer("cancel", "Cancel", codes::CANCELLED_BY_USER, None),
    brand_answer("later", "Decide later", codes::PENDING, None),
    brand_answer("close", "Leave without an answer", codes::PROBABLY_CANCELLED, None),
];

/// Makes an answer on the page that replaces a brand's.
const fn brand_answer(
    posted_value: &'static str,
    button: &'static str,
    result: ResultCode,
    acquirer_response: Option<&'static str>,
) -> BrandAnswer {
    BrandAnswer { posted_value, button, result, acquirer_response }
}

const WALLET_SHEET: WalletSheet = WalletSheet {
    address: PageAddress("v1/simulator/wallet/"),
    cards: &[
        SheetCard { name: "Visa", number: "4200000000000000" },
        SheetCard { name: "Mastercard", number: "5454545454545454" },
    ],
    show: RouteDescription {
        operation: "showWalletSheet",
        summary: "Show the sheet of the simulated wallet",
        note: "Page in a frame of the form, for sandbox channels with a wallet key. The checkout's id is the \
               capability.",
    },
    answer: RouteDescription {
        operation: "answerWalletSheet",
        summary: "Choose a card in the sheet of the simulated wallet",
        note: "card is the position of a card in the sheet, starting at 0. Only the form's hidden frame receives the token.",
    },
    script: RouteDescription {
        operation: "loadWalletScript",
        summary: "Load the script that passes the token of the simulated wallet to the form",
        note: "",
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_data::published_numbers::is_test_number;

    #[test]
    fn wallets_hold_test_cards_only() {
        assert!(WALLET_SHEET.cards.iter().all(|card| is_test_number(card.number)));
    }
}
