//! What sandbox merchants try the service with: the values that mean something, and what comes of them.
//!
//! The simulator answers by these tables, and the reference page shows them, so that neither says what the other does not.

use tillgate_shared::result::{ResultCode, codes};

use super::super::ConnectorResult;

/// What comes of a payment.
#[derive(Debug)]
pub struct Outcome {
    /// When, in words.
    pub when: &'static str,
    /// `result.code`.
    pub result: ResultCode,
    /// `resultDetails.AcquirerResponse`: of a card the response code of ISO 8583, field 39; of a bank account `00`, or the
    /// reason code of ISO 20022.
    pub acquirer: &'static str,
}

impl Outcome {
    const fn new(when: &'static str, result: ResultCode, acquirer: &'static str) -> Self {
        Self { when, result, acquirer }
    }

    pub(super) fn result(&self) -> ConnectorResult {
        ConnectorResult::from(self.result).with_acquirer_response(self.acquirer)
    }
}

/// Where nothing is wrong.
pub static GOOD: Outcome = Outcome::new("succeeds", codes::TEST_INTERNAL, "00");

/// A card that pays. So do the published ones of [`super::test_numbers`].
#[derive(Debug)]
pub struct TestCard {
    /// The number.
    pub number: &'static str,
    /// `paymentBrand`.
    pub brand: &'static str,
    /// What comes of it.
    pub outcome: &'static Outcome,
}

/// The cards of the contract that need no authentication of the cardholder, a few of each brand.
pub static CARDS: [TestCard; 18] = [
    card("VISA", "4200000000000000"),
    card("VISA", "4242424242424242"),
    TestCard { number: "4111111111111111", brand: "VISA", outcome: &EXTERNAL_CARD },
    card("MASTER", "5454545454545454"),
    card("MASTER", "5105105105105100"),
    card("AMEX", "377777777777770"),
    card("DINERS", "36961903000009"),
    card("DINERS", "30082246403846"),
    card("DISCOVER", "6011587918359498"),
    card("JCB", "3541599999092431"),
    card("MAESTRO", "6799851000000032"),
    card("VPAY", "4822000000000000003"),
    card("VISAELECTRON", "4917300800000000"),
    card("DANKORT", "5019717010103742"),
    card("HIPERCARD", "6062825624254001"),
    TestCard { number: "4200000000000083", brand: "VISA", outcome: &SOFT_DECLINE },
    TestCard { number: "5200000000000080", brand: "MASTER", outcome: &SOFT_DECLINE },
    TestCard { number: "4200000000000001", brand: "VISA", outcome: &WRONG_CHECK_DIGIT },
];

const fn card(brand: &'static str, number: &'static str) -> TestCard {
    TestCard { number, brand, outcome: &GOOD }
}

static EXTERNAL_CARD: Outcome =
    Outcome::new("succeeds as if the acquirer's own test system had answered", codes::TEST_CONNECTOR, "00");

static SOFT_DECLINE: Outcome = Outcome::new(
    "is declined until its cardholder has been authenticated (soft decline); the form then asks for that by itself",
    codes::SOFT_DECLINED,
    "1A",
);

/// A card number that fails Luhn's check (ISO/IEC 7812-1).
pub static WRONG_CHECK_DIGIT: Outcome =
    Outcome::new("a card number with a wrong check digit", codes::INVALID_CARD_NUMBER, "14");
/// A card number that may be a real cardholder's.
pub static NO_TEST_NUMBER: Outcome = Outcome::new(
    "a card number that is no documented test number, unless the entity takes any (--sandbox-any-number)",
    codes::NO_TEST_NUMBER,
    "14",
);
/// A card of another scheme than the brand.
pub static OTHER_BRAND: Outcome =
    Outcome::new("a card number that is not of the brand", codes::NUMBER_NOT_OF_BRAND, "14");
/// A card whose month has passed.
pub static EXPIRED: Outcome = Outcome::new("a card that has expired", codes::CARD_EXPIRED, "54");
/// A security code that the brand does not have.
pub static CODE_LENGTH: Outcome =
    Outcome::new("a security code of a length that the brand does not have", codes::CODE_INVALID, "82");

/// A direct debit of SEPA in another currency.
pub static OTHER_CURRENCY: Outcome =
    Outcome::new("a direct debit of SEPA in another currency than EUR", codes::CURRENCY_NOT_CONFIGURED, "AM03");
/// A bank of another country than the account.
pub static OTHER_COUNTRY: Outcome =
    Outcome::new("a BIC of another country than the IBAN", codes::BANK_DATA_MISMATCH, "RC01");
/// A mandate from the future.
pub static FUTURE_MANDATE: Outcome =
    Outcome::new("a mandate that was signed in the future", codes::MANDATE_DATE_INVALID, "MD01");
static LACKS_MONEY: Outcome = Outcome::new("lacks the money", codes::INSUFFICIENT_FUNDS, "AM04");
static CLOSED: Outcome = Outcome::new("is closed", codes::ACCOUNT_CLOSED, "AC04");

/// What is wrong with an account whatever its number, in the order in which it is looked for.
pub static RULES: [&Outcome; 8] = [
    &WRONG_CHECK_DIGIT,
    &NO_TEST_NUMBER,
    &OTHER_BRAND,
    &EXPIRED,
    &CODE_LENGTH,
    &OTHER_CURRENCY,
    &OTHER_COUNTRY,
    &FUTURE_MANDATE,
];

/// A bank account for direct debits. Any other account is good.
#[derive(Debug)]
pub struct TestAccount {
    /// The IBAN, whose first two letters are the country.
    pub iban: &'static str,
    /// The BIC of its bank.
    pub bic: &'static str,
    /// What comes of it.
    pub outcome: &'static Outcome,
}

/// Accounts of three countries.
pub static ACCOUNTS: [TestAccount; 9] = [
    account("DE23100000001234567890", "MARKDEF1100", &GOOD),
    account("DE58100000000000000051", "MARKDEF1100", &LACKS_MONEY),
    account("DE31100000000000000052", "MARKDEF1100", &CLOSED),
    account("AT611904300234573201", "OPSKATWW", &GOOD),
    account("AT821904300000000051", "OPSKATWW", &LACKS_MONEY),
    account("AT551904300000000052", "OPSKATWW", &CLOSED),
    account("NL91ABNA0417164300", "ABNANL2A", &GOOD),
    account("NL66ABNA0000000051", "ABNANL2A", &LACKS_MONEY),
    account("NL39ABNA0000000052", "ABNANL2A", &CLOSED),
];

const fn account(iban: &'static str, bic: &'static str, outcome: &'static Outcome) -> TestAccount {
    TestAccount { iban, bic, outcome }
}

/// What a check says, and when.
#[derive(Debug)]
pub struct Checked<V: 'static> {
    /// What is sent.
    pub value: V,
    /// The letter in the answer.
    pub letter: char,
    /// What it means.
    pub meaning: &'static str,
}

const fn says<V>(value: V, letter: char, meaning: &'static str) -> Checked<V> {
    Checked { value, letter, meaning }
}

/// `result.avsResponse` by `billing.postcode`, where `billing.street1` is sent too.
pub static POSTCODES: [Checked<&str>; 4] = [
    says("90001", 'A', "the address matches, the postcode does not"),
    says("90002", 'Z', "the postcode matches, the address does not"),
    says("90003", 'N', "neither matches"),
    says("90004", 'U', "it cannot be checked"),
];
/// `result.avsResponse` of any other postcode.
pub static ADDRESS_MATCHES: Checked<&str> = says("any other", 'F', "both match");
/// `result.avsResponse` where only one of the two was sent.
pub static ADDRESS_INCOMPLETE: Checked<&str> = says("none, or no street", 'U', "it cannot be checked");

/// `result.cvvResponse` by the number that `card.cvv` is, with as many zeros before it as the brand's codes have digits.
pub static SECURITY_CODES: [Checked<u16>; 4] = [
    says(1, 'N', "no match"),
    says(2, 'P', "not processed"),
    says(3, 'S', "there should be one"),
    says(4, 'U', "the issuer cannot tell"),
];
/// `result.cvvResponse` of any other code.
pub static CODE_MATCHES: Checked<&str> = says("any other", 'M', "match");
/// `result.cvvResponse` where the card has a code and none was sent.
pub static CODE_MISSING: Checked<&str> = says("none, where the card has one", 'S', "there should be one");

/// Brands for which the shopper makes a transfer to the account in `merchant.bankAccount`.
pub static TRANSFERS: [&str; 3] = ["BOLETO", "PREPAYMENT", "PREPAYMENT_VRP"];

/// A way to pay by the shopper's own bank.
#[derive(Debug)]
pub struct TestTransfer {
    /// `paymentBrand`.
    pub brand: &'static str,
    /// What describes the account.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Accounts for ways to pay by the shopper's own bank. Any other does as well.
pub static BANKS: [TestTransfer; 2] = [
    TestTransfer {
        brand: "GIROPAY",
        fields: &[("bankAccount.iban", "DE14940593100000012346"), ("bankAccount.bic", "TESTDETT421")],
    },
    TestTransfer { brand: "IDEAL", fields: &[("bankAccount.bankName", "ING_TEST")] },
];

/// What a merchant sends of a wallet whose token it has decrypted itself.
pub static DECRYPTED: [(&str, &str); 6] = [
    ("card.number", "4200000000000000"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.eci", "05"),
    ("walletPay.source", "web"),
];
