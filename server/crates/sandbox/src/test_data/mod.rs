//! Test data of sandboxes: the cards, accounts and other values with a special meaning, and the outcome of each.
//!
//! Connectors, the acquirer host and the reference page all use these tables, so that they agree with each other. Cards
//! for 3-D Secure are in [`three_ds`], published card numbers in [`published_numbers`].

mod cards;
pub mod published_numbers;
pub mod three_ds;

use tillgate_domain::risk::RiskOutcome;
use tillgate_shared::result::{ResultCode, codes};

pub use self::cards::{CARDS, TestCard};

/// The outcome of a payment.
#[derive(Debug)]
pub struct TestOutcome {
    /// The condition, for the documents.
    pub when: &'static str,
    /// `result.code`.
    pub result: ResultCode,
    /// `resultDetails.AcquirerResponse`: for a card the response code of ISO 8583, field 39; for a bank account `00`,
    /// or the reason code of ISO 20022.
    pub acquirer: &'static str,
}

impl TestOutcome {
    const fn new(when: &'static str, result: ResultCode, acquirer: &'static str) -> Self {
        Self { when, result, acquirer }
    }
}

/// Amount in hundredths, 1000.10, of which a half is approved if the merchant accepts a part.
pub const PARTLY_APPROVED: i64 = 100_010;

/// The outcome without any error.
pub static GOOD: TestOutcome = TestOutcome::new("succeeds", codes::TEST_INTERNAL, "00");

/// A decline with a forced advice code.
pub static ADVISED: TestOutcome = TestOutcome::new("is declined with an advice code", codes::DECLINED_BY_ISSUER, "05");

/// A card number that fails the Luhn check (ISO/IEC 7812-1).
pub static WRONG_CHECK_DIGIT: TestOutcome =
    TestOutcome::new("a card number with a wrong check digit", codes::INVALID_CARD_NUMBER, "14");
/// A card number that may belong to a real cardholder.
pub static NO_TEST_NUMBER: TestOutcome = TestOutcome::new(
    "a card number that is no documented test number, unless the entity takes any (--sandbox-any-number)",
    codes::NO_TEST_NUMBER,
    "14",
);
/// A card of another scheme than the brand.
pub static OTHER_BRAND: TestOutcome =
    TestOutcome::new("a card number that is not of the brand", codes::NUMBER_NOT_OF_BRAND, "14");
/// A card whose expiry month has passed.
pub static EXPIRED: TestOutcome = TestOutcome::new("a card that has expired", codes::CARD_EXPIRED, "54");
/// A security code of a length that the brand does not have.
pub static CODE_LENGTH: TestOutcome =
    TestOutcome::new("a security code of a length that the brand does not have", codes::CODE_INVALID, "82");

/// A SEPA direct debit in another currency than EUR.
pub static OTHER_CURRENCY: TestOutcome =
    TestOutcome::new("a direct debit of SEPA in another currency than EUR", codes::CURRENCY_NOT_CONFIGURED, "AM03");
/// A BIC of another country than the IBAN's.
pub static OTHER_COUNTRY: TestOutcome =
    TestOutcome::new("a BIC of another country than the IBAN", codes::BANK_DATA_MISMATCH, "RC01");
/// A mandate with a signature date in the future.
pub static FUTURE_MANDATE: TestOutcome =
    TestOutcome::new("a mandate that was signed in the future", codes::MANDATE_DATE_INVALID, "MD01");
static INSUFFICIENT_FUNDS: TestOutcome = TestOutcome::new("lacks the money", codes::INSUFFICIENT_FUNDS, "AM04");
static ACCOUNT_CLOSED: TestOutcome = TestOutcome::new("is closed", codes::ACCOUNT_CLOSED, "AC04");

/// Errors that do not depend on a particular account number, in the order of the checks.
pub static RULES: [&TestOutcome; 8] = [
    &WRONG_CHECK_DIGIT,
    &NO_TEST_NUMBER,
    &OTHER_BRAND,
    &EXPIRED,
    &CODE_LENGTH,
    &OTHER_CURRENCY,
    &OTHER_COUNTRY,
    &FUTURE_MANDATE,
];

/// A bank account for direct debits. Any other account succeeds.
#[derive(Debug)]
pub struct TestAccount {
    /// The IBAN, whose first two letters are the country.
    pub iban: &'static str,
    /// The BIC of its bank.
    pub bic: &'static str,
    /// The outcome of a payment with it.
    pub outcome: &'static TestOutcome,
}

/// Test accounts of three countries.
pub static ACCOUNTS: [TestAccount; 9] = [
    test_account("DE23100000001234567890", "MARKDEF1100", &GOOD),
    test_account("DE58100000000000000051", "MARKDEF1100", &INSUFFICIENT_FUNDS),
    test_account("DE31100000000000000052", "MARKDEF1100", &ACCOUNT_CLOSED),
    test_account("AT611904300234573201", "OPSKATWW", &GOOD),
    test_account("AT821904300000000051", "OPSKATWW", &INSUFFICIENT_FUNDS),
    test_account("AT551904300000000052", "OPSKATWW", &ACCOUNT_CLOSED),
    test_account("NL91ABNA0417164300", "ABNANL2A", &GOOD),
    test_account("NL66ABNA0000000051", "ABNANL2A", &INSUFFICIENT_FUNDS),
    test_account("NL39ABNA0000000052", "ABNANL2A", &ACCOUNT_CLOSED),
];

const fn test_account(iban: &'static str, bic: &'static str, outcome: &'static TestOutcome) -> TestAccount {
    TestAccount { iban, bic, outcome }
}

/// Result of an address or security code check, for one value.
#[derive(Debug)]
pub struct CheckResult<V: 'static> {
    /// The value that is sent.
    pub value: V,
    /// The letter in the response.
    pub letter: char,
    /// The meaning of the letter.
    pub meaning: &'static str,
}

const fn check_result<V>(value: V, letter: char, meaning: &'static str) -> CheckResult<V> {
    CheckResult { value, letter, meaning }
}

/// `result.avsResponse` by `billing.postcode`, if `billing.street1` is sent too.
pub static POSTCODES: [CheckResult<&str>; 4] = [
    check_result("90001", 'A', "the address matches, the postcode does not"),
    check_result("90002", 'Z', "the postcode matches, the address does not"),
    check_result("90003", 'N', "neither matches"),
    check_result("90004", 'U', "it cannot be checked"),
];
/// `result.avsResponse` of any other postcode.
pub static ADDRESS_MATCHES: CheckResult<&str> = check_result("any other", 'F', "both match");
/// `result.avsResponse` if only one of the two was sent.
pub static ADDRESS_INCOMPLETE: CheckResult<&str> = check_result("none, or no street", 'U', "it cannot be checked");

/// `result.cvvResponse` by the numeric value of `card.cvv`. The code is padded with zeros to the length of the brand's
/// codes.
pub static SECURITY_CODES: [CheckResult<u16>; 4] = [
    check_result(1, 'N', "no match"),
    check_result(2, 'P', "not processed"),
    check_result(3, 'S', "there should be one"),
    check_result(4, 'U', "the issuer cannot tell"),
];
/// `result.cvvResponse` of any other code.
pub static CODE_MATCHES: CheckResult<&str> = check_result("any other", 'M', "match");
/// `result.cvvResponse` if the card has a code and none was sent.
pub static CODE_MISSING: CheckResult<&str> = check_result("none, where the card has one", 'S', "there should be one");

/// Returns `result.avsResponse` of an address: the letter of a test postcode, `F` for any other, and `U` if only the
/// street or only the postcode was sent. Returns `None` if there is no address to check.
pub fn check_address(street: Option<&str>, postcode: Option<&str>) -> Option<char> {
    match (street, postcode) {
        (None, None) => None,
        (Some(_), Some(postcode)) => {
            let known = POSTCODES.iter().find(|known| known.value == postcode);
            Some(known.unwrap_or(&ADDRESS_MATCHES).letter)
        }
        (Some(_), None) | (None, Some(_)) => Some(ADDRESS_INCOMPLETE.letter),
    }
}

/// Returns `result.cvvResponse` of a security code, by its numeric value: the letter of a test code, and `M` for any
/// other text.
pub fn check_security_code(digits: &str) -> char {
    let number = digits.parse().ok();
    let known = SECURITY_CODES.iter().find(|known| Some(known.value) == number);
    known.map_or(CODE_MATCHES.letter, |known| known.letter)
}

/// Brands whose shopper transfers the money to the account in `merchant.bankAccount`.
pub static TRANSFERS: [&str; 3] = ["BOLETO", "PREPAYMENT", "PREPAYMENT_VRP"];

/// A brand by which the shopper pays from a bank account.
#[derive(Debug)]
pub struct TestTransfer {
    /// `paymentBrand`.
    pub brand: &'static str,
    /// The parameters that describe the account.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Accounts for payments by the shopper's own bank. Any other account succeeds as well.
pub static BANKS: [TestTransfer; 2] = [
    TestTransfer {
        brand: "GIROPAY",
        fields: &[("bankAccount.iban", "DE14940593100000012346"), ("bankAccount.bic", "TESTDETT421")],
    },
    TestTransfer { brand: "IDEAL", fields: &[("bankAccount.bankName", "ING_TEST")] },
];

/// Surnames that, with the given name `simulate`, ask for an outcome of the risk check. The challenge is demanded after
/// the approval, which is then reversed.
pub static RISK_NAMES: [(&str, RiskOutcome); 3] =
    [("red", RiskOutcome::Deny), ("yellow", RiskOutcome::Challenge), ("error", RiskOutcome::Error)];

/// Parameters of a wallet payment whose token the merchant has decrypted itself.
pub static DECRYPTED: [(&str, &str); 6] = [
    ("card.number", "4200000000000000"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.eci", "05"),
    ("walletPay.source", "web"),
];
