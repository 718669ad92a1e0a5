//! Test data as tables of the reference page, from the same values that the simulator uses.

use tillgate_connector::sandbox::{BrandAnswer, TestTable};
use tillgate_connector::three_ds::ChallengeAnswer;
use tillgate_connector::three_ds::request::AuthType;
use tillgate_domain::three_ds::{AuthenticationResult, TransactionStatus, TransactionStatusReason, scheme_eci};
use tillgate_shared::brand::{AccountType, Brand};

use super::issuer;
use super::sandbox::BRAND_ANSWERS;
use crate::test_data as data;
use crate::test_data::published_numbers::{PUBLISHED, PublishedNumbers};
use crate::test_data::three_ds::{self, ThreeDsCard};

/// Makes a row of a table.
fn table_row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

/// Makes a row of a table of checks: the value to send, the letter in the response, and its meaning.
fn letter_row(value: &str, letter: char, meaning: &str) -> Vec<String> {
    table_row([value, &letter.to_string(), meaning])
}

/// Formats parameters as `name=value`, separated by spaces and not encoded.
fn format_parameters(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Makes all tables, in the order of the reference page.
pub(super) fn build_tables() -> Vec<TestTable> {
    vec![
        outcome_table(),
        card_table(),
        three_ds_card_table(),
        three_ds_preference_table(),
        test_number_table(),
        challenge_table(),
        security_code_table(),
        address_table(),
        bank_account_table(),
        transfer_table(),
        brand_page_table(),
        wallet_table(),
    ]
}

/// Lists the forced result code and the errors that do not depend on a particular account.
fn outcome_table() -> TestTable {
    let forced = [
        "customParameters[forceResultCode]=CODE",
        "exactly that code",
        "05 of a card, MS03 of a bank account, unless it is a success",
    ];
    let rules = data::RULES.iter().map(|rule| table_row([rule.when, rule.result.code(), rule.acquirer]));
    TestTable {
        anchor: "test-outcomes",
        title: "Outcomes",
        note: format!(
            "The same request always has the same outcome. A valid payment ends with {}, or with 000.200.000 and a redirect \
             if the brand has a page for the shopper. Any code of the table below can be forced, with any account. \
             `testMode=EXTERNAL` uses an acquirer's host, which accepts the same accounts; a valid payment ends with {} there, and no \
             outcome can be forced.",
            data::GOOD.result.code(),
            tillgate_shared::result::codes::TEST_CONNECTOR.code(),
        ),
        columns: &["Send", "result.code", "resultDetails.AcquirerResponse"],
        rows: std::iter::once(table_row(forced)).chain(rules).collect(),
    }
}

/// Lists the answers on the page that replaces a brand's.
fn brand_page_table() -> TestTable {
    let of = |answer: &BrandAnswer| {
        table_row([answer.posted_value, answer.button, answer.result.code(), answer.result.description()])
    };
    TestTable {
        anchor: "test-page",
        title: "Pages of banks and providers",
        note: "Values of `answer` that a test posts to `redirect.url` of a pending payment, and the buttons there that send them. \
               A payment ends once."
            .to_owned(),
        columns: &["answer", "Button", "result.code", "The payment"],
        rows: BRAND_ANSWERS.iter().map(of).collect(),
    }
}

/// Lists the test cards outside 3-D Secure.
fn card_table() -> TestTable {
    let of =
        |card: &data::TestCard| table_row([card.number, card.brand, card.outcome.result.code(), card.outcome.when]);
    TestTable {
        anchor: "test-cards",
        title: "Cards",
        note: "With any holder and any expiry date in the future. The next table has cards with 3-D Secure, and the one after it has more \
               numbers that are approved. Any other number is declined."
            .to_owned(),
        columns: &["card.number", "paymentBrand", "result.code", "Meaning"],
        rows: data::CARDS.iter().map(of).collect(),
    }
}

/// Lists the test cards with 3-D Secure. The ECI of a card with a challenge is that of a passed challenge.
fn three_ds_card_table() -> TestTable {
    let of = |card: &ThreeDsCard| {
        let result = match card.flow.authentication_result() {
            AuthenticationResult::Issuer(TransactionStatus::ChallengeRequired) => {
                AuthenticationResult::Issuer(TransactionStatus::Authenticated)
            }
            result => result,
        };
        table_row([card.number, card.brand, card.flow.description(), scheme_eci(card.brand, result).unwrap_or("none")])
    };
    TestTable {
        anchor: "test-3d",
        title: "Cards with 3-D Secure",
        note: "For `testMode=INTERNAL`, if the channel uses 3-D Secure (`tillgate entity create --3d`), the shopper is present and \
               you send no external result. Version 2 needs the browser and the billing address: `customer.browser.*`, \
               `billing.*`. A channel that requires 3-D Secure declines a card that is not enrolled (000.400.102), whose \
               issuer does not take part (000.400.101) or whose system is out of order (000.400.103), and any card that is not \
               in this list (000.400.109). On other channels such a card pays without 3-D Secure. With any card, \
               `customParameters[3DS2_enrolled]=true` makes it enrolled, `customParameters[3DS2_flow]=challenge`, \
               `passkey` (a challenge that asks for a passkey) or `frictionless` selects the next step, and `threeDSecure.challengeIndicator=4` requests a challenge. The amount that \
               the shopper confirms is `risk.amount` if you send it."
            .to_owned(),
        columns: &["card.number", "paymentBrand", "Simulates", "threeDSecure.eci"],
        rows: three_ds::CARDS.iter().map(of).collect(),
    }
}

/// Lists the parameters that change the simulated issuer's response or the page of the challenge.
fn three_ds_preference_table() -> TestTable {
    const MANDATE: &str = "a frictionless or attempted authentication becomes a challenge, even with an exemption";
    const EXEMPTION: &str = "a frictionless card is not authenticated: eci 07 (Mastercard and Maestro 06), no \
                             authenticationStatus, no verificationId, and you bear the loss if the payment is fraudulent. Any other card \
                             behaves as without an exemption: a challenge card is challenged";
    let page = |one: &AuthType| {
        let page = issuer::challenge_page(Some(*one));
        let description = format!("the page of the challenge: {}. {}", page.title, page.text);
        table_row([&format!("threeDSecure.authType={}", one.code()), &description])
    };
    let preferences = [
        ["threeDSecure.challengeMandatedIndicator=Y", MANDATE],
        ["threeDSecure.challengeIndicator=04", MANDATE],
        ["threeDSecure.challengeIndicator=09", MANDATE],
        ["threeDSecure.exemptionFlag=01 to 04", EXEMPTION],
        ["threeDSecure.challengeIndicator=05 to 08", EXEMPTION],
        ["threeDSecure.challengeIndicator=01 to 03", "no effect: the card decides"],
    ];
    TestTable {
        anchor: "test-3d-wishes",
        title: "Requests for challenges and exemptions",
        note: "Responses of the simulated issuer to requests for a challenge or an exemption, with the cards of the \
               previous table in version 2. No exemption is requested if the channel requires 3-D Secure, nor for the first \
               payment of a series without a security code. `customParameters[3DS2_flow]` overrides \
               `challengeMandatedIndicator` and `challengeIndicator=04`. No page asks for a real secret: the answer is chosen."
            .to_owned(),
        columns: &["Send", "The issuer"],
        rows: preferences.map(table_row).into_iter().chain(AuthType::ALL.iter().map(page)).collect(),
    }
}

/// Lists the published test numbers by brand and source.
fn test_number_table() -> TestTable {
    let of = |published: &PublishedNumbers| {
        let brand = if published.brand.is_empty() { "none" } else { published.brand };
        table_row([&published.numbers.join(" "), brand, published.source])
    };
    TestTable {
        anchor: "test-numbers",
        title: "Published test numbers",
        note: format!(
            "A sandbox accepts the numbers of this table and of the two before it in payments, checkouts, registrations and \
             wallet tokens, and approves the numbers of this table. Any other number could belong to a real cardholder: it is declined with {}, even if an \
             outcome is forced, and not stored. For generated numbers, `tillgate entity set --sandbox-any-number on` removes \
             this restriction for one entity.",
            data::NO_TEST_NUMBER.result.code()
        ),
        columns: &["card.number", "paymentBrand", "Published by"],
        rows: PUBLISHED.iter().map(of).collect(),
    }
}

/// Lists the answers on the page of a challenge.
fn challenge_table() -> TestTable {
    let of = |answer: &ChallengeAnswer| {
        let reason = answer.result.reason.map_or("none", TransactionStatusReason::as_str);
        table_row([answer.result.code.code(), answer.label, answer.result.status.as_str(), reason])
    };
    TestTable {
        anchor: "test-challenge",
        title: "Responses to a challenge",
        note: "Values of `returnCode` that a test chooses on the issuer's page, or posts to `redirect.url` with the `transaction` \
               of the page. With the first value, the payment is authorized; any other value becomes its `result.code`. Only the first \
               response counts."
            .to_owned(),
        columns: &["returnCode", "Response of the issuer", "transStatus", "threeDSecure.transactionStatusReason"],
        rows: issuer::CHALLENGE_ANSWERS.iter().map(of).collect(),
    }
}

/// Lists the results of the security code check.
fn security_code_table() -> TestTable {
    let known =
        data::SECURITY_CODES.iter().map(|code| letter_row(&format!("{:03}", code.value), code.letter, code.meaning));
    let others =
        [&data::CODE_MATCHES, &data::CODE_MISSING].map(|code| letter_row(code.value, code.letter, code.meaning));
    TestTable {
        anchor: "test-codes",
        title: "Check of the security code",
        note: "With one more digit, `0001` and so on, for brands with four-digit codes. The check does not change the outcome."
            .to_owned(),
        columns: &["card.cvv", "result.cvvResponse", "Meaning"],
        rows: known.chain(others).collect(),
    }
}

/// Lists the results of the address check by postcode.
fn address_table() -> TestTable {
    let rows = data::POSTCODES.iter().chain([&data::ADDRESS_MATCHES, &data::ADDRESS_INCOMPLETE]);
    TestTable {
        anchor: "test-addresses",
        title: "Check of the address",
        note: "Sent with `billing.street1`. The check does not change the outcome.".to_owned(),
        columns: &["billing.postcode", "result.avsResponse", "Meaning"],
        rows: rows.map(|code| letter_row(code.value, code.letter, code.meaning)).collect(),
    }
}

/// Lists the test accounts for direct debits.
fn bank_account_table() -> TestTable {
    let of = |known: &data::TestAccount| {
        table_row([known.iban, known.bic, known.outcome.result.code(), known.outcome.acquirer, known.outcome.when])
    };
    TestTable {
        anchor: "test-accounts",
        title: "Bank accounts",
        note: "For direct debits (`SEPA`, `DIRECTDEBIT_SEPA`), with any holder of four letters or more. Any other account is approved."
            .to_owned(),
        columns: &["bankAccount.iban", "bankAccount.bic", "result.code", "resultDetails.AcquirerResponse", "The account"],
        rows: data::ACCOUNTS.iter().map(of).collect(),
    }
}

/// Lists the accounts for payments by the shopper's bank, and the brands by which the shopper transfers the money.
fn transfer_table() -> TestTable {
    let banks = data::BANKS.iter().map(|bank| {
        table_row([&format_parameters(bank.fields), bank.brand, "000.200.000 and a redirect to the bank's page"])
    });
    let transfers = data::TRANSFERS.iter().map(|brand| {
        table_row(["nothing more", brand, "merchant.bankAccount says where the shopper transfers the money"])
    });
    TestTable {
        anchor: "test-transfers",
        title: "Transfers",
        note: "Through the shopper's bank, or to an account in the response. Brands with a page for the shopper need `shopperResultUrl`.".to_owned(),
        columns: &["Send", "paymentBrand", "Answer"],
        rows: banks.chain(transfers).collect(),
    }
}

/// Lists the parameters of wallet payments.
fn wallet_table() -> TestTable {
    let wallets: Vec<&str> =
        Brand::all().iter().filter(|brand| brand.kind == AccountType::Wallet).map(|brand| brand.code).collect();
    TestTable {
        anchor: "test-wallets",
        title: "Wallets",
        note: format!("For {}, with any test card that is approved. A token can be used once.", wallets.join(", ")),
        columns: &["Send", "Meaning"],
        rows: vec![
            table_row([&format_parameters(&data::DECRYPTED), "a token that the merchant has decrypted"]),
            table_row(["walletPay.paymentToken=TOKEN", "an encrypted token from tillgate wallet-token make"]),
        ],
    }
}
