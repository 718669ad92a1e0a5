//! Bank accounts in the simulator.
//!
//! | Country | IBAN | BIC | A direct debit |
//! |---|---|---|---|
//! | Germany | DE23100000001234567890 | MARKDEF1100 | succeeds |
//! | Germany | DE58100000000000000051 | MARKDEF1100 | lacks the money, 800.100.203 |
//! | Germany | DE31100000000000000052 | MARKDEF1100 | meets a closed account, 800.100.202 |
//! | Austria | AT611904300234573201 | OPSKATWW | succeeds |
//! | Austria | AT821904300000000051 | OPSKATWW | lacks the money, 800.100.203 |
//! | Austria | AT551904300000000052 | OPSKATWW | meets a closed account, 800.100.202 |
//! | Netherlands | NL91ABNA0417164300 | ABNANL2A | succeeds |
//! | Netherlands | NL66ABNA0000000051 | ABNANL2A | lacks the money, 800.100.203 |
//! | Netherlands | NL39ABNA0000000052 | ABNANL2A | meets a closed account, 800.100.202 |
//!
//! Any other account is good. Before that: a direct debit of SEPA in another currency than the euro gives 600.200.500, a
//! BIC of another country than the IBAN 100.200.103, a mandate that was signed in the future 100.500.302.
//!
//! Ways to pay by the shopper's own bank answer 000.200.000 and a redirect, among them GIROPAY with
//! DE14940593100000012346 and TESTDETT421, and IDEAL with the bank name ING_TEST.
//!
//! `resultDetails.AcquirerResponse` of a direct debit is the reason code of ISO 20022: AM03 currency, RC01 bank, MD01
//! mandate, AM04 money, AC04 closed account, MS03 for a forced decline; 00 of one that succeeds.

use jiff::civil::Date;
use tillgate_shared::result::{ResultCode, codes};

use super::super::{Answer, BankNumber, FullBank, Order};

/// Brands of the euro area's direct debit.
const SEPA: [&str; 2] = ["DIRECTDEBIT_SEPA", "SEPA"];
/// How the test accounts without money end, in every country.
const EMPTY: &str = "00000051";
/// How the closed test accounts end.
const CLOSED: &str = "00000052";

pub(super) fn authorize(order: &Order, bank: &FullBank, forced: Option<ResultCode>, today: Date) -> Answer {
    if let Some(code) = forced {
        return Answer::from(code).acquirer(if code.is_success() { "00" } else { "MS03" });
    }
    if SEPA.contains(&order.brand.code) && order.amount.currency().code() != "EUR" {
        return Answer::from(codes::CURRENCY_NOT_CONFIGURED).acquirer("AM03");
    }
    if let Some(BankNumber::Iban(iban)) = &bank.number {
        let country = bank.about.bic.as_deref().and_then(|bic| bic.get(4..6));
        if country.is_some_and(|country| !country.eq_ignore_ascii_case(iban.country())) {
            return Answer::from(codes::BANK_DATA_MISMATCH).acquirer("RC01");
        }
    }
    if order.mandate_signed.is_some_and(|signed| signed > today) {
        return Answer::from(codes::MANDATE_DATE_INVALID).acquirer("MD01");
    }
    if let Some(BankNumber::Iban(iban)) = &bank.number {
        if iban.characters().ends_with(EMPTY) {
            return Answer::from(codes::INSUFFICIENT_FUNDS).acquirer("AM04");
        }
        if iban.characters().ends_with(CLOSED) {
            return Answer::from(codes::ACCOUNT_CLOSED).acquirer("AC04");
        }
    }
    Answer::from(codes::TEST_INTERNAL).acquirer("00")
}
