//! The sealed card of a pending payment.

use jiff::Timestamp;
use tillgate_vault::Sealed;

/// The card of a payment that awaits 3-D Secure or its review.
#[derive(Debug, Clone)]
pub(crate) struct HeldCard {
    /// The sealed card number.
    pub(crate) sealed: Sealed,
    /// The time at which the card is deleted.
    pub(crate) until: Timestamp,
}
