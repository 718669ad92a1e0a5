//! What a payment does with the money.

use serde::{Deserialize, Serialize};

use crate::domain::refusal::Refusal;

/// What a payment does with the money (specification, document 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PaymentType {
    /// Preauthorization: reserves the amount until a capture.
    #[serde(rename = "PA")]
    Preauthorization,
    /// Debit: takes the amount from the shopper at once.
    #[serde(rename = "DB")]
    Debit,
    /// Debit in two steps, a preauthorization with its capture (contract, 3.1).
    #[serde(rename = "PA.CP")]
    TwoStepDebit,
    /// Credit: gives the shopper an amount that no earlier payment is about.
    #[serde(rename = "CD")]
    Credit,
    /// Capture: takes a preauthorized amount, or a part of it.
    #[serde(rename = "CP")]
    Capture,
    /// Reversal: undoes a payment before it is booked.
    #[serde(rename = "RV")]
    Reversal,
    /// Refund: gives back what an earlier payment took, or a part of it.
    #[serde(rename = "RF")]
    Refund,
    /// Chargeback: the shopper's bank has taken the amount back.
    #[serde(rename = "CB")]
    Chargeback,
}

impl PaymentType {
    /// Every type.
    pub const ALL: [Self; 8] = [
        Self::Preauthorization,
        Self::Debit,
        Self::TwoStepDebit,
        Self::Credit,
        Self::Capture,
        Self::Reversal,
        Self::Refund,
        Self::Chargeback,
    ];
    /// The types that can be asked for without a reference to an earlier payment.
    pub const INITIAL: [Self; 4] = [Self::Preauthorization, Self::Debit, Self::Credit, Self::TwoStepDebit];

    /// The letters on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Self::Preauthorization => "PA",
            Self::Debit => "DB",
            Self::TwoStepDebit => "PA.CP",
            Self::Credit => "CD",
            Self::Capture => "CP",
            Self::Reversal => "RV",
            Self::Refund => "RF",
            Self::Chargeback => "CB",
        }
    }

    /// A type by its letters.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == text)
    }

    /// Reads a type that may begin a payment.
    ///
    /// # Errors
    /// A refusal that names `paymentType` when it is missing or another one.
    pub fn initial(text: Option<&str>) -> Result<Self, Refusal> {
        let Some(text) = text else {
            return Err(Refusal::parameter("paymentType", None, "may not be empty"));
        };
        Self::parse(text)
            .filter(|kind| Self::INITIAL.contains(kind))
            .ok_or_else(|| Refusal::one_of("paymentType", text, &Self::INITIAL.map(Self::code)))
    }
}
