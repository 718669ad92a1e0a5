//! The documented test cards, and the outcome of each.

use tillgate_shared::result::codes;

use super::{GOOD, TestOutcome, WRONG_CHECK_DIGIT};

/// A documented test card with its outcome. The cards of [`published_numbers`](super::published_numbers) succeed as
/// well.
#[derive(Debug)]
pub struct TestCard {
    /// The number.
    pub number: &'static str,
    /// `paymentBrand`.
    pub brand: &'static str,
    /// The outcome of a payment with it.
    pub outcome: &'static TestOutcome,
}

/// Test cards of the contract outside 3-D Secure, a few of each brand.
pub static CARDS: [TestCard; 28] = [
    succeeding_card("VISA", "4200000000000000"),
    succeeding_card("VISA", "4242424242424242"),
    TestCard { number: "4111111111111111", brand: "VISA", outcome: &EXTERNAL_CARD },
    succeeding_card("MASTER", "5454545454545454"),
    succeeding_card("MASTER", "5105105105105100"),
    succeeding_card("AMEX", "377777777777770"),
    succeeding_card("DINERS", "36961903000009"),
    succeeding_card("DINERS", "30082246403846"),
    succeeding_card("DISCOVER", "6011587918359498"),
    succeeding_card("JCB", "3541599999092431"),
    succeeding_card("MAESTRO", "6799851000000032"),
    succeeding_card("VPAY", "4822000000000000003"),
    succeeding_card("VISAELECTRON", "4917300800000000"),
    succeeding_card("DANKORT", "5019717010103742"),
    succeeding_card("HIPERCARD", "6062825624254001"),
    TestCard { number: "5204730000002514", brand: "MASTER", outcome: &DECLINES[0] },
    TestCard { number: "4200000000000083", brand: "VISA", outcome: &SOFT_DECLINE },
    TestCard { number: "5200000000000080", brand: "MASTER", outcome: &SOFT_DECLINE },
    TestCard { number: "4200000000000001", brand: "VISA", outcome: &WRONG_CHECK_DIGIT },
    declined_card("4200000000005512", &DECLINES[0]),
    declined_card("4200000000005520", &DECLINES[1]),
    declined_card("4200000000005538", &DECLINES[2]),
    declined_card("4200000000005546", &DECLINES[3]),
    declined_card("4200000000005553", &DECLINES[4]),
    declined_card("4200000000005561", &DECLINES[5]),
    declined_card("4200000000005579", &DECLINES[6]),
    declined_card("4200000000005587", &DECLINES[7]),
    declined_card("4200000000005595", &DECLINES[8]),
];

/// Plain declines by the issuer, one for each reason that shoppers meet, with the response codes of ISO 8583.
static DECLINES: [TestOutcome; 9] = [
    TestOutcome::new("is declined without a reason", codes::DECLINED_BY_ISSUER, "05"),
    TestOutcome::new("is not known to its issuer", codes::CARD_INVALID, "14"),
    TestOutcome::new("is declined because of its security code", codes::CODE_DECLINED, "82"),
    TestOutcome::new("lacks the money", codes::CREDIT_EXCEEDED, "51"),
    TestOutcome::new("is declined because of its expiry date", codes::EXPIRY_DECLINED, "54"),
    TestOutcome::new("was reported stolen", codes::CARD_STOLEN, "43"),
    TestOutcome::new("is blocked", codes::CARD_BLOCKED, "62"),
    TestOutcome::new("has exceeded its limit", codes::LIMIT_EXCEEDED, "61"),
    TestOutcome::new("was reported lost", codes::CARD_LOST, "41"),
];

/// Creates a Visa test card whose payments are declined.
const fn declined_card(number: &'static str, outcome: &'static TestOutcome) -> TestCard {
    TestCard { number, brand: "VISA", outcome }
}

/// Creates a test card whose payments succeed.
const fn succeeding_card(brand: &'static str, number: &'static str) -> TestCard {
    TestCard { number, brand, outcome: &GOOD }
}

static EXTERNAL_CARD: TestOutcome =
    TestOutcome::new("succeeds as if the acquirer's own test system had answered", codes::TEST_CONNECTOR, "00");

static SOFT_DECLINE: TestOutcome = TestOutcome::new(
    "is declined until its cardholder has been authenticated (soft decline); the form then asks for that by itself",
    codes::SOFT_DECLINED,
    "1A",
);
