//! Operations of requests, and the payment types of each.

/// The operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A merchant creates a checkout; parameters that the shopper adds later are not required. Without a payment type
    /// and with `createRegistration` it stores payment data and pays nothing, so it needs no amount.
    CreateCheckout,
    /// A merchant updates a checkout; only the update is checked.
    UpdateCheckout,
    /// A payment, by the form or server to server; all merged parameters are checked. With `registrationId` the account
    /// is one that the shopper selected among those of the checkout, as in [`Self::PaymentByRegistration`].
    Payment,
    /// Payment data are stored and nothing is paid: only the account is required.
    CreateRegistration,
    /// A payment with a registration in the path. The caller sets `paymentBrand` to the registration's brand first;
    /// without it, a card is assumed.
    PaymentByRegistration,
    /// A capture of the payment in the path: amount and currency.
    Capture,
    /// An increment of the preauthorization in the path: amount and currency.
    Increment,
    /// A refund of the payment in the path: amount and currency.
    Refund,
    /// A reversal of the payment in the path. It reverses the whole payment and needs no amount.
    Reversal,
    /// A chargeback that the acquirer reports: the reason is required.
    Chargeback,
    /// The reversal of the chargeback in the path. Without an amount, the whole of it.
    ChargebackReversal,
    /// A payment that is repeated by a schedule: registration, amount and currency.
    Schedule,
    /// A report: its first and its last day.
    Report,
}

impl Operation {
    /// Returns the payment types of the operation, in the order of error messages (contract, 3.1). Empty if there are
    /// none.
    pub fn payment_types(self) -> &'static [&'static str] {
        match self {
            Self::CreateCheckout | Self::UpdateCheckout | Self::Payment | Self::PaymentByRegistration => {
                &["PA", "DB", "CD", "PA.CP"]
            }
            Self::Capture => &["CP"],
            Self::Increment => &["PA"],
            Self::Refund => &["RF"],
            Self::Reversal => &["RV"],
            Self::Chargeback => &["CB"],
            Self::ChargebackReversal => &["CR"],
            Self::Schedule => &["SD", "DB"],
            Self::CreateRegistration | Self::Report => &[],
        }
    }
}
