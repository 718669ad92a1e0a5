//! Payment types.

use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, ResultGroup};

use crate::access::scope::Scope;
use crate::refusal::Refusal;

/// Type of a payment: its effect on the money (specification, document 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PaymentType {
    /// Preauthorization: reserves the amount until a capture.
    #[serde(rename = "PA")]
    Preauthorization,
    /// Debit: charges the shopper at once.
    #[serde(rename = "DB")]
    Debit,
    /// Debit in two steps, a preauthorization with its capture (contract, 3.1).
    #[serde(rename = "PA.CP")]
    TwoStepDebit,
    /// Credit: pays an amount to the shopper without reference to an earlier payment.
    #[serde(rename = "CD")]
    Credit,
    /// Capture: collects a preauthorized amount, or a part of it.
    #[serde(rename = "CP")]
    Capture,
    /// Reversal: cancels a payment before it is booked.
    #[serde(rename = "RV")]
    Reversal,
    /// Refund: returns the amount of an earlier payment, or a part of it.
    #[serde(rename = "RF")]
    Refund,
    /// Chargeback: the shopper's bank has charged the amount back.
    #[serde(rename = "CB")]
    Chargeback,
    /// Reversal of a chargeback: the shopper's bank has returned the amount that it had charged back, or a part of it.
    #[serde(rename = "CR")]
    ChargebackReversal,
}

/// Direction in which a payment moves money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoneyDirection {
    /// From the shopper to the merchant.
    ToMerchant,
    /// From the merchant to the shopper.
    ToShopper,
    /// The amount is only reserved.
    Nowhere,
    /// The opposite of the direction of the payment that it refers to.
    Opposite,
}

/// The facts about a payment type.
struct PaymentTypeRow {
    /// The code used in requests and responses.
    code: &'static str,
    direction: MoneyDirection,
    /// The scope that a request needs.
    scope: Scope,
}

impl PaymentType {
    /// Every type.
    pub const ALL: [Self; 9] = [
        Self::Preauthorization,
        Self::Debit,
        Self::TwoStepDebit,
        Self::Credit,
        Self::Capture,
        Self::Reversal,
        Self::Refund,
        Self::Chargeback,
        Self::ChargebackReversal,
    ];
    /// Types that can be requested without reference to an earlier payment.
    pub const INITIAL: [Self; 4] = [Self::Preauthorization, Self::Debit, Self::Credit, Self::TwoStepDebit];

    /// Returns true if a payment of this type with a result succeeded: the money moved or is reserved. A chargeback
    /// succeeds with a result code that is its reason.
    pub fn is_approved_with(self, result: ResultCode) -> bool {
        result.is_success() || (self == Self::Chargeback && result.group() == ResultGroup::Chargeback)
    }

    /// Returns the facts about a type.
    #[rustfmt::skip] // keeps each row on one line
    fn row(self) -> PaymentTypeRow {
        use MoneyDirection::{Nowhere, Opposite, ToMerchant, ToShopper};
        use Scope::{Pay, Refund};
        let (code, direction, scope) = match self {
            //                          code     direction   scope
            Self::Preauthorization   => ("PA",    Nowhere,    Pay),
            Self::Debit              => ("DB",    ToMerchant, Pay),
            Self::TwoStepDebit       => ("PA.CP", ToMerchant, Pay),
            Self::Credit             => ("CD",    ToShopper,  Refund),
            Self::Capture            => ("CP",    ToMerchant, Pay),
            Self::Reversal           => ("RV",    Opposite,   Refund),
            Self::Refund             => ("RF",    ToShopper,  Refund),
            Self::Chargeback         => ("CB",    ToShopper,  Refund),
            // The money comes to the merchant, but the work is that of the chargeback.
            Self::ChargebackReversal => ("CR",    ToMerchant, Refund),
        };
        PaymentTypeRow { code, direction, scope }
    }

    /// Returns the code used in requests and responses.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Returns the scope that a payment of this type needs. A stolen token with the scope `pay` alone cannot send money
    /// elsewhere.
    pub fn scope(self) -> Scope {
        self.row().scope
    }

    /// Returns the sign of the money that an approved payment of this type moves: 1 from the shopper to the merchant,
    /// -1 to the shopper, and 0 if no money moves. `referenced` is the type of the payment that it refers to.
    pub fn money_sign(self, referenced: Option<Self>) -> i64 {
        match self.row().direction {
            MoneyDirection::ToMerchant => 1,
            MoneyDirection::ToShopper => -1,
            MoneyDirection::Nowhere => 0,
            MoneyDirection::Opposite => referenced.map_or(0, |referenced| -referenced.money_sign(None)),
        }
    }

    /// Parses the code of a type, such as `DB`. Returns `None` if it is unknown.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|payment_type| payment_type.code() == text)
    }

    /// Checks the amount of an initial payment. Only a preauthorization may have the amount 0, which verifies the
    /// account.
    ///
    /// # Errors
    /// 400 with 100.550.300. The refusal names `amount`.
    pub fn check_initial_amount(self, amount: Amount) -> Result<(), Refusal> {
        if amount.is_zero() && self != Self::Preauthorization {
            return Err(Refusal::amount_too_small(&amount.to_string(), self.code()));
        }
        Ok(())
    }

    /// Parses the type of an initial payment.
    ///
    /// # Errors
    /// 400 if it is missing or not the type of an initial payment. The refusal names `paymentType`.
    pub fn parse_initial(text: Option<&str>) -> Result<Self, Refusal> {
        let Some(text) = text else {
            return Err(Refusal::invalid_parameter("paymentType", None, "may not be empty"));
        };
        Self::parse(text)
            .filter(|payment_type| Self::INITIAL.contains(payment_type))
            .ok_or_else(|| Refusal::invalid_choice("paymentType", text, &Self::INITIAL.map(Self::code)))
    }
}
