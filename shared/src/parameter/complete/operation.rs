//! What a request is about to do, and the payment types that go with it.

/// What a request is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A merchant makes a checkout; what the shopper adds later is not asked for. Without a payment type and with
    /// `createRegistration` it stores payment data and pays nothing, so that it needs no amount.
    CreateCheckout,
    /// A merchant adds to a checkout; judged on the update alone.
    UpdateCheckout,
    /// A payment, by the form or server to server; judged on everything merged. With `registrationId` the account is
    /// one that the shopper chose among those of the checkout, as in [`Self::PaymentByRegistration`].
    Payment,
    /// Payment data are stored and nothing is paid: the account alone is asked for.
    CreateRegistration,
    /// A payment with a registration named in the path. The caller puts the registration's brand into `paymentBrand`
    /// first; without one, a card is taken for granted.
    PaymentByRegistration,
    /// A capture of the payment named in the path: amount and currency.
    Capture,
    /// A refund of the payment named in the path: amount and currency.
    Refund,
    /// A reversal of the payment named in the path. It undoes the whole payment and needs no amount.
    Reversal,
    /// The acquirer says that a payment was charged back: the reason is asked for.
    Chargeback,
    /// A payment that is repeated by itself: registration, amount and currency.
    Schedule,
    /// A report: its first and its last day.
    Report,
}

impl Operation {
    /// The payment types that the operation takes, in the order in which errors list them (contract, 3.1); empty where
    /// there are none.
    pub fn payment_types(self) -> &'static [&'static str] {
        match self {
            Self::CreateCheckout | Self::UpdateCheckout | Self::Payment | Self::PaymentByRegistration => {
                &["PA", "DB", "CD", "PA.CP"]
            }
            Self::Capture => &["CP"],
            Self::Refund => &["RF"],
            Self::Reversal => &["RV"],
            Self::Chargeback => &["CB"],
            Self::Schedule => &["SD", "DB"],
            Self::CreateRegistration | Self::Report => &[],
        }
    }
}
