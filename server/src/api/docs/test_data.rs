//! What a sandbox entity can try the service with, as tables of the reference page. The values are the simulator's own:
//! what is shown here is what it answers by.

use tillgate_shared::brand::{Brand, Kind};

use crate::connector::simulator::test_numbers::{PUBLISHED, Published};
use crate::connector::simulator::{PAGE, PageAnswer, directory, issuer, test_data as data};
use crate::connector::three_ds::request::AuthType;
use crate::domain::authentication::{Reason, Said, Status, eci};

/// A heading with a remark, and rows of a table.
pub(super) struct Table {
    /// Its anchor.
    pub(super) anchor: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// What to know about the rows. Text between backquotes is code.
    pub(super) note: String,
    /// Headings of the columns.
    pub(super) columns: &'static [&'static str],
    /// The rows; the first cell is what is sent.
    pub(super) rows: Vec<Vec<String>>,
}

/// A row of a table.
fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

fn letter(value: &str, letter: char, meaning: &str) -> Vec<String> {
    row([value, &letter.to_string(), meaning])
}

/// What is sent, as a merchant writes it down.
fn fields(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Everything there is to try.
pub(super) fn tables() -> Vec<Table> {
    vec![
        outcomes(),
        cards(),
        three_d(),
        three_d_wishes(),
        test_numbers(),
        challenges(),
        security_codes(),
        addresses(),
        accounts(),
        transfers(),
        page(),
        wallets(),
    ]
}

fn outcomes() -> Table {
    let any = [
        "customParameters[forceResultCode]=CODE",
        "exactly that code",
        "05 of a card, MS03 of a bank account, unless it is a success",
    ];
    let rules = data::RULES.iter().map(|rule| row([rule.when, rule.result.code(), rule.acquirer]));
    Table {
        anchor: "test-outcomes",
        title: "Outcomes",
        note: format!(
            "The same request has the same outcome, always. What is good ends with {}, or with 000.200.000 and a redirect \
             where the brand has a page of its own. Any code of the table below can be forced, with any account. \
             `testMode=EXTERNAL` goes to an acquirer's host, which takes the same accounts; what is good ends with {} there, and no \
             outcome can be forced.",
            data::GOOD.result.code(),
            tillgate_shared::result::codes::TEST_CONNECTOR.code(),
        ),
        columns: &["Send", "result.code", "resultDetails.AcquirerResponse"],
        rows: std::iter::once(row(any)).chain(rules).collect(),
    }
}

fn page() -> Table {
    let of = |answer: &PageAnswer| row([answer.word, answer.button, answer.result.code(), answer.result.description()]);
    Table {
        anchor: "test-page",
        title: "Pages of banks and providers",
        note: "What `answer` a test posts to `redirect.url` of a pending payment, or which button it presses there. A payment \
               ends once."
            .to_owned(),
        columns: &["answer", "Button", "result.code", "The payment"],
        rows: PAGE.iter().map(of).collect(),
    }
}

fn cards() -> Table {
    let of = |card: &data::TestCard| row([card.number, card.brand, card.outcome.result.code(), card.outcome.when]);
    Table {
        anchor: "test-cards",
        title: "Cards",
        note: "With any holder and any expiry date ahead. Cards with other outcomes stand in the next table, and more numbers \
               that pay in the one after it; any other number is declined."
            .to_owned(),
        columns: &["card.number", "paymentBrand", "result.code", "What it is"],
        rows: data::CARDS.iter().map(of).collect(),
    }
}

fn three_d() -> Table {
    let of = |card: &directory::Card| {
        let said = match card.flow.said() {
            Said::Issuer(Status::ChallengeRequired) => Said::Issuer(Status::Authenticated),
            said => said,
        };
        row([card.number, card.brand, card.flow.words(), eci(card.brand, said).unwrap_or("none")])
    };
    Table {
        anchor: "test-3d",
        title: "Cards with 3D authentication",
        note: "For `testMode=INTERNAL`, where the channel authenticates (`tillgate entity create --3d`), the shopper is there and \
               you send no result of your own. Version 2 needs to know browser and billing address: `customer.browser.*`, \
               `billing.*`. A channel that requires authentication declines a card that is not enrolled (000.400.102), whose \
               issuer does not take part (000.400.101) or whose system is out of order (000.400.103), and any card that is not \
               in this list (000.400.109); elsewhere such a card pays without. With any card, \
               `customParameters[3DS2_enrolled]=true` makes it enrolled, `customParameters[3DS2_flow]=challenge` or \
               `frictionless` says how it goes on, and `threeDSecure.challengeIndicator=4` asks for a challenge. The amount that \
               the shopper agrees to is `risk.amount` where you send it."
            .to_owned(),
        columns: &["card.number", "paymentBrand", "What it shows", "threeDSecure.eci"],
        rows: directory::CARDS.iter().map(of).collect(),
    }
}

fn three_d_wishes() -> Table {
    const MANDATE: &str = "a frictionless or attempted authentication becomes a challenge, also beside an exemption";
    const EXEMPTION: &str = "a frictionless card is not authenticated: eci 07 (Mastercard and Maestro 06), no \
                             authenticationStatus, no verificationId, and you bear the loss of a fraud. Any other card \
                             does what it does without: a challenge card is challenged";
    let page = |one: &AuthType| {
        let [title, text] = issuer::page_texts(*one);
        row([&format!("threeDSecure.authType={}", one.code()), &format!("the page of the challenge: {title}. {text}")])
    };
    let wishes = [
        ["threeDSecure.challengeMandatedIndicator=Y", MANDATE],
        ["threeDSecure.challengeIndicator=04", MANDATE],
        ["threeDSecure.challengeIndicator=09", MANDATE],
        ["threeDSecure.exemptionFlag=01 to 04", EXEMPTION],
        ["threeDSecure.challengeIndicator=05 to 08", EXEMPTION],
        ["threeDSecure.challengeIndicator=01 to 03", "the card decides, as without"],
    ];
    Table {
        anchor: "test-3d-wishes",
        title: "Wishes for 3D authentication",
        note: "What the simulated issuer makes of your wishes with the cards of the table before, version 2. An exemption is not \
               asked for where the channel requires authentication, nor for the first payment of a series without a security \
               code. `customParameters[3DS2_flow]` stands above `challengeMandatedIndicator` and `challengeIndicator=04`. No page \
               asks for a real secret: the answer is chosen."
            .to_owned(),
        columns: &["Send", "The issuer"],
        rows: wishes.map(row).into_iter().chain(AuthType::ALL.iter().map(page)).collect(),
    }
}

fn test_numbers() -> Table {
    let of = |published: &Published| {
        let brand = if published.brand.is_empty() { "none" } else { published.brand };
        row([&published.numbers.join(" "), brand, published.source])
    };
    Table {
        anchor: "test-numbers",
        title: "Published test numbers",
        note: format!(
            "A sandbox takes the numbers of this table and of the two before it, in payments, checkouts, registrations and \
             wallets' tokens, and these pay. Any other number may be a real cardholder's: it is declined with {}, whatever \
             outcome is forced, and not stored. For generated numbers, `tillgate entity set --sandbox-any-number on` lifts \
             that for one entity.",
            data::NO_TEST_NUMBER.result.code()
        ),
        columns: &["card.number", "paymentBrand", "Published by"],
        rows: PUBLISHED.iter().map(of).collect(),
    }
}

fn challenges() -> Table {
    let of = |answer: &issuer::Answer| {
        let reason = answer.reason.map_or("none", Reason::as_str);
        row([answer.code.code(), answer.words, answer.status.letter(), reason])
    };
    Table {
        anchor: "test-challenge",
        title: "Answers to a challenge",
        note: "What a test chooses in `returnCode` on the issuer's page, or posts to `redirect.url` together with the page's \
               `transaction`. The first lets the payment go on to be authorised; any other is its `result.code`. An answer is \
               taken once."
            .to_owned(),
        columns: &["returnCode", "The issuer says", "transStatus", "threeDSecure.transactionStatusReason"],
        rows: issuer::ANSWERS.iter().map(of).collect(),
    }
}

fn security_codes() -> Table {
    let known =
        data::SECURITY_CODES.iter().map(|code| letter(&format!("{:03}", code.value), code.letter, code.meaning));
    let others = [&data::CODE_MATCHES, &data::CODE_MISSING].map(|code| letter(code.value, code.letter, code.meaning));
    Table {
        anchor: "test-codes",
        title: "Check of the security code",
        note: "One digit more, `0001` and so on, where the brand's codes have four. The check does not change the outcome."
            .to_owned(),
        columns: &["card.cvv", "result.cvvResponse", "Meaning"],
        rows: known.chain(others).collect(),
    }
}

fn addresses() -> Table {
    let rows = data::POSTCODES.iter().chain([&data::ADDRESS_MATCHES, &data::ADDRESS_INCOMPLETE]);
    Table {
        anchor: "test-addresses",
        title: "Check of the address",
        note: "Sent with `billing.street1`. The check does not change the outcome.".to_owned(),
        columns: &["billing.postcode", "result.avsResponse", "Meaning"],
        rows: rows.map(|code| letter(code.value, code.letter, code.meaning)).collect(),
    }
}

fn accounts() -> Table {
    let of = |known: &data::TestAccount| {
        row([known.iban, known.bic, known.outcome.result.code(), known.outcome.acquirer, known.outcome.when])
    };
    Table {
        anchor: "test-accounts",
        title: "Bank accounts",
        note: "For direct debits (`SEPA`, `DIRECTDEBIT_SEPA`), with any holder of four letters or more. Any other account is good."
            .to_owned(),
        columns: &["bankAccount.iban", "bankAccount.bic", "result.code", "resultDetails.AcquirerResponse", "The account"],
        rows: data::ACCOUNTS.iter().map(of).collect(),
    }
}

fn transfers() -> Table {
    let banks = data::BANKS
        .iter()
        .map(|bank| row([&fields(bank.fields), bank.brand, "000.200.000 and a redirect to the bank's page"]));
    let shown = data::TRANSFERS
        .iter()
        .map(|brand| row(["nothing more", brand, "merchant.bankAccount says where the shopper transfers the money"]));
    Table {
        anchor: "test-transfers",
        title: "Transfers",
        note: "By the shopper's own bank, or to an account that the answer names. Brands with a page of their own need `shopperResultUrl`.".to_owned(),
        columns: &["Send", "paymentBrand", "Answer"],
        rows: banks.chain(shown).collect(),
    }
}

fn wallets() -> Table {
    let wallets: Vec<&str> =
        Brand::all().iter().filter(|brand| brand.kind == Kind::Wallet).map(|brand| brand.code).collect();
    Table {
        anchor: "test-wallets",
        title: "Wallets",
        note: format!("For {}. The card may be any good one; a token pays once.", wallets.join(", ")),
        columns: &["Send", "What it is"],
        rows: vec![
            row([&fields(&data::DECRYPTED), "a token that the merchant has decrypted itself"]),
            row(["walletPay.paymentToken=TOKEN", "an encrypted token, which tillgate wallet-token make prints"]),
        ],
    }
}
