//! The sample payment of the tests of this crate.

use jiff::Timestamp;
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::result::ResultCode;

use super::{Payment, PaymentType};
use crate::id::{EntityId, PaymentId};

/// Creates a card debit of 92.00 EUR of one entity. The number determines its id.
pub(crate) fn sample_payment(number: u8, created: Timestamp, result: ResultCode) -> Payment {
    let (id, entity) = (PaymentId::new(created, [number; 9]), EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]));
    let amount = Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap();
    Payment::draft(id, entity, created, PaymentType::Debit, "VISA", amount, result)
}
