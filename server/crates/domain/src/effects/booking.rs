//! The booking of a payment in the ledger, as an effect of its write.

use jiff::Timestamp;

use crate::payment::{EarlierState, Payment};
use crate::settlement::ledger::ApprovedPayment;

/// The time of a booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookingTime {
    /// The moment at which the payment was created, by the clock of its entity.
    Creation(Timestamp),
    /// The moment of the write, by the clock of the payment's entity.
    Write,
}

/// A payment that is booked.
#[derive(Debug, Clone, Copy)]
pub struct Booking<'a> {
    /// The payment.
    pub payment: ApprovedPayment<'a>,
    /// The time.
    pub time: BookingTime,
}

/// Returns the booking of a payment at the write that approves it. Returns `None` at its other writes. `before` is
/// `None` for a new payment.
pub fn payment_booking<'a>(before: Option<&EarlierState>, after: &'a Payment) -> Option<Booking<'a>> {
    // A final result never changes, so a payment is approved once.
    if before.is_some_and(EarlierState::was_approved) {
        return None;
    }
    let time = if before.is_none() { BookingTime::Creation(after.created) } else { BookingTime::Write };
    Some(Booking { payment: ApprovedPayment::from_payment(after)?, time })
}
