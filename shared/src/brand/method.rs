//! Methods of payment, and the forms in which shoppers pay with them: columns of the table of brands.

/// How the money of a brand moves, as `paymentMethods` of a query names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// A card that is not a debit card, also out of a wallet.
    CreditCard,
    /// A card that charges a bank account at once.
    DebitCard,
    /// A debit of a bank account by a mandate.
    DirectDebit,
    /// A transfer or cash that the shopper pays before the goods are sent.
    Prepayment,
    /// A transfer on the page of the shopper's bank.
    OnlineTransfer,
    /// An account at the brand itself.
    VirtualAccount,
}

impl Method {
    /// The two letters on the wire.
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
    /// A card's number, expiry date, holder and code.
    Card,
    /// A bank account, and where the merchant asks for it a mandate.
    DirectDebit,
    /// A button, and what the slip has to bear.
    Prepayment,
    /// A button, and what the bank is found by.
    OnlineTransfer,
    /// A button, and what the account is found by.
    VirtualAccount,
}

impl FormKind {
    /// The word in class names: `onlineTransfer` in `wpwl-container-onlineTransfer-IDEAL`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::DirectDebit => "directDebit",
            Self::Prepayment => "prepayment",
            Self::OnlineTransfer => "onlineTransfer",
            Self::VirtualAccount => "virtualAccount",
        }
    }
}
