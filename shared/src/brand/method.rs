//! Payment methods, and the forms in which shoppers use them: columns of the table of brands.

/// Payment method of a brand, named as in `paymentMethods` of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaymentMethod {
    /// A card that is not a debit card, also from a wallet.
    CreditCard,
    /// A card that charges a bank account at once.
    DebitCard,
    /// A debit of a bank account with a mandate.
    DirectDebit,
    /// A transfer or cash that the shopper pays before the goods are sent.
    Prepayment,
    /// A transfer on the page of the shopper's bank.
    OnlineTransfer,
    /// An account at the brand.
    VirtualAccount,
}

impl PaymentMethod {
    /// Returns its two letters on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CreditCard => "CC",
            Self::DebitCard => "DC",
            Self::DirectDebit => "DD",
            Self::Prepayment => "PP",
            Self::OnlineTransfer => "OT",
            Self::VirtualAccount => "VA",
        }
    }

    /// Returns true if a card is charged.
    pub fn is_card(self) -> bool {
        matches!(self, Self::CreditCard | Self::DebitCard)
    }
}

/// The kind of form in which shoppers pay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormKind {
    /// Number, expiry date, holder and security code of a card.
    Card,
    /// A bank account, and a mandate if the merchant requires one.
    DirectDebit,
    /// A button, and the data for the payment slip.
    Prepayment,
    /// A button, and the data that identify the bank.
    OnlineTransfer,
    /// A button, and the data that identify the account.
    VirtualAccount,
}

impl FormKind {
    /// Returns its name in class names: `onlineTransfer` in `wpwl-container-onlineTransfer-IDEAL`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::DirectDebit => "directDebit",
            Self::Prepayment => "prepayment",
            Self::OnlineTransfer => "onlineTransfer",
            Self::VirtualAccount => "virtualAccount",
        }
    }

    /// Finds a kind of form by its name in class names.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Card, Self::DirectDebit, Self::Prepayment, Self::OnlineTransfer, Self::VirtualAccount]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}
