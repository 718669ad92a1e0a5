//! Translates a payment's message to the request that the issuer decides.

use std::borrow::Cow;

use tillgate_connector::http::protocol::{
    AccountData, AuthorizationRequest, BillingAddress, CardData, CardEntry, MerchantData, PaymentData, SecretText,
    StandingInstructionData, ThreeDsData,
};
use tillgate_connector::iso8583::{DataTable, Datum, IsoMessage};
use tillgate_shared::brand::Brand;

/// Text of the indicator with which a merchant accepts a part of the amount.
const ACCEPTS_PART: &str = "1";
/// Character between the parts of a standing instruction.
const SEPARATOR: char = '/';

/// Builds the request of an authorization, a debit or a credit. Returns `None` if the message lacks the card number or
/// its expiry date, or the date is not four digits.
pub(super) fn build_authorization(
    data: &DataTable,
    message: &IsoMessage,
    payment: PaymentData,
    captures: bool,
) -> Option<AuthorizationRequest> {
    let read = |datum| data.get(message, datum).map(Cow::into_owned);
    let number = data.get(message, Datum::Pan)?;
    // A number of no brand is declined by the issuer.
    let brand = Brand::cards().iter().find(|brand| brand.allows_number(&number));
    Some(AuthorizationRequest {
        payment,
        capture: captures,
        brand: brand.map_or_else(String::new, |brand| brand.code.to_owned()),
        account: AccountData::Card(read_card(data, message, &number)?),
        billing: BillingAddress { street: read(Datum::Address), postcode: read(Datum::Postcode) },
        partial_approval: data.get(message, Datum::PartialApproval).as_deref() == Some(ACCEPTS_PART),
        // Only a shopper's page depends on it, and ISO 8583 has no pages.
        shopper_present: true,
        descriptor: read(Datum::Descriptor),
        merchant: MerchantData {
            name: read(Datum::MerchantName),
            city: read(Datum::MerchantCity),
            country: read(Datum::MerchantCountry),
            mcc: read(Datum::MerchantCategory),
            submerchant_id: read(Datum::Submerchant),
            ..MerchantData::default()
        },
        transaction_category: read(Datum::Category),
        standing_instruction: read_instruction(data, message),
        three_ds: read_three_ds(data, message),
        return_url: None,
    })
}

/// Reads the card of a message.
fn read_card(data: &DataTable, message: &IsoMessage, number: &str) -> Option<CardData> {
    let expiry = data.get(message, Datum::Expiry)?;
    let (year, month) = expiry.split_at_checked(2).filter(|(_, month)| month.len() == 2)?;
    Some(CardData {
        number: SecretText::new(number),
        expiry_month: month.to_owned(),
        expiry_year: format!("20{year}"),
        holder: None,
        security_code: data.get(message, Datum::SecurityCode).map(|code| SecretText::new(&code)),
        // The issuer decides without the entry mode.
        entry: CardEntry::Keyed,
        cryptogram: None,
        cryptogram_eci: None,
    })
}

/// Reads the result of 3-D Secure. Returns `None` if the message has no electronic commerce indicator.
fn read_three_ds(data: &DataTable, message: &IsoMessage) -> Option<ThreeDsData> {
    let eci = data.get(message, Datum::Eci)?.into_owned();
    // ISO 8583 has no status of 3-D Secure. The indicator implies it: authenticated, or attempted.
    let status = match eci.as_str() {
        "05" | "02" => Some("Y".to_owned()),
        "06" | "01" => Some("A".to_owned()),
        _ => None,
    };
    Some(ThreeDsData {
        version: data.get(message, Datum::ThreeDsVersion).map(Cow::into_owned),
        status,
        eci: Some(eci),
        cavv: data.get(message, Datum::Cavv).map(|cavv| SecretText::new(&cavv)),
        ds_transaction_id: data.get(message, Datum::DsTransactionId).map(Cow::into_owned),
    })
}

/// Reads a standing instruction: type, mode, source and industry practice with slashes between them. Returns `None` if
/// the message has none.
fn read_instruction(data: &DataTable, message: &IsoMessage) -> Option<StandingInstructionData> {
    let text = data.get(message, Datum::Instruction)?;
    let mut parts = text.split(SEPARATOR).map(|part| Some(part.to_owned()).filter(|part| !part.is_empty()));
    Some(StandingInstructionData {
        kind: parts.next().flatten(),
        mode: parts.next().flatten(),
        source: parts.next().flatten(),
        industry_practice: parts.next().flatten(),
        initial_transaction_id: data.get(message, Datum::InitialTransactionId).map(Cow::into_owned),
        ..StandingInstructionData::default()
    })
}
