//! The words of a reconciliation record, spelled as in the specification (document 3).

use serde::{Deserialize, Serialize};

/// Creates an enum whose variants have a name in files and responses, with `ALL`, `as_str` and `parse`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name in files and responses.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Parses such a name. Returns `None` if it is unknown.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }
        }
    };
}

words!(
    /// The kind of a record, `recordType`.
    RecordType {
        /// A transaction or a batch that was settled.
        Settled = "SETTLED",
        /// A chargeback.
        Chargeback = "CHARGEBACK",
        /// The reversal of a chargeback.
        ChargebackReversal = "CHARGEBACK REVERSAL",
        /// A fee that no settled transaction carries.
        Fee = "FEE",
    }
);

words!(
    /// The kind of transaction of a record, `transactionType`.
    TransactionType {
        /// Money from a shopper: a debit or a capture.
        Debit = "DEBIT",
        /// Money to a shopper without an earlier payment.
        Credit = "CREDIT",
        /// Money back to a shopper.
        Refund = "REFUND",
        /// The total of a batch.
        Batch = "BATCH",
        /// A fee for a month.
        Monthly = "MONTHLY",
        /// A fee for a submerchant.
        Submerchant = "SUBMERCHANT",
        /// A fee of a payment facilitator.
        PaymentFacilitator = "PAYMENT_FACILITATOR",
        /// A fee for an authorization.
        AuthFee = "AUTH_FEE",
        /// A fee for a capture.
        CaptureFee = "CAPTURE_FEE",
        /// A fee for a reversal.
        CancelFee = "CANCEL_FEE",
        /// A fee for a refund.
        RefundFee = "REFUND_FEE",
    }
);

words!(
    /// The direction of the money, seen from the merchant: `settlement.cashflow`.
    Cashflow {
        /// To the merchant.
        Positive = "POS",
        /// From the merchant.
        Negative = "NEG",
    }
);

words!(
    /// The result of a settlement, `settlement.status`.
    SettlementStatus {
        /// The money moved.
        Success = "SUCCESS",
        /// The institute refused the line. No money moved.
        Failed = "FAILED",
    }
);

words!(
    /// The number of payments that a line matches, `matchedTransactions.status`.
    MatchingStatus {
        /// One.
        Matched = "MATCHED",
        /// Several, of which nobody has chosen one.
        Multiple = "MULTIPLE_MATCHES",
        /// None.
        NotMatched = "NOT_MATCHED",
    }
);
